from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from check_workbench.decisions import Note, Rejected, read_answers
from check_workbench.errors import InputError
from check_workbench.results import Answer

if TYPE_CHECKING:
    from pathlib import Path


def told(path: Path) -> tuple[list[Answer], list[tuple[int, str]], list[str]]:
    found = list(read_answers(path))
    return (
        [record for record in found if isinstance(record, Answer)],
        [(record.line, record.reason) for record in found if isinstance(record, Rejected)],
        [record.text for record in found if isinstance(record, Note)],
    )


def one(tmp_path: Path, **fields: Any) -> Answer | str:
    (tmp_path / "a.jsonl").write_text(json.dumps({"run_id": "r", "check_id": "c", **fields}))
    answers, rejected, _ = told(tmp_path / "a.jsonl")
    return answers[0] if answers else rejected[0][1]


def test_a_full_answer(tmp_path: Path) -> None:
    found = one(
        tmp_path,
        step_id="s",
        span_id="#1",
        attempt=2,
        question=1,
        ask="Did it fail?",
        probability=0.75,
        explanation="because",
        confidence=0.5,
        model="m",
        method="logprobs",
        status="ok",
        at="2026-03-01T10:00:00Z",
    )
    assert found == Answer(
        check_id="c",
        run_id="r",
        item=1,
        step_id="s",
        span_id="#1",
        attempt=2,
        ask="Did it fail?",
        probability=0.75,
        explanation="because",
        confidence=0.5,
        model="m",
        method="logprobs",
        at=datetime(2026, 3, 1, 10, tzinfo=UTC),
    )


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"probability": 0}, {"probability": 0.0, "item": 0}),
        ({"probabilities": {"a": 0.7, "b": 0.28}}, {"probabilities": {"a": 0.7, "b": 0.28}}),
        ({"probabilities": [0.2, 0.8]}, {"probabilities": {"0": 0.2, "1": 0.8}}),
        ({"choice": "a"}, {"choice": "a"}),
        ({"level": 0}, {"level": 0.0}),
        ({"level": 2.4}, {"level": 2.4}),
        (
            {"passed": False, "score": 0.2, "findings": [{"at": 1}]},
            {"passed": False, "score": 0.2, "findings": [{"at": 1}]},
        ),
        ({"value": {"any": [1]}}, {"value": {"any": [1]}}),
        ({"findings": []}, {"findings": []}),
        ({"status": "error"}, {"status": "error", "probability": None}),
        ({"status": "skipped", "explanation": "too long"}, {"status": "skipped", "explanation": "too long"}),
    ],
)
def test_each_kind_of_answer(tmp_path: Path, fields: dict[str, Any], expected: dict[str, Any]) -> None:
    found = one(tmp_path, **fields)
    assert isinstance(found, Answer)
    assert {name: getattr(found, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, "an answer must be there"),
        ({"confidence": 0.5}, "an answer must be there"),
        ({"status": "ok"}, "an answer must be there"),
        ({"probability": 0.5, "choice": "a"}, "of one kind, got probability and choice"),
        ({"level": 1, "passed": True}, "of one kind, got level and a judgement (passed)"),
        ({"status": "error", "probability": 0.5}, "status error means that there is no answer"),
        ({"status": "late"}, "status must be a known word"),
        ({"probability": 1.01}, "probability must lie between 0 and 1"),
        ({"probability": -0.01}, "probability must lie between 0 and 1"),
        ({"probability": True}, "probability must be a number"),
        ({"probability": "0.5"}, "probability must be a number, got the text"),
        ({"probability": None}, "an answer must be there"),
        ({"probabilities": {"a": 0.7, "b": 0.24}}, "must sum to 1"),
        ({"probabilities": {"a": 0.7, "b": 0.36}}, "must sum to 1"),
        ({"probabilities": {"a": 1.5, "b": -0.5}}, "probabilities.a must lie between 0 and 1"),
        ({"probabilities": {}}, "must be an object"),
        ({"probabilities": 0.5}, "must be an object"),
        ({"level": -1}, "level must be 0 or more"),
        ({"level": "high"}, "level must be a number"),
        ({"passed": "yes", "score": 1}, "passed must be true or false"),
        ({"score": "1"}, "score must be a number"),
        ({"findings": "none"}, "findings must be a list"),
        ({"choice": ["a"]}, "choice must be text"),
        ({"probability": 0.5, "question": -1}, "question must be a whole number from 0 on"),
        ({"probability": 0.5, "question": 0.5}, "question must be a whole number"),
        ({"probability": 0.5, "attempt": 0}, "attempt must be a whole number from 1 on"),
        ({"probability": 0.5, "confidence": 2}, "confidence must lie between 0 and 1"),
        ({"probability": 0.5, "at": "9999-01-01"}, "at must lie between 2000 and 2200"),
        ({"check_id": None, "probability": 0.5}, "check_id must be there"),
        ({"run_id": "", "probability": 0.5}, "run_id must be there"),
    ],
)
def test_what_cannot_be_used_says_why(tmp_path: Path, fields: dict[str, Any], reason: str) -> None:
    assert reason in str(one(tmp_path, **fields))


@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_nan_and_infinity_are_rejected_with_their_line(tmp_path: Path, token: str) -> None:
    good = '{"run_id": "r", "check_id": "c", "probability": 0.5}'
    (tmp_path / "a.jsonl").write_text(f"{good}\n{good.replace('0.5', token)}\n{good}\n")
    answers, rejected, _ = told(tmp_path / "a.jsonl")
    assert len(answers) == 2
    assert [line for line, _ in rejected] == [2]


def test_unknown_keys_and_naive_times_are_told(tmp_path: Path) -> None:
    record = {"run_id": "r", "check_id": "c", "probability": 0.5, "at": "2026-03-01", "probabilty": 1}
    (tmp_path / "a.jsonl").write_text("\n".join([json.dumps(record)] * 2))
    assert told(tmp_path / "a.jsonl")[2] == [
        "the column 'probabilty' is not known and was not read. Did you mean 'probability' or 'probabilities'?",
        "at has no time zone in 2 rows; they count as UTC",
    ]


def test_only_json_lines_hold_answers(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("run_id,check_id,probability\nr,c,0.5\n")
    with pytest.raises(InputError, match="must be JSON lines, but this looks like CSV"):
        list(read_answers(tmp_path / "a.csv"))


@pytest.mark.parametrize(
    ("name", "text", "way"),
    [
        ("d.csv", "run_id,decision\nr,approved\n", "look like decisions; load them with --decisions"),
        ("d.jsonl", '{"run_id": "r", "decision": "approved"}\n', "look like decisions; load them with --decisions"),
        ("r.jsonl", '{"run_id": "r", "spans": []}\n', "look like recorded runs; give the file as a PATH"),
    ],
)
def test_what_holds_something_else_is_refused_with_the_way_it_is_loaded(
    tmp_path: Path, name: str, text: str, way: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=way):
        list(read_answers(tmp_path / name))


def test_a_stray_column_makes_answers_nothing_else(tmp_path: Path) -> None:
    record = {"run_id": "r", "check_id": "c", "probability": 0.5, "decision": "approved", "workflow": "w"}
    (tmp_path / "a.jsonl").write_text(json.dumps(record))
    answers, rejected, _ = told(tmp_path / "a.jsonl")
    assert (len(answers), rejected) == (1, [])


NUMBERS = st.floats() | st.integers()
VALUES = (
    st.none()
    | st.booleans()
    | NUMBERS
    | st.text(max_size=6)
    | st.dictionaries(st.text(max_size=3), NUMBERS, max_size=3)
)
NAMES = st.sampled_from(
    ["run_id", "question", "probability", "probabilities", "choice", "level", "passed", "score", "status", "at"]
)


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.dictionaries(NAMES, VALUES, max_size=4), max_size=4))
def test_mutated_lines_are_answers_or_rejected(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    base = {"run_id": "r", "check_id": "c"}
    (tmp_path / "a.jsonl").write_text("\n".join(json.dumps({**base, **row}) for row in rows))
    answers, rejected, _ = told(tmp_path / "a.jsonl")
    assert len(answers) + len(rejected) == len(rows)
    for answer in answers:
        assert answer.probability is None or 0 <= answer.probability <= 1
        assert answer.probabilities is None or abs(sum(answer.probabilities.values()) - 1) < 0.051
