"""Rows of tables as plain values."""

from __future__ import annotations

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
    plain = {str(name): _values(table[name]) for name in table.columns}
    return [dict(zip(plain, values, strict=True)) for values in zip(*plain.values(), strict=True)]


def _values(column: pd.Series[Any]) -> list[Any]:
    objects = column.astype(object)
    return objects.where(column.notna(), None).tolist()
