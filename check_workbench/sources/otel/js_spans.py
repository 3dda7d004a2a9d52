"""Spans as the JavaScript SDK of OpenTelemetry holds them, dumped as JSON: an array or lines; the AI SDK of Vercel.

| record | run |
|---|---|
| `spanContext.traceId` of a span | `run_id`: a trace is a run, see `runs` |
| `spanContext.spanId`; `parentSpanContext.spanId` or `parentSpanId` | ids |
| `startTime`, `endTime`: `[seconds, nanoseconds]` | `started_at`, `ended_at` |
| `kind`, a number from 0 (internal) | `otel.kind` |
| `events[].time`: `[seconds, nanoseconds]` | nanoseconds in `otel.events` |
| `resource.attributes` | `attributes.resource` |
| `instrumentationScope` or `instrumentationLibrary` | `attributes.scope` |
| `duration`, `ended` | (they repeat the times) |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.sources.format import Format
from check_workbench.sources.otel.flat_spans import OF_LOGS, runs_of_flat
from check_workbench.sources.otel.reading import objects

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from check_workbench.records import Run
    from check_workbench.sources.format import Head, Note, Origin, Rejected

_UNSAID = frozenset({"spanContext", "parentSpanContext", "duration", "ended", "_spanContext", "_ended", "_duration"})


def _detect(head: Head) -> str | None:
    if OF_LOGS & head.keys.keys():
        return None
    ids = objects(head.first.get("spanContext") or head.first.get("_spanContext"))
    return "its first record is a span of the JavaScript SDK, with its ids in spanContext" if "traceId" in ids else None


def _read(path: Path, origin: Origin) -> Iterator[Run | Rejected | Note]:
    return runs_of_flat(path, origin, _plain)


def _plain(value: Any) -> Any:
    """Return a span under the names of OpenTelemetry."""
    if not isinstance(value, dict):
        return value
    ids = objects(value.get("spanContext") or value.get("_spanContext"))
    parent = objects(value.get("parentSpanContext"))
    span = {key: inner for key, inner in value.items() if key not in _UNSAID}
    span |= {{"traceState": "trace_state", "traceFlags": "flags"}.get(key, key): inner for key, inner in ids.items()}
    if parent.get("spanId"):
        span["parentSpanId"] = parent["spanId"]
    for name in ("startTime", "endTime"):
        span[name] = _nanoseconds(span.get(name))
    if isinstance(span.get("kind"), int):
        span["kind"] += 1
    events = span.get("events")
    if isinstance(events, list):
        span["events"] = [
            {**one, "time": _nanoseconds(one.get("time"))} if isinstance(one, dict) else one for one in events
        ]
    return span


def _nanoseconds(value: Any) -> Any:
    """Return `[seconds, nanoseconds]` as one number; anything else as it is."""
    if isinstance(value, list) and len(value) == 2 and all(type(part) is int for part in value):
        return value[0] * 1_000_000_000 + value[1]
    return value


FORMAT = Format(
    name="js_spans",
    summary="spans as the JavaScript SDK of OpenTelemetry dumps them (AI SDK of Vercel)",
    detect=_detect,
    read=_read,
)
