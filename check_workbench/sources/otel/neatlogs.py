"""Canonical spans of Neatlogs, schema version 2: an array or lines of them, or `{spans: [...]}`.

| record | run |
|---|---|
| `trace_id` | `run_id`: a trace is a run, see `runs` |
| `kind`: WORKFLOW, AGENT, LLM, TOOL, MCP_TOOL, … | `type`, in lower case; it wins over `neatlogs.span.kind` |
| `input.value`, `output.value` | `input`, `output`; the media beside them: `otel.input`, `otel.output` |
| `status.code`, `status.message` | `status`, `error` |
| `error.message`, else `error.type` | `error`; with an error the span failed, whatever the status says |
| `start_time_unix_nano`, `end_time_unix_nano` | `started_at`, `ended_at` |
| `attributes`: `neatlogs.*` | see `vocabulary` |
| everything else: `ownership`, `wrapper`, `semantic`, `provenance`, … | `otel`, under its own name |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.sources.format import Format
from check_workbench.sources.otel.flat_spans import runs_of_flat
from check_workbench.sources.otel.reading import objects

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from check_workbench.records import Run
    from check_workbench.sources.format import Head, Note, Origin, Rejected

_OWN = frozenset({"schema_version", "trace_id", "span_id", "start_time_unix_nano"})
_PARTS = ("input", "output")


def _detect(head: Head) -> str | None:
    spans = head.first.get("spans")
    span = objects(spans[0]) if isinstance(spans, list) and spans else head.first
    if not span.keys() >= _OWN:
        return None
    return "its first span is a canonical span of Neatlogs, with schema_version and start_time_unix_nano"


def _read(path: Path, origin: Origin) -> Iterator[Run | Rejected | Note]:
    return runs_of_flat(path, origin, _plain)


def _plain(value: Any) -> Any:
    """Return a span under the names of OpenTelemetry; what the record says itself stands among the attributes."""
    if not isinstance(value, dict):
        return value
    span = {key: inner for key, inner in value.items() if key not in {"kind", "status", "attributes", *_PARTS}}
    said: dict[str, Any] = {"neatlogs.record.kind": value.get("kind")}
    for part in _PARTS:
        told = value.get(part)
        said[f"neatlogs.record.{part}"] = told.get("value") if isinstance(told, dict) else told
        span[part] = {key: inner for key, inner in objects(told).items() if key != "value" and inner is not None}
    given = value.get("attributes")
    span["attributes"] = {**objects(given), **{key: inner for key, inner in said.items() if inner is not None}}
    if given and not isinstance(given, dict):
        span["given_attributes"] = given
    return {**span, **_status(value)}


def _status(value: dict[str, Any]) -> dict[str, Any]:
    status = value.get("status")
    told = status if isinstance(status, dict) else {"code": status}
    error = value.get("error")
    if not error:
        return {"status": told}
    inner = objects(error)
    words = told.get("message") or inner.get("message") or inner.get("type") or (error if inner is not error else None)
    return {"status": {**told, "code": "ERROR", "message": words}, "recorded_status": status}


FORMAT = Format(
    name="neatlogs",
    summary="canonical spans of Neatlogs (schema version 2), an array or lines",
    detect=_detect,
    read=_read,
)
