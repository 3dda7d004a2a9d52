"""Edits of links and lists: one word in place of a value, and an item taken out of a list."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from check_workbench.documents.edits import Edit, inserted
from check_workbench.documents.lines import (
    BREAK,
    REST,
    comments_in,
    end_of,
    gone_to,
    line_start,
    newline_of,
    owned,
    quoted,
    spoken,
    without_last,
)
from check_workbench.documents.tree import Mapping, Node, Path, Scalar, Sequence
from check_workbench.errors import InputError

if TYPE_CHECKING:
    from check_workbench.documents.text import Document

_DEEPER = re.compile(r"([ \t]*)#[^\r\n]*(?:\r\n|\r|\n)")
_BLANK = re.compile(r"(?:[ \t]*(?:\r\n|\r|\n))+")
_NO_TEXT = ("true", "false", "null")


def set_word(document: Document, path: Path, word: str) -> Edit:
    r"""Return the edit that gives a key or an item one plain word, in place of whatever stands there.

    The comments inside a list stay, above the word.

    Parameters
    ----------
    document
        The document.
    path
        Place of the root, then keys and places down to the value; an absent key is inserted as the last one.
    word
        Letters, digits, `-` and `_`.

    Raises
    ------
    InputError
        If the value is shared with other places of the document, or spreads over several lines.

    Examples
    --------
    >>> from check_workbench.documents import edited, parse
    >>> document = parse("next: [a, b] # then\n", "yaml")
    >>> edited(document.text, [set_word(document, (0, "next"), "c")])
    'next: c # then\n'
    """
    parent = owned(document, path[:-1])
    plain_word = f'"{word}"' if word in _NO_TEXT else word
    entry = parent.entry(str(path[-1])) if isinstance(parent, Mapping) else None
    if isinstance(parent, Mapping) and entry is None:
        said = f"{quoted(parent, str(path[-1]))}: {_alike(parent, word, plain_word)}"
        return inserted(document.text, parent, said, ())
    value = owned(document, path)
    if isinstance(value, Scalar):
        if value.style == "block":
            raise InputError(f"{spoken(path)} must be written in one line, in line {value.line}")
        mark = document.text[value.start] if value.style == "quoted" else ""
        return Edit(start=value.start, end=value.end, text=f"{mark}{word}{mark}" if mark else plain_word)
    if entry is None:
        return Edit(start=value.start, end=end_of(value), text=_alike(parent, word, plain_word))
    colon, said = document.text.index(":", entry.key.end) + 1, _alike(parent, word, plain_word)
    above = comments_in(document.text, colon, value)
    inside = "".join(f"{newline_of(document.text)}{' ' * (entry.key.column + 1)}{line}" for line in [*above, said])
    return Edit(start=colon, end=end_of(value), text=inside if above else f" {said}")


def delete_item(document: Document, path: Path) -> Edit:
    r"""Return the edit that takes an item out of a list, with the comments behind and inside it.

    What stands above the item stays; of two blank lines that would meet, one goes.

    Parameters
    ----------
    document
        The document.
    path
        Place of the root, then keys and places down to the item.

    Raises
    ------
    InputError
        If the item does not exist, is the only one, or is shared with other places of the document.

    Examples
    --------
    >>> from check_workbench.documents import edited, parse
    >>> document = parse("steps:\n- id: a\n\n- id: b # two\n  # more\n\n- id: c\n", "yaml")
    >>> edited(document.text, [delete_item(document, (0, "steps", 1))])
    'steps:\n- id: a\n\n- id: c\n'
    """
    parent, item, place = owned(document, path[:-1]), owned(document, path), path[-1]
    if not isinstance(parent, Sequence) or not isinstance(place, int) or len(parent.items) == 1:
        raise InputError(f"{spoken(path)} is the only item of its list and cannot be taken away")
    if not parent.flow:
        return _item_lines(document.text, parent, item)
    if place + 1 < len(parent.items):
        end = gone_to(document.text, item.start, item.end, parent.items[place + 1].start)
        return Edit(start=item.start, end=end, text="")
    start, end = without_last(document.text, parent.items[place - 1].end, item.start, item.end)
    return Edit(start=start, end=end, text="")


def _item_lines(text: str, parent: Sequence, item: Node) -> Edit:
    dash = parent.column - 1
    start = line_start(text, item.start)
    while text[start + dash : start + dash + 1] != "-" and start > parent.start:
        start = line_start(text, start - 1)
    if text[start : start + dash].strip() or text[start + dash] != "-":
        raise InputError(f"the item in line {item.line} cannot be taken away: it shares its line with something else")
    end = end_of(item)
    if text[end - 1] not in "\r\n":
        rest = REST.match(text, end)
        if rest is None:
            raise InputError(f"the item in line {item.line} cannot be taken away: other text follows in its line")
        newline = BREAK.match(text, rest.end())
        end = newline.end() if newline else rest.end()
    while (inside := _DEEPER.match(text, end)) and len(inside[1]) > dash:
        end = inside.end()
    if (blank := _BLANK.match(text, end)) and not text[line_start(text, max(0, start - 1)) : start].strip():
        end = blank.end()
    return Edit(start=start, end=end, text="")


def _alike(parent: Node, word: str, plain_word: str) -> str:
    """Write a word as the keys beside it are written."""
    return f'"{word}"' if isinstance(parent, Mapping) and quoted(parent, word) != word else plain_word
