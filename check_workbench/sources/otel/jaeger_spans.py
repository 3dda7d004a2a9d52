"""One span of Jaeger under the names of OpenTelemetry; see `jaeger` for what becomes what."""

from __future__ import annotations

import math
from typing import Any

from check_workbench.errors import InputError
from check_workbench.sources.otel.attributes import all_of

_READ = frozenset({"tags", "logs", "references", "duration", "processID", "parentSpanID"})
_SCOPE = {"otel.scope.name": "name", "otel.scope.version": "version", "otel.library.name": "name"}
_FLAGS = {"true": True, "false": False}


def plain_span(value: Any) -> tuple[dict[str, Any], str, dict[str, Any]]:
    """Return a span of Jaeger under the names of OpenTelemetry, its process, and its scope."""
    if not isinstance(value, dict):
        raise InputError(f"a span must be an object, got {type(value).__name__}")
    given, logs = value.get("tags"), value.get("logs")
    tags = tags_of(given)
    odd = {key for key, inner in (("tags", given), ("logs", logs)) if inner and not isinstance(inner, list)}
    span = {key: inner for key, inner in value.items() if key not in _READ or key in odd}
    scope = _scope(tags)
    code = tags.pop("otel.status_code", None)
    if tags.get("error") in (True, "true"):
        code = "ERROR"
        del tags["error"]
    elif tags.get("error") in (False, "false"):
        del tags["error"]
    span["status"] = {"code": code, "message": tags.pop("otel.status_description", None)}
    span["kind"] = tags.pop("span.kind", None)
    span["attributes"] = tags
    span["events"] = [_event(log) for log in logs] if isinstance(logs, list) else []
    parent, others = _references(value.get("references"))
    span["parent_id"] = parent or value.get("parentSpanID")
    span["references"] = others
    end = _end(value.get("startTime"), value.get("duration"))
    span |= {"duration": value.get("duration")} if end is None else {"endTime": end}
    return span, str(value.get("processID", "")), scope


def _end(start: Any, duration: Any) -> Any:
    return start + duration if all(type(number) in (int, float) for number in (start, duration)) else None


def _event(log: Any) -> Any:
    return {**log, "fields": tags_of(log.get("fields"))} if isinstance(log, dict) else log


def _scope(tags: dict[str, Any]) -> dict[str, Any]:
    """Take the scope out of the tags."""
    scope: dict[str, Any] = {}
    for key, name in _SCOPE.items():
        if key in tags and scope.setdefault(name, tags[key]) == tags[key]:
            del tags[key]
    return scope


def _references(given: Any) -> tuple[Any, Any]:
    """Return the parent, and the references that name another one."""
    if not isinstance(given, list):
        return None, given
    listed = [one for one in given if isinstance(one, dict)]
    kinds = ("CHILD_OF", "FOLLOWS_FROM")
    parent = next((one for kind in kinds for one in listed if one.get("refType") == kind), None)
    return (None if parent is None else parent.get("spanID")), [one for one in given if one is not parent]


def tags_of(given: Any) -> dict[str, Any]:
    """Return tags by key, each of the type that it says.

    Examples
    --------
    >>> tags_of([{"key": "n", "type": "int64", "value": "7"}, {"key": "s", "type": "string", "value": "7"}])
    {'n': 7, 's': '7'}
    """
    return all_of(given if isinstance(given, list) else (), lambda tag: _value(tag.get("type"), tag.get("value")))


def _value(kind: Any, value: Any) -> Any:
    if not isinstance(value, str) or kind in ("string", "binary", None):
        return value
    if kind == "bool":
        return _FLAGS.get(value.lower(), value)
    try:
        number = int(value) if kind == "int64" else float(value) if kind == "float64" else value
    except ValueError:
        return value
    return number if isinstance(number, str) or math.isfinite(number) else value
