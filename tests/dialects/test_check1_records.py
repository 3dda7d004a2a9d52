from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from check_workbench.checks import Check, Choice, Item, Levels, PassBand, PassLevel, PassNames, YesNo
from check_workbench.dialects import answers_of_record
from check_workbench.results import judge

CHECK = Check(
    id="p/s",
    dialect="check-1",
    step_id="s",
    items=(
        Item(asks=YesNo(ask="It holds."), cut=PassBand(pass_at=0.9, fail_below=0.5)),
        Item(
            asks=Choice(ask="What?", options=(("states", ""), ("hedges", ""))),
            cut=PassNames(passing=("states",)),
        ),
        Item(asks=Levels(ask="How far?", levels=("a", "b", "c")), cut=PassLevel(level=2)),
    ),
)
QUESTIONS: list[dict[str, Any]] = [
    {"ask": "It holds.", "kind": "yes_no", "answer": 0.62, "result": "unsure"},
    {"ask": "What?", "kind": "choice", "answer": "states", "confidence": 0.91, "result": "pass"},
    {"ask": "How far?", "kind": "rubric", "answer": 1, "confidence": 0.85, "result": "fail"},
]
RECORD = {
    "verdict": "unsure",
    "advisory": False,
    "model": "example-1",
    "questions": QUESTIONS,
    "at": "2026-10-06T11:04:20+02:00",
}
LATER = datetime(2027, 1, 1, tzinfo=UTC)


def answers(record: Any, check: Check = CHECK) -> list[Any]:
    return answers_of_record(record, check, run_id="r", attempt=2, at=LATER)


def with_question(place: int, **changed: Any) -> dict[str, Any]:
    questions = [dict(question) for question in QUESTIONS]
    questions[place].update(changed)
    return {**RECORD, "questions": questions}


def test_every_question_becomes_an_answer() -> None:
    found = answers(RECORD)
    assert [(a.item, a.ask, a.probability, a.choice, a.level, a.confidence) for a in found] == [
        (0, "It holds.", 0.62, None, None, None),
        (1, "What?", None, "states", None, 0.91),
        (2, "How far?", None, None, 1, 0.85),
    ]
    assert {(a.check_id, a.run_id, a.step_id, a.attempt, a.model, a.method, a.at) for a in found} == {
        ("p/s", "r", "s", 2, "example-1", "recorded", datetime(2026, 10, 6, 9, 4, 20, tzinfo=UTC)),
    }
    assert [judge(CHECK.items[a.item], a).status for a in found] == ["unsure", "pass", "fail"]


def test_an_evaluator_that_stayed_silent_is_an_error_for_each_question() -> None:
    found = answers({**RECORD, "verdict": "error", "questions": []})
    assert [(a.item, a.status, a.ask) for a in found] == [
        (0, "error", "It holds."),
        (1, "error", "What?"),
        (2, "error", "How far?"),
    ]


def test_an_edited_question_keeps_its_recorded_text_so_that_it_shows_as_stale() -> None:
    assert answers(with_question(0, ask="It held."))[0].ask == "It held."


def test_questions_that_changed_places_are_found_by_their_text() -> None:
    turned = {**RECORD, "questions": QUESTIONS[::-1]}
    assert [(a.item, a.ask) for a in answers(turned)] == [(0, "It holds."), (1, "What?"), (2, "How far?")]


def test_missing_and_surplus_questions() -> None:
    assert [a.item for a in answers({**RECORD, "questions": QUESTIONS[:1]})] == [0]
    surplus = {**RECORD, "questions": [*QUESTIONS, {**QUESTIONS[0], "ask": "New."}]}
    assert [a.item for a in answers(surplus)] == [0, 1, 2]


@pytest.mark.parametrize("at", [None, 3, "yesterday", "2026-13-01"])
def test_a_record_without_a_usable_time_takes_the_steps_time(at: Any) -> None:
    assert answers({**RECORD, "at": at})[0].at == LATER


def test_a_time_without_a_zone_is_utc() -> None:
    assert answers({**RECORD, "at": "2026-10-06T09:04:20"})[0].at == datetime(2026, 10, 6, 9, 4, 20, tzinfo=UTC)


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (None, "must be an object"),
        ([], "must be an object"),
        ("pass", "must be an object"),
        ({}, "must be one of pass, fail"),
        ({**RECORD, "verdict": "PASS"}, "must be one of pass, fail"),
        ({**RECORD, "verdict": ["pass"]}, "must be one of pass, fail"),
        ({**RECORD, "verdct": "x"}, "Did you mean 'verdict'"),
        ({**RECORD, "questions": {"ask": 1}}, "must be a list"),
        ({**RECORD, "model": 3}, "must be a text"),
    ],
)
def test_a_record_that_cannot_be_used_is_data(record: Any, words: str) -> None:
    found = answers(record)
    assert [a.item for a in found] == [0, 1, 2]
    assert all(words in a.explanation for a in found)
    assert {judge(CHECK.items[a.item], a).status for a in found} == {"not_checked"}


@pytest.mark.parametrize(
    ("place", "changed", "words"),
    [
        (0, {"answer": 1.2}, "from 0 to 1"),
        (0, {"answer": True}, "from 0 to 1"),
        (0, {"answer": "0.9"}, "from 0 to 1"),
        (0, {"answer": float("nan")}, "from 0 to 1"),
        (0, {"answer": None}, "gave no answer"),
        (0, {"kind": "noul"}, "must have ask and kind"),
        (0, {"ask": None}, "must have ask and kind"),
        (0, {"probability": 0.3}, "has no key 'probability'"),
        (1, {"answer": 2}, "must be a name"),
        (1, {"confidence": 1.01}, "confidence must be"),
        (2, {"answer": -1}, "level must be"),
    ],
)
def test_a_question_that_cannot_be_used_leaves_the_others(place: int, changed: dict[str, Any], words: str) -> None:
    found = answers(with_question(place, **changed))
    assert words in found[place].explanation
    assert judge(CHECK.items[place], found[place]).status == "not_checked"
    assert [a.item for a in found if a.explanation is None] == [i for i in range(3) if i != place]


def test_questions_that_are_no_objects() -> None:
    found = answers({**RECORD, "questions": [None, 3, "x"]})
    assert [(a.item, a.ask) for a in found] == [(0, None), (1, None), (2, None)]


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
)
SLOPPY = st.fixed_dictionaries(
    {"verdict": st.sampled_from(["pass", "error", "x"]) | JSON},
    optional={
        "questions": st.lists(st.fixed_dictionaries({"ask": JSON, "kind": JSON, "answer": JSON})) | JSON,
        "at": JSON,
    },
)


@given(record=SLOPPY | JSON)
def test_no_record_makes_a_traceback(record: Any) -> None:
    assert all(0 <= answer.item < 3 for answer in answers(record))
