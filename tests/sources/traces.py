"""Recorded spans in every encoding that is read, and what the readers make of them."""

from __future__ import annotations

import base64
import json
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from check_workbench.records import Run
from check_workbench.sources import READERS, Note, Origin, Rejected, recognise

START = 1_790_000_000_000_000_000
RESOURCE = {"service.name": "refunds", "host.name": "w7"}
SCOPE = {"name": "agents", "version": "1.2"}
KINDS = {"internal": 1, "server": 2, "client": 3}
STATES = {None: "UNSET", False: "OK", True: "ERROR"}


@dataclass(frozen=True, kw_only=True)
class Told:
    """One span, as a tracer knows it."""

    trace: str = "a" * 32
    span: str = "b" * 16
    parent: str | None = None
    name: str = "work"
    start: int = START
    end: int = START + 5_000_000
    failed: bool | None = None
    message: str = ""
    kind: str = "internal"
    attributes: dict[str, Any] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)


def typed(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [typed(item) for item in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": listed(value)}}
    return {"stringValue": value}


def listed(attributes: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": typed(value)} for key, value in attributes.items()]


def otlp_span(told: Told) -> dict[str, Any]:
    return {
        "traceId": told.trace,
        "spanId": told.span,
        **({"parentSpanId": told.parent} if told.parent else {}),
        "name": told.name,
        "kind": KINDS[told.kind],
        "startTimeUnixNano": str(told.start),
        "endTimeUnixNano": str(told.end),
        "attributes": listed(told.attributes),
        "events": [
            {"name": e["name"], "timeUnixNano": e["time"], "attributes": listed(e["attributes"])} for e in told.events
        ],
        "status": {"code": list(STATES).index(told.failed), "message": told.message},
    }


def otlp(spans: list[Told]) -> dict[str, Any]:
    block = {"scope": SCOPE, "spans": [otlp_span(told) for told in spans]}
    return {"resourceSpans": [{"resource": {"attributes": listed(RESOURCE)}, "scopeSpans": [block]}]}


def otlp_late(spans: list[Told]) -> dict[str, Any]:
    """Every span in a block of its own, resource and scope behind the spans, ids in base64, everything spelled out."""

    def one(told: Told) -> dict[str, Any]:
        made = otlp_span(told)
        ids: dict[str, Any] = {
            key: base64.b64encode(bytes.fromhex(made[key])).decode()
            for key in ("traceId", "spanId", "parentSpanId")
            if key in made
        }
        status = {"code": f"STATUS_CODE_{STATES[told.failed]}", "message": told.message}
        return {**made, **ids, "kind": f"SPAN_KIND_{told.kind.upper()}", "status": status}

    blocks = [
        {
            "scopeSpans": [{"spans": [one(told)], "scope": SCOPE}],
            "resource": {"attributes": listed(RESOURCE)},
        }
        for told in spans
    ]
    return {"resourceSpans": blocks}


def snake(value: Any) -> Any:
    if isinstance(value, list):
        return [snake(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {"".join(f"_{c.lower()}" if c.isupper() else c for c in key): snake(item) for key, item in value.items()}


def tempo(spans: list[Told]) -> dict[str, Any]:
    block = {"spans": [otlp_span(told) for told in spans], "instrumentationLibrary": SCOPE}
    return {"batches": [{"resource": {"attributes": listed(RESOURCE)}, "instrumentationLibrarySpans": [block]}]}


def tags(attributes: dict[str, Any]) -> list[dict[str, Any]]:
    names = {bool: "bool", int: "int64", float: "float64"}
    return [{"key": k, "type": names.get(type(v), "string"), "value": v} for k, v in attributes.items()]


def jaeger_span(told: Told) -> dict[str, Any]:
    own = {**told.attributes, "otel.scope.name": SCOPE["name"], "otel.scope.version": SCOPE["version"]}
    own["span.kind"] = told.kind
    if told.failed is not None:
        own["otel.status_code"] = STATES[told.failed]
    if told.failed:
        own["error"] = True
    if told.message:
        own["otel.status_description"] = told.message
    return {
        "traceID": told.trace,
        "spanID": told.span,
        "operationName": told.name,
        "references": [{"refType": "CHILD_OF", "traceID": told.trace, "spanID": told.parent}] if told.parent else [],
        "startTime": told.start // 1000,
        "duration": (told.end - told.start) // 1000,
        "tags": tags(own),
        "logs": [
            {"timestamp": e["time"], "fields": tags({"event": e["name"], **e["attributes"]})} for e in told.events
        ],
        "processID": "p1",
        "warnings": None,
    }


def jaeger(spans: list[Told]) -> dict[str, Any]:
    traces: dict[str, list[dict[str, Any]]] = {}
    for told in spans:
        traces.setdefault(told.trace, []).append(jaeger_span(told))
    process = {"serviceName": RESOURCE["service.name"], "tags": tags({"host.name": RESOURCE["host.name"]})}
    return {
        "data": [{"traceID": t, "spans": own, "processes": {"p1": process}} for t, own in traces.items()],
        "total": 0,
        "errors": None,
    }


def flat_span(told: Told) -> dict[str, Any]:
    return {
        "trace_id": told.trace.upper(),
        "span_id": told.span,
        "parent_span_id": told.parent,
        "name": told.name,
        "kind": f"SpanKind.{told.kind.upper()}",
        "start_time": told.start,
        "end_time": str(told.end),
        "attributes": told.attributes,
        "resource": {"attributes": RESOURCE},
        "scope": SCOPE,
        "status": {"code": STATES[told.failed], "message": told.message},
        "span_events": [
            {"event_name": e["name"], "timestamp": e["time"], "attributes": e["attributes"]} for e in told.events
        ],
    }


def js_span(told: Told) -> dict[str, Any]:
    def split(moment: int) -> list[int]:
        return list(divmod(moment, 1_000_000_000))

    return {
        "name": told.name,
        "spanContext": {"traceId": told.trace, "spanId": told.span},
        **({"parentSpanContext": {"traceId": told.trace, "spanId": told.parent}} if told.parent else {}),
        "kind": KINDS[told.kind] - 1,
        "attributes": told.attributes,
        "status": {"code": list(STATES).index(told.failed), "message": told.message},
        "startTime": split(told.start),
        "endTime": split(told.end),
        "duration": split(told.end - told.start),
        "events": told.events,
        "resource": {"attributes": RESOURCE},
        "instrumentationScope": SCOPE,
        "ended": True,
    }


def lines(records: list[Any]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


ENCODINGS = {
    "otlp": lambda spans: json.dumps(otlp(spans)),
    "otlp, laid out": lambda spans: json.dumps(otlp(spans), indent=1),
    "otlp, late": lambda spans: json.dumps(otlp_late(spans)),
    "otlp, snake": lambda spans: json.dumps(snake(otlp(spans))),
    "otlp, lines": lambda spans: lines([otlp([told]) for told in spans]),
    "otlp, array": lambda spans: json.dumps([otlp([told]) for told in spans]),
    "otlp, one by one": lambda spans: "".join(json.dumps(otlp([told]), indent=2) for told in spans),
    "tempo": lambda spans: json.dumps(tempo(spans)),
    "tempo, inside trace": lambda spans: json.dumps({"trace": tempo(spans)}),
    "jaeger": lambda spans: json.dumps(jaeger(spans)),
    "flat": lambda spans: json.dumps([flat_span(told) for told in spans]),
    "flat, lines": lambda spans: lines([flat_span(told) for told in spans]),
    "flat, spans of OTLP": lambda spans: json.dumps(
        [{**otlp_span(told), "resource": {"attributes": listed(RESOURCE)}, "scope": SCOPE} for told in spans]
    ),
    "js": lambda spans: json.dumps([js_span(told) for told in spans], indent=2),
}
"""The same spans in text of every kind; a list without spans is no encoding."""


def records(text: str, *, name: str = "t.json", format_name: str | None = None) -> list[Any]:
    """Read a text as the one format that it is recognised as."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_text(text, encoding="utf-8")
        if format_name is None:
            found = recognise(path)
            assert found is not None
            assert not isinstance(found, Rejected)
            format_name = found.format.name
        read = READERS[format_name].read
        assert read is not None
        made = list(read(path, Origin(file=name, stem="t")))
    assert all(isinstance(record, Run | Rejected | Note) for record in made)
    return made


def runs(text: str) -> list[Run]:
    """Read a text of which nothing is rejected."""
    made = records(text)
    assert not [record for record in made if isinstance(record, Rejected)]
    return [record for record in made if isinstance(record, Run)]


def run(*spans: Told) -> Run:
    """Read the spans of one trace."""
    [made] = runs(json.dumps(otlp(list(spans))))
    return made
