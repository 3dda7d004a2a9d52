"""Numbers as documents write them, and JSON in its one canonical form."""

from __future__ import annotations

import json
import sys
from decimal import Decimal
from typing import Any

_LARGEST = int(sys.float_info.max)


def decimal_text(number: float, *, whole: bool = False) -> str:
    """Write a number as the shortest exact decimal, without an exponent.

    Parameters
    ----------
    number
        A finite number.
    whole
        Whether a whole value is written without a fraction, as where an integer stood before.

    Raises
    ------
    ValueError
        If the number is not finite.

    Examples
    --------
    >>> decimal_text(0.85), decimal_text(1e-7), decimal_text(4.0), decimal_text(4.0, whole=True)
    ('0.85', '0.0000001', '4.0', '4')
    """
    exact = Decimal(repr(number))
    if not exact.is_finite():
        message = f"a threshold must be a finite number, got {number}"
        raise ValueError(message)
    if exact == exact.to_integral_value():
        digits = format(exact.to_integral_value(), "f")
        return digits if whole or isinstance(number, int) else f"{digits}.0"
    return format(exact, "f")


def integer(text: str) -> float:
    """Read an integer, decimal or after `0x` or `0o`; one beyond every double is infinite.

    Examples
    --------
    >>> integer("-012"), integer("0x10"), integer("9" * 400)
    (-12, 16, inf)
    """
    base = {"0x": 16, "0o": 8}.get(text[:2], 10)
    if len(text) <= 400 and -_LARGEST <= (value := int(text, base)) <= _LARGEST:
        return value
    return float("-inf" if text.startswith("-") else "inf")


def canonical_json(value: Any) -> str:
    """Write a JSON value in canonical form.

    Source: RFC 8785, sections 3.2.2 and 3.2.3.

    Parameters
    ----------
    value
        Dicts, lists, texts, finite numbers, flags and None.

    Examples
    --------
    >>> canonical_json({"b": [1.0, 1e21, 0.000001], "a": None})
    '{"a":null,"b":[1,1e+21,0.000001]}'
    """
    match value:
        case dict():
            keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
            return "{" + ",".join(f"{canonical_json(key)}:{canonical_json(value[key])}" for key in keys) + "}"
        case list():
            return "[" + ",".join(map(canonical_json, value)) + "]"
        case float() | int() if not isinstance(value, bool):
            return _double(float(value))
        case _:
            return json.dumps(value, ensure_ascii=False)


def _double(number: float) -> str:
    """Write a double as ECMAScript does, section 6.1.6.1.20."""
    if number == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    text, point = "".join(map(str, digits)), len(digits) + int(exponent)
    minus = "-" if sign else ""
    if 0 < point <= 21:
        padded = text.ljust(point, "0")
        return minus + (padded if len(padded) == point else f"{padded[:point]}.{padded[point:]}")
    if -6 < point <= 0:
        return f"{minus}0.{'0' * -point}{text}"
    mantissa = text if len(text) == 1 else f"{text[0]}.{text[1:]}"
    return f"{minus}{mantissa}e{point - 1:+d}"
