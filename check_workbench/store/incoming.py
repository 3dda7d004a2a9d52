"""Rows of a caller as a temporary table, ready to be inserted."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from check_workbench.store import frames
from check_workbench.store.expressions import compiled, memory_tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb
    import ibis
    import pandas as pd


@contextlib.contextmanager
def staged(
    cursor: duckdb.DuckDBPyConnection, name: str, rows: pd.DataFrame | ibis.Table, *, read_once: bool
) -> Iterator[list[str]]:
    """Show the rows as `new_rows`, copied unless they are an expression that is read once; yield their columns."""
    from pandas import DataFrame

    if isinstance(rows, DataFrame):
        columns = [str(column) for column in rows.columns]
        cursor.register("new_frame", frames.to_arrow(name, rows))
        cursor.execute("create or replace temp table new_rows as select * from new_frame")
        cursor.unregister("new_frame")
        yield columns
        cursor.execute("drop table new_rows")
        return
    kind = "view" if read_once else "table"
    with memory_tables(cursor, rows):
        cursor.execute(f"create or replace temp {kind} new_rows as {compiled(rows)}")
        yield list(rows.columns)
        cursor.execute(f"drop {kind} new_rows")
