"""One recorded span of OpenTelemetry to a `Span`; which attribute gives which field stands in `vocabulary`.

| recorded | span |
|---|---|
| status `ERROR`, a true error flag, `error.type`, an exception event that escaped | `status` `error` |
| status `OK` | `status` `ok`; a status that is not set stays empty: it says neither |
| name | `name`, unless a tool or an agent is named by an attribute; then `attributes.otel.name` |
| start, end | `started_at`, `ended_at`; what is no time between 1970 and 2200 goes to `attributes.otel` |
| attributes that no field took | `attributes`, under their own names |
| kind, events, links, … | `attributes.otel` |

An exception event alone makes no error: programs catch exceptions and go on.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from check_workbench.sources.otel.events import content_of_events, exception_of
from check_workbench.sources.otel.lists import put_together
from check_workbench.sources.otel.names import LISTS
from check_workbench.sources.otel.vocabulary import Understood, type_of, understood
from check_workbench.sources.spans import span
from check_workbench.sources.times import when

if TYPE_CHECKING:
    from collections.abc import Mapping

    from check_workbench.records import Span
    from check_workbench.sources.otel.recorded import Recorded

_CALLS = frozenset({"tool", "mcp_tool"})
_DIRECT = ("model", "tokens_in", "tokens_out", "input", "output")
_PREFIXES = ("execute_tool ", "tools/call ")
_START = datetime(1970, 1, 1, tzinfo=UTC)


class Made(NamedTuple):
    """A span, and what was found that its run may want to know."""

    span: Span
    found: Mapping[str, Any]
    odd_times: bool
    """Whether a time of it could not be used."""


def span_of(told: Recorded, own: Mapping[str, Any]) -> Made:
    """Make the span.

    Parameters
    ----------
    told
        As recorded.
    own
        What is recorded around it and belongs into `attributes.otel`: resource, scope.
    """
    found = understood(told.attributes)
    values, keys = found
    taken = {keys[field] for field in _DIRECT if field in keys}
    type_ = type_of(values)
    otel = {**told.rest, **own}
    name = _name(told.name, type_, found, taken, otel)
    started, ended = _time(told.start, "start", otel), _time(told.end, "end", otel)
    if "input" not in values or "output" not in values:
        values.update(_content(told, values, taken))
    status, error = _outcome(told, found, taken)
    if told.events:
        otel["events"] = told.events
    if "type" in keys and str(told.attributes[keys["type"]]).lower() == type_:
        taken.add(keys["type"])
    made = span(
        type=type_,
        name=name,
        span_id=told.span_id,
        parent_id=told.parent_id,
        input=values.get("input"),
        output=values.get("output"),
        status=status,
        error=error,
        started_at=started,
        ended_at=ended,
        tokens_in=values.get("tokens_in"),
        tokens_out=values.get("tokens_out"),
        model=values.get("model"),
        attributes=_left(told.attributes, taken, otel),
    )
    return Made(made, values, "start" in otel or "end" in otel)


def _name(recorded: Any, type_: str, found: Understood, taken: set[str], otel: dict[str, Any]) -> str | None:
    shown = recorded if isinstance(recorded, str) and recorded else None
    by = "tool" if type_ in _CALLS else "agent" if type_ == "agent" else None
    if by is not None:
        field = by if by in found.values else "entity"
        if field in found.values:
            shown = found.values[field]
            taken.add(found.keys[field])
        elif shown is not None and by == "tool":
            shown = _bare(shown)
    if recorded and shown != recorded:
        otel["name"] = recorded
    return shown


def _bare(name: str) -> str:
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    return name


def _time(value: Any, field: str, otel: dict[str, Any]) -> datetime | None:
    if type(value) is str and len(value) == 19 and value.isascii() and value.isdigit():
        found: datetime | None = _START + timedelta(microseconds=int(value) // 1000)
    else:
        try:
            found = when(value)
        except ValueError:
            found = None
        if found is None and value in (None, "", 0, "0"):
            return None
    if found is None or not 1970 <= found.year <= 2200:
        otel[field] = value
        return None
    return found


def _content(told: Recorded, values: Mapping[str, Any], taken: set[str]) -> dict[str, Any]:
    content = content_of_events(told.events) if told.events else {}
    for field in ("input", "output"):
        if field in values:
            content.pop(field, None)
        elif field not in content:
            made, names = put_together(told.attributes, LISTS[field])
            if made is not None:
                content[field] = made
                taken.update(names)
    return content


def _outcome(told: Recorded, found: Understood, taken: set[str]) -> tuple[str | None, str | None]:
    escaped, exception = exception_of(told.events) if told.events else (False, None)
    values = found.values
    if not (told.failed or escaped or "flag" in values or "error" in values):
        return (None if told.failed is None else "ok"), None
    if isinstance(told.message, str) and told.message:
        return "error", told.message
    if "message" in values:
        taken.add(found.keys["message"])
        return "error", values["message"]
    return "error", exception or values.get("error")


def _left(attributes: Mapping[str, Any], taken: set[str], otel: dict[str, Any]) -> dict[str, Any] | None:
    left = {key: value for key, value in attributes.items() if key not in taken}
    if otel:
        left["otel" if "otel" not in left else "otel~2"] = otel
    return left or None
