"""The tables as they leave a store: keys that say the same in every store, rows in one order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from check_workbench.store.names import listed, quote
from check_workbench.store.schema import TABLES

if TYPE_CHECKING:
    from collections.abc import Mapping

ORDERS: Mapping[str, str] = {
    "sources": "source_key",
    "runs": "run_key",
    "spans": "run_key, seq",
    "steps": "run_key, place",
    "decisions": "run_id, decision_key",
    "checks": "check_id, first_seen, document",
    "answers": 'run_id, check_id, "at" nulls first, source_key nulls last, "row"',
    "measurements": "asked, run_key",
    "looks": 'look, "row"',
    "meta": "key",
}
"""By what the rows of a table are sorted; answers as evaluation ranks them, the one that counts last."""
_PLACES = {
    "run_key": "(select run_key, row_number() over (order by run_id) - 1 as place from runs) as runs_in_order",
    "source_key": "(select source_key, row_number() over (order by source_key) - 1 as place from sources) as in_order",
}


def portable_rows(name: str) -> str:
    """Return SQL for the rows of a table in no order, with the column `row` behind the others.

    Runs are numbered in order of their `run_id`, sources in the order in which they were loaded.
    """
    columns = [f"t.{quote(column)}" for column in TABLES[name].columns]
    joins = []
    for key, places in _PLACES.items():
        if key in TABLES[name].columns:
            alias = places.rsplit(" ", 1)[1]
            columns[list(TABLES[name].columns).index(key)] = f"{alias}.place as {quote(key)}"
            kind = "left join" if key == "source_key" and name != "sources" else "join"
            joins.append(f"{kind} {places} on {alias}.{quote(key)} = t.{quote(key)}")
    return f'select {", ".join(columns)}, t.rowid as "row" from {quote(name)} as t {" ".join(joins)}'


def sorted_rows(name: str, relation: str) -> str:
    """Return SQL for the rows of a relation made by `portable_rows`, in the table's order."""
    return f"select {listed(list(TABLES[name].columns))} from {quote(relation)} order by {ORDERS[name]}"
