"""Statements over the store's tables that several verbs share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from check_workbench.store.names import listed, quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

OF_A_RUN = ("spans", "steps", "measurements")
"""Tables whose rows belong to a `run_key`."""
SAID_OF_A_RUN = ("decisions", "answers", "triage")
"""Tables whose rows name a `run_id`."""


class Source(NamedTuple):
    """A row of `sources` without the time."""

    source_key: int
    path: str
    format: str
    digest: int | None = None
    runs: int = 0
    spans: int = 0
    steps: int = 0
    decisions: int = 0
    answers: int = 0


def number(cursor: duckdb.DuckDBPyConnection, text: str, params: Sequence[Any] = ()) -> int:
    """Run a statement that returns one number; the cursor is free afterwards."""
    return int(cursor.execute(text, list(params)).fetchall()[0][0])


def next_key(cursor: duckdb.DuckDBPyConnection, name: str, key: str) -> int:
    """Return the first number that no row of a table has as its key."""
    return number(cursor, f"select coalesce(max({quote(key)}), -1) + 1 from {quote(name)}")


def add_sources(cursor: duckdb.DuckDBPyConnection, sources: Sequence[Source]) -> None:
    """Write down where rows came from, and that they came now."""
    if not sources:
        return
    kinds = {"path": "varchar", "format": "varchar"}
    columns = [f"unnest(?::{kinds.get(name, 'bigint')}[]) as {name}" for name in Source._fields]
    cursor.execute(
        f"insert into sources ({listed(Source._fields)}, loaded_at) "
        f"select *, now()::timestamp from (select {', '.join(columns)})",
        [list(values) for values in zip(*sources, strict=True)],
    )


def delete_runs(cursor: duckdb.DuckDBPyConnection, run_ids: Sequence[str]) -> int:
    """Delete runs and all that hangs on them, and return how many runs there were."""
    cursor.execute(
        "create or replace temp table going as select run_key, run_id from runs where run_id in "
        "(select unnest(?::varchar[]))",
        [list(run_ids)],
    )
    for name in OF_A_RUN:
        cursor.execute(f"delete from {name} where run_key in (select run_key from going)")
    for name in SAID_OF_A_RUN:
        cursor.execute(f"delete from {name} where run_id in (select unnest(?::varchar[]))", [list(run_ids)])
    cursor.execute("delete from runs where run_key in (select run_key from going)")
    count = number(cursor, "select count(*) from going")
    cursor.execute("drop table going")
    return count
