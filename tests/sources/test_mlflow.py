"""What the MLflow reader makes of files that MLflow wrote, and of odd ones."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings

from check_workbench.records import Decision, Run
from check_workbench.results import Answer
from check_workbench.sources import READERS, Note, Origin, Recognised, Rejected, recognise
from tests.sources.odd import spoiled

if TYPE_CHECKING:
    from check_workbench.sources.format import Record
    from check_workbench.store import Store

MADE = Path(__file__).parent / "made_by"
FILES = ("mlflow2_trace.json", "mlflow3_frame.jsonl", "mlflow3_trace.json")
SAID: dict[str, Any] = {
    "assessment_id": "a-1",
    "assessment_name": "review",
    "trace_id": "tr-1",
    "source": {"source_type": "HUMAN", "source_id": "ann"},
    "create_time": "2026-05-01T11:00:00Z",
    "last_update_time": "2026-05-01T12:00:00Z",
    "feedback": {"value": "wrong"},
    "rationale": "not paid",
    "valid": True,
}
SPAN: dict[str, Any] = {
    "trace_id": "ILrth41phM0Hz8nHEf5Ybw==",
    "span_id": "hnkxwErDfWM=",
    "parent_span_id": None,
    "name": "chat",
    "start_time_unix_nano": 1777629600000000000,
    "end_time_unix_nano": 1777629601000000000,
    "events": [],
    "status": {"code": "STATUS_CODE_OK", "message": ""},
    "attributes": {
        "mlflow.spanType": '"LLM"',
        "mlflow.spanInputs": '"go"',
        "mlflow.spanOutputs": '{"text": "gone"}',
        "mlflow.chat.tokenUsage": '{"input_tokens": 9, "output_tokens": 3}',
        "mlflow.llm.model": '"m-1"',
        "temperature": "0.5",
        "words": "not JSON",
    },
    "links": [{"to": 1}],
}
TRACE: dict[str, Any] = {
    "info": {
        "trace_id": "tr-1",
        "request_time": "2026-05-01T10:00:00Z",
        "state": "OK",
        "execution_duration_ms": 1000,
        "trace_metadata": {"mlflow.trace.session": "c-1", "mlflow.traceInputs": '"short"'},
        "tags": {"mlflow.traceName": "agent"},
        "assessments": [SAID],
    },
    "data": {"spans": [SPAN]},
}


def read(*records: Any) -> list[Record]:
    reader = READERS["mlflow"].read
    assert reader is not None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "f.jsonl")
        path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
        return list(reader(path, Origin(file="f.jsonl", stem="f")))


def made(name: str) -> list[Record]:
    reader = READERS["mlflow"].read
    assert reader is not None
    return list(reader(MADE / name, Origin(file="f", stem="f")))


def run_of(trace: Any) -> Run:
    [run] = [one for one in read(trace) if isinstance(one, Run)]
    return run


def changed(*, spans: Any = None, **info: Any) -> dict[str, Any]:
    return {"info": {**TRACE["info"], **info}, "data": {"spans": [SPAN] if spans is None else spans}}


@pytest.mark.parametrize("name", FILES)
def test_every_file_that_mlflow_wrote_is_known(name: str) -> None:
    found = recognise(MADE / name)
    assert isinstance(found, Recognised)
    assert found.format.name == "mlflow"


@pytest.mark.parametrize("name", FILES)
def test_the_run_that_mlflow_recorded(name: str) -> None:
    [run] = [one for one in made(name) if isinstance(one, Run)]
    assert (run.workflow, run.status, run.input, run.final_output) == ("answer", "ok", {"question": "go"}, "gone")
    assert run.metrics is not None
    assert (run.metrics["total_tokens"], run.metrics["errors"]) == (12, 1)
    agent, chat, pay = run.spans
    assert (agent.type, agent.status, agent.output) == ("agent", "ok", "gone")
    assert (chat.type, chat.model, chat.tokens_in, chat.tokens_out, chat.parent_id) == (
        "llm",
        "m-1",
        9,
        3,
        agent.span_id,
    )
    assert chat.input == {"messages": [{"role": "user", "content": "go"}]}
    assert (pay.type, pay.name, pay.input, pay.status, pay.error) == ("tool", "pay", {"amount": 7}, "error", "no money")


def test_a_row_of_a_data_frame_is_its_trace() -> None:
    assert made("mlflow3_frame.jsonl") == made("mlflow3_trace.json")


def test_what_mlflow_recorded_of_opinions() -> None:
    found = made("mlflow3_trace.json")
    [run] = [one for one in found if isinstance(one, Run)]
    said = {one.check_id: one for one in found if isinstance(one, Decision)}
    assert {check: (one.decision, one.verdict_seen) for check, one in said.items()} == {
        "is_correct": ("problem", None),
        "stars": ("unclear", None),
        "groundedness": ("problem", True),
    }
    assert (said["is_correct"].decided_by, said["is_correct"].note) == ("ann", "not paid")
    assert said["stars"].span_id == run.spans[1].span_id
    answers = {one.check_id: one for one in found if isinstance(one, Answer)}
    assert sorted(answers) == ["groundedness", "length", "relevance", "safety"]
    assert (answers["relevance"].choice, answers["relevance"].method) == ("yes", "mlflow LLM_JUDGE")
    assert (answers["relevance"].model, answers["length"].model, answers["length"].score) == ("judge-1", None, 0.5)
    assert (answers["safety"].status, answers["safety"].explanation) == ("error", "judge is away")
    assert (answers["groundedness"].score, answers["groundedness"].value) == (1.0, True)
    assert {one.run_id for one in said.values()} | {one.run_id for one in answers.values()} == {run.run_id}
    assert run.attributes is not None
    assert run.attributes["expectations"] == {"expected_response": "paid"}


def test_all_files_together(store: Store) -> None:
    report = store.load([MADE / name for name in FILES])
    assert (report.runs, report.spans, report.decisions, report.answers) == (2, 6, 3, 4)
    assert report.rejected == ()


def test_the_fields_of_a_run_and_a_span() -> None:
    run = run_of(TRACE)
    assert (run.run_id, run.workflow, run.session_id, run.input, run.final_output) == (
        "tr-1",
        "agent",
        "c-1",
        "go",
        {"text": "gone"},
    )
    assert run.metrics == {
        "duration_ms": 1000,
        "prompt_tokens": 9,
        "completion_tokens": 3,
        "total_tokens": 12,
        "errors": 0,
    }
    [span] = run.spans
    assert (span.span_id, span.type, span.status) == ("867931c04ac37d63", "llm", "ok")
    assert span.attributes == {"temperature": 0.5, "words": "not JSON", "links": [{"to": 1}]}


@pytest.mark.parametrize(
    ("info", "status"),
    [
        ({"state": "ERROR"}, "error"),
        ({"state": "IN_PROGRESS"}, None),
        ({"spans": []}, "no_output"),
    ],
)
def test_status(info: dict[str, Any], status: str | None) -> None:
    assert run_of(changed(**info)).status == status


def test_what_the_metadata_says_stands_in_for_a_root() -> None:
    run = run_of(changed(spans=[], tags={}))
    assert (run.input, run.workflow) == ("short", None)


@pytest.mark.parametrize(
    ("kind", "type_"), [('"CHAT_MODEL"', "llm"), ('"RETRIEVER"', "retriever"), ('"UNKNOWN"', "span"), (None, "span")]
)
def test_types(kind: str | None, type_: str) -> None:
    assert run_of(changed(spans=[{**SPAN, "attributes": {"mlflow.spanType": kind}}])).spans[0].type == type_


def test_a_row_without_the_trace_itself() -> None:
    row = {**TRACE["info"], "spans": [SPAN], "execution_duration": 5, "trace_metadata": {}}
    del row["execution_duration_ms"]
    run, said = read(row)
    assert isinstance(run, Run)
    assert (run.run_id, len(run.spans), (run.metrics or {})["duration_ms"]) == ("tr-1", 1, 5)
    assert isinstance(said, Decision)


def test_a_persons_word_that_was_replaced_is_told_not_taken() -> None:
    run, said, note = read(changed(assessments=[{**SAID, "valid": False}, {**SAID, "feedback": {"value": "correct"}}]))
    assert isinstance(run, Run)
    assert isinstance(said, Decision)
    assert said.decision == "no_problem"
    assert isinstance(note, Note)
    assert "replaced, and that were not taken: 1" in note.text


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"source": {"source_type": "CODE"}}, {"method": "mlflow CODE", "choice": "wrong"}),
        ({"source": None, "feedback": {"value": [1]}}, {"method": "mlflow assessment", "value": [1], "choice": None}),
        ({"source": None, "feedback": {"value": None}}, {"explanation": "not paid"}),
        ({"source": None, "span_id": "hnkxwErDfWM="}, {"span_id": "867931c04ac37d63"}),
    ],
)
def test_answers(changes: dict[str, Any], expected: dict[str, Any]) -> None:
    answer = read(changed(assessments=[{**SAID, **changes}]))[1]
    assert isinstance(answer, Answer)
    assert {name: getattr(answer, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (7, "an assessment must be an object"),
        ({**SAID, "assessment_name": None}, "must have a name and a feedback"),
        ({**SAID, "feedback": 5}, "must have a name and a feedback"),
        ({**SAID, "last_update_time": "soon"}, "is no time"),
        ({**SAID, "span_id": 7}, "the id of a span must be text"),
        ({**SAID, "source": None, "feedback": {}, "rationale": None}, "must have a value, a rationale or an error"),
    ],
)
def test_assessments_that_cannot_be_used_are_rejected(said: Any, reason: str) -> None:
    run, rejected = read(changed(assessments=[said]))
    assert isinstance(run, Run)
    assert isinstance(rejected, Rejected)
    assert reason in rejected.reason


@pytest.mark.parametrize(
    ("trace", "reason"),
    [
        (5, "must be an object with info and data"),
        ({"info": 5}, "must be an object with info and data"),
        ({"trace": '{"info": 5}'}, "must be an object with info and data"),
        (changed(trace_id=None), "must be text"),
        (changed(spans=[5]), "a span must be an object"),
        (changed(spans=5), "spans of a trace must be a list"),
        (changed(spans=[{**SPAN, "attributes": 5}]), "the attributes of a span must be an object"),
        (changed(spans=[{**SPAN, "span_id": 5}]), "the id of a span must be text"),
        (changed(request_time="soon"), "is no time"),
    ],
)
def test_traces_that_cannot_be_used_are_rejected(trace: Any, reason: str) -> None:
    [rejected] = read(trace)
    assert isinstance(rejected, Rejected)
    assert (rejected.file, rejected.line) == ("f.jsonl", 1)
    assert reason in rejected.reason


@pytest.mark.parametrize(
    "record", [{"info": {}, "data": {}}, {"info": {"trace_id": "x"}}, {"trace_id": "x", "spans": []}]
)
def test_other_records_are_not_taken(tmp_path: Path, record: Any) -> None:
    (tmp_path / "x.json").write_text(json.dumps(record))
    assert recognise(tmp_path / "x.json") is None


@settings(max_examples=50)
@given(odd=spoiled(TRACE))
def test_nothing_vanishes_whatever_stands_in_a_record(odd: Any) -> None:
    found = read(odd)
    runs = [one for one in found if isinstance(one, Run)]
    assert runs or any(isinstance(one, Rejected) for one in found)
    assert all(isinstance(span.type, str) and span.type for run in runs for span in run.spans)
