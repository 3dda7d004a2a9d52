"""Rows that two stores numbered in order of time, in one order of time: sources, looks and triage."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from check_workbench.store.names import listed, quote
from check_workbench.store.schema import TABLES
from check_workbench.store.tables import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

EVER = "'1900-01-01'::timestamp"
"""Stands for a time that is not known."""


class Numbered(NamedTuple):
    """A table whose rows are numbered in order of time."""

    name: str
    key: str
    at: str
    first: int


SOURCES = Numbered("sources", "source_key", "loaded_at", 0)
LOOKS = Numbered("looks", "look", "at", 1)
TRIAGE = Numbered("triage", "entry", "at", 1)


def content(columns: Sequence[str], *, of: str = "") -> str:
    """Return SQL for a digest of some columns of a row, equal only where all of them are."""
    prefix = f"{quote(of)}." if of else ""
    return f"md5(to_json([{', '.join(f'{prefix}{quote(c)}::varchar' for c in columns)}])::varchar)"


def interleave(cursor: duckdb.DuckDBPyConnection, table: Numbered) -> int:
    """Bring the rows of `their_NAME` that a table lacks into it, number all rows by time, and return how many came.

    A row that both have, however often, is there as often as in the store that has it more often. Each store's own
    order is kept where its clock went back. The temporary table `NAME_places` says which number (`place`) a row of
    ours (`side` 0) and theirs (1) had (`key`) and has now.
    """
    rest = [column for column in TABLES[table.name].columns if column != table.key]
    nth = "row_number() over (partition by content order by key, line) as nth"
    sides = {
        side: f"(select *, {nth} from (select {quote(table.key)} as key, rowid as line, {quote(table.at)} as moment, "
        f"{content(rest)} as content from {quote(relation)}))"
        for side, relation in enumerate((table.name, f"their_{table.name}"))
    }
    cursor.execute(
        "create or replace temp table paired as "
        "select t.key, t.line, t.moment, m.key as twin, m.line as twin_line "
        f"from {sides[1]} as t left join {sides[0]} as m using (content, nth)",
    )
    places = f"create or replace temp table {table.name}_places as"
    new = number(cursor, "select count(*) from paired where twin_line is null")
    if not new:
        cursor.execute(f"{places} select 1 as side, key, twin as place from paired")
        return 0
    reached = f"max(coalesce(moment, {EVER})) over (order by key, line) as reached"
    cursor.execute(
        "create or replace temp table placed as select side, key, line, "
        f"row_number() over (order by reached, side, key, line) - 1 + {table.first} as place from ("
        f"select 0 as side, key, line, {reached} from {sides[0]} union all "
        f"select 1 as side, key, line, {reached} from paired where twin_line is null)",
    )
    cursor.execute(
        f"{places} select side, key, place from placed "
        "union all select 1, t.key, m.place from paired as t join placed as m on m.side = 0 and m.line = t.twin_line",
    )
    _rewrite(cursor, table, rest)
    return new


def _rewrite(cursor: duckdb.DuckDBPyConnection, table: Numbered, rest: Sequence[str]) -> None:
    columns = f"{quote(table.key)}, {listed(list(rest))}"
    parts = [
        f"select p.place as {quote(table.key)}, {listed(list(rest), of='t')} from {quote(relation)} as t "
        f"join placed as p on p.side = {side} and p.line = t.rowid"
        for side, relation in enumerate((table.name, f"their_{table.name}"))
    ]
    cursor.execute(f"create or replace temp table renumbered as {' union all '.join(parts)}")
    cursor.execute(f"delete from {quote(table.name)}")
    cursor.execute(
        f"insert into {quote(table.name)} ({columns}) select {columns} from renumbered order by {quote(table.key)}"
    )
