"""JSON that an export wrote down as text, once or twice."""

from __future__ import annotations

from typing import Any

from check_workbench.sources.json_text import decode


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
    return _opened(_opened(value, '"'), "{[")


def _opened(value: Any, brackets: str) -> Any:
    if not isinstance(value, str) or not value.lstrip().startswith(tuple(brackets)):
        return value
    try:
        return decode(value)
    except ValueError:
        return value
