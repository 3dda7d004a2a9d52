"""The tables as they leave a store: keys that say the same in every store, rows in one order.

Runs are numbered in order of their `run_id`, sources in the order in which they were loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from check_workbench.store.names import quote
from check_workbench.store.schema import TABLES

if TYPE_CHECKING:
    from collections.abc import Mapping

_RUNS = "(select run_key, row_number() over (order by run_id) - 1 as place from runs)"
_SOURCES = "(select source_key, row_number() over (order by source_key) - 1 as place from sources)"
_SPANS_A_RUN = 2**31
LINES: Mapping[str, str] = {
    "runs": "r.place",
    "spans": f"r.place * {_SPANS_A_RUN} + t.seq",
    "steps": f"r.place * {_SPANS_A_RUN} + t.place",
}
"""Tables whose rows may be too many and too long to be sorted in memory, and the number by which they are sorted."""
_ORDERS: Mapping[str, str] = {
    "sources": "s.place",
    "decisions": "t.run_id, t.decision_key",
    "checks": "t.check_id, t.first_seen, t.document",
    "answers": 't.run_id, t.check_id, t."at" nulls first, s.place nulls last, t.rowid',
    "measurements": "t.asked, r.place",
    "looks": "t.look, t.rowid",
    "triage": "t.entry, t.rowid",
    "meta": "t.key",
}
"""By what the rows of the other tables are sorted; answers as evaluation ranks them, the one that counts last."""


def portable(name: str) -> str:
    """Return SQL for the rows of a table: sorted, or in no order with the column `line` by which they are sorted."""
    own = {"run_key": "r.place", "source_key": "s.place"}
    columns = TABLES[name].columns
    selected = [f"{own[c]} as {quote(c)}" if c in own else f"t.{quote(c)}" for c in columns]
    text = f"select {', '.join(selected)}{f', {LINES[name]} as line' if name in LINES else ''} from {quote(name)} as t"
    if "run_key" in columns:
        text += f" join {_RUNS} as r on r.run_key = t.run_key"
    if "source_key" in columns:
        text += f" left join {_SOURCES} as s on s.source_key = t.source_key"
    return text if name in LINES else f"{text} order by {_ORDERS[name]}"
