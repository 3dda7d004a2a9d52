"""What edits share: lines and their ends, where a node ends, and who else shares it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from check_workbench.documents.tree import Mapping, Node, Path, Scalar, Sequence, walk
from check_workbench.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from check_workbench.documents.text import Document

REST = re.compile(r"[ \t]*(?:#[^\r\n]*)?(?=[\r\n]|\Z)")
"""Blanks and a comment up to the end of the line."""
COMMENT = re.compile(r"#[^\r\n]*")
BREAK = re.compile(r"\r\n|\r|\n")
_COMMA = re.compile(r"(?:\s|#[^\r\n]*)*,")
_COMMENT_LINE = re.compile(r"(?:\r\n|\r|\n)[ \t]*(?=#)")
_WHY = {
    "anchored": "is shared through an anchor (&)",
    "aliased": "comes through an alias (*)",
    "tagged": "carries a tag (!)",
}


def owned(document: Document, path: Path) -> Node:
    """Return the node at a path, refusing what other places share."""
    root = document.roots[int(path[0])]
    steps = list(walk(root, path[1:]))
    if len(steps) != len(path):
        raise InputError(f"{spoken(path)} does not exist")
    for node, merged in steps:
        why = "comes in through a merge key (<<)" if merged else _WHY.get(node.shared)
        if why:
            raise InputError(
                f"{spoken(path)} cannot be changed, because what stands in line {node.line}, column {node.column} "
                f"{why}. Write it out at the one place where it is meant, then try again.",
            )
    return steps[-1][0]


def spoken(path: Path) -> str:
    """Name a path for a message."""
    return ".".join(str(part) for part in path[1:]) or "the document"


def end_of(node: Node) -> int:
    """Return where the characters of a node end; a parser puts the end of a block at the next token."""
    if isinstance(node, Scalar) or node.flow or node.shared == "aliased":
        return node.end
    last = node.items[-1] if isinstance(node, Sequence) else node.entries[-1].value
    return end_of(last)


def gone_to(text: str, start: int, end: int, following: int) -> int:
    """Return up to where something goes that reaches from start to end: to what follows, comments above that apart."""
    found = _COMMENT_LINE.search(text, end, following)
    if found is None:
        return following
    return found.end() if text[start - 1].isspace() else found.start()


def without_last(text: str, before: int, start: int, end: int) -> tuple[int, int]:
    """Return what goes of a list or mapping in flow style with its last part, whose neighbour ends at `before`.

    The comma before it goes as well, unless a comment stands between; then one behind it goes, and the line of the part
    where nothing else stands there.
    """
    comments = [*COMMENT.finditer(text, before, start)]
    if not comments:
        return before, end
    comma = _COMMA.match(text, end)
    end = comma.end() if comma else end
    rest = REST.match(text, end)
    return (comments[-1].end(), rest.end()) if rest else (start, end)


def comments_in(text: str, start: int, node: Node) -> list[str]:
    """List the comments between a place and the end of a node that begins behind it, in order."""
    found, offset = [], start
    for begins, ends in _leaves(node):
        found += COMMENT.findall(text, offset, begins)
        offset = ends
    return found


def _leaves(node: Node) -> Iterator[tuple[int, int]]:
    """Yield where the characters of keys and plain values lie, in order."""
    if isinstance(node, Scalar) or node.shared == "aliased":
        yield node.start, node.end
    elif isinstance(node, Sequence):
        for item in node.items:
            yield from _leaves(item)
    else:
        for entry in node.entries:
            yield entry.key.start, entry.key.end
            yield from _leaves(entry.value)


def quoted(parent: Mapping, name: str) -> str:
    """Write a key as the keys beside it are written."""
    quoted = parent.flow and parent.entries and parent.entries[0].key.style == "quoted"
    return f'"{name}"' if quoted else name


def line_start(text: str, offset: int) -> int:
    """Return the offset at which the line of an offset begins."""
    return max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1


def newline_of(text: str) -> str:
    """Return the line end of a text."""
    found = BREAK.search(text)
    return found[0] if found else "\n"


def lines_of(text: str) -> list[str]:
    """Split into lines that keep their ends."""
    ends = [found.end() for found in BREAK.finditer(text)]
    return [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]
