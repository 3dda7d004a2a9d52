"""Ids, states and kinds as OpenTelemetry exports write them."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from check_workbench.errors import InputError

TRACE, SPAN = 32, 16
"""Hexadecimal digits of an id."""
_BASE64 = {TRACE: (24, "=="), SPAN: (12, "=")}
_HEX = "0123456789abcdef"
_NO_ID = frozenset({"", "0" * TRACE, "0" * SPAN})
_KINDS: dict[int, str] = dict(enumerate(("", "internal", "server", "client", "producer", "consumer")))
_STATES = {"0": None, "1": False, "2": True, "UNSET": None, "OK": False, "ERROR": True, "": None}


def identifier(value: Any, digits: int) -> str | None:
    """Return an id as lower-case hexadecimal digits; what is neither hexadecimal nor base64 stays as it is.

    Parameters
    ----------
    value
        As recorded; nothing, an empty text and an id of zeros mean that there is none.
    digits
        `TRACE` or `SPAN`, by which base64 is told.

    Raises
    ------
    InputError
        If it is no text and no number.

    Examples
    --------
    >>> identifier("tH12H+eb6IruQTQs3VJyaA==", TRACE), identifier("0xAB", SPAN), identifier("0000000000000000", SPAN)
    ('b47d761fe79be88aee41342cdd527268', 'ab', None)
    """
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        value = f"{value:0{digits}x}"
    if value is None:
        return None
    if not isinstance(value, str):
        raise InputError(f"an id must be text, got {value!r:.80}")
    if value in _NO_ID:
        return None
    if not value.strip(_HEX):
        return value
    length, padding = _BASE64[digits]
    if len(value) == length and value.endswith(padding):
        return _from_base64(value)
    bare = value.lower().removeprefix("0x")
    return (bare if bare not in _NO_ID else None) if not bare.strip(_HEX) else value


def _from_base64(value: str) -> str | None:
    try:
        found = base64.b64decode(value.replace("-", "+").replace("_", "/"), validate=True).hex()
    except (binascii.Error, ValueError):
        return value
    return None if found in _NO_ID else found


def failed(code: Any) -> bool | None:
    """Say what the code of a status means: true is an error, false is fine, None is not set.

    Raises
    ------
    InputError
        If it is none of them.

    Examples
    --------
    >>> failed("STATUS_CODE_ERROR"), failed(1), failed("Unset")
    (True, False, None)
    """
    if code is None:
        return None
    name = str(code).upper().removeprefix("STATUSCODE.").removeprefix("STATUS_CODE_")
    if name not in _STATES:
        raise InputError(f"a status must be UNSET, OK or ERROR, got {code!r:.80}")
    return _STATES[name]


def kind_of(value: Any) -> str | None:
    """Return the kind of a span: internal, server, client, producer or consumer; None where it is not told.

    Examples
    --------
    >>> kind_of("SPAN_KIND_CLIENT"), kind_of(1), kind_of(0)
    ('client', 'internal', None)
    """
    if isinstance(value, int):
        return _KINDS.get(value, str(value)) or None
    if not isinstance(value, str):
        return None
    name = value.lower().removeprefix("span_kind_").removeprefix("spankind.")
    return name or None
