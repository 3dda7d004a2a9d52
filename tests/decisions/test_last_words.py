"""Which word of a person counts: by time, by loading, and never by accident."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from check_workbench.decisions.last_words import replaced, subject_of

NOON = datetime(2026, 10, 6, 12)  # noqa: DTZ001 the store's times have no zone
EMPTY = dict.fromkeys(("step_id", "attempt", "question", "span_id", "decided_at", "source_key"))


def word(key: int, decision: str = "problem", by: str | None = "ann", at: int | None = None, **row: Any) -> Any:
    told = None if at is None else NOON + timedelta(minutes=at)
    return {
        **EMPTY,
        "decision_key": key,
        "run_id": "r",
        "check_id": "c",
        "decision": decision,
        "decided_by": by,
        "decided_at": told,
        **row,
    }


def gone(*rows: Any) -> set[int]:
    """Return what is replaced, in whatever order the rows lie."""
    found = {
        frozenset(replaced((subject, row) for row in some if (subject := subject_of(row)) is not None))
        for some in permutations(rows)
    }
    assert len(found) == 1
    return set(found.pop())


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([word(1, at=1, source_key=1), word(2, at=2, source_key=0)], {1}),
        ([word(1, at=1, source_key=0), word(2, at=1, source_key=1)], {1}),
        ([word(1, source_key=0), word(2, source_key=1)], {1}),
        ([word(1, at=9, source_key=0), word(2, source_key=1)], {1}),
        ([word(1, at=9, source_key=0), word(2, source_key=1), word(3, at=1, source_key=2)], {1, 2}),
        ([word(1, source_key=0), word(2, source_key=1), word(3, source_key=2)], {1, 2}),
        ([word(1, source_key=None), word(2, source_key=0)], {1}),
        ([word(1, source_key=0), word(2, source_key=0)], set()),
        ([word(1, at=1, source_key=0), word(2, at=1, source_key=0)], set()),
        ([word(1, source_key=0), word(2, source_key=1), word(3, source_key=1)], {1}),
        ([word(1, source_key=None), word(2, source_key=None)], set()),
    ],
)
def test_the_last_is_the_latest_then_the_one_loaded_later_and_else_none(rows: Any, expected: set[int]) -> None:
    assert gone(*rows) == expected


@pytest.mark.parametrize("other", ["ann", "Ann", " ANN ", "a\N{ZERO WIDTH SPACE}nn", "ann\N{NO-BREAK SPACE}"])
def test_a_name_is_the_same_however_it_is_typed(other: str) -> None:
    same = "\N{ZERO WIDTH SPACE}" not in other
    assert gone(word(1, source_key=0), word(2, by=other, source_key=1)) == ({1} if same else set())


@pytest.mark.parametrize("nobody", [None, "", "  ", "\t"])
def test_nobody_replaces_nothing(nobody: str | None) -> None:
    assert gone(word(1, by=nobody, at=1, source_key=0), word(2, by=nobody, at=2, source_key=1)) == set()


@pytest.mark.parametrize(
    "other",
    [
        {"by": "ben"},
        {"run_id": "q"},
        {"check_id": "d"},
        {"check_id": None},
        {"step_id": "s"},
        {"attempt": 2},
        {"question": 0},
        {"span_id": "x"},
        {"decision": "confirmed"},
    ],
)
def test_a_word_on_something_else_replaces_nothing(other: Any) -> None:
    assert gone(word(1, source_key=0), word(2, **{"source_key": 1, **other})) == set()


def test_the_first_attempt_need_not_be_named() -> None:
    assert gone(word(1, source_key=0), word(2, attempt=1.0, source_key=1)) == {1}


@pytest.mark.parametrize("last", ["approved", "completed", "rejected", "no_problem"])
def test_what_happens_to_work_replaces_nothing_unless_it_names_a_check(last: str) -> None:
    rows = [word(1, "rejected", at=1), word(2, "returned", at=2), word(3, last, at=3)]
    assert gone(*({**row, "check_id": None} for row in rows)) == set()
    assert gone(*rows) == {1, 2}


@given(
    st.lists(st.tuples(st.sampled_from(["ann", "Ann ", "ben", ""]), st.integers(0, 3) | st.none(), st.integers(0, 2)))
)
def test_each_person_has_a_last_word_and_nothing_stands_in_its_own_place(said: Any) -> None:
    rows = [word(key, by=by, at=at, source_key=source) for key, (by, at, source) in enumerate(said)]
    pairs = [(subject, row) for row in rows if (subject := subject_of(row)) is not None]
    found = replaced(pairs)
    assert found == replaced(reversed(pairs))
    assert not found.keys() & set(found.values())
    left = {subject for subject, row in pairs if row["decision_key"] not in found}
    assert left == {subject for subject, _ in pairs}


@given(st.permutations(range(5)))
def test_times_decide_whichever_file_is_loaded_first(order: Any) -> None:
    rows = [word(key, at=key, source_key=source) for key, source in enumerate(order)]
    assert gone(*rows[:3]) == {0, 1}
    assert set(replaced((subject_of(row), row) for row in rows)) == {0, 1, 2, 3}
