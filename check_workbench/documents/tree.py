"""What a document says and where it says it: `Scalar`, `Sequence`, `Mapping`, and `Flaw`."""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from collections.abc import Iterator

_BREAK = re.compile(r"\r\n|\r|\n")
_BOM = "\ufeff"


@dataclass(frozen=True, slots=True, kw_only=True)
class Flaw:
    """Why a document cannot be read, and where."""

    line: int
    column: int
    message: str
    hint: str = ""
    code: str = "syntax"


class FlawError(Exception):
    """Carries the flaw at which reading had to stop."""

    def __init__(self, flaw: Flaw) -> None:
        super().__init__(flaw.message)
        self.flaw = flaw


class Place(TypedDict):
    """Where a node stands: offsets in characters, line and column from 1."""

    start: int
    end: int
    line: int
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar:
    """A text, number, flag or null."""

    value: Any
    start: int
    end: int
    line: int
    column: int
    style: Literal["plain", "quoted", "block"] = "plain"
    shared: str = ""
    """`anchored`, `aliased` or `tagged` where its characters say more than its value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sequence:
    """A list."""

    items: tuple[Node, ...]
    start: int
    end: int
    line: int
    column: int
    flow: bool
    shared: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A key and its value in a mapping."""

    key: Scalar
    name: str
    """The key as text, also where it is a number or a flag."""
    value: Node
    merged: bool = False
    """Whether it came in through a merge key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapping:
    """Keys and values in document order; no key stands twice."""

    entries: tuple[Entry, ...]
    start: int
    end: int
    line: int
    column: int
    flow: bool
    shared: str = ""

    def entry(self, name: str) -> Entry | None:
        """Return the entry of a key, or None."""
        return next((entry for entry in self.entries if entry.name == name), None)

    def get(self, name: str) -> Node | None:
        """Return the value of a key, or None."""
        found = self.entry(name)
        return None if found is None else found.value

    def names(self) -> tuple[str, ...]:
        """List the keys."""
        return tuple(entry.name for entry in self.entries)


Node = Scalar | Sequence | Mapping
Path = tuple[str | int, ...]


class Lines:
    """Turns character offsets of a text into lines and columns, both from 1; a byte order mark has no column."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(found.end() for found in _BREAK.finditer(text))]
        self._mark = text.startswith(_BOM)

    def __call__(self, offset: int) -> tuple[int, int]:
        """Return line and column of an offset."""
        line = bisect.bisect_right(self._starts, offset)
        column = offset - self._starts[line - 1] + 1
        if self._mark and line == 1:
            column = max(1, column - 1)
        return line, column


def plain(node: Node) -> Any:
    """Return the value of a node as plain dicts, lists and scalars."""
    match node:
        case Scalar(value=value):
            return value
        case Sequence(items=items):
            return [plain(item) for item in items]
        case Mapping(entries=entries):
            return {entry.name: plain(entry.value) for entry in entries}


def walk(node: Node, path: Path) -> Iterator[tuple[Node, bool]]:
    """Yield the nodes along a path, from the root, each with whether a merge key brought it in.

    Parameters
    ----------
    node
        The root.
    path
        Keys and places; the walk ends early where one does not exist.
    """
    merged = False
    yield node, merged
    for part in path:
        if isinstance(node, Mapping) and isinstance(part, str) and (entry := node.entry(part)) is not None:
            node, merged = entry.value, merged or entry.merged
        elif isinstance(node, Sequence) and isinstance(part, int) and part < len(node.items):
            node = node.items[part]
        else:
            return
        yield node, merged


def at(node: Node, path: Path) -> Node | None:
    """Return the node at a path, or None."""
    nodes = [found for found, _ in walk(node, path)]
    return nodes[-1] if len(nodes) == len(path) + 1 else None
