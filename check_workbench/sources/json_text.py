"""Decode one piece of JSON text strictly: no NaN, no infinity, no half characters, no bottomless nesting."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

_HALF = re.compile("[\ud800-\udfff]")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is too large for a number")
    return value


DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite)


def decode(text: str) -> Any:
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
    try:
        return whole(DECODER.decode(text), text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def whole(value: Any, text: str) -> Any:
    """Return the value with half characters replaced, where its JSON text may hold any."""
    return _mended(value) if "\\ud" in text or "\\uD" in text else value


def reason_of(error: ValueError) -> str:
    """Say in a few words why a text could not be decoded."""
    if isinstance(error, json.JSONDecodeError):
        return f"not valid JSON: {error.msg} at character {error.pos + 1}"
    if isinstance(error, UnicodeDecodeError):
        return f"the text must be UTF-8, but byte {error.start + 1} is not"
    return f"not valid JSON: {error}"


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return _HALF.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_mended(key): _mended(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_mended(item) for item in value]
    return value
