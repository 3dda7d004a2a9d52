from __future__ import annotations

import json

import pandas as pd
import pytest

from check_workbench.errors import InputError
from check_workbench.evaluation import evaluate
from check_workbench.labels import labels_for
from tests.workshop import loop, put_answers, put_decisions, put_runs, question, run, screening, submission, vendor


def units(labels) -> list[tuple[object, ...]]:
    return [
        (row.run_id, row.attempt if pd.notna(row.attempt) else None, bool(row.positive), bool(row.blind))
        for row in labels.frame.itertuples()
    ]


def test_labels_count_for_the_check_that_they_name(store):
    put_runs(store, run("a"), run("b"), run("c"), run("d"))
    put_decisions(
        store,
        {"run_id": "a", "check_id": "loop", "decision": "problem", "verdict_seen": False},
        {"run_id": "b", "check_id": "loop", "decision": "no_problem"},
        {"run_id": "c", "check_id": "other", "decision": "problem"},
        {"run_id": "d", "decision": "rejected", "verdict_seen": False},
    )
    labels = labels_for(loop(), store)
    assert units(labels) == [("a", None, True, True), ("b", None, False, False)]
    assert not labels.proxy
    work = labels_for(loop(), store, kind="work")
    assert [row[0] for row in units(work)] == ["a", "b", "d"]
    assert work.proxy
    assert "stand in" in work.notes[0]


def test_every_decision_that_is_left_out_has_a_reason(store):
    put_runs(store, *(run(one) for one in "abcde"), run("t", mode="test"), run("w", workflow="other"))
    check = question(workflow=None)
    named = {"check_id": "q"}
    put_decisions(
        store,
        {"run_id": "a", "decision": "unclear", **named},
        {"run_id": "b", "decision": "completed", **named},
        {"run_id": "c", "decision": "problem", "asked": "0" * 32, **named},
        {"run_id": "d", "decision": "problem", "decided_by": "ana", **named},
        {"run_id": "d", "decision": "no_problem", "decided_by": "ben", **named},
        {"run_id": "e", "decision": "problem", "question": 3, **named},
        {"run_id": "t", "decision": "problem", **named},
        {"run_id": "nowhere", "decision": "problem", **named},
    )
    labels = labels_for(check, store)
    assert units(labels) == []
    assert labels.excluded == {
        "annotators_disagree": 2,
        "completed": 1,
        "other_question": 1,
        "other_version": 1,
        "test_run": 1,
        "unclear": 1,
        "unknown_run": 1,
    }


def test_labels_made_for_the_present_question_count(store):
    put_runs(store, run("a"), run("b"))
    check = question()
    put_decisions(
        store,
        {"run_id": "a", "check_id": "q", "decision": "problem", "asked": check.asked},
        {"run_id": "b", "check_id": "q", "decision": "problem", "asked": check.asked_items[0], "question": 0},
    )
    assert len(labels_for(check, store)) == 2
    assert labels_for(question("Something else?"), store).excluded == {"other_version": 2}


def test_a_check_of_other_workflows_takes_no_label(store):
    put_runs(store, run("a", workflow="w"), run("b", workflow="v"))
    put_decisions(store, *({"run_id": one, "check_id": "q", "decision": "problem"} for one in "ab"))
    labels = labels_for(question(workflow="w"), store)
    assert [row[0] for row in units(labels)] == ["a"]
    assert labels.excluded == {"not_applicable": 1}


def test_approvals_label_the_step_that_leads_there(store):
    put_runs(store, vendor("a", submission(0.9)), vendor("b", submission(0.9)), run("c"))
    put_decisions(
        store,
        {"run_id": "a", "step_id": "sign", "decision": "rejected", "verdict_seen": False},
        {"run_id": "b", "step_id": "sign", "decision": "approved", "verdict_seen": True},
        {"run_id": "b", "step_id": "sign_terms", "decision": "rejected"},
        {"run_id": "c", "decision": "rejected"},
        {"run_id": "b", "step_id": "typo", "decision": "rejected"},
    )
    labels = labels_for(screening(), store)
    assert units(labels) == [("a", 1, True, True), ("b", 1, False, False)]
    assert labels.frame["reason_not_blind"].tolist()[1] == "saw_verdict"
    assert labels.excluded == {"unmatched": 1}
    assert not labels.proxy


def test_an_approval_without_an_attempt_pairs_with_the_latest_submission_before_it(store):
    steps = [submission(None, attempt=n, at=f"2026-10-0{n}T09:00:00Z") for n in (1, 2, 3)]
    put_runs(store, vendor("a", *steps))
    decided = {"run_id": "a", "step_id": "sign"}
    put_decisions(
        store,
        {"decision": "rejected", "decided_at": "2026-10-02T08:59:59", **decided},
        {"decision": "approved", "decided_at": "2026-10-03T09:00:00", **decided},
        {"decision": "rejected", "decided_at": "2026-09-01T00:00:00", **decided},
    )
    labels = labels_for(screening(), store)
    assert [row[:3] for row in units(labels)] == [("a", 1, True), ("a", 3, False)]
    assert labels.excluded == {"decided_before_submission": 1}


def test_the_time_of_the_recorded_verdict_stands_in_for_that_of_the_submission(store):
    steps = [submission(0.9, attempt=n) for n in (1, 2)]
    steps[1]["check"]["at"] = "2026-10-08T11:00:00+02:00"
    put_runs(store, vendor("a", *steps))
    put_decisions(
        store,
        {"run_id": "a", "step_id": "sign", "decision": "rejected", "decided_at": "2026-10-08T08:59:59"},
        {"run_id": "a", "step_id": "sign", "decision": "approved", "decided_at": "2026-10-08T09:00:00"},
    )
    assert [row[:3] for row in units(labels_for(screening(), store))] == [("a", 1, True), ("a", 2, False)]


def test_a_named_attempt_is_taken_at_its_word_and_a_missing_time_means_the_first(store):
    steps = [submission(None, attempt=n, at=f"2026-10-0{n}T09:00:00Z") for n in (1, 2)]
    put_runs(store, vendor("a", *steps))
    put_decisions(
        store,
        {"run_id": "a", "step_id": "screen", "attempt": 2, "decision": "approved"},
        {"run_id": "a", "step_id": "sign", "decision": "rejected"},
        {"run_id": "a", "step_id": "sign", "attempt": 7, "decision": "rejected"},
    )
    labels = labels_for(screening(), store)
    assert [row[:3] for row in units(labels)] == [("a", 1, True), ("a", 2, False)]
    assert labels.excluded == {"unmatched": 1}


def test_a_decision_before_every_answer_is_blind(store):
    put_runs(store, run("a"), run("b"), run("c"))
    answer = {"check_id": "q", "probability": 0.5}
    put_answers(
        store,
        {"run_id": "a", "at": "2026-10-06T00:00:00", **answer},
        {"run_id": "b", "at": "2026-10-06T00:00:00", **answer},
        {"run_id": "b", "at": "2026-10-01T00:00:00", "ask": "An earlier wording?", **answer},
        {"run_id": "c", **answer},
    )
    named = {"check_id": "q", "decision": "problem", "decided_at": "2026-10-05T00:00:00"}
    put_decisions(store, *({"run_id": one, **named} for one in "abc"))
    labels = labels_for(question(), store)
    assert labels.frame["blind"].tolist() == [True, False, False]
    assert labels.frame["reason_not_blind"].tolist()[1:] == ["decided_after_verdict", "verdict_seen_unknown"]
    assert labels.frame["blind_by"].tolist()[0] == "time"


def test_an_approver_who_came_after_the_recorded_verdict_is_not_blind(store):
    put_runs(store, vendor("a", submission(0.9)), vendor("b", submission(0.9)))
    put_decisions(
        store,
        {"run_id": "a", "step_id": "sign", "decision": "approved", "decided_at": "2026-10-06T08:59:59"},
        {"run_id": "b", "step_id": "sign", "decision": "approved", "decided_at": "2026-10-06T09:00:01"},
    )
    assert labels_for(screening(), store).frame["blind"].tolist() == [True, False]


def test_old_decisions_on_a_rule_that_the_store_saw_later_are_blind_by_time(store):
    put_runs(store, run("a"))
    put_decisions(
        store,
        {"run_id": "a", "check_id": "loop", "decision": "problem", "decided_at": "2020-01-01T00:00:00"},
    )
    assert labels_for(loop(), store).frame["reason_not_blind"].tolist() == ["verdict_seen_unknown"]
    evaluate(loop(), store)
    labels = labels_for(loop(), store)
    assert labels.frame["blind"].tolist() == [True]
    words = (
        "blind because the decision came before any verdict that the store knows of (1 units); times without a zone "
    )
    assert labels.notes == (f"{words}were read as UTC",)


def test_asserted_blindness_is_told(store):
    put_runs(store, run("a"))
    put_decisions(store, {"run_id": "a", "check_id": "loop", "decision": "problem", "asserted_blind": True})
    labels = labels_for(loop(), store)
    assert labels.frame["blind_by"].tolist() == ["asserted"]
    assert "asserted when loading (1 units)" in repr(labels)


def test_blind_labels_beside_an_approver_who_saw_the_verdict(store):
    put_runs(store, vendor("a", submission(0.9)))
    put_decisions(
        store,
        {"run_id": "a", "step_id": "sign", "decision": "approved", "verdict_seen": True},
        {"run_id": "a", "check_id": "vendor/screen", "decision": "problem", "verdict_seen": False},
    )
    labels = labels_for(screening(), store)
    assert units(labels) == [("a", 1, True, True)]
    assert labels.excluded == {"not_blind_beside_blind": 1}


def test_labels_of_one_question_of_several(store):
    put_runs(store, vendor("a", submission(None)), vendor("b", submission(None)))
    named = {"check_id": "vendor/screen"}
    put_decisions(
        store,
        {"run_id": "a", "question": 1, "decision": "problem", **named},
        {"run_id": "b", "question": 1, "decision": "no_problem", **named},
    )
    check = screening("One.", "Two.")
    whole = labels_for(check, store)
    assert [row[:3] for row in units(whole)] == [("a", 1, True)]
    assert whole.excluded == {"one_question_only": 1}
    assert len(labels_for(check, store, item=1)) == 2
    assert labels_for(check, store, item=0).excluded == {"other_question": 2}


def test_one_row_tells_where_the_label_came_from(store):
    put_runs(store, run("a", workflow="w", session_id="s"))
    keys = put_decisions(
        store,
        {"run_id": "a", "check_id": "q", "decision": "edited", "decided_at": "2026-10-02T00:00:00"},
        {"run_id": "a", "check_id": "q", "decision": "edited", "probability_sampled": 0.25},
    )
    row = labels_for(question(), store).frame.iloc[0]
    assert row["decision_keys"] == sorted(keys)
    assert (row["n_rows"], bool(row["edited"]), row["probability_sampled"]) == (2, True, 0.25)
    assert (row["workflow"], row["session_id"], str(row["decided_at"])) == ("w", "s", "2026-10-02 00:00:00")


def test_results_show_themselves_and_the_kind_is_checked(store):
    put_runs(store, run("<b>"))
    put_decisions(store, {"run_id": "<b>", "check_id": "q", "decision": "problem"})
    labels = labels_for(question(), store)
    bundle = labels._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", "application/vnd.check-workbench+json"}
    assert "<b>" not in bundle["text/html"]
    assert json.dumps(bundle["application/vnd.check-workbench+json"])
    with pytest.raises(InputError, match="kind must be 'check' or 'work', got 'works'"):
        labels_for(question(), store, kind="works")
