"""YAML 1.2, core schema, with the place of every key and value.

PyYAML scans and parses; the values are resolved here, because its own schema is that of YAML 1.1, in which `yes`
is a flag. No tag constructs anything. Source: YAML 1.2.2, sections 5.4, 6.1 and 10.3.
"""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any, Literal

import yaml

from check_workbench.documents.numbers import integer
from check_workbench.documents.tree import Entry, Flaw, FlawError, Lines, Mapping, Node, Place, Scalar, Sequence

if TYPE_CHECKING:
    from collections.abc import Iterator

DEPTH = 64
"""How deep lists and mappings may lie in each other."""
EXPANSION = 20_000
"""How many nodes aliases may add to a document."""
LONG = 100
"""Characters of a text that count as a further node."""

_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_STYLES: dict[str, Literal["plain", "quoted", "block"]] = {"": "plain", "'": "quoted", '"': "quoted"}
_CORE = "tag:yaml.org,2002:"
_CORE_TAGS = {_CORE + name for name in ("str", "int", "float", "bool", "null", "map", "seq")}
_CONTROL = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ONLY_IN_1_1 = "\x85\u2028\u2029?"
"""The first three break lines and the last ends a text in flow style, in YAML 1.1."""
_QUESTION = re.compile(r"(?<=[^\s,\[\]{}])\?|\?(?=[^\s,\[\]{}])")


class _Loader(yaml.SafeLoader):
    """PyYAML's scanner with the tabs that YAML allows after content."""

    def scan_to_next_token(self) -> None:
        while True:
            while self.peek() == " " or (self.peek() == "\t" and self._tab_separates()):
                self.forward()
            if self.peek() == "#":
                while self.peek() not in "\0\r\n":
                    self.forward()
            if not self._break():
                return
            if not self.flow_level:
                self.allow_simple_key = True

    def scan_plain_spaces(self, indent: int, start_mark: Any) -> list[str] | None:
        del indent, start_mark
        blanks = self._blanks()
        if self.peek() not in "\r\n":
            return [blanks] if blanks else []
        self._break()
        self.allow_simple_key = True
        breaks: list[str] = []
        while not self._marker() and self.peek() in " \t\r\n":
            if self.peek() in "\r\n":
                breaks.append(self._break())
            elif self.peek() == " " or self._tab_separates():
                self.forward()
            else:
                break
        return None if self._marker() else breaks or [" "]

    def _blanks(self) -> str:
        length = 0
        while self.peek(length) in " \t":
            length += 1
        blanks: str = self.prefix(length)
        self.forward(length)
        return blanks

    def _break(self) -> str:
        scanner: Any = self
        return str(scanner.scan_line_break())

    def _marker(self) -> bool:
        return self.column == 0 and self.prefix(3) in {"---", "..."} and self.peek(3) in "\0 \t\r\n"

    def _tab_separates(self) -> bool:
        if self.flow_level:
            return True
        before = self.buffer[self.pointer - self.column : self.pointer]
        length = 0
        while self.peek(length) in " \t":
            length += 1
        return bool(before.strip()) or self.peek(length) in "#\0\r\n"


def parse_yaml(text: str, *, start: int = 0, end: int | None = None) -> tuple[tuple[Node, ...], tuple[Flaw, ...]]:
    """Read the YAML documents in a part of a text.

    Parameters
    ----------
    text
        The whole text; places are counted in it.
    start, end
        The part to read, in characters.

    Returns
    -------
    tuple
        The root of each document, and what is wrong. After a syntax error no root is returned.

    Examples
    --------
    >>> roots, flaws = parse_yaml("answer: yes")
    >>> roots[0].get("answer").value, flaws
    ('yes', ())
    """
    end = len(text) if end is None else end
    lines = Lines(text)
    start += text.startswith("\ufeff", start, end)
    if bad := _CONTROL.search(text, start, end):
        line, column = lines(bad.start())
        return (), (Flaw(line=line, column=column, message=f"character U+{ord(bad[0]):04X} is not allowed in YAML"),)
    stand_ins = _stand_ins(text)
    shown = _QUESTION.sub(stand_ins["?"], text[start:end]).translate(
        {ord(c): s for c, s in stand_ins.items() if c != "?"}
    )
    composer = _Composer(shown, lines=lines, base=start, restore=stand_ins)
    try:
        roots = tuple(composer.documents())
    except FlawError as stopped:
        return (), (*composer.flaws, stopped.flaw)
    return roots, tuple(composer.flaws)


def resolve(text: str) -> Any:
    """Return the value of an unquoted scalar.

    Source: YAML 1.2.2, section 10.3.2.

    Examples
    --------
    >>> [resolve(word) for word in ("yes", "true", "0x10", "1.50", "~", "1_000", "012")]
    ['yes', True, 16, 1.5, None, '1_000', 12]
    """
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return integer(text)
    if _FLOAT.fullmatch(text):
        return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
    return text


def _stand_ins(text: str) -> dict[str, str]:
    """Replace what means something in YAML 1.1 only, by characters that the text does not hold."""
    free = (chr(code) for code in range(0xE000, 0xF8FF) if chr(code) not in text)
    return {mark: next(free) for mark in _ONLY_IN_1_1}


class _Composer:
    """Builds the trees from parser events."""

    def __init__(self, text: str, *, lines: Lines, base: int, restore: dict[str, str]) -> None:
        self.flaws: list[Flaw] = []
        self._text = text
        self._lines = lines
        self._base = base
        self._restore = {ord(char): mark for mark, char in restore.items()}
        self._anchors: dict[str, Node | None] = {}
        self._sizes: dict[str, int] = {}
        self._nodes = 0
        self._expanded = 0
        self._last = 0
        self._events: Iterator[Any] = self._parse()

    def documents(self) -> Iterator[Node]:
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                self._anchors.clear()
                yield self._node(next(self._events), 0)

    def _parse(self) -> Iterator[Any]:
        try:
            event: Any
            for event in yaml.parse(self._text, Loader=_Loader):
                self._last = event.start_mark.index
                yield event
        except yaml.MarkedYAMLError as error:
            mark: Any = error.problem_mark or error.context_mark
            raise FlawError(self._syntax(error, mark.index if mark else self._last)) from None
        except (yaml.YAMLError, ValueError, OverflowError) as error:
            raise FlawError(self._flaw(self._last, f"this is not YAML: {error}")) from None

    def _syntax(self, error: yaml.MarkedYAMLError, offset: int) -> Flaw:
        said = ", ".join(str(part) for part in (error.context, error.problem) if part)
        hint = ""
        if "'\\t'" in said:
            hint = "Indent with spaces; YAML does not allow tabs there."
        elif "mapping values are not allowed" in said:
            hint = "Put the text in quotes if it holds a colon followed by a space."
        elif "found undefined alias" in said or "unknown escape" in said:
            hint = "Put the text in single quotes if it is meant literally."
        return self._flaw(offset, f"this is not YAML: {said}", hint=hint)

    def _flaw(self, offset: int, message: str, *, hint: str = "", code: str = "syntax") -> Flaw:
        line, column = self._lines(offset + self._base)
        return Flaw(line=line, column=column, message=message, hint=hint, code=code)

    def _place(self, event: Any, last: Any) -> Place:
        start = event.start_mark.index + self._base
        line, column = self._lines(start)
        return Place(start=start, end=last.end_mark.index + self._base, line=line, column=column)

    def _node(self, event: Any, depth: int) -> Node:
        if depth > DEPTH:
            raise FlawError(self._flaw(event.start_mark.index, f"lists and mappings lie more than {DEPTH} deep"))
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event)
        anchor, before = event.anchor, self._nodes
        self._check_tag(event)
        if anchor:
            self._anchors[anchor] = None
        self._nodes += 1 + len(getattr(event, "value", "")) // LONG
        node = self._built(event, depth)
        if anchor:
            node = dataclasses.replace(node, shared="anchored")
            self._anchors[anchor] = node
            self._sizes[anchor] = self._nodes - before
        return node

    def _built(self, event: Any, depth: int) -> Node:
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(event, depth)
        return self._mapping(event, depth)

    def _alias(self, event: Any) -> Node:
        name, offset = event.anchor, event.start_mark.index
        if name not in self._anchors:
            raise FlawError(self._flaw(offset, f"no anchor &{name} stands before this alias"))
        node = self._anchors[name]
        if node is None:
            raise FlawError(self._flaw(offset, f"alias *{name} contains itself"))
        self._nodes += self._sizes[name]
        self._expanded += self._sizes[name]
        if self._expanded > EXPANSION:
            raise FlawError(self._flaw(offset, f"aliases blow the document up by more than {EXPANSION:,} nodes"))
        return dataclasses.replace(node, shared="aliased", **self._place(event, event))

    def _check_tag(self, event: Any) -> None:
        if event.tag is not None and event.tag != "!" and event.tag not in _CORE_TAGS:
            self.flaws.append(
                self._flaw(
                    event.start_mark.index,
                    f"the tag {event.tag} is not allowed",
                    hint="Check documents hold text, numbers, lists and mappings only; take the tag away.",
                    code="tag",
                ),
            )

    def _scalar(self, event: Any) -> Scalar:
        text = event.value.translate(self._restore)
        if any("\ud800" <= char <= "\udfff" for char in text):
            raise FlawError(self._flaw(event.start_mark.index, "half of a surrogate pair is no character"))
        style = _STYLES.get(event.style or "", "block")
        value: Any = text
        if event.tag is None:
            value = resolve(text) if event.implicit[0] else text
        elif event.tag in _CORE_TAGS - {_CORE + "str"}:
            value = resolve(text)
        return Scalar(
            value=value,
            style=style,
            shared="tagged" if event.tag else "",
            **self._place(event, event),
        )

    def _sequence(self, event: Any, depth: int) -> Sequence:
        items: list[Node] = []
        item: Any
        while not isinstance(item := next(self._events), yaml.SequenceEndEvent):
            items.append(self._node(item, depth + 1))
        place = self._place(event, item)
        return Sequence(items=tuple(items), flow=bool(event.flow_style), **place)

    def _mapping(self, event: Any, depth: int) -> Mapping:
        item: Any
        own: dict[str, Entry] = {}
        merged: dict[str, Entry] = {}
        while not isinstance(item := next(self._events), yaml.MappingEndEvent):
            key = self._node(item, depth + 1)
            value = self._node(next(self._events), depth + 1)
            self._enter(key, value, own=own, merged=merged)
        entries = (*own.values(), *(entry for name, entry in merged.items() if name not in own))
        place = self._place(event, item)
        return Mapping(entries=entries, flow=bool(event.flow_style), **place)

    def _enter(self, key: Node, value: Node, *, own: dict[str, Entry], merged: dict[str, Entry]) -> None:
        if not isinstance(key, Scalar):
            self.flaws.append(
                Flaw(line=key.line, column=key.column, message="a key must be a text, not a list or mapping"),
            )
            return
        name = key.value if isinstance(key.value, str) else self._text[key.start - self._base : key.end - self._base]
        if name == "<<" and key.style == "plain" and (parts := _merged_from(value)):
            for part in parts:
                for entry in part.entries:
                    merged.setdefault(entry.name, dataclasses.replace(entry, merged=True))
        elif name in own:
            self.flaws.append(_twice(key, name, own[name].key.line))
        else:
            own[name] = Entry(key=key, name=name, value=value)


def _merged_from(value: Node) -> tuple[Mapping, ...]:
    if isinstance(value, Mapping):
        return (value,)
    if isinstance(value, Sequence) and all(isinstance(item, Mapping) for item in value.items):
        return tuple(item for item in value.items if isinstance(item, Mapping))
    return ()


def _twice(key: Scalar, name: str, first: int) -> Flaw:
    return Flaw(
        line=key.line,
        column=key.column,
        message=f"the key {name!r} stands twice, first in line {first}",
        hint="Keep one of them.",
        code="duplicate-key",
    )
