"""A person corrects a decision: what counts then, for whom, and what is told of the rest."""

from __future__ import annotations

import dataclasses
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

from check_workbench.labels import labels_for
from check_workbench.labels.reading import Read, Reads
from tests.workshop import put_decisions, put_runs, question, run, screening, submission, vendor

if TYPE_CHECKING:
    from check_workbench.labels import Labels
    from check_workbench.store import Store

LOOK = datetime(2026, 11, 1)  # noqa: DTZ001 the store's times have no zone
FIRST, CORRECTED, LATE = 1, 2, 3
"""Sources: two were loaded before the look, one after it."""


def loaded(store: Store, *rows: dict[str, Any], check: str | None = "q") -> list[int]:
    """Put decisions of ann into a store that loaded three files."""
    if not store.sql("select * from sources where path = 'late'").size:
        days = {FIRST: "2026-10-01", CORRECTED: "2026-10-02", LATE: "2026-12-01"}
        store.sql("delete from sources")
        for key, day in days.items():
            name = "late" if key == LATE else str(key)
            store.sql(f"insert into sources (source_key, path, loaded_at) values ({key}, '{name}', '{day}')")
    blind = {"verdict_seen": False, "decided_by": "ann", "source_key": FIRST, "check_id": check}
    return put_decisions(store, *({"run_id": "r", **blind, **row} for row in rows))


def said(labels: Labels) -> list[tuple[Any, ...]]:
    return [(row.run_id, bool(row.positive), bool(row.blind), row.n_rows) for row in labels.frame.itertuples()]


@pytest.fixture
def told(store: Store) -> Store:
    put_runs(store, run("r"))
    return store


def test_the_corrected_word_counts_and_the_other_is_named(told: Store) -> None:
    loaded(told, {"decision": "problem"}, {"decision": "no_problem", "decided_by": "Ann ", "source_key": CORRECTED})
    labels = labels_for(question(), told)
    assert said(labels) == [("r", False, True, 1)]
    assert labels.excluded == {"superseded": 1}
    assert "1 left out: replaced by a later word of the same person (superseded)" in repr(labels)


def test_three_corrections_leave_one_word(told: Store) -> None:
    words = ("problem", "no_problem", "problem", "no_problem")
    loaded(told, *({"decision": word, "decided_at": f"2026-09-0{day}"} for day, word in enumerate(words, start=1)))
    labels = labels_for(question(), told)
    assert (said(labels), labels.excluded) == ([("r", False, True, 1)], {"superseded": 3})


def test_people_without_a_name_stay_apart(told: Store) -> None:
    rows: list[dict[str, Any]] = [{"decision": "problem"}, {"decision": "no_problem", "source_key": CORRECTED}]
    loaded(told, *({**row, "decided_by": name} for row in rows for name in (None, " ")))
    assert labels_for(question(), told).excluded == {"annotators_disagree": 4}


def test_a_correction_to_unclear_takes_the_label_away(told: Store) -> None:
    loaded(told, {"decision": "problem"}, {"decision": "unclear", "source_key": CORRECTED})
    labels = labels_for(question(), told)
    assert (said(labels), labels.excluded) == ([], {"superseded": 1, "unclear": 1})


def test_what_contradicts_itself_in_one_file_ties(told: Store) -> None:
    loaded(told, {"decision": "problem"}, {"decision": "no_problem"})
    assert labels_for(question(), told).excluded == {"annotators_disagree": 2}


def test_a_correction_that_was_not_blind_is_not_blind(told: Store) -> None:
    """For calibrate and compare it counts; a certificate keeps the blind word, which no look at verdicts takes away."""
    loaded(told, {"decision": "problem"}, {"decision": "no_problem", "verdict_seen": True, "source_key": CORRECTED})
    assert said(labels_for(question(), told)) == [("r", False, False, 1)]
    kept = labels_for(question(), told, reads=Reads())
    assert (said(kept), kept.excluded) == ([("r", True, True, 1)], {"not_blind_beside_blind": 1})


def test_a_blind_word_replaces_one_that_was_not(told: Store) -> None:
    loaded(told, {"decision": "problem", "verdict_seen": True}, {"decision": "no_problem", "source_key": CORRECTED})
    for reads in (None, Reads()):
        assert said(labels_for(question(), told, reads=reads)) == [("r", False, True, 1)]


@pytest.mark.parametrize(
    "late", [{"decision": "no_problem"}, {"decision": "unclear"}, {"decision": "no_problem", "decided_by": "ben"}]
)
def test_after_a_look_the_label_stays_as_it_was_read(told: Store, late: dict[str, Any]) -> None:
    """Neither the person nor anybody else talks it away, whatever time the decision bears."""
    [key] = loaded(told, {"decision": "problem", "decided_at": "2026-09-02"})
    read = Reads([Read(at=LOOK, keys=frozenset({key}))])
    for at in ("2026-09-01", "2026-09-03"):
        loaded(told, {**late, "source_key": LATE, "decided_at": at})
    labels = labels_for(question(), told, reads=read)
    assert said(labels) == [("r", True, True, 1)]
    assert labels.excluded == {"after_look": 2}
    assert [(one.unit, one.positive, one.decisions) for one in labels.further] == [(("r", None), True, 2)]
    assert labels.further[0].otherwise is not True
    assert labels_for(question(), told).further == ()


def test_a_correction_before_the_look_is_what_was_read(told: Store) -> None:
    loaded(told, {"decision": "problem"})
    [key] = loaded(told, {"decision": "no_problem", "source_key": CORRECTED})
    labels = labels_for(question(), told, reads=Reads([Read(at=LOOK, keys=frozenset({key}))]))
    assert (said(labels), labels.excluded, labels.further) == ([("r", False, True, 1)], {"superseded": 1}, ())


def test_a_label_that_was_not_blind_may_still_become_one(told: Store) -> None:
    [key] = loaded(told, {"decision": "problem", "verdict_seen": True})
    [blind] = loaded(told, {"decision": "no_problem", "source_key": LATE})
    calls = [Read(at=LOOK, keys=frozenset({key})), Read(at=datetime(2026, 12, 2), keys=frozenset({blind}))]  # noqa: DTZ001
    assert said(labels_for(question(), told, reads=Reads(calls[:1]))) == [("r", False, True, 1)]
    loaded(told, {"decision": "problem", "source_key": None})
    labels = labels_for(question(), told, reads=Reads(calls))
    assert (said(labels), labels.excluded["after_look"]) == ([("r", False, True, 1)], 1)


def test_each_question_has_its_own_last_word(told: Store) -> None:
    check = question()
    loaded(told, {"decision": "problem"}, {"decision": "no_problem", "question": 0, "source_key": CORRECTED})
    assert said(labels_for(check, told)) == [("r", False, True, 1)]
    two = dataclasses.replace(check, items=check.items * 2)
    loaded(told, {"decision": "problem", "question": 1}, {"decision": "no_problem", "question": 1, "source_key": LATE})
    labels = labels_for(two, told)
    assert said(labels) == [("r", True, True, 1)]
    assert labels.excluded == {"one_question_only": 2, "superseded": 1}


@pytest.mark.parametrize("attempts", [[], [None], [1], [1, 2]])
@pytest.mark.parametrize("kind", ["check", "work"])
def test_rework_that_was_not_recorded_takes_no_rejection_back(store: Store, attempts: list[Any], kind: str) -> None:
    """Rejected, then approved by the same person: to a step of a process the first submission was bad."""
    put_runs(store, vendor("r", *(submission(0.9, attempt=n) for n in attempts)))
    first: dict[str, Any] = {"step_id": "sign", "decided_at": "2026-10-01", "decision": "rejected"}
    second = {**first, "decided_at": "2026-10-02", "decision": "approved", "source_key": CORRECTED}
    loaded(store, first, second, check=None)
    check = screening() if kind == "check" else question()
    labels = labels_for(check, store, kind=kind)
    told = [note for note in labels.notes if note.startswith("of 1 units one person, or nobody named,")]
    if kind == "work":
        assert (said(labels), labels.excluded, len(told)) == ([], {"annotators_disagree": 2}, 1)
    elif len(attempts) == 1:
        assert [(row.attempt, bool(row.positive)) for row in labels.frame.itertuples()] == [(1, True)]
        assert (labels.excluded, told) == ({"rework": 1}, [])
    else:
        reason = "decided_before_submission" if attempts else "unmatched"
        assert (said(labels), labels.excluded) == ([], {reason: 2})


@pytest.mark.parametrize(
    ("first", "second", "positive"),
    [
        ({"decision": "returned"}, {"decision": "approved"}, True),
        ({"decision": "edited"}, {"decision": "completed"}, True),
        ({"decision": "approved"}, {"decision": "rejected"}, None),
        ({"decision": "rejected"}, {"decision": "approved", "decided_by": "ben"}, None),
        ({"decision": "rejected"}, {"decision": "approved", "decided_by": None}, None),
        ({"decision": "rejected", "attempt": 1}, {"decision": "approved", "attempt": 1}, None),
        ({"decision": "rejected", "decided_at": None}, {"decision": "approved"}, None),
        ({"decision": "rejected"}, {"decision": "approved", "decided_at": "2026-10-01"}, None),
    ],
)
def test_only_a_later_word_of_the_same_person_is_about_rework(
    store: Store, first: dict[str, Any], second: dict[str, Any], *, positive: bool | None
) -> None:
    put_runs(store, vendor("r", submission(0.9)))
    sign = {"step_id": "sign"}
    loaded(
        store, {**sign, "decided_at": "2026-10-01", **first}, {**sign, "decided_at": "2026-10-02", **second}, check=None
    )
    labels = labels_for(screening(), store)
    assert [bool(bad) for bad in labels.frame["positive"]] == ([] if positive is None else [positive])
    assert ("rework" in labels.excluded) == (positive is not None)


@pytest.mark.parametrize(("check", "other", "count"), [("q", "ann", 0), (None, "ben", 0), (None, "Ann", 1)])
def test_people_who_disagree_are_not_taken_for_rework(told: Store, check: str | None, other: str, count: int) -> None:
    loaded(told, {"decision": "rejected"}, {"decision": "approved", "decided_by": other}, check=check)
    labels = labels_for(question(), told, kind="work")
    assert labels.excluded == {"annotators_disagree": 2}
    assert sum("done again in between" in note for note in labels.notes) == count


@pytest.mark.parametrize("word", ["approved", "no_problem", "completed"])
def test_words_about_work_that_name_their_check_stay_correctable(store: Store, word: str) -> None:
    """As rows of a sheet do, which is drawn for one check."""
    put_runs(store, vendor("r", submission(0.9)))
    rejected = {"decision": "rejected", "decided_at": "2026-10-01"}
    loaded(store, rejected, {"decision": word, "decided_at": "2026-10-02"}, check=screening().id)
    labels = labels_for(screening(), store)
    assert [bool(bad) for bad in labels.frame["positive"]] == ([] if word == "completed" else [False])
    assert labels.excluded["superseded"] == 1


def test_decisions_after_rework_replace_none_before_it(store: Store) -> None:
    times = ["2026-10-01T09:00:00", "2026-10-03T09:00:00"]
    dated = [submission(None, attempt=n, at=at) for n, at in enumerate(times, start=1)]
    put_runs(store, vendor("r", *dated), vendor("s", *(submission(None, attempt=n) for n in (1, 2))))
    sign = {"step_id": "sign", "check_id": None}
    for name in "rs":
        loaded(
            store,
            {"run_id": name, "decision": "rejected", "decided_at": "2026-10-02", **sign},
            {"run_id": name, "decision": "approved", "decided_at": "2026-10-04", **sign},
        )
    labels = labels_for(screening(), store)
    assert [(row.run_id, row.attempt, bool(row.positive)) for row in labels.frame.itertuples()] == [
        ("r", 1, True),
        ("r", 2, False),
        ("s", 1, True),
    ]
    assert labels.excluded == {"rework": 1}


@pytest.mark.parametrize("last", ["dismissed", "confirmed"])
def test_the_last_word_on_one_finding_counts(told: Store, last: str) -> None:
    first = "confirmed" if last == "dismissed" else "dismissed"
    loaded(
        told,
        {"decision": last, "span_id": "s1", "decided_at": "2026-09-02"},
        {"decision": first, "span_id": "s1", "decided_at": "2026-09-01"},
        {"decision": "dismissed", "span_id": "s2", "decided_at": "2026-09-01"},
    )
    labels = labels_for(question(), told)
    assert said(labels) == [("r", last == "confirmed", True, 2)]
    assert labels.excluded == {"superseded": 1}
