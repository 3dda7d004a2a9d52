"""Unbound Ibis expressions as DuckDB SQL, in any thread."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb
    import ibis

_first = threading.Lock()


def compiled(expr: ibis.Expr) -> str:
    """Return the DuckDB SQL of an unbound Ibis expression."""
    import ibis

    with _first:
        return str(ibis.to_sql(expr, dialect="duckdb", pretty=False))


@contextlib.contextmanager
def memory_tables(cursor: duckdb.DuckDBPyConnection, expr: ibis.Expr) -> Iterator[None]:
    """Show the tables in memory that an expression names to a cursor."""
    from ibis.expr import operations

    found = expr.op().find(operations.InMemoryTable)
    for node in found:
        cursor.register(node.name, node.data.to_pyarrow(node.schema))
    try:
        yield
    finally:
        for node in found:
            cursor.unregister(node.name)
