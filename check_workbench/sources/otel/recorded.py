"""One span as any export of OpenTelemetry records it, in one form: what lies between the file and the run.

| names in a record | becomes |
|---|---|
| `traceId trace_id traceID` | the key of the run |
| `spanId span_id spanID`; `parentSpanId parent_span_id parent_id parentId` | ids, as lower-case hexadecimal digits |
| `name operationName` | name |
| `startTimeUnixNano start_time_unix_nano start_time startTime`, the same with `end` | times, any unit |
| `status` with `code`, `status_code` and `message`, `description`; `status_code`, `status_message` | status |
| `attributes`, list of typed values or object | attributes |
| `events span_events` | events |
| `kind` | `otel.kind` |
| everything else that says something: links, flags, … | `otel`, under its own name |
"""

from __future__ import annotations

from typing import Any, NamedTuple

from check_workbench.errors import InputError
from check_workbench.sources.gathering import Part
from check_workbench.sources.otel.attributes import CONTAINERS, attributes_of, too_deep
from check_workbench.sources.otel.events import events_of
from check_workbench.sources.otel.values import SPAN, TRACE, failed, identifier, kind_of

NAMES = {
    "traceId": "trace_id",
    "traceID": "trace_id",
    "spanId": "span_id",
    "spanID": "span_id",
    "parentSpanId": "parent_id",
    "parentSpanID": "parent_id",
    "parent_span_id": "parent_id",
    "parentId": "parent_id",
    "operationName": "name",
    "startTimeUnixNano": "start",
    "start_time_unix_nano": "start",
    "startTime": "start",
    "start_time": "start",
    "endTimeUnixNano": "end",
    "end_time_unix_nano": "end",
    "endTime": "end",
    "end_time": "end",
    "span_events": "events",
    "statusCode": "status_code",
    "statusMessage": "status_message",
}
_STATUS = frozenset({"code", "status_code", "message", "description"})


class Recorded(NamedTuple):
    """One span, as plain values that JSON can hold."""

    context: int
    """Its place among the contexts of the file."""
    span_id: str | None
    parent_id: str | None
    name: Any
    start: Any
    end: Any
    failed: bool | None
    message: Any
    attributes: dict[str, Any]
    events: list[dict[str, Any]]
    rest: dict[str, Any]


def recorded(span: Any, context: int) -> Part:
    """Read one span.

    Parameters
    ----------
    span
        As recorded, under any of the names above.
    context
        The place of its context.

    Raises
    ------
    InputError
        If it has no trace id, or something in it cannot be what it should be.

    Examples
    --------
    >>> part = recorded({"traceId": "AB", "spanId": "C1", "name": "chat", "kind": 3, "status": {"code": 2}}, 0)
    >>> part.key, part.value.span_id, part.value.failed, part.value.rest
    ('ab', 'c1', True, {'kind': 'client'})
    """
    if not isinstance(span, dict):
        raise InputError(f"a span must be an object, got {type(span).__name__}")
    fields = _named(span)
    take = fields.pop
    trace_id = identifier(take("trace_id", None), TRACE)
    if trace_id is None:
        raise InputError("a span must have a trace id")
    given, events, kind = take("attributes", None), take("events", None), take("kind", None)
    attributes = attributes_of(given) if given else {}
    span_failed, message = _status(fields)
    told = Recorded(
        context,
        identifier(take("span_id", None), SPAN),
        identifier(take("parent_id", None), SPAN),
        take("name", None),
        take("start", None),
        take("end", None),
        span_failed,
        message,
        attributes,
        events_of(events) if events else [],
        {name: value for name, value in fields.items() if value or value is False},
    )
    if kind:
        told.rest["kind"] = kind_of(kind) or kind
    if events and not told.events:
        told.rest["events"] = events
    _refuse_depth(told)
    return Part(trace_id, told)


def _status(fields: dict[str, Any]) -> tuple[bool | None, Any]:
    status, code, message = (
        fields.pop("status", None),
        fields.pop("status_code", None),
        fields.pop("status_message", None),
    )
    if isinstance(status, dict):
        code = status.get("code", status.get("status_code", code))
        message = status.get("message") or status.get("description") or message
        more = {key: value for key, value in status.items() if key not in _STATUS}
        if more:
            fields["status"] = more
    elif status is not None:
        code = status
    return (None if code is None else failed(code)), message


def _refuse_depth(told: Recorded) -> None:
    deep = [value for value in told.attributes.values() if isinstance(value, CONTAINERS)]
    if told.events or told.rest:
        deep += [*told.events, *told.rest.values()]
    if deep and too_deep(deep):
        raise InputError("a span is nested too deeply")


def _named(span: dict[str, Any]) -> dict[str, Any]:
    """Name what is known by what it means; of several names for the same, the first."""
    fields = {NAMES.get(key, key): value for key, value in span.items()}
    if len(fields) == len(span):
        return fields
    fields = {}
    for key, value in span.items():
        name = NAMES.get(key, key)
        fields[key if name in fields and fields[name] != value else name] = value
    return fields
