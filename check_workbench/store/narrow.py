"""What of runs, spans and steps decides over the fate of later ones: enough to rehearse a load."""

from __future__ import annotations

from typing import TYPE_CHECKING

from check_workbench.store.bay import Bay
from check_workbench.store.shown import FIRST, first_records

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    import duckdb
    import pyarrow as pa

COLUMNS: dict[str, tuple[str, ...]] = {
    "runs": ("run_key", "run_id", "source_key", "digest", "span_count", "workflow", "ended_at"),
    "spans": (),
    "steps": ("run_key", "place", "step_id", "check"),
}
"""The columns of a store that a rehearsal holds; of other tables all."""
_STAGED = ("row", "line", "source", "span_count", "step_count")


class NarrowBay(Bay):
    """Staging that shows the transaction no more than `COLUMNS`, and remembers the first records.

    Parameters
    ----------
    cursor
        In the transaction.
    first
        Where the first records are kept, as a report shows them.
    """

    def __init__(self, cursor: duckdb.DuckDBPyConnection, first: list[dict[str, Any]]) -> None:
        super().__init__(cursor)
        self._first = first
        self._runs: pa.Table | None = None

    def show(self, name: str, rows: pa.Table) -> None:
        """Show rows, those of runs and steps with the columns that decide, and no spans."""
        table = name.removeprefix("stage_")
        if table == "runs":
            self._runs = rows
        elif table == "spans" and self._runs is not None and len(self._first) < FIRST:
            self._first += first_records(self._runs, rows, most=FIRST - len(self._first))
        super().show(name, narrowed(rows, (*_STAGED, *COLUMNS[table])) if table in COLUMNS else rows)


def narrowed(rows: pa.Table, kept: Sequence[str]) -> pa.Table:
    """Empty the columns of a table that are not kept; where nothing of it is kept, empty the table."""
    import pyarrow as pa

    if not set(kept) & (set(rows.column_names) - set(_STAGED)):
        return rows.slice(0, 0)
    for place, field in enumerate(rows.schema):
        if field.name not in kept:
            rows = rows.set_column(place, field, pa.nulls(rows.num_rows, field.type))
    return rows
