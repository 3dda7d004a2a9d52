from __future__ import annotations

import dataclasses

from check_workbench.checks import PassBand, with_threshold
from check_workbench.evaluation import evaluate
from check_workbench.evaluation.recorded import NO_ANSWER, OTHER_QUESTION, OTHER_VERSION
from check_workbench.evaluation.units import NO_STEP, OTHER_WORKFLOW
from tests.workshop import put_answers, put_runs, run, screening, submission, vendor


def rows(results, *columns: str) -> list[list[object]]:
    found: list[list[object]] = results.verdicts[list(columns)].astype(object).to_numpy().tolist()
    return found


def test_each_submission_of_the_step_is_judged(store):
    again = submission(0.95, attempt=2)
    put_runs(store, vendor("a", submission(0.3), again), vendor("b", submission(0.6)), vendor("c", submission(None)))
    results = evaluate(screening(), store)
    assert rows(results, "run", "step", "attempt", "status") == [
        ["a", "screen", 1, "fail"],
        ["a", "screen", 2, "pass"],
        ["b", "screen", 1, "unsure"],
        ["c", "screen", 1, "not_checked"],
    ]
    assert results.left_out == {"not_checked": {NO_ANSWER: 1}}
    assert results.scores["model"].tolist()[:3] == ["judge-1"] * 3
    assert results.findings["message"].tolist() == ["check: It covers both lists. → no (0.3)"]


def test_runs_of_other_processes_and_without_the_step_are_not_applicable(store):
    other = vendor("c", {"step_id": "sign", "kind": "approve"})
    put_runs(store, run("a", workflow="refunds"), run("b"), other)
    assert evaluate(screening(), store).left_out == {"not_applicable": {OTHER_WORKFLOW: 2, NO_STEP: 1}}


def test_submissions_that_say_no_attempt_are_numbered_in_file_order(store):
    put_runs(store, vendor("a", submission(0.3), submission(0.95)))
    assert rows(evaluate(screening(), store), "attempt", "status") == [[1, "fail"], [2, "pass"]]


def test_unsure_outranks_fail_and_the_score_is_the_least_clear(store):
    two = submission(None)
    asked = [
        {"ask": "One.", "kind": "yes_no", "answer": 0.2, "result": "fail"},
        {"ask": "Two.", "kind": "yes_no", "answer": 0.7, "result": "unsure"},
    ]
    two["check"] = {
        "verdict": "unsure",
        "advisory": True,
        "model": "m",
        "questions": asked,
        "at": "2026-10-06T09:00:00Z",
    }
    put_runs(store, vendor("a", two))
    results = evaluate(screening("One.", "Two."), store)
    assert rows(results, "status", "score") == [["unsure", 0.2]]
    assert results.scores["status"].tolist() == ["fail", "unsure"]


def test_without_fail_everything_below_pass_fails(store):
    put_runs(store, vendor("a", submission(0.89)))
    assert rows(evaluate(screening(band=PassBand(pass_at=0.9)), store), "status") == [["fail"]]


def test_a_recorded_error_is_an_error_and_a_broken_record_says_why(store):
    silent = submission(0.5)
    silent["check"] |= {"verdict": "error", "questions": []}
    put_runs(store, vendor("a", silent), vendor("b", submission(None, check={"verdict": "maybe"})))
    results = evaluate(screening(), store)
    assert rows(results, "run", "status") == [["a", "error"], ["b", "not_checked"]]
    assert "must be one of" in next(iter(results.left_out["not_checked"]))


def test_an_edited_question_is_not_checked(store):
    put_runs(store, vendor("a", submission(0.95, ask="It covers one list.")))
    assert evaluate(screening(), store).left_out == {"not_checked": {OTHER_QUESTION: 1}}


def test_a_verdict_without_a_version_counts_with_a_note(store):
    put_runs(store, vendor("a", submission(0.95)), vendor("b", submission(0.95, process_version="v1")))
    results = evaluate(screening(), store)
    assert rows(results, "status") == [["pass"], ["pass"]]
    assert any("no process version" in note and "(1)" in note for note in results.notes)


def test_another_version_is_left_out_unless_it_asked_the_same(store):
    same = {"instructions": "Screen the vendor.", "body": "Be thorough."}
    put_runs(
        store,
        vendor("a", submission(0.95, process_version="v0")),
        vendor("b", submission(0.95, process_version="v0", **same)),
        vendor("c", submission(0.95, process_version="v0", **{**same, "body": "Be quick."})),
    )
    results = evaluate(screening(), store)
    assert rows(results, "status") == [["not_checked"], ["pass"], ["not_checked"]]
    assert results.left_out == {"not_checked": {OTHER_VERSION: 2}}


def test_a_moved_threshold_changes_the_version_and_keeps_the_verdicts_that_were_recorded(store):
    before = screening()
    put_runs(store, vendor("a", submission(0.85, process_version="v1")))
    assert rows(evaluate(before, store), "status") == [["unsure"]]
    moved = with_threshold(before, item=0, key="pass", value=0.8)
    assert moved.process is not None
    moved = dataclasses.replace(moved, process=dataclasses.replace(moved.process, version="v2"))
    assert rows(evaluate(moved, store), "status") == [["pass"]]


def test_imported_answers_count_beside_the_recorded_verdicts(store):
    put_runs(store, vendor("a", submission(0.95)), vendor("b", submission(None)))
    answer = {"check_id": "vendor/screen", "ask": "It covers both lists.", "at": "2026-11-01T00:00:00"}
    put_answers(
        store,
        {"run_id": "a", "probability": 0.2, "attempt": 1, "step_id": "screen", **answer},
        {"run_id": "b", "probability": 0.1, **answer},
        {"run_id": "b", "probability": 0.99, "step_id": "terms", **answer},
    )
    assert rows(evaluate(screening(), store), "status") == [["fail"], ["fail"]]


def test_flags_say_whether_the_verdict_holds_the_work_up(store):
    put_runs(store, vendor("a", submission(0.1)))
    assert rows(evaluate(screening(), store), "advisory", "blocking") == [[True, False]]
    assert rows(evaluate(screening(advisory=False), store), "advisory", "blocking") == [[False, True]]


def test_editing_the_question_says_how_many_recorded_verdicts_that_made_stale(store):
    put_runs(store, vendor("a", submission(0.95)), vendor("b", submission(0.95)), vendor("c", submission(None)))
    evaluate(screening(), store)
    results = evaluate(screening("It covers every list."), store)
    assert results.notes[0] == (
        "vendor/screen: what it asks was edited since an earlier version; 2 answers made for that are stale"
    )
    assert results.left_out == {"not_checked": {NO_ANSWER: 1, OTHER_QUESTION: 2}}
