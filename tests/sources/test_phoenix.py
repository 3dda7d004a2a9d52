"""What the Phoenix reader makes of files that Phoenix wrote, and of odd ones."""

from __future__ import annotations

import json
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings

from check_workbench.records import Decision, Run
from check_workbench.results import Answer
from check_workbench.sources import READERS, Note, Origin, Recognised, Rejected, phoenix, recognise
from check_workbench.sources.gathering import gather
from tests.sources.odd import spoiled

if TYPE_CHECKING:
    from check_workbench.records import Span
    from check_workbench.sources.format import Record
    from check_workbench.store import Store

MADE = Path(__file__).parent / "made_by"
SPAN: dict[str, Any] = {
    "id": "U3Bhbjox",
    "name": "agent",
    "context": {"trace_id": "a" * 32, "span_id": "b" * 16},
    "span_kind": "AGENT",
    "parent_id": None,
    "start_time": "2026-05-01T10:00:00+00:00",
    "end_time": "2026-05-01T10:00:02+00:00",
    "status_code": "OK",
    "status_message": "",
    "attributes": {"input.value": "go", "output.value": "gone"},
    "events": [],
}
SAID: dict[str, Any] = {
    "id": "x",
    "created_at": "2026-05-01T11:00:00+00:00",
    "updated_at": "2026-05-01T12:00:00+00:00",
    "source": "APP",
    "user_id": "ann",
    "name": "review",
    "annotator_kind": "HUMAN",
    "result": {"label": "incorrect", "score": 0.0, "explanation": "not paid"},
    "metadata": {},
    "identifier": "",
    "span_id": "b" * 16,
}


def read(*records: Any) -> list[Record]:
    reader = READERS["phoenix"].read
    assert reader is not None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "f.jsonl")
        path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
        return list(reader(path, Origin(file="f.jsonl", stem="f")))


def made(name: str) -> list[Record]:
    reader = READERS["phoenix"].read
    assert reader is not None
    return list(reader(MADE / name, Origin(file=name, stem=name)))


def spans_of(name: str) -> dict[str | None, Span]:
    [run] = [one for one in made(name) if isinstance(one, Run)]
    return {span.name: span for span in run.spans}


@pytest.mark.parametrize("name", sorted(path.name for path in MADE.glob("phoenix_*.json*")))
def test_every_file_that_phoenix_wrote_is_known(name: str) -> None:
    found = recognise(MADE / name)
    assert isinstance(found, Recognised)
    assert found.format.name == "phoenix"
    assert not [one for one in made(name) if isinstance(one, Rejected)]


@pytest.mark.parametrize("name", ["phoenix_spans_then_annotations.jsonl", "phoenix_frame.jsonl"])
def test_the_run_that_phoenix_recorded(name: str) -> None:
    [run] = [one for one in made(name) if isinstance(one, Run)]
    assert (run.workflow, run.session_id, run.status, run.input, run.final_output) == (
        "agent",
        "c-1",
        "ok",
        "go",
        "gone",
    )
    assert run.metrics is not None
    assert (run.metrics["prompt_tokens"], run.metrics["completion_tokens"]) == (9, 3)
    spans = spans_of(name)
    assert {span.type for span in spans.values()} == {"agent", "llm", "tool"}
    assert (spans["chat"].model, spans["chat"].tokens_in, spans["chat"].tokens_out) == ("m-1", 9, 3)
    assert spans["chat"].input == [{"role": "user", "content": "go"}]
    assert spans["chat"].output == [{"role": "assistant", "content": "I pay."}]
    assert (spans["pay"].status, spans["pay"].error, spans["pay"].input) == ("error", "no money", '{"amount": 7}')
    assert spans["pay"].parent_id == spans["agent"].span_id


@pytest.mark.parametrize("name", ["phoenix_spans_then_annotations.jsonl", "phoenix_joined.jsonl"])
def test_what_phoenix_recorded_of_opinions(name: str) -> None:
    found = made(name)
    spans = spans_of(name)
    said = {one.check_id: one for one in found if isinstance(one, Decision)}
    assert {check: one.decision for check, one in said.items()} == {"review": "no_problem", "stars": "unclear"}
    assert (said["review"].span_id, said["review"].note) == (spans["agent"].span_id, "fine")
    assert (said["stars"].span_id, said["stars"].answer) == (spans["chat"].span_id, 4.0)
    answers = {one.check_id: one for one in found if isinstance(one, Answer)}
    assert (answers["toxicity"].score, answers["toxicity"].value, answers["toxicity"].model) == (
        0.1,
        "polite",
        "judge-1",
    )
    assert (answers["toxicity"].method, answers["length"].method) == ("phoenix LLM", "phoenix CODE")
    [run] = [one for one in found if isinstance(one, Run)]
    assert {one.run_id for one in said.values()} | {one.run_id for one in answers.values()} == {run.run_id}
    assert len([one for one in found if isinstance(one, Note)]) == 1


def test_a_page_of_spans_and_annotations_of_a_trace() -> None:
    [run] = made("phoenix_page.json")
    assert isinstance(run, Run)
    assert len(run.spans) == 2
    [said] = made("phoenix_trace_annotations.json")
    assert isinstance(said, Decision)
    assert (said.run_id, said.span_id, said.check_id, said.decision) == (run.run_id, None, "work", "problem")


def test_all_files_together(store: Store) -> None:
    report = store.load(
        [MADE / f"phoenix_{name}" for name in ("spans_then_annotations.jsonl", "trace_annotations.json")]
    )
    assert (report.runs, report.spans, report.decisions, report.answers) == (1, 3, 3, 2)


@pytest.mark.parametrize(
    "more", [{"latency_ms": 2000.0}, {"cumulative_token_count.total": 7}, {"links": [{"trace_id": "c"}]}]
)
def test_what_a_span_says_beyond_its_fields_is_kept(more: dict[str, Any]) -> None:
    [run] = read({**SPAN, **more})
    assert isinstance(run, Run)
    assert (run.spans[0].attributes or {})["otel"] == more


def test_attributes_that_are_no_object_are_kept() -> None:
    [run] = read({**SPAN, "attributes": "a: 1"})
    assert isinstance(run, Run)
    assert (run.spans[0].attributes or {})["otel"] == {"given_attributes": "a: 1"}


def test_a_persons_word() -> None:
    run, said = read(SPAN, SAID)
    assert isinstance(run, Run)
    assert isinstance(said, Decision)
    assert (said.run_id, said.span_id, said.decision) == ("a" * 32, "b" * 16, "problem")
    assert (said.decided_by, said.answer, said.provenance, said.verdict_seen) == ("ann", "incorrect", "imported", None)
    assert said.decided_at is not None
    assert said.decided_at.hour == 12
    assert read(SAID, SPAN) == [run, said]


@pytest.mark.parametrize(
    ("changes", "decision", "answer"),
    [
        ({"name": "thumbs", "result": {"label": "meh", "score": 1}}, "no_problem", 1),
        ({"result": {"label": None, "score": 3}}, "unclear", 3),
        ({"result": {"explanation": "a note"}}, "unclear", None),
    ],
)
def test_what_a_person_meant(changes: dict[str, Any], decision: str, answer: Any) -> None:
    said = read(SPAN, {**SAID, **changes})[1]
    assert isinstance(said, Decision)
    assert (said.decision, said.answer) == (decision, answer)


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ({"label": "polite"}, {"choice": "polite", "score": None, "value": None}),
        ({"label": "polite", "score": 1}, {"choice": None, "score": 1.0, "value": "polite"}),
        ({"explanation": "none"}, {"explanation": "none", "score": None}),
    ],
)
def test_answers(result: dict[str, Any], expected: dict[str, Any]) -> None:
    answer = read(SPAN, {**SAID, "annotator_kind": "LLM", "result": result})[1]
    assert isinstance(answer, Answer)
    assert {name: getattr(answer, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"span_id": "c" * 16}, "is not in this file"),
        ({"span_id": None}, "this one is of nothing"),
        ({"span_id": None, "session_id": "s"}, "this one is of a session"),
        ({"document_position": 0}, "of a document"),
        ({"name": None}, "must have a name"),
        ({"annotator_kind": "CAT"}, "must have a name and be HUMAN, LLM or CODE"),
        ({"annotator_kind": "LLM", "result": {}}, "must have a label, a score or an explanation"),
        ({"annotator_kind": "LLM", "result": {"score": "high"}}, "must be a number"),
        ({"updated_at": "soon"}, "is no time"),
        ({"span_id": 7}, ""),
    ],
)
def test_annotations_that_cannot_be_used_are_rejected(changes: dict[str, Any], reason: str) -> None:
    found = read(SPAN, {**SAID, **changes})
    assert [type(one) for one in found if not isinstance(one, Run)] == [Rejected]
    [rejected] = [one for one in found if isinstance(one, Rejected)]
    assert rejected.line == 2
    assert reason in rejected.reason


@pytest.mark.parametrize("record", [7, [1], {"a": 1}, {"span_kind": "LLM"}, {"span_kind": "LLM", "context": {}}])
def test_what_is_neither_is_rejected(record: Any) -> None:
    _, rejected = sorted(read(SPAN, record), key=lambda one: isinstance(one, Rejected))
    assert isinstance(rejected, Rejected)
    assert "neither a span nor an annotation" in rejected.reason


def test_traces_are_gathered_beyond_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        {**SPAN, "context": {"trace_id": f"{trace:032x}", "span_id": f"{span:016x}"}}
        for span in range(1, 4)
        for trace in range(1, 10)
    ]
    before = read(*rows)
    monkeypatch.setattr(phoenix, "gather", partial(gather, held=0))
    assert read(*rows) == before
    assert [len(run.spans) for run in before if isinstance(run, Run)] == [3] * 9


@pytest.mark.parametrize("record", [{"data": [], "next_cursor": None}, {"span_kind": "LLM"}, {"annotator": "HUMAN"}])
def test_other_records_are_not_taken(tmp_path: Path, record: Any) -> None:
    (tmp_path / "x.json").write_text(json.dumps(record))
    assert recognise(tmp_path / "x.json") is None


@settings(max_examples=50)
@given(odd=spoiled([SPAN, SAID, {**SAID, "annotator_kind": "CODE"}], least=2))
def test_nothing_vanishes_whatever_stands_in_a_record(odd: Any) -> None:
    told = [one for one in read(*odd) if not isinstance(one, Note)]
    assert len(told) == 3
