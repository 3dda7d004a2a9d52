from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from check_workbench.checks import (
    Choice,
    FlagAt,
    FlagLevel,
    FlagOn,
    Item,
    Levels,
    PassBand,
    PassLevel,
    PassNames,
    YesNo,
)
from check_workbench.results import WORST_FIRST, Answer, Finding, confidence_of, frame, judge, level_of, name_of, worst

THREE = Choice(ask="?", options=(("states", ""), ("hedges", ""), ("unclear", "")))
RUBRIC = Levels(ask="?", levels=("none", "one", "both"))


def answer(**values) -> Answer:
    return Answer(check_id="c", run_id="r", **values)


@pytest.mark.parametrize(
    ("item", "given_answer", "status", "score"),
    [
        (Item(asks=YesNo(ask="?"), cut=FlagAt(value=0.8)), answer(probability=0.8), "fail", 0.8),
        (Item(asks=YesNo(ask="?"), cut=FlagAt(value=0.8)), answer(probability=0.79), "pass", 0.79),
        (Item(asks=YesNo(ask="?"), cut=PassBand()), answer(probability=0.9), "pass", 0.9),
        (Item(asks=YesNo(ask="?"), cut=PassBand()), answer(probability=0.89), "fail", 0.89),
        (Item(asks=YesNo(ask="?"), cut=PassBand(fail_below=0.5)), answer(probability=0.62), "unsure", 0.62),
        (Item(asks=YesNo(ask="?"), cut=PassBand(fail_below=0.5)), answer(probability=0.5), "unsure", 0.5),
        (Item(asks=YesNo(ask="?"), cut=PassBand(fail_below=0.5)), answer(probability=0.49), "fail", 0.49),
        (Item(asks=YesNo(ask="?"), cut=PassBand(fail_below=0.0)), answer(probability=0.0), "unsure", 0.0),
        (Item(asks=THREE, cut=FlagOn(names=("hedges", "unclear"))), answer(choice="hedges"), "fail", 1.0),
        (Item(asks=THREE, cut=FlagOn(names=("hedges",))), answer(choice="states"), "pass", 0.0),
        (
            Item(asks=THREE, cut=FlagOn(names=("hedges", "unclear"))),
            answer(probabilities={"states": 0.375, "hedges": 0.25, "unclear": 0.375}),
            "fail",
            0.625,
        ),
        (Item(asks=RUBRIC, cut=FlagLevel(value=1.5)), answer(level=1.5), "fail", 1.5),
        (
            Item(asks=RUBRIC, cut=FlagLevel(value=1.5)),
            answer(probabilities={"0": 0.5, "1": 0.0, "2": 0.5}),
            "pass",
            1.0,
        ),
        (Item(asks=THREE, cut=PassNames(passing=("states",))), answer(choice="states", confidence=0.91), "pass", 0.91),
        (Item(asks=THREE, cut=PassNames(passing=("states",))), answer(choice="states", confidence=0.7), "unsure", 0.7),
        (Item(asks=THREE, cut=PassNames(passing=("states",))), answer(choice="hedges", confidence=0.95), "fail", 0.0),
        (Item(asks=THREE, cut=PassNames(passing=("states",))), answer(choice="hedges", confidence=0.5), "unsure", 0.0),
        (
            Item(asks=THREE, cut=PassNames(passing=("states",), unsure=("unclear",))),
            answer(choice="unclear", confidence=0.99),
            "unsure",
            0.0,
        ),
        (Item(asks=RUBRIC, cut=PassLevel(level=2)), answer(level=2, confidence=0.8), "pass", 0.8),
        (Item(asks=RUBRIC, cut=PassLevel(level=2)), answer(level=1, confidence=0.9), "fail", 0.0),
        (Item(asks=RUBRIC, cut=PassLevel(level=1, confidence=0)), answer(level=2), "pass", 1.0),
    ],
)
def test_an_answer_and_a_cut_make_a_status(item, given_answer, status, score) -> None:
    judged = judge(item, given_answer)
    assert judged.status == status
    assert judged.score == pytest.approx(score)


def test_a_passing_answer_without_a_confidence_is_unsure_and_says_so() -> None:
    judged = judge(Item(asks=THREE, cut=PassNames(passing=("states",))), answer(choice="states"))
    assert (judged.status, judged.reason) == ("unsure", "no confidence was recorded")


@pytest.mark.parametrize(
    "item",
    [
        Item(asks=YesNo(ask="?"), cut=FlagAt()),
        Item(asks=YesNo(ask="?"), cut=PassBand()),
        Item(asks=THREE, cut=FlagOn(names=("hedges",))),
        Item(asks=THREE, cut=PassNames(passing=("states",))),
        Item(asks=RUBRIC, cut=FlagLevel(value=1)),
        Item(asks=RUBRIC, cut=PassLevel(level=1)),
    ],
)
@pytest.mark.parametrize(("status", "expected"), [(None, "not_checked"), ("error", "error"), ("skipped", "skipped")])
def test_no_value_is_never_a_pass(item, status, expected) -> None:
    judged = judge(item, answer(status=status))
    assert judged.status == expected
    assert judged.score is None
    assert judged.reason


@given(st.lists(st.sampled_from(WORST_FIRST), min_size=1, max_size=6))
def test_the_worst_part_decides_in_any_order(statuses) -> None:
    assert {worst(order) for order in itertools.islice(itertools.permutations(statuses), 24)} == {worst(statuses)}
    assert worst(statuses) != "pass" or set(statuses) <= {"pass", "not_applicable"}


@pytest.mark.parametrize(
    ("probabilities", "options", "expected"),
    [
        ({"a": 0.8, "b": 0.2}, 2, 0.6),
        ({"a": 0.8, "b": 0.1, "c": 0.1}, 3, 0.7),
        ({"a": 1.0}, 5, 1.0),
        ({"0": 1.0, "1": 0.0, "2": 0.0}, 0, 1.0),
        ({"0": 1 / 3, "1": 1 / 3, "2": 1 / 3}, 0, 0.0),
        ({"0": 0.0, "1": 1.0}, 0, 1.0),
    ],
)
def test_confidence_is_recomputed_from_probabilities(probabilities, options, expected) -> None:
    reported = answer(probabilities=probabilities, confidence=0.123)
    assert confidence_of(reported, options=options) == pytest.approx(expected)


def test_without_probabilities_the_reported_confidence_counts() -> None:
    assert confidence_of(answer(choice="a", confidence=0.4), options=3) == 0.4
    assert confidence_of(answer(choice="a"), options=3) is None


def test_levels_and_names_come_from_probabilities_first() -> None:
    spread = answer(probabilities={"0": 0.25, "2": 0.75}, level=0, choice="x")
    assert level_of(spread) == 1.5
    assert name_of(answer(probabilities={"b": 0.5, "a": 0.5})) == "b"
    assert name_of(answer(choice="x")) == "x"


def test_an_empty_frame_keeps_its_columns() -> None:
    assert list(frame([], Finding).columns)[:4] == ["id", "check", "run", "status"]
