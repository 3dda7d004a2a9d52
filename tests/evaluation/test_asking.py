from __future__ import annotations

import dataclasses
from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from check_workbench.checks import EvidenceRule, FlagAt, Item, Selector, YesNo
from check_workbench.errors import EvaluatorError
from check_workbench.evaluation import evaluate
from check_workbench.evaluators import Capabilities, Recorded, Request
from check_workbench.results import Answer
from tests.workshop import call, put_answers, put_runs, question, run, screening, submission, vendor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Judge:
    """Answers with a fixed probability, fails on some runs and stops at one."""

    name = "judge"

    def __init__(self, *, stops_at: str | None = None, fails_on: tuple[str, ...] = (), probability=0.9) -> None:
        self.stops_at, self.fails_on, self.probability = stops_at, fails_on, probability
        self.asked: list[Request] = []
        self.capabilities = Capabilities(characters=10_000)

    def answer(self, requests: Iterable[Request]) -> Iterator[Answer]:
        for request in requests:
            if request.run_id == self.stops_at:
                raise TimeoutError("no route to the judge")
            self.asked.append(request)
            failed = request.run_id in self.fails_on
            yield Answer(
                check_id=request.check_id,
                run_id=request.run_id,
                item=request.item,
                step_id=request.step_id,
                attempt=request.attempt,
                span_id=request.span_id,
                probability=None if failed else self.probability,
                status="error" if failed else None,
                method="reported",
                model="judge-1",
            )


def statuses(results) -> list[str]:
    return list(results.verdicts["status"])


def test_only_what_nobody_answered_is_asked_and_it_is_kept(store):
    put_runs(store, run("a"), run("b"))
    put_answers(store, {"run_id": "a", "check_id": "q", "probability": 0.1, "ask": "Did it fail?"})
    judge = Judge()
    results = evaluate(question(), store, judge)
    assert [request.run_id for request in judge.asked] == ["b"]
    assert statuses(results) == ["pass", "fail"]
    assert results.scores["model"].tolist()[1] == "judge-1"
    kept = store.sql("select asked, run_digest, stale, method, item from answers where run_id = 'b'")
    assert kept["asked"].tolist() == [question().asked_items[0]]
    assert kept["run_digest"].notna().all()
    assert statuses(evaluate(question(), store)) == ["pass", "fail"]


def test_a_second_evaluation_asks_about_new_runs_only(store):
    put_runs(store, run("a"), run("b"))
    evaluate(question(), store, Judge())
    put_runs(store, run("c"))
    judge = Judge()
    evaluate(question(), store, judge)
    assert [request.run_id for request in judge.asked] == ["c"]
    moved = Judge()
    evaluate(question(flag_at=0.1), store, moved)
    assert not moved.asked
    edited = Judge()
    evaluate(question("Did it fail badly?"), store, edited)
    assert len(edited.asked) == 3


def test_when_the_evaluator_stops_what_it_answered_is_kept(store):
    put_runs(store, *(run(one) for one in "abcd"))
    with pytest.raises(EvaluatorError, match=r"'judge' stopped.*TimeoutError: no route.*2 of 4 answers came") as caught:
        evaluate(question(), store, Judge(stops_at="c"))
    assert isinstance(caught.value.__cause__, TimeoutError)
    assert statuses(evaluate(question(), store)) == ["fail", "fail", "not_checked", "not_checked"]
    judge = Judge()
    evaluate(question(), store, judge)
    assert [request.run_id for request in judge.asked] == ["c", "d"]


def test_an_interrupt_keeps_the_answers_too(store):
    class Interrupted(Judge):
        def answer(self, requests: Iterable[Request]) -> Iterator[Answer]:
            yield next(iter(super().answer(requests)))
            raise KeyboardInterrupt

    put_runs(store, run("a"), run("b"))
    with pytest.raises(KeyboardInterrupt):
        evaluate(question(), store, Interrupted())
    assert statuses(evaluate(question(), store)) == ["fail", "not_checked"]


def test_an_item_that_failed_is_data_and_is_asked_again(store):
    put_runs(store, run("a"), run("b"))
    results = evaluate(question(), store, Judge(fails_on=("a",)))
    assert statuses(results) == ["not_checked", "fail"]
    judge = Judge()
    assert statuses(evaluate(question(), store, judge)) == ["fail", "fail"]
    assert [request.run_id for request in judge.asked] == ["a"]


def test_a_judge_is_not_asked_what_it_cannot_answer(store):
    put_runs(store, run("a"))
    judge = Judge()
    judge.capabilities = Capabilities(kinds=("choice",))
    assert statuses(evaluate(question(), store, judge)) == ["not_checked"]
    assert not judge.asked


def test_other_workflows_are_never_asked_about(store):
    put_runs(store, run("a", workflow="w"), run("b"))
    judge = Judge()
    evaluate(question(workflow="w"), store, judge)
    assert [request.run_id for request in judge.asked] == ["a"]


def test_a_span_question_is_asked_of_each_selected_span(store):
    put_runs(store, {"run_id": "a", "spans": [call("lookup"), call("refund"), call("lookup"), call("refund")]})
    rule = EvidenceRule(spans=Selector(names=("refund",)))
    item = Item(asks=YesNo(ask="Negative?"), cut=FlagAt(), scope="span", evidence=rule)
    judge = Judge()
    results = evaluate(question(items=(item,)), store, judge)
    assert [(request.span_id, len(request.evidence.spans)) for request in judge.asked] == [("#2", 2), ("#4", 4)]
    assert statuses(results) == ["fail"]
    assert len(results.findings) == 1
    again = Judge()
    evaluate(question(items=(item,)), store, again)
    assert not again.asked


def test_a_step_is_shown_with_what_came_before_it(store):
    put_runs(store, vendor("a", {"step_id": "intake", "kind": "task", "output": "ACME"}, submission(None)))
    judge = Judge()
    results = evaluate(screening(), store, judge)
    seen = judge.asked[0].evidence.text
    assert "Screen the vendor." in seen
    assert "ACME" in seen
    assert '"cleared":true' in seen
    assert statuses(results) == ["pass"]
    assert results.verdicts[["step", "attempt"]].to_numpy().tolist() == [["screen", 1]]


def test_progress_ends_at_one(store):
    put_runs(store, run("a"), run("b"))
    told: list[tuple[str, float]] = []
    evaluate(question(), store, Judge(), progress=lambda *said: told.append(said))
    assert told == [("q", 0.5), ("q", 1.0), ("q", 1.0)]
    told.clear()
    evaluate([question(), question(id="r")], store, progress=lambda *said: told.append(said))
    assert told == [("q", 0.5), ("r", 1.0)]


def test_times_are_stored_in_utc(store):
    put_runs(store, run("a"))
    at = datetime.fromisoformat("2026-10-06T11:00:00+02:00")
    recorded = Recorded([Answer(check_id="q", run_id="a", probability=0.9, at=at)])
    results = evaluate(question(), store, recorded)
    assert str(results.scores["answered_at"][0]) == "2026-10-06 09:00:00"
    assert str(store.sql('select "at" from answers')["at"][0]) == "2026-10-06 09:00:00"


def test_a_span_question_goes_on_where_it_stopped(store):
    class Stopping(Judge):
        def answer(self, requests: Iterable[Request]) -> Iterator[Answer]:
            yield next(iter(super().answer(requests)))
            raise TimeoutError

    put_runs(store, run("a", calls=3), run("b"))
    check = question(items=(Item(asks=YesNo(ask="Negative?"), cut=FlagAt(), scope="span"),))
    with pytest.raises(EvaluatorError, match="1 of 2"):
        evaluate(check, store, Stopping(probability=0.1))
    judge = Judge()
    results = evaluate(check, store, judge)
    assert [(one.run_id, one.span_id) for one in judge.asked] == [("a", "#2"), ("a", "#3"), ("b", "#1")]
    assert results.findings["spans"].tolist() == [["#2", "#3"], ["#1"]]


@pytest.mark.parametrize("probability", [1.5, -0.1, float("nan"), float("inf")])
def test_a_number_that_is_no_probability_is_an_error_of_that_item(store, probability):
    put_runs(store, run("a"))
    results = evaluate(question(), store, Judge(probability=probability))
    assert statuses(results) == ["not_checked"]
    assert store.sql("select status, probability from answers")["status"].tolist() == ["error"]


def test_an_answer_to_something_else_is_dropped_and_counted(store):
    class Confused(Judge):
        def answer(self, requests: Iterable[Request]) -> Iterator[Answer]:
            for answer in super().answer(requests):
                yield dataclasses.replace(answer, run_id="somebody else's")
                yield answer

    put_runs(store, run("a"))
    results = evaluate(question(), store, Confused())
    assert statuses(results) == ["fail"]
    assert any("dropped (1)" in note for note in results.notes)
    assert store.sql("select count(*) as n from answers")["n"][0] == 1


def test_evidence_that_did_not_fit_is_told(store):
    put_runs(store, {"run_id": "a", "spans": [call(output="x" * 20_000), call()]})
    results = evaluate(question(), store, Judge())
    assert any("in part" in note and "(1)" in note for note in results.notes)


def test_values_of_any_kind_are_kept(store):
    class Judging(Judge):
        def answer(self, requests: Iterable[Request]) -> Iterator[Answer]:
            for answer in super().answer(requests):
                yield dataclasses.replace(answer, value="{not json", findings=["one"], probabilities={"0": 1.0})

    put_runs(store, run("a"))
    evaluate(question(), store, Judging())
    (answer,) = evaluate(question(), store).answers.to_dict("records")
    assert (answer["value"], answer["findings"], answer["probabilities"]) == ("{not json", ["one"], {"0": 1.0})


def test_a_fault_of_ours_is_not_blamed_on_the_evaluator(store, monkeypatch):
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    put_runs(store, run("a"))
    monkeypatch.setattr("check_workbench.evaluation.requests.trace_evidence", broken)
    with pytest.raises(ZeroDivisionError):
        evaluate(question(), store, Judge())
