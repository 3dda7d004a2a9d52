"""What comes back on a sheet that was drawn from this store, joined with the record of the draw."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from check_workbench.decisions import sheets

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from check_workbench.sources import Note, Rejected
    from check_workbench.store.database import Store

DRAW = "label_next"
"""The call under which the ledger keeps a draw."""
_DRAWS = "select check_id, asked, result from looks where call = ? order by look"
_PRESENT = "select check_id, arg_max(asked, first_seen) as asked from checks group by check_id"
_BEFORE = """
    select run_id, step_id, attempt, check_id, asked, decided_by, decision, note, decided_at from decisions
    where asked is not null and provenance = 'blind' order by decided_at nulls first, source_key, decision_key desc
"""


def returned(store: Store, path: Path) -> Iterator[sheets.Returned | Rejected | Note]:
    """Read a sheet that people filled in.

    Parameters
    ----------
    store
        Where the sheet was drawn.
    path
        The sheet.
    """
    now = datetime.now(UTC).replace(microsecond=0)
    yield from sheets.returned(path, places(store), _before(store), now)


def places(store: Store) -> dict[str, sheets.Place]:
    """Return every row of every sheet that was drawn from a store, by row id."""
    present = {row["check_id"]: row["asked"] for row in _rows(store, _PRESENT, [])}
    wanted: dict[str, dict[str, sheets.Wanted]] = {}
    units: dict[str, tuple[str, str | None, int | None]] = {}
    for draw in _rows(store, _DRAWS, [DRAW]):
        result = json.loads(draw["result"])
        check, asked = draw["check_id"], draw["asked"]
        stale = present.get(check, asked) != asked
        for row_id, run_id, step_id, attempt, probability in result["rows"]:
            units[row_id] = (run_id, step_id, attempt)
            one = sheets.Wanted(check_id=check, asked=asked, probability=probability, stale=stale)
            wanted.setdefault(row_id, {})[result["column"]] = one
    return {
        row_id: sheets.Place(run_id=run_id, step_id=step_id, attempt=attempt, wanted=wanted[row_id])
        for row_id, (run_id, step_id, attempt) in units.items()
    }


def _before(store: Store) -> Mapping[tuple[Any, ...], sheets.Before]:
    return {
        sheets.key(row): sheets.Before(
            decision=row["decision"],
            note=row["note"],
            decided_by=row["decided_by"],
            decided_at=None if row["decided_at"] is None else row["decided_at"].replace(tzinfo=UTC),
        )
        for row in _rows(store, _BEFORE, [])
    }


def _rows(store: Store, sql: str, values: list[Any]) -> list[dict[str, Any]]:
    table = store.sql(sql, values).astype(object)
    return table.where(table.notna(), None).to_dict("records")  # type: ignore[return-value]
