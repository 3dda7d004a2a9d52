"""Spans without blocks around them, and those of the JavaScript SDK."""

from __future__ import annotations

import json
from typing import Any

import pytest

from check_workbench.sources import Rejected
from check_workbench.sources.format import Head
from check_workbench.sources.otel import flat_spans, js_spans
from tests.sources.traces import RESOURCE, SCOPE, Told, flat_span, js_span, lines, otlp, records, runs

IDS = [f"{n:016x}" for n in range(1, 5)]
SPANS = [Told(span=IDS[0]), Told(trace="c" * 32, span=IDS[1]), Told(span=IDS[2], parent=IDS[0])]


@pytest.mark.parametrize("first", [{"session_id": "s-1", "span_count": 3}, {}])
@pytest.mark.parametrize("last", [{"exported": "today"}, {}])
def test_a_list_with_something_around_it(first: dict[str, Any], last: dict[str, Any]) -> None:
    made = runs(json.dumps({**first, "spans": [flat_span(told) for told in SPANS], **last}))
    assert [(run.run_id, len(run.spans)) for run in made] == [("a" * 32, 2), ("c" * 32, 1)]
    around = {**first, **last}
    assert {run.session_id for run in made} == {first.get("session_id")}
    assert all((run.attributes or {}).get("around", {}) == around for run in made)


def test_lists_one_after_the_other() -> None:
    lists = [{"session_id": f"s-{n}", "spans": [flat_span(told)]} for n, told in enumerate(SPANS[:2])]
    assert [run.session_id for run in runs(lines(lists))] == ["s-0", "s-1"]
    assert [run.session_id for run in runs(json.dumps(lists, indent=1))] == ["s-0", "s-1"]


def test_lists_and_spans_in_one_file() -> None:
    made = runs(lines([{"spans": [flat_span(SPANS[0])]}, flat_span(SPANS[1])]))
    assert [run.run_id for run in made] == ["a" * 32, "c" * 32]


def test_what_stands_around_a_list_is_no_span_even_with_a_trace_id() -> None:
    [run] = runs(json.dumps({"trace_id": "a" * 32, "spans": [flat_span(SPANS[0]), flat_span(SPANS[2])]}))
    assert [one.span_id for one in run.spans] == [IDS[0], IDS[2]]


@pytest.mark.parametrize("record", [{"session_id": "s-2", "note": "x"}, {"spans": []}, {"trace_id": "c", "spans": []}])
def test_a_record_among_lists_that_has_no_spans_is_rejected(record: dict[str, Any]) -> None:
    rejected, run = records(lines([{"spans": [flat_span(SPANS[0])]}, record]))
    assert isinstance(rejected, Rejected)
    assert (rejected.line, len(run.spans)) == (2, 1)
    assert "spans in a list" in rejected.reason


def test_a_span_of_the_javascript_sdk_between_lists() -> None:
    made = records(lines([{"spans": [js_span(SPANS[0])]}, js_span(SPANS[1])]), format_name="js_spans")
    assert [run.run_id for run in made] == ["a" * 32, "c" * 32]


def test_the_console_exporter_of_python() -> None:
    span = {
        "name": "chat m",
        "context": {"trace_id": "0x" + "A" * 32, "span_id": "0x" + IDS[0], "trace_state": "[]"},
        "kind": "SpanKind.CLIENT",
        "parent_id": "0x" + IDS[1],
        "start_time": "2026-08-06T21:31:28.270252Z",
        "end_time": "2026-08-06T21:31:29.270252Z",
        "status": {"status_code": "ERROR", "description": "no"},
        "attributes": {"gen_ai.operation.name": "chat"},
        "events": [],
        "links": [],
        "resource": {"attributes": RESOURCE, "schema_url": ""},
    }
    [run] = runs(json.dumps(span, indent=4) + "\n" + json.dumps({**span, "name": "again"}, indent=4))
    assert run.run_id == "a" * 32
    assert [(one.span_id, one.parent_id, one.status, one.error) for one in run.spans] == [
        (IDS[0], IDS[1], "error", "no"),
        (f"{IDS[0]}~2", IDS[1], "error", "no"),
    ]
    assert run.attributes == {"resource": RESOURCE}


def test_ids_that_are_no_hexadecimal_stay() -> None:
    [run] = runs(json.dumps([{**flat_span(Told()), "trace_id": "Trace-1", "span_id": "chain-root"}]))
    assert (run.run_id, run.spans[0].span_id) == ("Trace-1", "chain-root")


def test_bodies_of_events_hold_messages() -> None:
    body = {
        "input": {"messages": [{"role": "user", "content": "Hi"}]},
        "output": {"messages": [{"role": "assistant", "content": "Ho"}]},
    }
    span = {**flat_span(Told()), "span_events": [{"event_name": "langchain", "body": body}]}
    [run] = runs(json.dumps([span]))
    assert (run.input, run.final_output) == ("Hi", "Ho")


@pytest.mark.parametrize("span", [5, "x", {"span_id": "1"}, [1]])
def test_what_is_no_span_is_rejected(span: Any) -> None:
    rejected, run = records(lines([flat_span(Told()), span]))
    assert isinstance(rejected, Rejected)
    assert rejected.line == 2
    assert len(run.spans) == 1


def test_two_names_for_the_same_are_both_kept() -> None:
    [run] = runs(json.dumps([{**flat_span(Told()), "parentSpanId": IDS[3], "parent_span_id": IDS[2]}]))
    assert run.spans[0].parent_id == IDS[3] or run.spans[0].parent_id == IDS[2]
    kept = (run.spans[0].attributes or {})["otel"]
    assert {run.spans[0].parent_id, *kept.values()} >= {IDS[2], IDS[3]}


@pytest.mark.parametrize(
    "first",
    [
        {},
        {"trace_id": "t", "id": "o", "type": "GENERATION", "attributes": {}},
        {"traceId": "t", "id": "o", "startTime": "x"},
        {"trace_id": "t", "id": "r", "run_type": "llm", "start_time": "x"},
        {"run_id": "r", "spans": [{"span_id": "s", "trace_id": "t", "start_time": 1}]},
        {"context": {"trace_id": "t", "span_id": "s"}, "span_kind": "LLM", "attributes": {}},
        {"context.trace_id": "t", "context.span_id": "s", "attributes": {}},
        {"trace_id": "t", "span_id": "s"},
        {"spans": []},
        {"trace_id": "t", "span_id": "s", "attributes": {}, "body": "x", "severity_number": 9},
        {"traceId": "t", "spanId": "s", "attributes": {}, "body": "x", "severityText": "INFO"},
        otlp([Told()]),
        js_span(Told()),
    ],
)
def test_other_formats_are_not_taken_for_flat_spans(first: dict[str, Any]) -> None:
    assert flat_spans.FORMAT.detect(Head(shape="object", records=(first,))) is None


def test_spans_of_the_javascript_sdk() -> None:
    span = {**js_span(Told(parent=IDS[0], kind="client")), "links": [], "droppedAttributesCount": 0}
    span["spanContext"] |= {"traceFlags": 1}
    [run] = runs(json.dumps([span]))
    [made] = run.spans
    assert (made.parent_id, (made.attributes or {})["otel"]) == (IDS[0], {"kind": "client", "flags": 1})
    assert made.started_at is not None
    assert made.started_at.isoformat() == "2026-09-21T14:13:20+00:00"
    assert run.attributes == {"resource": RESOURCE, "scope": SCOPE}


def test_log_records_of_the_javascript_sdk_are_no_spans() -> None:
    log = {"hrTime": [1, 2], "spanContext": {"traceId": "a" * 32, "spanId": IDS[0]}, "severityNumber": 9, "body": "x"}
    head = Head(shape="object", keys=dict.fromkeys(log, "x"), records=(log,))
    assert js_spans.FORMAT.detect(head) is None


@pytest.mark.parametrize("moment", [[1], ["a", 2], [1.5, 2], {}, [2**70, 1]])
def test_odd_times_of_the_javascript_sdk_are_left_out(moment: Any) -> None:
    run, note = records(json.dumps([{**js_span(Told()), "startTime": moment}]))
    assert run.spans[0].started_at is None
    assert "between 1970 and 2200" in note.text


def test_the_ai_sdk() -> None:
    steps: dict[str, dict[str, Any]] = {
        "ai.generateText": {
            "ai.prompt": '{"prompt": "Write."}',
            "ai.response.text": "Done.",
            "ai.usage.promptTokens": 9,
        },
        "ai.generateText.doGenerate": {
            "ai.response.text": "",
            "ai.response.toolCalls": "[1]",
            "ai.usage.promptTokens": 5,
            "gen_ai.usage.input_tokens": 5,
        },
        "ai.toolCall": {"ai.toolCall.name": "pay", "ai.toolCall.args": '{"a": 1}', "ai.toolCall.result": "7"},
    }
    spans = [
        Told(span=id_, parent=parent, name=name, attributes={"ai.operationId": name, **own})
        for id_, parent, (name, own) in zip(IDS, (None, IDS[0], IDS[0]), steps.items(), strict=False)
    ]
    [run] = runs(json.dumps([js_span(one) for one in spans]))
    assert [(one.type, one.name, one.output) for one in run.spans] == [
        ("agent", "ai.generateText", "Done."),
        ("llm", "ai.generateText.doGenerate", "[1]"),
        ("tool", "pay", "7"),
    ]
    assert (run.input, run.final_output, (run.metrics or {})["prompt_tokens"]) == ("Write.", "Done.", 5)
