"""Decisions joined to the units of a check."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from check_workbench.decisions.last_words import done_again, replaced, subject_of
from check_workbench.evaluation.rows import rows_of
from check_workbench.evaluation.units import OTHER_WORKFLOW, runs_of, units_of
from check_workbench.labels.blindness import blindness
from check_workbench.labels.reading import Reads, Said, came_late
from check_workbench.labels.reasons import AFTER_LOOK, REWORK, SUPERSEDED
from check_workbench.labels.targets import ELSEWHERE, UNMATCHED, step_target
from check_workbench.labels.visible import visible_from
from check_workbench.labels.voting import Vote
from check_workbench.records import FINDING_DECISIONS, is_problem

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    import pandas as pd

    from check_workbench.checks import Check
    from check_workbench.evaluation.recorded import Key
    from check_workbench.store import Store

    Submissions = Sequence[tuple[int, datetime | None]]

_OF_CHECK = """
    select d.*, s.loaded_at from decisions d left join sources s using (source_key)
    where d.check_id = ? or (? and d.check_id is null) order by d.run_id, d.decision_key
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Whose labels are wanted."""

    check: Check
    work: bool
    """Whether decisions about the work count as well."""
    item: int | None = None
    """Only labels of this question; None takes the check as a whole."""
    reads: Reads | None = None
    """For a certificate, the calls that read labels: what they read stays, and no word that was not blind replaces one
    that was. None: the last word of each person counts."""


@dataclass(slots=True, kw_only=True)
class Joined:
    """Votes by unit, and how many decisions were left out, by reason."""

    votes: dict[Key, list[Vote]] = field(default_factory=dict)
    neither: dict[Key, list[Mapping[str, Any]]] = field(default_factory=dict)
    """Decisions that say neither problem nor clean, by unit."""
    late: Counter[Key] = field(default_factory=Counter)
    """How many decisions came after a call had read a blind label of the unit."""
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
    told = list(_told(wanted.check, rows_of(decisions), found, visible_from(wanted.check, store), _submissions(units)))
    late = came_late(told, wanted.reads or Reads())
    ours = [one for one in told if int(one.row["decision_key"]) not in late]
    gone = dict.fromkeys(late, AFTER_LOOK)
    if wanted.check.step_id is not None:
        gone |= dict.fromkeys(done_again((one.unit, one.row) for one in ours if not one.reason), REWORK)
    subjects = ((_subject(wanted, one), one.row) for one in ours)
    gone |= dict.fromkeys(replaced((subject, row) for subject, row in subjects if subject is not None), SUPERSEDED)
    for one in told:
        positive = is_problem(one.row["decision"])
        reason = one.reason or gone.get(int(one.row["decision_key"]))
        found.late[one.unit] += reason == AFTER_LOOK
        if reason is None and positive is None:
            reason = one.row["decision"]
            found.neither.setdefault(one.unit, []).append(one.row)
        reason = reason or _misses_question(wanted, one.row, positive=bool(positive))
        if reason is not None:
            found.excluded[reason] += reason != ELSEWHERE
            continue
        found.votes.setdefault(one.unit, []).append(Vote(row=one.row, positive=bool(positive), blindness=one.blindness))
    return found


def _told(
    check: Check,
    rows: Iterable[Mapping[str, Any]],
    found: Joined,
    visible: Mapping[Key | None, datetime | None],
    submissions: Mapping[str, Submissions],
) -> Iterator[Said]:
    """Yield the decisions that can be placed, and count those that cannot be used at all."""
    for row in rows:
        reason = _unusable(check, row, found.about.get(row["run_id"]))
        if reason is not None:
            found.excluded[reason] += reason != ELSEWHERE
            continue
        attempt = None
        if check.step_id is not None:
            attempt, reason = _attempt(row, submissions.get(row["run_id"], []))
            if row["check_id"] is None:
                reason = step_target(check, row["step_id"], row["decision"]) or reason
        unit = row["run_id"], attempt
        blind = blindness(row, visible.get(unit, visible.get(None)))
        yield Said(row=row, unit=unit, blindness=blind, reason=reason)


def _subject(wanted: Wanted, said: Said) -> tuple[Hashable, ...] | None:
    """Return what a decision replaces earlier words on; to a check, its step and its only question need no name."""
    row, check = said.row, wanted.check
    only = len(check.items) == 1 and row["question"] == 0
    subject = subject_of(
        {
            **row,
            "step_id": row["step_id"] or check.step_id,
            "attempt": said.unit[1] or row["attempt"],
            "question": None if only else row["question"],
        }
    )
    if subject is None or said.reason is not None:
        return None
    return subject if wanted.reads is None else (*subject, said.blindness.by is not None)


def _submissions(units: pd.DataFrame) -> Mapping[str, Submissions]:
    found: dict[str, list[tuple[int, datetime | None]]] = {}
    if "submitted_at" not in units:
        return found
    for row in rows_of(units[units["place"].notna()]):
        found.setdefault(row["run_id"], []).append((int(row["attempt"]), row["submitted_at"]))
    return found


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


def _attempt(row: Mapping[str, Any], submissions: Submissions) -> tuple[int, str | None]:
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
