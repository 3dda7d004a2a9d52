"""What a person's score says, and what it does not."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from check_workbench.records import Decision
from check_workbench.results import Answer
from check_workbench.sources import Note
from check_workbench.sources.feedback import BAD, FAILING, GOOD, PASSING, About, Feedback, decision_of
from tests.sources.odd import read_lines

AT = datetime(2026, 5, 1, tzinfo=UTC)
ABOUT = About(run_id="r", span_id="s", by="ann", at=AT, note="hm", project="p")


@pytest.mark.parametrize(
    ("name", "value", "decided"),
    [
        ("review", "correct", "no_problem"),
        ("review", " Incorrect ", "problem"),
        ("review", "PASS", "no_problem"),
        ("review", "failed", "problem"),
        ("review", "thumbs-up", "no_problem"),
        ("review", "Thumbs_Down", "problem"),
        ("review", "👍", "no_problem"),
        ("review", "not ok", "problem"),
        ("review", "approved", "no_problem"),
        ("review", "yes", "unclear"),
        ("review", "positive", "unclear"),
        ("review", "", "unclear"),
        ("isCorrect", True, "no_problem"),
        ("is_correct", False, "problem"),
        ("Helpfulness", True, "no_problem"),
        ("hallucination", True, "problem"),
        ("has-errors", False, "no_problem"),
        ("no_errors", True, "unclear"),
        ("error_free", True, "unclear"),
        ("not helpful", True, "unclear"),
        ("correct or wrong", True, "unclear"),
        ("quality", True, "unclear"),
        ("refused", False, "unclear"),
        ("thumbs", 1, "no_problem"),
        ("thumbs_up", 0, "problem"),
        ("user-thumb", -1, "problem"),
        ("thumbs_down", True, "problem"),
        ("thumbsDown", 0, "no_problem"),
        ("thumbs", 0.5, "unclear"),
        ("correctness", 1, "unclear"),
        ("correctness", 0.0, "unclear"),
        ("stars", 5, "unclear"),
        ("stars", None, "unclear"),
        ("stars", {"a": 1}, "unclear"),
    ],
)
def test_the_table(name: str, value: Any, decided: str) -> None:
    assert decision_of(name, value) == decided


def test_the_lists_do_not_contradict_each_other() -> None:
    assert not PASSING & FAILING
    assert not GOOD & BAD


def test_a_decision_carries_where_it_came_from() -> None:
    assert Feedback().decision(ABOUT, "review", "correct") == Decision(
        run_id="r",
        decision="no_problem",
        check_id="review",
        span_id="s",
        answer="correct",
        decided_by="ann",
        decided_at=AT,
        provenance="imported",
        project="p",
        note="hm",
    )


def test_true_and_false_are_no_answer_beside_the_decision() -> None:
    assert Feedback().decision(ABOUT, "isCorrect", value=True).answer is None


def test_one_note_for_each_name_says_how_many_and_what_to_do() -> None:
    feedback = Feedback()
    for value in (4, 5, 4, "so-so", None):
        assert feedback.decision(ABOUT, "quality", value).decision == "unclear"
    assert feedback.decision(ABOUT, "tone", 1).answer == 1
    assert feedback.decision(ABOUT, "review", "correct").decision == "no_problem"
    first, second = feedback.notes("f.json")
    assert first.file == "f.json"
    assert "named 'quality' (4, 5, 'so-so', …)" in first.text
    assert "unclear: 5. Say it in a mapping" in first.text
    assert "named 'tone' (1)" in second.text


@given(
    st.text(max_size=20),
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.lists(st.integers(), max_size=2),
)
def test_whatever_was_said_becomes_one_of_three_decisions(name: str, value: Any) -> None:
    feedback = Feedback()
    decided = feedback.decision(ABOUT, name, value).decision
    assert decided in {"problem", "no_problem", "unclear"}
    assert len(list(feedback.notes("f"))) == (decided == "unclear")


SAID: dict[str, dict[str, Any]] = {
    "langfuse": {
        "id": "s",
        "traceId": "t",
        "name": "judge",
        "source": "EVAL",
        "dataType": "NUMERIC",
        "value": 1,
        "metadata": {"cost": 3},
    },
    "phoenix": {
        "name": "judge",
        "annotator_kind": "LLM",
        "trace_id": "a1",
        "result": {"score": 1},
        "metadata": {"model": "m", "cost": 3},
    },
    "langsmith": {"id": "f", "key": "judge", "run_id": "r", "score": 1, "feedback_source": {}, "extra": {"cost": 3}},
    "mlflow": {
        "info": {
            "trace_id": "t",
            "assessments": [{"assessment_name": "judge", "feedback": {"value": 1}, "metadata": {"cost": 3}}],
        },
        "data": {"spans": []},
    },
}


@pytest.mark.parametrize("name", SAID)
def test_metadata_of_opinions_is_told_where_it_is_not_taken(name: str) -> None:
    found = read_lines(name, SAID[name], SAID[name])
    assert [one.check_id for one in found if isinstance(one, Answer)] == ["judge", "judge"]
    assert [one.text for one in found if isinstance(one, Note)] == ["scores with metadata, which was not taken: 2"]


def test_a_model_in_the_metadata_is_taken_so_nothing_is_told() -> None:
    [answer] = read_lines("phoenix", {**SAID["phoenix"], "metadata": {"model": "m"}})
    assert answer.model == "m"
