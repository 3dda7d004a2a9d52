"""Decode the start of a JSON text that may end anywhere."""

from __future__ import annotations

import json
import re
from typing import Any

TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[{}\[\],:]|[^\s"{}\[\],:]+', re.DOTALL)
_CLOSING = {"{": "}", "[": "]"}
_SPACE = re.compile(r"[ \t\r\n,\ufeff]*")
_DECODER = json.JSONDecoder()


def first_records(text: str, most: int) -> list[Any]:
    """Decode the first records of lines, of an array, or of one object.

    Parameters
    ----------
    text
        The start of a file. What its end cuts off is closed.
    most
        How many records.

    Examples
    --------
    >>> first_records('[{"a": 1}, {"b": [2, "th', 5)
    [{'a': 1}, {'b': [2, 'th']}]
    """
    found: list[Any] = []
    at = _gap(text, 0)
    at = _gap(text, at + text.startswith("[", at))
    while len(found) < most and text[at : at + 1] in {"{", "[", '"'}:
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            value, at = _closed(text[at:]), len(text)
        if value is not None:
            found.append(value)
        at = _gap(text, at)
    return found


def _gap(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _closed(text: str) -> Any:
    """Decode a text that is cut off anywhere, or return None where it is broken before its end."""
    for cut in reversed(_whole(text.rstrip("\\"))):
        try:
            return json.loads(cut)
        except (ValueError, RecursionError):
            continue
    return None


def _whole(text: str) -> tuple[str, str]:
    """Close a text behind its last whole value, and behind the string in which it ends."""
    stack: Any = None
    safe: Any = None
    before, at = "", 0
    for match in TOKEN.finditer(text):
        piece = match[0]
        if piece in _CLOSING:
            stack = (_CLOSING[piece], stack)
        elif stack is not None and piece in ("}", "]"):
            stack = stack[1]
        is_key = piece.startswith('"') and stack is not None and stack[0] == "}" and before != ":"
        before = piece
        if piece not in ",:" and not is_key and (match.end() < len(text) or piece in "{}[]"):
            at, safe = match.end(), stack
    return text[:at] + _closers(safe), text + '"' + _closers(stack)


def _closers(stack: Any) -> str:
    found = []
    while stack is not None:
        closer, stack = stack
        found.append(closer)
    return "".join(found)
