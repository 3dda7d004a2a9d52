"""What becomes of scores in an Inspect log, and of their edits by people."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from check_workbench.checks import Check
from check_workbench.labels import labels_for
from check_workbench.records import Decision
from check_workbench.results import Answer
from tests.sources.inspect_log import SAMPLE, write_archive
from tests.sources.reading import only, read

if TYPE_CHECKING:
    from pathlib import Path

    from check_workbench.sources.format import Record
    from check_workbench.store import Store


def scored(tmp_path: Path, **scores: Any) -> list[Record]:
    return read("inspect", write_archive(tmp_path / "a.eval", {**SAMPLE, "scores": scores}))


def edit(value: Any, author: str | None = "ann", **more: Any) -> dict[str, Any]:
    by = {"timestamp": "2026-03-02T08:00:00+00:00", "author": author, "reason": "I checked."}
    return {"value": value, **({"provenance": by} if author else {}), **more}


def test_an_answer(tmp_path: Path) -> None:
    [answer] = only(read("inspect", write_archive(tmp_path / "a.eval", SAMPLE)), Answer)
    assert (answer.run_id, answer.check_id, answer.method) == ("run-1/task-1/1/2", "includes", "inspect includes")
    assert (answer.passed, answer.score, answer.value, answer.explanation) == (True, 1.0, "C", "It is there.")
    assert (answer.model, answer.at) == ("openai/judge", datetime(2026, 3, 1, 10, 0, 9, tzinfo=UTC))


@pytest.mark.parametrize(
    ("value", "passed", "score"),
    [
        ("C", True, 1.0),
        ("I", False, 0.0),
        ("N", False, 0.0),
        ("P", None, 0.5),
        (True, True, 1.0),
        (False, False, 0.0),
        (7, None, 7.0),
        (0.25, None, 0.25),
        ("excellent", None, None),
        ({"f1": 0.5}, None, None),
        ([1, 2], None, None),
        (None, None, None),
        (10**400, None, None),
    ],
)
def test_values(tmp_path: Path, value: Any, passed: bool | None, score: float | None) -> None:  # noqa: FBT001
    [answer] = only(scored(tmp_path, any={"value": value}), Answer)
    assert (answer.passed, answer.score, answer.value) == (passed, score, value)


@pytest.mark.parametrize(
    ("name", "score", "model"),
    [
        ("includes", {}, "openai/judge"),
        ("graded", {}, "openai/judge"),
        ("graded", {"metadata": {"grading": [{"role": "user"}, {"role": "assistant", "model": "j-2"}]}}, "j-2"),
        ("match", {"metadata": {"grading": "none"}}, None),
    ],
)
def test_the_model_that_graded(tmp_path: Path, name: str, score: dict[str, Any], model: str | None) -> None:
    [answer] = only(scored(tmp_path, **{name: {"value": "C", **score}}), Answer)
    assert answer.model == model


def test_a_sample_of_an_old_log_has_one_score(tmp_path: Path) -> None:
    old = {key: value for key, value in SAMPLE.items() if key != "scores"}
    [answer] = only(read("inspect", write_archive(tmp_path / "a.eval", {**old, "score": {"value": "I"}})), Answer)
    assert (answer.check_id, answer.passed) == ("score", False)


def test_an_edited_score_is_the_scorers_answer_and_a_persons_decision(tmp_path: Path) -> None:
    history = [edit("C", None, explanation="It matches."), edit("I")]
    answer, decision = scored(tmp_path, match={"value": "I", "explanation": "Wrong.", "history": history})[1:]
    assert isinstance(answer, Answer)
    assert isinstance(decision, Decision)
    assert (answer.passed, answer.value, answer.explanation) == (True, "C", "It matches.")
    assert (decision.check_id, decision.decision, decision.answer, decision.note) == (
        "match",
        "problem",
        "I",
        "I checked.",
    )
    assert (decision.decided_by, decision.decided_at) == ("ann", datetime(2026, 3, 2, 8, tzinfo=UTC))
    assert (decision.verdict_seen, decision.provenance, decision.run_id) == (True, "imported", answer.run_id)


@pytest.mark.parametrize(
    ("history", "decisions", "answers"),
    [
        ([edit("I", None)], [], 1),
        ([edit("I", None), edit("UNCHANGED", explanation="Better words.")], [], 1),
        ([edit("I", None), edit("C"), edit("P")], [("ann", "unclear")], 1),
        ([edit("I", None), edit("C"), edit("I", "bob")], [("ann", "no_problem"), ("bob", "problem")], 1),
        ([edit(0.3, None), edit(value=True)], [("ann", "no_problem")], 1),
        ([edit("C")], [("ann", "no_problem")], 0),
        ("none", [], 1),
    ],
)
def test_edits(tmp_path: Path, history: Any, decisions: list[tuple[str, str]], answers: int) -> None:
    records = scored(tmp_path, match={"value": "C", "history": history})
    assert [(d.decided_by, d.decision) for d in only(records, Decision)] == decisions
    assert len(only(records, Answer)) == answers


def test_edits_are_labels_that_are_not_blind(tmp_path: Path, store: Store) -> None:
    sample = {**SAMPLE, "scores": {"match": {"value": "I", "history": [edit("C", None), edit("I")]}}}
    report = store.load(write_archive(tmp_path / "a.eval", sample))
    assert (report.runs, report.answers, report.decisions) == (1, 1, 1)
    labels = labels_for(Check(id="match", dialect="neatroots", items=()), store)
    assert labels.frame[["positive", "blind", "reason_not_blind"]].to_numpy().tolist() == [[True, False, "saw_verdict"]]
