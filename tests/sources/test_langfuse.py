"""What the Langfuse reader makes of traces, observations and scores."""

from __future__ import annotations

import copy
import json
import tempfile
from collections import Counter
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings

from check_workbench.records import Decision, Run
from check_workbench.results import Answer
from check_workbench.sources import READERS, Note, Origin, Recognised, Rejected, langfuse, recognise
from check_workbench.sources.gathering import gather
from tests.sources.odd import spoiled

if TYPE_CHECKING:
    from check_workbench.sources.format import Record
    from check_workbench.store import Store

OBSERVATIONS: list[dict[str, Any]] = [
    {
        "id": "o1",
        "traceId": "t1",
        "type": "SPAN",
        "name": "turn",
        "parentObservationId": None,
        "startTime": "2026-05-01T10:00:00.000Z",
        "endTime": "2026-05-01T10:00:03.000Z",
        "level": "DEFAULT",
        "input": "go",
        "output": "gone",
        "usageDetails": {},
        "totalCost": 0,
        "latency": 3000,
    },
    {
        "id": "o2",
        "traceId": "t1",
        "type": "GENERATION",
        "name": "chat",
        "parentObservationId": "o1",
        "startTime": "2026-05-01T10:00:00.500Z",
        "endTime": "2026-05-01T10:00:01.500Z",
        "level": "WARNING",
        "statusMessage": "slow",
        "model": "m-1",
        "input": '[{"role": "user", "content": "go"}]',
        "output": '{"role": "assistant", "content": "gone"}',
        "modelParameters": '{"temperature": 0}',
        "usageDetails": {"input": 10, "input_cached_tokens": 5, "output": 3, "total": 18},
        "costDetails": {"input": 0.1, "output": 0.2, "total": 0.3},
        "totalCost": 0.3,
    },
    {
        "id": "o3",
        "traceId": "t1",
        "type": "TOOL",
        "name": "pay",
        "parentObservationId": "o1",
        "startTime": "2026-05-01T10:00:02.000Z",
        "endTime": "2026-05-01T10:00:02.500Z",
        "level": "ERROR",
        "statusMessage": "no money",
        "input": "{}",
        "output": None,
    },
]
SCORE: dict[str, Any] = {
    "id": "s1",
    "traceId": "t1",
    "name": "toxicity",
    "source": "EVAL",
    "dataType": "NUMERIC",
    "value": 0.2,
    "stringValue": None,
    "comment": "polite",
    "observationId": None,
    "authorUserId": None,
    "projectId": "p",
    "timestamp": "2026-05-01T11:00:00.000Z",
    "metadata": "{}",
}
TRACE: dict[str, Any] = {
    "id": "t1",
    "name": "agent",
    "timestamp": "2026-05-01T10:00:00.000Z",
    "sessionId": "c-1",
    "userId": "u",
    "tags": ["a"],
    "public": False,
    "release": None,
    "input": '"go"',
    "output": '"gone"',
    "metadata": '{"k": 1}',
    "latency": 3.25,
    "scores": [SCORE],
}
EXPORT = {"trace": TRACE, "observations": OBSERVATIONS}
AT = datetime(2026, 5, 1, 11, tzinfo=UTC)


def read(*records: Any, text: str | None = None) -> list[Record]:
    reader = READERS["langfuse"].read
    assert reader is not None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "f.json")
        path.write_text("\n".join(map(json.dumps, records)) if text is None else text, encoding="utf-8")
        return list(reader(path, Origin(file="f.json", stem="f")))


def run_of(*records: Any) -> Run:
    [run] = [record for record in read(*records) if isinstance(record, Run)]
    return run


def changed(place: int, **changes: Any) -> dict[str, Any]:
    rows = copy.deepcopy(OBSERVATIONS)
    rows[place].update(changes)
    return {"trace": TRACE, "observations": rows}


def scored(**changes: Any) -> Record:
    return read({"trace": {**TRACE, "scores": [{**SCORE, **changes}]}, "observations": []})[1]


def test_the_run() -> None:
    run = run_of(EXPORT)
    assert (run.run_id, run.workflow, run.session_id, run.status) == ("t1", "agent", "c-1", "ok")
    assert (run.input, run.final_output) == ("go", "gone")
    assert run.started_at == datetime(2026, 5, 1, 10, tzinfo=UTC)
    assert run.ended_at == datetime(2026, 5, 1, 10, 0, 3, tzinfo=UTC)
    assert run.attributes == {"userId": "u", "tags": ["a"], "public": False, "metadata": {"k": 1}}
    assert run.metrics == {
        "duration_ms": 3250.0,
        "total_cost": 0.3,
        "prompt_tokens": 15,
        "completion_tokens": 3,
        "total_tokens": 18,
        "errors": 1,
        "warnings": 1,
    }


def test_the_spans() -> None:
    turn, chat, pay = run_of(EXPORT).spans
    assert (turn.type, turn.span_id, turn.parent_id, turn.status) == ("span", "o1", None, "ok")
    assert (chat.type, chat.name, chat.model, chat.tokens_in, chat.tokens_out) == ("llm", "chat", "m-1", 15, 3)
    assert chat.input == [{"role": "user", "content": "go"}]
    assert chat.output == {"role": "assistant", "content": "gone"}
    assert chat.attributes is not None
    assert (chat.attributes["level"], chat.attributes["statusMessage"]) == ("WARNING", "slow")
    assert chat.attributes["modelParameters"] == {"temperature": 0}
    assert (pay.type, pay.parent_id, pay.status, pay.error, pay.input) == ("tool", "o1", "error", "no money", {})
    assert pay.attributes is None
    assert pay.ended_at == datetime(2026, 5, 1, 10, 0, 2, 500_000, tzinfo=UTC)


def test_the_unit_of_an_observations_latency_is_not_known_so_times_count() -> None:
    turn = run_of(EXPORT).spans[0]
    assert turn.duration_ms is None
    assert turn.attributes == {"totalCost": 0, "latency": 3000}


@pytest.mark.parametrize(
    ("changes", "type_", "name", "kept"),
    [
        ({"type": "EVENT"}, "event", "turn", {}),
        ({"type": "RETRIEVER"}, "retriever", "turn", {}),
        ({"metadata": {"attributes": {"openinference.span.kind": "TOOL"}}}, "tool", "turn", {"type": "SPAN"}),
        (
            {"metadata": '{"attributes": "{\\"openinference.span.kind\\": \\"AGENT\\"}"}'},
            "agent",
            "turn",
            {"type": "SPAN"},
        ),
        ({"type": "CHAIN", "metadata": {"attributes": {"openinference.span.kind": "TOOL"}}}, "chain", "turn", {}),
        ({"type": "TOOL", "metadata": {"attributes": {"gen_ai.tool.name": "pay"}}}, "tool", "pay", {"name": "turn"}),
        ({"type": "TOOL", "metadata": {"attributes": {"tool.name": "turn"}}}, "tool", "turn", {}),
        ({"metadata": {"attributes": {"tool.name": "pay"}}}, "span", "turn", {}),
    ],
)
def test_types_and_names(changes: dict[str, Any], type_: str, name: str, kept: dict[str, Any]) -> None:
    found = run_of(changed(0, **changes)).spans[0]
    assert (found.type, found.name) == (type_, name)
    assert {key: (found.attributes or {}).get(key) for key in ("type", "name")} == {"type": None, "name": None, **kept}


def test_a_level_that_was_not_exported_says_neither() -> None:
    assert run_of(changed(0, level=None)).spans[0].status is None


def test_an_error_at_the_root_is_the_runs() -> None:
    assert run_of(changed(0, level="ERROR")).status == "error"
    assert run_of(changed(0, level="ERROR")).spans[0].error == "level ERROR"


@pytest.mark.parametrize(
    ("given", "final", "status"), [('"x"', None, "no_output"), (None, None, None), (None, '"y"', "ok")]
)
def test_status_without_observations(given: str | None, final: str | None, status: str | None) -> None:
    run = run_of({"trace": {**TRACE, "input": given, "output": final}, "observations": []})
    assert run.status == status
    assert run.metrics == {"duration_ms": 3250.0}


def test_what_the_trace_lacks_is_its_only_roots() -> None:
    trace = {
        key: value for key, value in TRACE.items() if key not in {"input", "output", "name", "timestamp", "latency"}
    }
    run = run_of({"trace": trace, "observations": OBSERVATIONS})
    assert (run.workflow, run.input, run.final_output) == ("turn", "go", "gone")
    assert run.metrics is not None
    assert run.metrics["duration_ms"] == 3000.0
    two = run_of({"trace": trace, "observations": [*OBSERVATIONS, {**OBSERVATIONS[0], "id": "o9"}]})
    assert (two.workflow, two.input, two.status) == (None, None, None)


def test_usage_inside_of_usage_counts_once() -> None:
    inner = {**OBSERVATIONS[1], "id": "o4", "parentObservationId": "o2"}
    beside = {
        **OBSERVATIONS[1],
        "id": "o5",
        "usageDetails": {},
        "usage": {"input": 1, "output": 1},
        "costDetails": None,
    }
    metrics = run_of({"trace": TRACE, "observations": [*OBSERVATIONS, inner, {**beside, "totalCost": 0}]}).metrics
    assert metrics is not None
    assert (metrics["prompt_tokens"], metrics["completion_tokens"], metrics["total_tokens"]) == (16, 4, 20)
    assert metrics["total_cost"] == pytest.approx(0.3)


def test_a_cost_that_nobody_knows_is_not_zero() -> None:
    run = run_of({"trace": {**TRACE}, "observations": OBSERVATIONS[:1]})
    assert run.metrics is not None
    assert "total_cost" not in run.metrics
    stated = run_of({"trace": {**TRACE, "totalCost": 0}, "observations": OBSERVATIONS[:1]})
    assert stated.metrics is not None
    assert stated.metrics["total_cost"] == 0


def test_tool_calls_of_a_generation_are_spans_only_where_no_tool_is() -> None:
    called = json.dumps({"tool_calls": [{"id": "c", "function": {"name": "look", "arguments": "{}"}}]})
    with_tool = changed(1, output=called)
    assert [span.type for span in run_of(with_tool).spans] == ["span", "llm", "tool"]
    without = {**with_tool, "observations": with_tool["observations"][:2]}
    assert [(span.type, span.name) for span in run_of(without).spans] == [
        ("span", "turn"),
        ("llm", "chat"),
        ("tool", "look"),
    ]


def test_an_answer_of_an_evaluator() -> None:
    assert scored() == Answer(
        check_id="toxicity", run_id="t1", score=0.2, explanation="polite", method="langfuse EVAL", at=AT
    )


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"source": "API"}, {"method": "langfuse API", "score": 0.2}),
        ({"dataType": "BOOLEAN", "value": 1, "stringValue": "True"}, {"score": 1.0, "value": True}),
        ({"dataType": "CATEGORICAL", "value": 2, "stringValue": "rude"}, {"choice": "rude", "score": None}),
        ({"dataType": "BOOLEAN", "value": False}, {"score": 0.0, "value": False}),
        ({"dataType": "CATEGORICAL", "value": "rude"}, {"choice": "rude", "score": None}),
        ({"observationId": "o2"}, {"span_id": "o2"}),
        ({"timestamp": None, "createdAt": "2026-05-01T11:00:00Z"}, {"at": AT}),
    ],
)
def test_answers(changes: dict[str, Any], expected: dict[str, Any]) -> None:
    answer = scored(**changes)
    assert isinstance(answer, Answer)
    assert {name: getattr(answer, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("changes", "decision", "answer"),
    [
        ({"dataType": "BOOLEAN", "value": 1, "name": "hallucination"}, "problem", None),
        ({"dataType": "BOOLEAN", "value": 0, "name": "helpful"}, "problem", None),
        ({"dataType": "CATEGORICAL", "stringValue": "correct"}, "no_problem", "correct"),
        ({"dataType": "NUMERIC", "value": 4}, "unclear", 4),
        ({"dataType": "TEXT", "value": 0, "stringValue": "so-so"}, "unclear", "so-so"),
    ],
)
def test_what_people_said(changes: dict[str, Any], decision: str, answer: Any) -> None:
    found = scored(source="ANNOTATION", authorUserId="ann", observationId="o1", **changes)
    assert found == Decision(
        run_id="t1",
        span_id="o1",
        decision=decision,
        check_id=changes.get("name", "toxicity"),
        answer=answer,
        decided_by="ann",
        decided_at=AT,
        provenance="imported",
        project="p",
        note="polite",
    )


@pytest.mark.parametrize(
    ("text", "observation", "decision"),
    [("gone", None, "unclear"), ("Gone.", None, "edited"), ("gone", "o1", "unclear"), ("Gone.", "o3", "unclear")],
)
def test_a_correction_is_an_edit_where_it_changes_the_output(text: str, observation: str | None, decision: str) -> None:
    row = {**SCORE, "source": "ANNOTATION", "dataType": "CORRECTION", "value": 0, "longStringValue": text}
    trace = {**TRACE, "scores": [], "corrections": [{**row, "name": "output", "observationId": observation}]}
    run, found, *notes = read({"trace": trace, "observations": OBSERVATIONS})
    assert isinstance(run, Run)
    assert isinstance(found, Decision)
    assert (found.decision, found.check_id, found.note) == (decision, None, text)
    assert len(notes) == (decision == "unclear")


def test_notes_tell_once_a_file_what_could_not_be_read() -> None:
    row = {**SCORE, "source": "ANNOTATION", "name": "stars", "value": 4, "metadata": {"why": 1}}
    notes = [one for one in read(row, row) if isinstance(one, Note)]
    assert len(notes) == 2
    assert "'stars' (4)" in notes[0].text
    assert "scores with metadata, which was not taken: 2" in notes[1].text


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"traceId": None, "sessionId": "c-1"}, "this one is of a session"),
        ({"traceId": None, "datasetRunId": "d"}, "this one is of a dataset run"),
        ({"traceId": 7}, "this one is of nothing"),
        ({"value": None}, "must have a value"),
        ({"value": "high"}, "must have a value"),
        ({"dataType": "CATEGORICAL"}, "must have a value"),
        ({"dataType": "CORRECTION", "source": "ANNOTATION"}, "must have its text"),
        ({"name": ""}, "name of a score must be text"),
        ({"timestamp": "soon"}, "is no time"),
    ],
)
def test_scores_that_cannot_be_used_are_rejected(changes: dict[str, Any], reason: str) -> None:
    [found] = read({**SCORE, **changes})
    assert isinstance(found, Rejected)
    assert reason in found.reason


def test_a_broken_score_does_not_take_its_trace_along() -> None:
    run, broken, fine = read({**EXPORT, "trace": {**TRACE, "scores": [{**SCORE, "source": "GUESS"}, SCORE]}})
    assert isinstance(run, Run)
    assert isinstance(broken, Rejected)
    assert "source of a score must be one of ANNOTATION, API, EVAL" in broken.reason
    assert isinstance(fine, Answer)


def snake(row: dict[str, Any]) -> dict[str, Any]:
    return {"".join(f"_{c.lower()}" if c.isupper() else c for c in key): value for key, value in row.items()}


def test_observations_alone_are_gathered_to_traces() -> None:
    other = [{**row, "traceId": "t2"} for row in OBSERVATIONS]
    mixed = [row for pair in zip(OBSERVATIONS, other, strict=True) for row in pair]
    enriched = [{**row, "traceName": "agent", "sessionId": "c-1", "userId": "u", "tags": ["a"]} for row in mixed]
    found = read(*map(snake, enriched))
    assert [(one.run_id, one.workflow, one.session_id, len(one.spans)) for one in found if isinstance(one, Run)] == [
        ("t1", "agent", "c-1", 3),
        ("t2", "agent", "c-1", 3),
    ]
    assert len(found) == 2
    assert isinstance(found[0], Run)
    assert found[0].spans[1].tokens_in == 15
    assert found[0].attributes == {"userId": "u", "tags": ["a"]}


def test_traces_are_gathered_beyond_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{**row, "traceId": f"t{n}"} for row in OBSERVATIONS for n in range(9)]
    before = read(*rows)
    monkeypatch.setattr(langfuse, "gather", partial(gather, held=0))
    assert read(*rows) == before
    assert [len(run.spans) for run in before if isinstance(run, Run)] == [3] * 9


def test_a_page_of_the_api_is_its_records() -> None:
    page = {"data": [{**TRACE, "observations": OBSERVATIONS, "htmlPath": "/t"}], "meta": {"page": 1}}
    run, answer = read(page)
    assert isinstance(run, Run)
    assert len(run.spans) == 3
    assert isinstance(answer, Answer)


def test_ids_of_observations_and_scores_alone_are_no_spans() -> None:
    [run] = read({**TRACE, "observations": ["o1", "o2"], "scores": ["s1"]})
    assert isinstance(run, Run)
    assert run.spans == ()


def test_observations_in_two_places_count_once() -> None:
    bare = [{**row, "input": None} for row in OBSERVATIONS]
    extra = {**OBSERVATIONS[0], "id": "o9", "parentObservationId": "o1"}
    run = run_of({"trace": {**TRACE, "observations": [*bare, extra]}, "observations": OBSERVATIONS})
    assert [span.span_id for span in run.spans] == ["o1", "o2", "o3", "o9"]
    assert run.spans[0].input == "go"
    twice = run_of({"trace": TRACE, "observations": [*OBSERVATIONS, {**OBSERVATIONS[0], "output": "later"}]})
    assert (twice.spans[0].span_id, twice.spans[0].output) == ("o1", "later")


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"trace": {**TRACE, "id": None}, "observations": []}, "the id of a trace must be text"),
        ({"trace": TRACE, "observations": "none"}, "observations of a trace must be a list"),
        ({"trace": TRACE, "observations": [5]}, "observations of a trace must be a list"),
        (changed(0, id=""), "the id of an observation and of its parent must be text"),
        (changed(0, parentObservationId=7), "the id of an observation and of its parent must be text"),
        (changed(0, type=None), "the type of an observation must be text"),
        (changed(0, startTime="yesterday"), "is no time"),
        ({"trace": 5}, "none of their keys"),
        ({"a": 1}, "none of their keys"),
        ([1], "must be an object, got list"),
    ],
)
def test_what_is_no_trace_is_rejected(record: Any, reason: str) -> None:
    found = [one for one in read(TRACE, record)[2:] if not isinstance(one, Answer)]
    assert [type(one) for one in found] == [Rejected]
    assert isinstance(found[0], Rejected)
    assert (found[0].file, found[0].line) == ("f.json", 2)
    assert reason in found[0].reason


def test_a_gathered_trace_that_fails_says_which() -> None:
    _, _, found = read(TRACE, {**OBSERVATIONS[0], "startTime": "yesterday"})
    assert isinstance(found, Rejected)
    assert found.line == 2
    assert found.reason.startswith("trace 't1': ")


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(EXPORT),
        json.dumps(EXPORT, indent=2),
        json.dumps({"trace": {**TRACE, "input": "x" * 300_000}, "observations": OBSERVATIONS}, indent=2),
        json.dumps([EXPORT, EXPORT]),
        json.dumps(TRACE) + "\n" + json.dumps(TRACE),
        json.dumps(snake(TRACE)),
        json.dumps(OBSERVATIONS),
        "\n".join(json.dumps(snake(row)) for row in OBSERVATIONS),
        json.dumps(SCORE),
        json.dumps([snake(SCORE)], indent=1),
        json.dumps({"data": [TRACE], "meta": {"page": 1}}),
        json.dumps({"data": OBSERVATIONS, "meta": {}}, indent=2),
    ],
)
def test_detection(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text)
    found = recognise(tmp_path / "x.json")
    assert isinstance(found, Recognised)
    assert found.format.name == "langfuse"
    assert "first record" in found.reason


@pytest.mark.parametrize(
    "record",
    [
        {"trace": "t", "observations": []},
        {"trace": {"id": "t"}, "observations": []},
        {"trace": {"id": "t", "timestamp": "x"}, "observations": [], "spans": []},
        {"trace": {}, "spans": []},
        {"data": [], "meta": {}},
        {"data": [5], "meta": {}},
        {"id": 1, "type": "SPAN", "traceId": "t"},
        {**SCORE, "source": "human"},
    ],
)
def test_other_records_are_not_taken(tmp_path: Path, record: Any) -> None:
    (tmp_path / "x.json").write_text(json.dumps(record))
    assert recognise(tmp_path / "x.json") is None


def test_odd_words_and_dates_do_no_harm(tmp_path: Path, store: Store) -> None:
    odd = "x'; drop table runs; --\"\n\u202e"
    score = {**SCORE, "name": odd, "comment": odd}
    fine = {"trace": {**TRACE, "name": odd, "scores": [score]}, "observations": OBSERVATIONS}
    late = {"trace": {**TRACE, "id": "t2", "timestamp": "9999-12-31T23:59:59Z", "scores": []}, "observations": []}
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, (fine, late))) + '\n{"trace": {"id": "cut')
    report = store.load(tmp_path / "x.jsonl")
    assert (report.runs, report.answers, len(report.rejected)) == (1, 1, 2)
    assert store.sql("select workflow, check_id from runs join answers using (run_id)").to_numpy().tolist() == [
        [odd, odd]
    ]


def test_the_files_of_one_export_find_each_other(tmp_path: Path, store: Store) -> None:
    tables = {"observations": OBSERVATIONS, "scores": [SCORE], "traces": [{**TRACE, "scores": ["s1"]}]}
    for name, rows in tables.items():
        (tmp_path / f"{name}.jsonl").write_text("\n".join(json.dumps(snake(row)) for row in rows))
    report = store.load(tmp_path)
    assert (report.rejected, report.answers) == ((), 1)
    assert store.sql("select count(*) from spans join runs using (run_key)").iloc[0, 0] == 3


def test_real_traces(realdata: Path, store: Store) -> None:
    report = store.load(realdata / "langfuse_traces")
    assert report.rejected == ()
    types: dict[str, int] = dict(store.sql("select type, count(*) from spans group by all").itertuples(index=False))
    assert types == {"llm": 34, "span": 27, "agent": 26, "tool": 12, "chain": 5}
    recorded = store.sql("select coalesce(attributes->>'type', upper(type)), count(*) from spans group by all")
    assert dict(recorded.itertuples(index=False)) == {"LLM": 34, "SPAN": 55, "AGENT": 6, "TOOL": 8, "CHAIN": 1}
    scores = store.sql("select check_id, count(*), avg(score) from answers where method = 'langfuse EVAL' group by 1")
    assert {row[0]: row[1] for row in scores.itertuples(index=False)} == {
        "correctness": 2,
        "hallucination": 9,
        "toxicity": 9,
    }


def test_real_files_hold_107_observations_of_17_traces_two_of_which_are_the_same(realdata: Path) -> None:
    reader = READERS["langfuse"].read
    assert reader is not None
    paths = sorted((realdata / "langfuse_traces").glob("*.json"))
    found = [one for path in paths for one in reader(path, Origin.of(path))]
    runs = [one for one in found if isinstance(one, Run)]
    assert (len(runs), len({run.run_id for run in runs}), sum(len(run.spans) for run in runs)) == (17, 16, 107)
    kinds = Counter((span.attributes or {}).get("type", span.type.upper()) for run in runs for span in run.spans)
    assert kinds == {"SPAN": 57, "LLM": 35, "TOOL": 8, "AGENT": 6, "CHAIN": 1}
    assert sum(isinstance(one, Answer) for one in found) == 20
    assert [one.decision for one in found if isinstance(one, Decision)] == ["unclear", "unclear"]
    assert not [one for one in found if isinstance(one, Rejected)]


@settings(max_examples=50)
@given(odd=spoiled(EXPORT))
def test_nothing_vanishes_whatever_stands_in_a_record(odd: Any) -> None:
    found = read(odd)
    runs = [one for one in found if isinstance(one, Run)]
    assert runs or any(isinstance(one, Rejected) for one in found)
    for run in runs:
        assert len(run.spans) >= len({row["id"] for row in odd["observations"] or [] if isinstance(row, dict)})
        assert all(isinstance(span.type, str) and span.type for span in run.spans)
