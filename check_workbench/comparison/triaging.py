"""What people said of disagreements, recorded in the store: the check was wrong, a person was, or evidence is missing.

It is said in sight of both sides, so it changes no label: certificates count what people decided before.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from check_workbench.comparison.counting import Sides, sides
from check_workbench.comparison.rows import with_agreement
from check_workbench.evaluation.rows import rows_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from check_workbench.checks import Check
    from check_workbench.store import Store

CAUSES = ("check_wrong", "person_wrong", "evidence_missing")
_ENTRIES = """
    select t.*, t.run_digest <> r.digest as of_other_work from triage t left join runs r using (run_id)
    where t.check_id = ? order by t.entry
"""
_LAST = """
    select t.decisions::varchar, t.cause, t.triaged_by, t.note, t.run_digest is not distinct from r.digest
    from triage t left join runs r using (run_id)
    where t.check_id = ? and t.asked = ? and t.run_id = ? and t.step_id is not distinct from ? and t.attempt = ?
    order by t.entry desc limit 1
"""
_NEXT = """
    insert into triage (entry, "at", check_id, asked, run_id, step_id, attempt, decisions, cause, triaged_by, note,
                        run_digest)
    select coalesce((select max(entry) from triage), 0) + 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
           (select digest from runs where run_id = ?)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What one person said last of one disagreement."""

    cause: str
    by: str
    note: str | None
    at: datetime
    times: int
    """How often it was triaged; the earlier entries stay in the table `triage`."""

    def to_json(self) -> dict[str, Any]:
        """Return the entry as plain values."""
        told = {"cause": self.cause, "by": self.by, "note": self.note}
        return {**told, "at": self.at.isoformat(), "times": self.times}


@dataclass(frozen=True, slots=True, kw_only=True)
class Triage:
    """What counts of the triage of a check, and what it would make of the comparison."""

    entries: Mapping[str, Entry]
    """By unit."""
    stale: Mapping[str, int]
    """Units whose triage does not count, by reason: `other_text other_work other_decisions not_compared`."""
    before: Sides
    after: Sides

    def count(self, cause: str) -> int:
        """Return how many units have a cause."""
        return sum(entry.cause == cause for entry in self.entries.values())

    def settled(self, disagreements: Sequence[Mapping[str, Any]]) -> int:
        """Return how many units have a cause, but are no disagreement now, since the check's cut or answer moved."""
        return len(self.entries.keys() - {one["unit"] for one in disagreements})


def triage_of(check: Check, rows: pd.DataFrame, store: Store) -> Triage:
    """Read the triage of a check and apply it to the compared units.

    Parameters
    ----------
    check
        The check; what was said under another text of it does not count.
    rows
        Compared units; what was said of other decisions on them, or before the run came again with more in it, does
        not count.
    store
        Where it is recorded.
    """
    entries, stale = _counting(check, rows, rows_of(store.sql(_ENTRIES, [check.id])))
    after = _applied(rows, entries)
    return Triage(
        entries=entries,
        stale=stale,
        before=sides(rows),
        after=sides(after),
    )


def record(check: Check, store: Store, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write entries in one transaction, without those that repeat what was said last.

    Parameters
    ----------
    check
        The check.
    store
        Where they are recorded.
    rows
        `run_id step_id attempt decisions cause by note`; a cause that is None takes back what was said.
    """
    now = datetime.now(UTC).replace(tzinfo=None)
    with store.transaction() as cursor:
        for row in rows:
            unit = [check.id, check.asked, row["run_id"], row["step_id"], row["attempt"]]
            said = [json.dumps(row["decisions"]), row["cause"], row["by"], row["note"]]
            last = cursor.execute(_LAST, unit).fetchone()
            if last is None or [json.loads(last[0]), *last[1:]] != [row["decisions"], *said[1:], True]:
                cursor.execute(_NEXT, [now, *unit, *said, row["run_id"]])


def _counting(
    check: Check, rows: pd.DataFrame, recorded: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, Entry], dict[str, int]]:
    latest: dict[tuple[Any, ...], Mapping[str, Any]] = {}
    times: dict[tuple[Any, ...], int] = {}
    for row in recorded:
        key = (row["asked"] == check.asked, row["run_id"], row["step_id"] or "", int(row["attempt"]))
        latest[key], times[key] = row, times.get(key, 0) + 1
    units = zip(rows["run_id"], rows["step_id"], rows["attempt"], rows["unit"], rows["decision_keys"], strict=True)
    known = {(run, step or "", int(attempt)): (unit, keys) for run, step, attempt, unit, keys in units}
    entries: dict[str, Entry] = {}
    stale: dict[str, int] = {}
    for (present, *where), row in latest.items():
        unit, keys = known.get((where[0], where[1], where[2]), (None, ()))
        reason = _stale(row, keys, present=bool(present), compared=unit is not None)
        if row["cause"] is None or (not present and (True, *where) in latest):
            continue
        if reason is not None:
            stale[reason] = stale.get(reason, 0) + 1
            continue
        entries[str(unit)] = Entry(
            cause=row["cause"], by=row["triaged_by"], note=row["note"], at=row["at"], times=times[present, *where]
        )
    return entries, dict(sorted(stale.items()))


def _stale(row: Mapping[str, Any], keys: Sequence[int], *, present: bool, compared: bool) -> str | None:
    if not present:
        return "other_text"
    if not compared:
        return "not_compared"
    if row["of_other_work"]:
        return "other_work"
    return None if json.loads(row["decisions"]) == sorted(int(key) for key in keys) else "other_decisions"


def _applied(rows: pd.DataFrame, entries: Mapping[str, Entry]) -> pd.DataFrame:
    """Turn the labels of persons who were wrong, and take out the units whose evidence is missing."""
    causes = rows["unit"].map({unit: entry.cause for unit, entry in entries.items()})
    kept = rows[causes != "evidence_missing"]
    positive = kept["positive"].astype(bool) ^ (causes[kept.index] == "person_wrong")
    return with_agreement(kept.assign(positive=positive))
