"""JSON that an export wrote down as text, once or twice."""

from __future__ import annotations

from typing import Any

from check_workbench.sources.json_text import decode

_BRACKETS = frozenset("{[")


def meant(value: Any) -> Any:
    r"""Undo the encoding of a value that was written as JSON text.

    A text that is itself a JSON string is that string; a text that is an object or an array, before or after that, is
    that object or array. Everything else stays as recorded: numbers, `true`, `null` and broken JSON are words of
    somebody, and the texts inside of what was decoded are left alone.

    Parameters
    ----------
    value
        As recorded.

    Examples
    --------
    >>> meant('"Hello"'), meant('{"a": 1}'), meant('"{\\"a\\": 1}"'), meant("42"), meant("{broken")
    ('Hello', {'a': 1}, {'a': 1}, '42', '{broken')
    """
    if not isinstance(value, str):
        return value
    text = _decoded(value) if value.lstrip()[:1] == '"' else value
    return _decoded(text) if text.lstrip()[:1] in _BRACKETS else text


def _decoded(text: str) -> Any:
    try:
        return decode(text)
    except ValueError:
        return text
