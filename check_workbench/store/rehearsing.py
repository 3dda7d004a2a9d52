"""Rehearse a load: count against what is in a store, and write nothing to it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from check_workbench.store.database import Store
from check_workbench.store.doctor import unmatched
from check_workbench.store.names import listed, quote
from check_workbench.store.narrow import COLUMNS, NarrowBay
from check_workbench.store.schema import TABLES
from check_workbench.store.shown import FIRST, present
from check_workbench.store.tables import number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import duckdb

    from check_workbench.store.bay import Bay
    from check_workbench.store.held import Held
    from check_workbench.store.report import Examination, LoadReport


class Rehearsal(Store):
    """A store in memory that knows of another one what decides about what comes in, and keeps no more of that.

    It is loaded like any store and reports the same counts; of runs and steps it keeps ids and digests, of spans
    nothing, so that it stays small.

    Parameters
    ----------
    of
        The store for which the load is rehearsed; it is only read.
    """

    def __init__(self, of: Held) -> None:
        super().__init__()
        self._of = of
        self.first: list[dict[str, Any]] = []
        """The first runs that were loaded, shortened."""
        with of.hold() as theirs, self.transaction() as cursor:
            theirs.execute("begin transaction read only")
            for name in TABLES:
                if (columns := self.columns_of(name)) and name != "meta":
                    self._copy(theirs, cursor, name, columns)
            theirs.rollback()
            self._copied = {
                name: number(cursor, f"select count(*) from {quote(name)}") for name in ("decisions", "answers")
            }

    def is_at(self, path: Path) -> bool:
        """Say whether a path is the file of the store for which the load is rehearsed."""
        return self._of.is_at(path)

    def bay(self, cursor: duckdb.DuckDBPyConnection) -> Bay:
        """Return staging that lets pass what decides."""
        return NarrowBay(cursor, self.first)

    def told(self, report: LoadReport) -> LoadReport:
        """Return the report of a load as one that was rehearsed."""
        said = [row for name in self._copied for row in self._first_said(name)]
        return dataclasses.replace(report, dry_run=True, first=(*self.first, *said))

    def columns_of(self, name: str) -> Sequence[str]:
        """Return the columns of a table that are kept."""
        kept: Mapping[str, Sequence[str]] = COLUMNS
        return kept.get(name, list(TABLES[name].columns))

    def doctor(self) -> Examination:
        """Say what matches nothing; what the data supports shows when it is loaded."""
        return unmatched(self)

    def _first_said(self, name: str) -> list[dict[str, Any]]:
        """Return the first decisions or answers that came in, which stand behind those that were copied."""
        new = f"select * from {quote(name)} order by rowid limit {FIRST} offset {self._copied[name]}"
        with self.transaction() as cursor:
            return [present(row) for row in cursor.sql(new).to_arrow_table().to_pylist()]

    @staticmethod
    def _copy(
        theirs: duckdb.DuckDBPyConnection,
        cursor: duckdb.DuckDBPyConnection,
        name: str,
        columns: Sequence[str],
    ) -> None:
        selected = ", ".join(
            'case when "check" is not null then \'true\' end as "check"'
            if (name, c) == ("steps", "check")
            else quote(c)
            for c in columns
        )
        cursor.register("copied", theirs.sql(f"select {selected} from {quote(name)}").to_arrow_reader())
        cursor.execute(f"insert into {quote(name)} ({listed(list(columns))}) select * from copied")
        cursor.unregister("copied")
