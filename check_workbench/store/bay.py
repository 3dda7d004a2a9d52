"""Where the rows of one file wait, beside the transaction that stores them.

A transaction keeps every temporary table and every registered table that it has seen in memory until it ends. So rows
are staged on a cursor outside it, as Arrow, and the transaction sees them under a few names that it is shown once.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb
    import pyarrow as pa


class Bay:
    """The staging beside a transaction; a context manager.

    Parameters
    ----------
    cursor
        In the transaction.

    Attributes
    ----------
    cursor
        In the transaction.
    side
        Outside it: what is staged here is freed at once.
    """

    def __init__(self, cursor: duckdb.DuckDBPyConnection) -> None:
        self.cursor = cursor
        self.side = cursor.cursor()
        self._shown: dict[str, _Rows] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for name in self._shown:
            self.cursor.unregister(name)
        self.side.close()

    def show(self, name: str, rows: pa.Table) -> None:
        """Show rows to the transaction, in place of those that it was shown under this name; columns stay the same."""
        if name in self._shown:
            self._shown[name].rows = rows
            return
        self._shown[name] = _Rows(rows)
        self.cursor.register(name, self._shown[name])

    def keep(self, name: str, query: str) -> None:
        """Show the transaction the rows of a query of its own."""
        self.show(name, self.cursor.sql(query).to_arrow_table())

    @contextlib.contextmanager
    def in_one_thread(self) -> Iterator[None]:
        """Let the database insert in one thread: several leave small row groups, all rewritten as the file closes."""
        threads = self.side.execute("select current_setting('threads')").fetchall()[0][0]
        self.side.execute("set threads = 1")
        try:
            yield
        finally:
            self.side.execute(f"set threads = {threads}")


def keep(cursor: duckdb.DuckDBPyConnection, name: str, query: str) -> pa.Table:
    """Register the rows of a query on a cursor that is in no transaction, and return them."""
    rows = cursor.sql(query).to_arrow_table()
    cursor.register(name, rows)
    return rows


class _Rows:
    """Rows that are exchanged for others while they are registered."""

    def __init__(self, rows: pa.Table) -> None:
        self.rows = rows

    @property
    def schema(self) -> pa.Schema:
        return self.rows.schema

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> Any:
        return self.rows.__arrow_c_stream__(requested_schema)
