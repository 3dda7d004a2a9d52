"""Traces as Jaeger exports them."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from check_workbench.sources import Note, Rejected
from check_workbench.sources.otel.jaeger_spans import tags_of
from tests.sources.traces import START, Told, jaeger, jaeger_span, records, runs, tags

if TYPE_CHECKING:
    from check_workbench.records import Run

IDS = [f"{n:016x}" for n in range(1, 5)]


def one(told: Told | None = None, **changes: Any) -> Run:
    span = {**jaeger_span(told or Told()), **changes}
    [made] = runs(json.dumps({"data": [{"traceID": "a" * 32, "spans": [span], "processes": {}}]}))
    return made


def test_times_are_microseconds() -> None:
    [span] = one().spans
    assert span.started_at is not None
    assert span.ended_at is not None
    assert (span.ended_at - span.started_at).total_seconds() == 0.005


def test_the_first_parent_counts_and_the_others_are_kept() -> None:
    references = [
        {"refType": "FOLLOWS_FROM", "traceID": "x", "spanID": "1"},
        {"refType": "CHILD_OF", "traceID": "x", "spanID": "2"},
        {"refType": "CHILD_OF", "traceID": "x", "spanID": "3"},
    ]
    [span] = one(references=references).spans
    assert span.parent_id == "2"
    assert (span.attributes or {})["otel"]["references"] == [references[0], references[2]]
    [span] = one(references=references[:1]).spans
    assert span.parent_id == "1"
    [span] = one(references=None, parentSpanID="9").spans
    assert span.parent_id == "9"


@pytest.mark.parametrize(
    ("own", "status", "error"),
    [
        ({}, None, None),
        ({"error": True}, "error", None),
        ({"error": "true", "otel.status_description": "no"}, "error", "no"),
        ({"error": False}, None, None),
        ({"otel.status_code": "OK"}, "ok", None),
        ({"otel.status_code": "ERROR"}, "error", None),
        ({"error": "no money"}, None, None),
    ],
)
def test_failures(own: dict[str, Any], status: str | None, error: str | None) -> None:
    [span] = one(tags=tags(own)).spans
    assert (span.status, span.error) == (status, error)


def test_tags_have_types() -> None:
    told = [
        {"key": "i", "type": "int64", "value": "7"},
        {"key": "f", "type": "float64", "value": "0.5"},
        {"key": "b", "type": "bool", "value": "true"},
        {"key": "s", "type": "string", "value": "7"},
        {"key": "odd", "type": "int64", "value": "many"},
        {"key": "none", "type": "float64", "value": "nan"},
        {"key": "s", "type": "string", "value": "8"},
        "no tag",
    ]
    [span] = one(tags=told).spans
    expected = {"i": 7, "f": 0.5, "b": True, "s": "7", "odd": "many", "none": "nan", "s~2": "8", "#8": "no tag"}
    assert span.attributes == expected


def test_many_tags_with_one_key_are_all_kept_in_little_time() -> None:
    began = time.process_time()
    found = tags_of([{"key": "k", "type": "int64", "value": n} for n in range(20_000)])
    assert (len(found), found["k"], found["k~20000"]) == (20_000, 0, 19_999)
    assert time.process_time() - began < 5


def test_logs_are_events() -> None:
    logs = [{"timestamp": 5, "fields": tags({"event": "exception", "exception.message": "no"})}, "odd"]
    [span] = one(Told(failed=True), logs=logs).spans
    assert span.error == "no"
    assert (span.attributes or {})["otel"]["events"] == [
        {"name": "exception", "time": 5, "attributes": {"exception.message": "no"}},
        {"name": "event", "value": "odd"},
    ]


@pytest.mark.parametrize("late", [False, True])
def test_each_span_has_its_process(*, late: bool) -> None:
    spans = [{**jaeger_span(Told(span=id_)), "processID": f"p{n}"} for n, id_ in enumerate(IDS[:2])]
    processes = {f"p{n}": {"serviceName": f"s{n}", "tags": tags({"zone": "z"})} for n in range(2)}
    trace = {"traceID": "a" * 32, "spans": spans, "processes": processes}
    if not late:
        trace = {"traceID": "a" * 32, "processes": processes, "spans": spans}
    [made] = runs(json.dumps({"data": [trace]}))
    assert (made.attributes or {})["resource"] == {"zone": "z"}
    assert [(span.attributes or {})["otel"]["resource"] for span in made.spans] == [
        {"service.name": "s0"},
        {"service.name": "s1"},
    ]
    assert made.workflow == "s0"


def test_processes_of_two_traces_do_not_mix() -> None:
    document = jaeger([Told(), Told(trace="b" * 32)])
    document["data"][1]["processes"]["p1"]["serviceName"] = "other"
    document["data"][1]["processes"] = {"p1": {"serviceName": "other", "tags": []}}
    document["data"][0]["processes"] = {"p1": {"serviceName": "one", "tags": []}}
    assert [made.workflow for made in runs(json.dumps(document))] == ["one", "other"]


def test_traces_by_themselves() -> None:
    document = jaeger([Told(), Told(trace="b" * 32)])
    expected = runs(json.dumps(document))
    assert runs(json.dumps(document["data"])) == expected
    assert runs("".join(json.dumps(trace) + "\n" for trace in document["data"])) == expected


def test_warnings_of_a_trace_are_noted() -> None:
    document = jaeger([Told()])
    document["data"][0]["warnings"] = ["clock skew"]
    assert [one.text for one in records(json.dumps(document)) if isinstance(one, Note)] == [
        "warnings holds no spans and is left out"
    ]


@pytest.mark.parametrize("span", [5, {"spanID": "1"}, {"traceID": 1.5}])
def test_a_bad_span_is_rejected_alone(span: Any) -> None:
    document = jaeger([Told()])
    document["data"][0]["spans"].append(span)
    rejected, made = records(json.dumps(document))
    assert isinstance(rejected, Rejected)
    assert len(made.spans) == 1


@pytest.mark.parametrize("changes", [{"tags": 5}, {"logs": {"a": 1}}, {"references": "x"}, {"flags": 1}])
def test_what_is_not_understood_is_kept(changes: dict[str, Any]) -> None:
    [span] = one(**changes).spans
    assert (span.attributes or {})["otel"].items() >= changes.items()


def test_two_names_of_the_scope_are_both_kept_where_they_differ() -> None:
    run = one(tags=tags({"otel.scope.name": "a", "otel.library.name": "b"}))
    assert (run.attributes, run.spans[0].attributes) == ({"scope": {"name": "a"}}, {"otel.library.name": "b"})


@pytest.mark.parametrize(
    "changes",
    [
        {"references": ["x", {"refType": "CHILD_OF"}]},
        {"startTime": None},
        {"duration": "long"},
        {"startTime": 10**40},
        {"processID": ["x"]},
        {"operationName": None},
        {"startTime": START},
    ],
)
def test_odd_values_are_no_crash(changes: dict[str, Any]) -> None:
    assert len(one(**changes).spans) == 1
