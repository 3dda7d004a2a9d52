"""`Held`: one DuckDB file or memory, held only while a call runs, and its tables."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from check_workbench.errors import InputError, StoreError
from check_workbench.store import frames, schema
from check_workbench.store.incoming import staged
from check_workbench.store.lease import check_place, connected, leased, writing
from check_workbench.store.names import listed, quote
from check_workbench.store.tables import delete_runs, number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import duckdb
    import ibis
    import pandas as pd


class Held:
    """The tables of a store in one DuckDB file or in memory.

    Every method holds the file only while it runs; methods may be called from several threads.

    Parameters
    ----------
    path
        The file; None keeps everything in memory.
    read_only
        Refuse to write.
    """

    def __init__(self, path: str | Path | None = None, *, read_only: bool = False) -> None:
        self.path = None if path is None else Path(path)
        self.read_only = read_only
        self._memory: duckdb.DuckDBPyConnection | None = None
        self._lock = threading.Lock()
        self._writing = threading.RLock() if self.path is None else writing(self.path)
        self._open = True
        if self.path is None:
            self._memory = connected(":memory:")
            schema.prepare(self._memory, where="memory", read_only=False)
        else:
            check_place(self.path, read_only=read_only)
            with leased(self.path, read_only=read_only) as connection:
                schema.prepare(connection, where=str(self.path), read_only=read_only)

    def __repr__(self) -> str:
        where = "in memory" if self.path is None else repr(str(self.path))
        state = f"{', read only' if self.read_only else ''}{'' if self._open else ', closed'}"
        return f"<{type(self).__name__} {where}{state}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the store; what is in memory is gone."""
        with self._lock:
            self._open = False
            if self._memory is not None:
                self._memory.close()
                self._memory = None

    def is_at(self, path: Path) -> bool:
        """Say whether a path is the store's own file."""
        try:
            return self.path is not None and self.path.samefile(path)
        except OSError:
            return False

    @contextlib.contextmanager
    def hold(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Hold the file over several calls, and yield a cursor of the calling thread.

        Raises
        ------
        StoreBusyError
            If another process holds the file for 10 seconds.
        """
        if self.path is not None and self._open:
            with leased(self.path, read_only=self.read_only) as cursor:
                yield cursor
            return
        with self._lock:
            if self._memory is None:
                raise StoreError(f"{self!r} cannot be used any more; open it again")
            cursor = self._memory.cursor()
        try:
            yield cursor
        finally:
            cursor.close()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Hold the file for one transaction: all of it is kept, or none.

        Raises
        ------
        StoreError
            If the store is opened to read only.
        """
        if self.read_only:
            raise StoreError(f"{self!r} was opened to read only; open it without read_only to write")
        with self._writing, self.hold() as cursor:
            cursor.begin()
            try:
                yield cursor
            except BaseException:
                cursor.rollback()
                raise
            cursor.commit()

    def table(self, name: str) -> ibis.Table:
        """Return a table of the store as an unbound Ibis table.

        Parameters
        ----------
        name
            `sources runs spans steps decisions checks answers measurements looks triage meta`.

        Raises
        ------
        UnknownNameError
            If the store has no such table.

        Examples
        --------
        >>> Held().table("measurements").columns
        ('asked', 'run_key', 'value', 'reason')
        """
        return schema.unbound(name)

    def execute(self, expr: ibis.Expr) -> pd.DataFrame:
        """Run an unbound Ibis expression and return its rows.

        Parameters
        ----------
        expr
            An expression over `table(...)`; tables in memory (`ibis.memtable`) may take part.

        Returns
        -------
        pandas.DataFrame
            Whole-number columns with missing values are `Int64`.
        """
        from check_workbench.store.expressions import compiled, memory_tables

        text = compiled(expr)
        with self.hold() as cursor, _reading(cursor, only=self.read_only), memory_tables(cursor, expr):
            return frames.query(cursor, text)

    def sql(self, text: str, params: Sequence[Any] | dict[str, Any] | None = None) -> pd.DataFrame:
        """Run SQL of your own. It can change or destroy the store: `open(path, read_only=True)` refuses all writing.

        Parameters
        ----------
        text
            DuckDB SQL, run as it stands; bring values in by `params`.
        params
            Values for its placeholders: a list for `?`, a mapping for `$name`.

        Returns
        -------
        pandas.DataFrame
            The rows of the last statement; whole-number columns with missing values are `Int64`.

        Examples
        --------
        >>> Held().sql("select count(*) as n from runs where run_id = ?", ["r-1"])["n"].tolist()
        [0]
        """
        with self.hold() as cursor, _reading(cursor, only=self.read_only):
            return frames.query(cursor, text, params)

    def insert(self, name: str, rows: pd.DataFrame | ibis.Table, *, replace_on: tuple[str, ...] = ()) -> int:
        """Add rows to a table in one transaction.

        Parameters
        ----------
        name
            The table.
        rows
            A DataFrame or an unbound Ibis table with columns of that table, in any order; the others stay empty.
            In JSON columns text is taken as JSON, other values are written as JSON.
        replace_on
            Rows that are equal in these columns are deleted first.

        Returns
        -------
        int
            How many rows were added.

        Raises
        ------
        UnknownNameError
            If the table has no such column.
        """
        known = schema.table(name).columns
        for column in replace_on:
            if column not in known:
                raise InputError(f"replace_on must name columns of {name}, got {column!r}")
        with self.transaction() as cursor, staged(cursor, name, rows, read_once=not replace_on) as columns:
            if replace_on:
                same = " and ".join(f"t.{quote(c)} is not distinct from new.{quote(c)}" for c in replace_on)
                cursor.execute(
                    f"delete from {quote(name)} as t where exists (select 1 from new_rows as new where {same})",
                )
            into = f"insert into {quote(name)} ({listed(columns)}) select {listed(columns)} from new_rows"
            return number(cursor, into)

    def delete(self, run_ids: Iterable[str]) -> int:
        """Delete runs with all that hangs on them: spans, steps, measurements, decisions, answers, triage.

        Parameters
        ----------
        run_ids
            The runs; ids that the store does not know are passed over.

        Returns
        -------
        int
            How many runs were deleted.
        """
        with self.transaction() as cursor:
            return delete_runs(cursor, [run_ids] if isinstance(run_ids, str) else list(run_ids))


@contextlib.contextmanager
def _reading(cursor: duckdb.DuckDBPyConnection, *, only: bool) -> Iterator[None]:
    """Make the database refuse writes, also where the process holds the file to write."""
    if only:
        cursor.execute("begin transaction read only")
    yield
