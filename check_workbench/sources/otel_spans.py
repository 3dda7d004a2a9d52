"""One recorded span of OpenTelemetry to a `Span`; which attribute gives which field stands in `otel_vocabulary`.

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

from check_workbench.sources.otel_events import content_of_events, exception_of
from check_workbench.sources.otel_lists import put_together
from check_workbench.sources.otel_names import LISTS
from check_workbench.sources.otel_vocabulary import Taken, type_of, understood
from check_workbench.sources.spans import span
from check_workbench.sources.times import when

if TYPE_CHECKING:
    from collections.abc import Mapping

    from check_workbench.records import Span
    from check_workbench.sources.otel_recorded import Recorded

_CALLS = frozenset({"tool", "mcp_tool"})
_DIRECT = ("model", "tokens_in", "tokens_out", "input", "output")
_PREFIXES = ("execute_tool ", "tools/call ")
_START = datetime(1970, 1, 1, tzinfo=UTC)
_YEARS = range(1970, 2201)


class Made(NamedTuple):
    """A span, and what was found that its run may want to know."""

    span: Span
    found: Mapping[str, Taken]
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
    taken = {found[field].key for field in _DIRECT if field in found}
    type_ = type_of(found)
    otel = {**told.rest, **own}
    name = _name(told.name, type_, found, taken, otel)
    started, ended = _time(told.start, "start", otel), _time(told.end, "end", otel)
    content = _content(told, found, taken)
    status, error = _outcome(told, found, taken)
    if told.events:
        otel["events"] = told.events
    if "type" in found and str(told.attributes[found["type"].key]).lower() == type_:
        taken.add(found["type"].key)
    made = span(
        type=type_,
        name=name,
        span_id=told.span_id,
        parent_id=told.parent_id,
        input=content.get("input"),
        output=content.get("output"),
        status=status,
        error=error,
        started_at=started,
        ended_at=ended,
        tokens_in=_value(found, "tokens_in"),
        tokens_out=_value(found, "tokens_out"),
        model=_value(found, "model"),
        attributes=_left(told.attributes, taken, otel),
    )
    return Made(made, found, "start" in otel or "end" in otel)


def _value(found: Mapping[str, Taken], field: str) -> Any:
    return found[field].value if field in found else None


def _name(recorded: Any, type_: str, found: Mapping[str, Taken], taken: set[str], otel: dict[str, Any]) -> str | None:
    name = recorded if isinstance(recorded, str) and recorded else None
    by = "tool" if type_ in _CALLS else "agent" if type_ == "agent" else None
    better = (found.get(by) or found.get("entity")) if by else None
    if better is not None:
        taken.add(better.key)
    shown = better.value if better else _bare(name) if type_ in _CALLS and name else name
    if recorded and shown != recorded:
        otel["name"] = recorded
    return shown


def _bare(name: str) -> str:
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    return name


def _time(value: Any, field: str, otel: dict[str, Any]) -> datetime | None:
    try:
        if type(value) is str and len(value) == 19 and value.isascii() and value.isdigit():
            found: datetime | None = _START + timedelta(microseconds=int(value) // 1000)
        else:
            found = when(value)
    except ValueError:
        found = None
    if (found is None and value not in (None, "", 0, "0")) or (found is not None and found.year not in _YEARS):
        otel[field] = value
        return None
    return found


def _content(told: Recorded, found: Mapping[str, Taken], taken: set[str]) -> dict[str, Any]:
    content = {field: found[field].value for field in ("input", "output") if field in found}
    if told.events and len(content) < 2:
        content = {**content_of_events(told.events), **content}
    for field in ("input", "output"):
        if field not in content:
            made, names = put_together(told.attributes, LISTS[field])
            if made is not None:
                content[field] = made
                taken.update(names)
    return content


def _outcome(told: Recorded, found: Mapping[str, Taken], taken: set[str]) -> tuple[str | None, str | None]:
    escaped, exception = exception_of(told.events) if told.events else (False, None)
    if not (told.failed or escaped or "flag" in found or "error" in found):
        return (None if told.failed is None else "ok"), None
    if isinstance(told.message, str) and told.message:
        return "error", told.message
    said = found.get("message")
    if said is not None:
        taken.add(said.key)
        return "error", said.value
    return "error", exception or _value(found, "error")


def _left(attributes: Mapping[str, Any], taken: set[str], otel: dict[str, Any]) -> dict[str, Any] | None:
    left = {key: value for key, value in attributes.items() if key not in taken}
    if otel:
        left["otel" if "otel" not in left else "otel~2"] = otel
    return left or None
