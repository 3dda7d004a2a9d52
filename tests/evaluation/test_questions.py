from __future__ import annotations

import pytest

from check_workbench.checks import Choice, FlagLevel, FlagOn, Item, Levels
from check_workbench.evaluation import evaluate
from check_workbench.evaluation.recorded import NO_ANSWER, OTHER_QUESTION, STALE
from check_workbench.evaluation.units import OTHER_WORKFLOW
from tests.workshop import put_answers, put_runs, question, run


def status(results, run_id: str) -> str:
    found = results.verdicts.set_index("run")["status"]
    return str(found[run_id])


def test_recorded_answers_are_cut(store):
    put_runs(store, run("a"), run("b"), run("c"))
    put_answers(
        store,
        {"run_id": "a", "check_id": "q", "probability": 0.8, "ask": "Did it fail?", "quote": "it failed"},
        {"run_id": "b", "check_id": "q", "probability": 0.79, "ask": " Did  it\nfail? "},
    )
    results = evaluate(question(), store)
    assert [status(results, one) for one in "abc"] == ["fail", "pass", "not_checked"]
    assert results.left_out == {"not_checked": {NO_ANSWER: 1}}
    found = results.findings[["run", "value", "quote", "status"]].to_numpy().tolist()
    assert found == [["a", 0.8, "it failed", "raised"]]


def test_another_question_is_not_checked_and_counted(store):
    put_runs(store, run("a"), run("b"))
    put_answers(
        store,
        {"run_id": "a", "check_id": "q", "probability": 0.9, "ask": "Something else?"},
        {"run_id": "b", "check_id": "q", "probability": 0.9, "asked": "0" * 32},
    )
    results = evaluate(question(), store)
    assert results.left_out == {"not_checked": {OTHER_QUESTION: 2}}
    assert results.findings.empty


def test_an_answer_without_its_question_counts_with_a_note(store):
    put_runs(store, run("a"))
    put_answers(store, {"run_id": "a", "check_id": "q", "probability": 0.9})
    results = evaluate(question(), store)
    assert status(results, "a") == "fail"
    assert any("do not say which question" in note and "(1)" in note for note in results.notes)


def test_a_stale_answer_is_not_checked(store):
    put_runs(store, run("a"))
    put_answers(store, {"run_id": "a", "check_id": "q", "probability": 0.9, "stale": True})
    assert evaluate(question(), store).left_out == {"not_checked": {STALE: 1}}


def test_the_newest_of_several_answers_counts(store):
    put_runs(store, run("a"), run("b"))
    ask = {"check_id": "q", "ask": "Did it fail?"}
    put_answers(
        store,
        {"run_id": "a", "probability": 0.9, "at": "2026-01-02T00:00:00", **ask},
        {"run_id": "a", "probability": 0.1, "at": "2026-01-01T00:00:00", **ask},
        {"run_id": "a", "probability": 0.2, **ask},
        {"run_id": "b", "probability": 0.9, "source_key": 1, **ask},
        {"run_id": "b", "probability": 0.1, "source_key": 2, **ask},
    )
    results = evaluate(question(), store)
    assert [status(results, one) for one in "ab"] == ["fail", "pass"]
    assert any("several recorded answers" in note and "(2)" in note for note in results.notes)
    assert len(results.answers) == 2


def test_an_older_answer_to_the_present_question_beats_a_newer_one_to_another(store):
    put_runs(store, run("a"))
    put_answers(
        store,
        {"run_id": "a", "check_id": "q", "probability": 0.9, "ask": "Did it fail?", "at": "2026-01-01T00:00:00"},
        {"run_id": "a", "check_id": "q", "probability": 0.1, "ask": "Other?", "at": "2026-01-02T00:00:00"},
    )
    assert status(evaluate(question(), store), "a") == "fail"


def test_other_workflows_are_not_applicable_whatever_was_answered(store):
    put_runs(store, run("a", workflow="refunds"), run("b", workflow="other"), run("c"))
    put_answers(store, *({"run_id": one, "check_id": "q", "probability": 0.9} for one in "abc"))
    results = evaluate(question(workflow="refunds"), store)
    assert results.left_out == {"not_applicable": {OTHER_WORKFLOW: 2}}
    assert results.findings["run"].tolist() == ["a"]
    assert results.scores.set_index("run_id")["score"].isna().tolist() == [False, True, True]


def test_a_failed_evaluator_is_not_checked_and_a_recorded_skip_is_a_skip(store):
    put_runs(store, run("a"), run("b"))
    put_answers(
        store,
        {"run_id": "a", "check_id": "q", "status": "error"},
        {"run_id": "b", "check_id": "q", "status": "skipped"},
    )
    results = evaluate(question(), store)
    assert [status(results, one) for one in "ab"] == ["not_checked", "skipped"]


def test_the_worst_span_speaks_for_the_run(store):
    put_runs(store, run("a", calls=3))
    put_answers(
        store,
        {"run_id": "a", "check_id": "q", "span_id": "#1", "probability": 0.1},
        {"run_id": "a", "check_id": "q", "span_id": "#2", "probability": 0.9, "quote": "here"},
        {"run_id": "a", "check_id": "q", "span_id": "#3", "status": "error"},
    )
    results = evaluate(question(), store)
    assert results.verdicts[["status", "score"]].to_numpy().tolist() == [["fail", 0.9]]
    assert results.findings["spans"].tolist() == [["#2"]]
    assert len(results.findings) == 1


@pytest.mark.parametrize(
    ("item", "answer", "expected"),
    [
        (
            Item(asks=Choice(ask="?", options=(("ok", ""), ("bad", ""))), cut=FlagOn(names=("bad",), value=0.5)),
            {"probabilities": '{"ok": 0.4, "bad": 0.6}'},
            ("fail", 0.6),
        ),
        (
            Item(asks=Choice(ask="?", options=(("ok", ""), ("bad", ""))), cut=FlagOn(names=("bad",), value=0.5)),
            {"choice": "ok"},
            ("pass", 0.0),
        ),
        (Item(asks=Levels(ask="?", levels=("0", "1", "2")), cut=FlagLevel(value=1.5)), {"level": 2}, ("fail", 2.0)),
        (
            Item(asks=Levels(ask="?", levels=("0", "1", "2")), cut=FlagLevel(value=1.5)),
            {"probabilities": '{"0": 0.5, "2": 0.5}'},
            ("pass", 1.0),
        ),
    ],
)
def test_choices_and_levels(store, item, answer, expected):
    put_runs(store, run("a"))
    put_answers(store, {"run_id": "a", "check_id": "q", **answer})
    results = evaluate(question(items=(item,)), store)
    assert tuple(results.verdicts[["status", "score"]].to_numpy()[0]) == expected


@pytest.mark.parametrize(
    ("asks", "answer"),
    [
        (Levels(ask="?", levels=("0", "1")), {"probabilities": '{"good": 1.0}'}),
        (Levels(ask="?", levels=("0", "1")), {"probabilities": '{"1000000000": 1.0}'}),
        (Levels(ask="?", levels=("0", "1")), {"probabilities": '{"-1": 1.0}'}),
        (Levels(ask="?", levels=("0", "1")), {"level": 2}),
        (Levels(ask="?", levels=("0", "1")), {"level": float("inf")}),
        (Levels(ask="?", levels=("0", "1")), {"probability": 0.9}),
        (Choice(ask="?", options=(("a", ""), ("b", ""))), {"choice": "c"}),
        (Choice(ask="?", options=(("a", ""), ("b", ""))), {"probabilities": '{"a": 0.5, "c": 0.5}'}),
        (Choice(ask="?", options=(("a", ""), ("b", ""))), {"probability": 0.9}),
    ],
)
def test_an_answer_of_another_kind_is_not_checked(store, asks, answer):
    cut = FlagOn(names=("b",)) if isinstance(asks, Choice) else FlagLevel(value=1)
    put_runs(store, run("a"))
    put_answers(
        store,
        {"run_id": "a", "check_id": "q", **answer},
        {"run_id": "a", "check_id": "q", "item": -1, "probability": 1.0},
        {"run_id": "a", "check_id": "q", "item": 99, "probability": 1.0},
    )
    results = evaluate(question(items=(Item(asks=asks, cut=cut),)), store)
    assert results.verdicts["status"].tolist() == ["not_checked"]
    assert results.findings.empty
