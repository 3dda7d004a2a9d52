from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from check_workbench.store.arrivals import Tally, Target, store_placed
from check_workbench.store.batches import Placed
from check_workbench.store.bay import Bay
from check_workbench.store.own_runs import run_of
from check_workbench.store.staging import begin_file

if TYPE_CHECKING:
    from pathlib import Path

    from check_workbench.store import Store


def write(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records), encoding="utf-8")
    return path


def load_slowly(store: Store, *records: Any) -> Tally:
    """Load records the way in which the runs of readers are loaded."""
    own = Tally()
    with store.transaction() as cursor:
        first = begin_file(cursor)
        placed = [Placed(first + i, i + 1, run_of(r, note=lambda _: None)) for i, r in enumerate(records)]
        with Bay(cursor) as bay:
            store_placed(bay, [placed], [Target(file="slow", format="workbench", first=first, source=0, own=own)])
    return own


def contents(store: Store, name: str) -> list[dict[str, Any]]:
    """Return the rows of a table by run_id instead of by keys."""
    order = {"runs": "run_id", "spans": "run_id, seq", "steps": "run_id, place"}[name]
    text = f"select * exclude (run_key) from {name} join (select run_key, run_id from runs) using (run_key)"
    if name == "runs":
        text = "select * exclude (run_key, source_key) from runs"
    frame = store.sql(f"select * from ({text}) order by {order}")
    return [
        {str(k): None if v is None or v != v else v for k, v in row.items()}  # noqa: PLR0124
        for row in frame.astype(object).to_dict("records")
    ]
