"""Rows of tables as plain values."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table with None for whatever is missing.

    Parameters
    ----------
    table
        Any table.

    Examples
    --------
    >>> import pandas as pd
    >>> rows_of(pd.DataFrame({"run": ["a"], "attempt": pd.array([None], dtype="Int64")}))
    [{'run': 'a', 'attempt': None}]
    """
    plain = {str(name): plain_values(table[name]) for name in table.columns}
    return [dict(zip(plain, values, strict=True)) for values in zip(*plain.values(), strict=True)]


def naive(moment: datetime | None) -> datetime | None:
    """Return a time in UTC without saying so, as the store holds it.

    Examples
    --------
    >>> naive(datetime.fromisoformat("2026-10-06T11:04:20+02:00"))
    datetime.datetime(2026, 10, 6, 9, 4, 20)
    """
    if moment is None or moment.tzinfo is None:
        return moment
    return moment.astimezone(UTC).replace(tzinfo=None)


def plain_values(column: pd.Series[Any]) -> list[Any]:
    """Return the values of a column with None for whatever is missing."""
    objects = column.astype(object)
    return objects.where(column.notna(), None).tolist()
