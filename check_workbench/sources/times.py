"""Times as tracing tools write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

_WHOLE = re.compile(r"[+-]?\d{1,20}")
_REAL = re.compile(r"[+-]?\d{1,20}\.\d*(?:[eE][+-]?\d{1,3})?")
_UNITS = ((10**11, 10**6), (10**14, 10**3), (10**17, 1))
"""Numbers below the first are seconds, below the second milliseconds, below the third microseconds; each with the
microseconds in one. What is larger counts nanoseconds."""
_START = datetime(1970, 1, 1, tzinfo=UTC)


def when(value: Any) -> datetime | None:
    """Read a time in ISO 8601, or as seconds, milliseconds, microseconds or nanoseconds since 1970.

    The unit of a number is told by its size, which is clear for times from 1974 to 5138. A time without a zone is UTC.

    Parameters
    ----------
    value
        Text or a number; None and an empty text mean that there is none, as 0 does in many exports.

    Raises
    ------
    ValueError
        If it is no time.

    Examples
    --------
    >>> when("1786051888270252114").isoformat(), when("2026-08-06T22:11:28.270Z").isoformat()
    ('2026-08-06T21:31:28.270252+00:00', '2026-08-06T22:11:28.270000+00:00')
    """
    if value is None or value in ("", 0, "0"):
        return None
    if isinstance(value, str):
        return _text(value.strip())
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _number(value)
    raise ValueError(f"a time must be text or a number, got {type(value).__name__}")


def _text(text: str) -> datetime:
    if _WHOLE.fullmatch(text):
        return _number(int(text))
    if _REAL.fullmatch(text):
        return _number(float(text))
    try:
        found = datetime.fromisoformat(text)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(f"{text[:80]!r} is no time: it must be ISO 8601, or a number since 1970") from None


def _number(value: float) -> datetime:
    if not abs(value) < 10**20:  # not a number is not less either
        raise ValueError(f"{value!r:.80} is no time since 1970")
    factor = next((factor for limit, factor in _UNITS if abs(value) < limit), None)
    micros = int(value) // 1000 if factor is None else round(value * factor)
    try:
        return _START + timedelta(microseconds=micros)
    except OverflowError:
        raise ValueError(f"{value!r:.80} is no time since 1970") from None
