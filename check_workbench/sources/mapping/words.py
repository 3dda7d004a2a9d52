"""Values as JSON has them, and as words, so that the number 4, the text `4` and the text `4.0` are the same."""

from __future__ import annotations

import math
import re
from datetime import date
from decimal import Decimal
from typing import Any

from check_workbench.errors import InputError

_WHOLE = re.compile(r"([+-]?)0*([0-9]+)\.0*")


def word(value: Any) -> str:
    """Return a single value as it is compared with others.

    Parameters
    ----------
    value
        A text, number or flag.

    Raises
    ------
    InputError
        If it is a list or an object.

    Examples
    --------
    >>> word(4), word("4.0"), word(4.0), word(True), word(" a ")
    ('4', '4', '4', 'true', 'a')
    """
    if isinstance(value, str):
        text = value.strip()
        whole = _WHOLE.fullmatch(text)
        return f"{whole[1].removeprefix('+')}{whole[2]}" if whole else text
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list):
        raise InputError(f"it must be one value, got {'an object' if isinstance(value, dict) else 'a list'}")
    if isinstance(value, float) and value.is_integer():
        return str(int(value)) if abs(value) < 1e18 else repr(value)
    return str(value) if not isinstance(value, int) or abs(value) < 10**80 else "a huge number"


def plain(value: Any) -> Any:
    """Return a cell of a table as JSON would hold it; what is no number and what are bytes is missing.

    Examples
    --------
    >>> from datetime import datetime
    >>> plain([datetime(2026, 3, 1), Decimal("1.5"), float("nan")])
    ['2026-03-01T00:00:00', 1.5, None]
    """
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value if value is None or isinstance(value, str | int | float) else None
