"""Edits that touch only the characters they must: replace, insert and delete a value, list a single text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from check_workbench.documents.lines import (
    BREAK,
    REST,
    end_of,
    gone_to,
    line_start,
    lines_of,
    newline_of,
    owned,
    quoted,
    spoken,
    without_last,
)
from check_workbench.documents.numbers import decimal_text
from check_workbench.documents.tree import Entry, Mapping, Path, Scalar
from check_workbench.errors import InputError

if TYPE_CHECKING:
    from check_workbench.documents.text import Document

_LAST_BREAK = re.compile(r"(?:\r\n|\r|\n)\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """The characters from `start` to `end` become `text`."""

    start: int
    end: int
    text: str


def edited(text: str, edits: list[Edit]) -> str:
    """Return the text with edits that do not overlap; those at one place apply in the order given.

    Examples
    --------
    >>> edited("flag_at: 0.8 # ours", [Edit(start=9, end=12, text="0.85")])
    'flag_at: 0.85 # ours'
    """
    parts, offset = [], 0
    for edit in sorted(edits, key=lambda edit: edit.start):
        parts += [text[offset : edit.start], edit.text]
        offset = edit.end
    return "".join([*parts, text[offset:]])


def set_number(document: Document, path: Path, number: float, *, after: tuple[str, ...] = ()) -> Edit:
    r"""Return the edit that gives a key a number, in place or by inserting the key.

    Parameters
    ----------
    document
        The document.
    path
        Place of the root, then keys and places down to the key.
    number
        The new value, finite.
    after
        Keys to insert behind if the key is absent, best first.

    Raises
    ------
    InputError
        If the value is shared with other places of the document, or is no number.

    Examples
    --------
    >>> from check_workbench.documents.text import parse
    >>> set_number(parse("rule:\n  type: repeat # loop\n", "yaml"), (0, "rule", "at_least"), 4)
    Edit(start=27, end=27, text='\n  at_least: 4')
    """
    parent = owned(document, path[:-1])
    name = str(path[-1])
    if not isinstance(parent, Mapping):
        raise InputError(f"{spoken(path)} must lie in a mapping")
    entry = parent.entry(name)
    if entry is None:
        return inserted(document.text, parent, f"{quoted(parent, name)}: {decimal_text(number)}", after)
    value = owned(document, path)
    if not isinstance(value, Scalar) or isinstance(value.value, bool) or not isinstance(value.value, int | float):
        raise InputError(f"{spoken(path)} must be a number to be replaced, in line {value.line}")
    written = decimal_text(number, whole=isinstance(value.value, int))
    return Edit(start=value.start, end=value.end, text=written)


def delete_key(document: Document, path: Path) -> Edit:
    r"""Return the edit that takes a key and its value away, with the comment in their line.

    Parameters
    ----------
    document
        The document.
    path
        Place of the root, then keys and places down to the key.

    Raises
    ------
    InputError
        If the key does not exist, is the only one, or is shared with other places of the document.

    Examples
    --------
    >>> from check_workbench.documents.text import parse
    >>> document = parse("a: 1\nb: 2 # two\nc: 3\n", "yaml")
    >>> edited(document.text, [delete_key(document, (0, "b"))])
    'a: 1\nc: 3\n'
    """
    parent = owned(document, path[:-1])
    owned(document, path)
    entry = parent.entry(str(path[-1])) if isinstance(parent, Mapping) else None
    if not isinstance(parent, Mapping) or entry is None:
        raise InputError(f"{spoken(path)} does not exist")
    own = [known for known in parent.entries if not known.merged]
    place = own.index(entry)
    following = own[place + 1] if place + 1 < len(own) else None
    if parent.flow and following is not None:
        end = gone_to(document.text, entry.key.start, end_of(entry.value), following.key.start)
        return Edit(start=entry.key.start, end=end, text="")
    if parent.flow and place:
        start, end = without_last(document.text, own[place - 1].value.end, entry.key.start, entry.value.end)
        return Edit(start=start, end=end, text="")
    if parent.flow or len(own) == 1:
        raise InputError(f"{spoken(path)} is the only key of its mapping and cannot be taken away")
    return _key_lines(document.text, entry, following)


def list_text(document: Document, path: Path, key: str) -> Edit:
    r"""Return the edit that turns a text into a list of one mapping, which holds the text under a key.

    Parameters
    ----------
    document
        The document.
    path
        Place of the root, then keys and places down to the text.
    key
        The key under which the text stands afterwards.

    Raises
    ------
    InputError
        If it is no text, or is shared with other places of the document.

    Examples
    --------
    >>> from check_workbench.documents.text import parse
    >>> document = parse("check: It holds. # ours\n", "yaml")
    >>> edited(document.text, [list_text(document, (0, "check"), "ask")])
    'check:\n  - ask: It holds. # ours\n'
    """
    parent, value = owned(document, path[:-1]), owned(document, path)
    entry = parent.entry(str(path[-1])) if isinstance(parent, Mapping) else None
    if not isinstance(parent, Mapping) or entry is None or not isinstance(value, Scalar):
        raise InputError(f"{spoken(path)} must be a text")
    raw = document.text[value.start : value.end]
    if parent.flow:
        return Edit(start=value.start, end=value.end, text=f"[{{{quoted(parent, key)}: {raw}}}]")
    colon = document.text.index(":", entry.key.end) + 1
    indent = " " * (entry.key.column + 1)
    lines = lines_of(raw)
    moved = lines[0] + "".join(f"    {line}" if line.strip() else line for line in lines[1:])
    text = f"{newline_of(document.text)}{indent}- {key}: {moved}"
    return Edit(start=colon, end=value.end, text=text)


def inserted(text: str, parent: Mapping, line: str, after: tuple[str, ...]) -> Edit:
    """Return the edit that puts a key with its value behind the first known of some keys, else behind the last one."""
    own = [entry for entry in parent.entries if not entry.merged]
    name = line.split(":", maxsplit=1)[0]
    if not own:
        raise InputError(f"{name} cannot be inserted in line {parent.line}: no key stands there yet")
    sibling = next((entry for name in after for entry in own if entry.name == name), own[-1])
    end = end_of(sibling.value)
    if parent.flow:
        return Edit(start=end, end=end, text=_flow_gap(text, sibling, end) + line)
    indent = " " * (sibling.key.column - 1)
    rest = REST.match(text, end)
    if end and text[end - 1] in "\r\n":
        return Edit(start=end, end=end, text=f"{indent}{line}{newline_of(text)}")
    if rest is None:
        raise InputError(f"{name} cannot be inserted behind {sibling.name}, line {sibling.key.line}")
    return Edit(start=rest.end(), end=rest.end(), text=f"{newline_of(text)}{indent}{line}")


def _flow_gap(text: str, sibling: Entry, end: int) -> str:
    """Return the comma, and a new line where the siblings stand on lines of their own."""
    start = line_start(text, sibling.key.start)
    before = text[start : sibling.key.start]
    if before.strip() or not re.compile(r"[ \t]*,?[ \t]*(?=[\r\n]|\Z)").match(text, end):
        return ", "
    return f",{newline_of(text)}{before}"


def _key_lines(text: str, entry: Entry, following: Entry | None) -> Edit:
    start, end = line_start(text, entry.key.start), end_of(entry.value)
    if text[start : entry.key.start].strip():
        if following is None:
            raise InputError(f"{entry.name} in line {entry.key.line} cannot be taken away: no key stands below it")
        return Edit(start=entry.key.start, end=gone_to(text, entry.key.start, end, following.key.start), text="")
    if text[end - 1] in "\r\n":
        return Edit(start=start, end=end, text="")
    rest = REST.match(text, end)
    if rest is None:
        raise InputError(f"{entry.name} in line {entry.key.line} cannot be taken away: other text follows in its line")
    newline = BREAK.match(text, rest.end())
    if newline is not None:
        return Edit(start=start, end=newline.end(), text="")
    before = _LAST_BREAK.search(text, 0, start)
    return Edit(start=before.start() if before else start, end=rest.end(), text="")
