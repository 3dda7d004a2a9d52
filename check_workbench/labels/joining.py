"""Decisions joined to the units of a check."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from check_workbench.evaluation.rows import rows_of
from check_workbench.evaluation.units import OTHER_WORKFLOW, runs_of, units_of
from check_workbench.labels.blindness import blindness
from check_workbench.labels.targets import ELSEWHERE, UNMATCHED, step_target
from check_workbench.labels.visible import visible_from
from check_workbench.labels.voting import Vote
from check_workbench.records import FINDING_DECISIONS, is_problem

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    import pandas as pd

    from check_workbench.checks import Check
    from check_workbench.evaluation.recorded import Key
    from check_workbench.store import Store

_OF_CHECK = """
    select * from decisions where check_id = ? or (? and check_id is null) order by run_id, decision_key
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Whose labels are wanted."""

    check: Check
    work: bool
    """Whether decisions about the work count as well."""
    item: int | None = None
    """Only labels of this question; None takes the check as a whole."""


@dataclass(slots=True, kw_only=True)
class Joined:
    """Votes by unit, and how many decisions were left out, by reason."""

    votes: dict[Key, list[Vote]] = field(default_factory=dict)
    neither: dict[Key, list[Mapping[str, Any]]] = field(default_factory=dict)
    """Decisions that say neither problem nor clean, by unit."""
    excluded: Counter[str] = field(default_factory=Counter)
    about: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """What is known of the runs."""


def joined(wanted: Wanted, store: Store) -> Joined:
    """Join the decisions in a store to the units of a check.

    Parameters
    ----------
    wanted
        The check, and which decisions count.
    store
        The store.
    """
    decisions = store.sql(_OF_CHECK, [wanted.check.id, wanted.work])
    units = units_of(wanted.check, runs_of(store, set(decisions["run_id"])), store)
    found = Joined(about={row["run_id"]: row for row in rows_of(units)})
    submissions = _submissions(units)
    visible = visible_from(wanted.check, store)
    for row in rows_of(decisions):
        keys, reason = _targets(wanted, row, found.about.get(row["run_id"]), submissions)
        positive = is_problem(row["decision"])
        if reason is None and positive is None:
            reason = row["decision"]
            for key in keys:
                found.neither.setdefault(key, []).append(row)
        if reason is None:
            reason = _misses_question(wanted, row, positive=bool(positive))
        if reason is not None:
            found.excluded[reason] += reason != ELSEWHERE
            continue
        for key in keys:
            blind = blindness(row, visible.get(key, visible.get(None)))
            found.votes.setdefault(key, []).append(Vote(row=row, positive=bool(positive), blindness=blind))
    return found


def _submissions(units: pd.DataFrame) -> dict[str, list[tuple[int, datetime | None]]]:
    found: dict[str, list[tuple[int, datetime | None]]] = {}
    if "submitted_at" not in units:
        return found
    for row in rows_of(units[units["place"].notna()]):
        found.setdefault(row["run_id"], []).append((int(row["attempt"]), row["submitted_at"]))
    return found


def _targets(
    wanted: Wanted,
    row: Mapping[str, Any],
    run: Mapping[str, Any] | None,
    submissions: Mapping[str, list[tuple[int, datetime | None]]],
) -> tuple[list[Key], str | None]:
    check = wanted.check
    reason = _unusable(check, row, run)
    if reason is not None:
        return [], reason
    if check.step_id is None:
        return [(row["run_id"], None)], None
    if row["check_id"] is None:
        reason = step_target(check, row["step_id"], row["decision"])
        if reason is not None:
            return [], reason
    attempt, reason = _attempt(row, submissions.get(row["run_id"], []))
    return [(row["run_id"], attempt)], reason


def _unusable(check: Check, row: Mapping[str, Any], run: Mapping[str, Any] | None) -> str | None:
    if run is None:
        return "unknown_run"
    if run["why"] == OTHER_WORKFLOW:
        return "not_applicable" if row["check_id"] else ELSEWHERE
    if run["mode"] == "test":
        return "test_run"
    if row["asked"] is not None and row["asked"] not in {check.asked, *check.asked_items}:
        return "other_version"
    if row["check_id"] is None and row["decision"] in FINDING_DECISIONS:
        return "finding_of_no_check"
    return None


def _attempt(row: Mapping[str, Any], submissions: list[tuple[int, datetime | None]]) -> tuple[int, str | None]:
    """Pair a decision with an attempt: the named one, else by time where there are several, else the first."""
    if not submissions:
        return 1, UNMATCHED
    attempts = [attempt for attempt, _ in submissions]
    decided = row["decided_at"]
    if row["attempt"] is not None:
        named = int(row["attempt"])
        return named, None if named in attempts else UNMATCHED
    if len(attempts) == 1 or decided is None or not all(at for _, at in submissions):
        return 1, None if 1 in attempts else UNMATCHED
    before = [(at, attempt) for attempt, at in submissions if at is not None and at <= decided]
    return (max(before)[1], None) if before else (1, "decided_before_submission")


def _misses_question(wanted: Wanted, row: Mapping[str, Any], *, positive: bool) -> str | None:
    if row["question"] is None:
        return None
    question, items = int(row["question"]), len(wanted.check.items)
    place = wanted.item if wanted.item is not None else question if items > 1 and question < items else 0
    if question != place:
        return "other_question"
    if wanted.item is None and items > 1 and not positive:
        return "one_question_only"
    return None
