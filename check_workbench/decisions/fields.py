"""Turn the written form of a field into its value, or say what it must be."""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError, hint

if TYPE_CHECKING:
    from collections.abc import Sequence

EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
LATEST = datetime(2200, 1, 1, tzinfo=UTC)
_FLAGS = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}(\.0*)?")
_EPOCH = re.compile(r"[+-]?[0-9]{1,18}(\.[0-9]*)?")


def text(name: str, value: Any) -> str:
    """Return a text; a number becomes its digits.

    Examples
    --------
    >>> text("run_id", 7), text("answer", 2.0)
    ('7', '2')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{name} must be text, got {_shown(value)}")
    if isinstance(value, int):
        return str(value)
    return str(int(value)) if value.is_integer() else str(number(name, value))


def one_of(name: str, value: Any, choices: Sequence[str]) -> str:
    """Return one of the known words.

    Raises
    ------
    InputError
        If it is none; with a spelling hint.
    """
    if value in choices:
        return str(value)
    raise InputError(f"{name} must be a known word, got {_shown(value)}.{hint(str(value)[:80].lower(), choices)}")


def flag(name: str, value: Any) -> bool:
    """Return a truth value: true or false, yes or no, 1 or 0."""
    if isinstance(value, bool):
        return value
    found = _FLAGS.get(str(value).lower()) if isinstance(value, str | int) else None
    if found is None:
        raise InputError(f"{name} must be true or false, got {_shown(value)}")
    return found


def whole(name: str, value: Any, *, least: int | None = None) -> int:
    """Return a whole number; `2.0` is one.

    Parameters
    ----------
    name
        The field, for messages.
    value
        As it was written.
    least
        The smallest number that may be.
    """
    found: int | None = None
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        found = int(value.partition(".")[0])
    elif isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e18 and value == int(value):
        found = int(value)
    if found is None or (least is not None and found < least):
        bound = "" if least is None else f" from {least} on"
        raise InputError(f"{name} must be a whole number{bound}, got {_shown(value)}")
    return found


def number(name: str, value: Any) -> float:
    """Return a finite number."""
    try:
        found = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if not isinstance(value, int | float | Decimal | str) or not math.isfinite(found):
        comma = isinstance(value, str) and "," in value
        raise InputError(f"{name} must be a number{' with a point, not a comma' if comma else ''}, got {_shown(value)}")
    return found


def share(name: str, value: Any) -> float:
    """Return a number from 0 to 1."""
    found = number(name, value)
    if not 0 <= found <= 1:
        raise InputError(f"{name} must lie between 0 and 1, got {_shown(value)}")
    return found


def time(name: str, value: Any) -> tuple[datetime, bool]:
    """Return a time in UTC, and whether it was written without a time zone.

    Parameters
    ----------
    name
        The field, for messages.
    value
        ISO 8601, seconds since 1970, or a datetime.

    Examples
    --------
    >>> time("decided_at", "2026-03-01T10:00:00+02:00")[0].isoformat()
    '2026-03-01T08:00:00+00:00'
    """
    found = _parsed(value)
    if found is None:
        raise InputError(f"{name} must be an ISO 8601 time or seconds since 1970, got {_shown(value)}")
    naive = found.tzinfo is None
    try:
        moment = found.replace(tzinfo=UTC) if naive else found.astimezone(UTC)
        fits = EARLIEST <= moment < LATEST
    except OverflowError:
        fits = False
    if not fits:
        raise InputError(f"{name} must lie between 2000 and 2200, got {_shown(value)}")
    return moment, naive


def _parsed(value: Any) -> datetime | None:
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime.combine(value, datetime.min.time())
    if isinstance(value, str):
        return _epoch(float(value)) if _EPOCH.fullmatch(value) else _iso(value)
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return _epoch(value)
    return None


def _iso(text_: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text_.strip())
    except ValueError:
        return None


def _epoch(seconds: float | Decimal) -> datetime | None:
    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=float(seconds))
    except (OverflowError, ValueError):
        return None


def _shown(value: Any) -> str:
    written = (
        repr(value) if not isinstance(value, int) or isinstance(value, bool) or abs(value) < 1e80 else "a huge number"
    )
    return written if len(written) <= 80 else f"{written[:77]}…"
