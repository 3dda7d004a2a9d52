"""JSON with the place of every key and value. Source: RFC 8259."""

from __future__ import annotations

import json
import re
from typing import Any

from check_workbench.documents.numbers import integer
from check_workbench.documents.tree import Entry, Flaw, FlawError, Lines, Mapping, Node, Place, Scalar, Sequence

DEPTH = 64
"""How deep lists and objects may lie in each other."""

_SPACE = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_STRING = re.compile(r'"(?:[^"\\\r\n]|\\[^\r\n])*"')
_WORD = re.compile(r"true|false|null")
_WORDS = {"true": True, "false": False, "null": None}


def parse_json(text: str) -> tuple[tuple[Node, ...], tuple[Flaw, ...]]:
    """Read a JSON text.

    Parameters
    ----------
    text
        The whole text; a byte order mark is passed over.

    Returns
    -------
    tuple
        The root, alone in a tuple, and what is wrong. After a syntax error no root is returned.

    Examples
    --------
    >>> roots, flaws = parse_json('{"flag_at": 0.8}')
    >>> roots[0].get("flag_at").column, flaws
    (13, ())
    """
    reader = _Reader(text)
    try:
        root = reader.document(1 if text.startswith("\ufeff") else 0)
    except FlawError as stopped:
        return (), (*reader.flaws, stopped.flaw)
    return (root,), tuple(reader.flaws)


class _Reader:
    """Reads values at offsets; each method returns the node, whose end is where to go on."""

    def __init__(self, text: str) -> None:
        self.flaws: list[Flaw] = []
        self._text = text
        self._lines = Lines(text)

    def document(self, offset: int) -> Node:
        root = self._value(self._skip(offset), 0)
        if (rest := self._skip(root.end)) < len(self._text):
            raise self._stop(rest, "there is more text after the end of the value")
        return root

    def _skip(self, offset: int) -> int:
        found = _SPACE.match(self._text, offset)
        return found.end() if found else offset

    def _stop(self, offset: int, message: str) -> FlawError:
        line, column = self._lines(offset)
        return FlawError(Flaw(line=line, column=column, message=f"this is not JSON: {message}"))

    def _place(self, start: int, end: int) -> Place:
        line, column = self._lines(start)
        return Place(start=start, end=end, line=line, column=column)

    def _value(self, offset: int, depth: int) -> Node:
        if depth > DEPTH:
            raise self._stop(offset, f"lists and objects lie more than {DEPTH} deep")
        first = self._text[offset : offset + 1]
        if first == "{":
            return self._object(offset, depth)
        if first == "[":
            return self._array(offset, depth)
        if first == '"':
            return self._string(offset)
        if word := _WORD.match(self._text, offset):
            return Scalar(value=_WORDS[word[0]], **self._place(offset, word.end()))
        if number := _NUMBER.match(self._text, offset):
            return Scalar(value=_number(number[0]), **self._place(offset, number.end()))
        raise self._stop(offset, f"a value must stand here, got {first!r}" if first else "it ends in the middle")

    def _string(self, offset: int) -> Scalar:
        found = _STRING.match(self._text, offset)
        if found is None:
            raise self._stop(offset, "this text has no closing quote in its line")
        try:
            value = json.loads(found[0])
        except json.JSONDecodeError as error:
            raise self._stop(offset + error.pos, error.msg.lower()) from None
        if any("\ud800" <= char <= "\udfff" for char in value):
            raise self._stop(offset, "half of a surrogate pair is no character")
        return Scalar(value=value, style="quoted", **self._place(offset, found.end()))

    def _array(self, start: int, depth: int) -> Sequence:
        items: list[Node] = []
        offset = self._skip(start + 1)
        while self._text[offset : offset + 1] != "]":
            items.append(self._value(offset, depth + 1))
            offset = self._after(items[-1].end, "]")
        return Sequence(items=tuple(items), flow=True, **self._place(start, offset + 1))

    def _object(self, start: int, depth: int) -> Mapping:
        entries: dict[str, Entry] = {}
        offset = self._skip(start + 1)
        while self._text[offset : offset + 1] != "}":
            entry = self._entry(offset, depth)
            if entry.name in entries:
                self.flaws.append(_twice(entry, entries[entry.name].key.line))
            else:
                entries[entry.name] = entry
            offset = self._after(entry.value.end, "}")
        return Mapping(entries=tuple(entries.values()), flow=True, **self._place(start, offset + 1))

    def _entry(self, offset: int, depth: int) -> Entry:
        if self._text[offset : offset + 1] != '"':
            raise self._stop(offset, "a key in double quotes must stand here")
        key = self._string(offset)
        colon = self._skip(key.end)
        if self._text[colon : colon + 1] != ":":
            raise self._stop(colon, "a colon must stand after the key")
        return Entry(key=key, name=key.value, value=self._value(self._skip(colon + 1), depth + 1))

    def _after(self, offset: int, closing: str) -> int:
        """Return where the next item starts, or where the closing bracket stands."""
        offset = self._skip(offset)
        found = self._text[offset : offset + 1]
        if found == closing:
            return offset
        if found != ",":
            raise self._stop(offset, f"a comma or {closing} must stand here")
        following = self._skip(offset + 1)
        if self._text[following : following + 1] == closing:
            raise self._stop(offset, f"no comma may stand before {closing}")
        return following


def _number(text: str) -> Any:
    return integer(text) if text.lstrip("-").isdigit() else float(text)


def _twice(entry: Entry, first: int) -> Flaw:
    return Flaw(
        line=entry.key.line,
        column=entry.key.column,
        message=f"the key {entry.name!r} stands twice, first in line {first}",
        hint="Keep one of them.",
        code="duplicate-key",
    )
