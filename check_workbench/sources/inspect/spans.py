"""Spans of an Inspect sample: its messages, with the times and tokens that its events record."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from check_workbench.sources.inspect.events import model_of
from check_workbench.sources.inspect.messages import complaint, resolved
from check_workbench.sources.spans import span
from check_workbench.sources.times import when
from check_workbench.sources.totals import number, whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from check_workbench.records import Span
    from check_workbench.sources.inspect.events import Event, Observed

_BESIDE = ("agent", "failed", "truncated", "working_time", "retries", "cache")
"""What an event says beside its result."""


def with_events(spans: Sequence[Span], messages: Sequence[Any], seen: Observed) -> tuple[Span, ...]:
    """Add to spans what the events know, and the tool calls that no message shows.

    Parameters
    ----------
    spans
        Made of the messages, in their order.
    messages
        The messages.
    seen
        The sample's events.

    Raises
    ------
    ValueError
        If a time is none.
    """
    models = iter(_replies(messages, seen.models))
    made = []
    for one in spans:
        if one.type == "llm":
            event = next(models, None)
            made.append(one if event is None else _replied(one, event))
        elif one.type == "tool" and (event := seen.tools.get(one.span_id or "")) is not None:
            made.append(_called(one, event, seen))
        else:
            made.append(one)
    shown = {one.span_id for one in spans}
    hidden = [_hidden(id_, event, seen) for id_, event in seen.tools.items() if id_ not in shown]
    return (*made, *hidden)


def _replies(messages: Sequence[Any], events: Sequence[Event]) -> list[Event | None]:
    """Find the model call behind each reply: by the message's id, in older logs by its place."""
    replies = [message for message in messages if isinstance(message, dict) and message.get("role") == "assistant"]
    by_id: dict[str | None, Event] = {id_: event for event in events if (id_ := _message_id(event)) is not None}
    if by_id:
        return [by_id.get(_id(message)) for message in replies]
    return list(events) if len(events) == len(replies) else [None] * len(replies)


def _message_id(event: Event) -> str | None:
    message = _choice(event).get("message")
    return _id(message) if isinstance(message, dict) else None


def _id(message: Mapping[str, Any]) -> str | None:
    id_ = message.get("id")
    return id_ if isinstance(id_, str) else None


def _choice(event: Event) -> Mapping[str, Any]:
    choices = _object(event, "output").get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else {}


def _replied(one: Span, event: Event) -> Span:
    output = _object(event, "output")
    usage, seconds = _object(output, "usage"), output.get("time")
    ended = when(event.get("completed"))
    known = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    failed = event.get("error")
    return dataclasses.replace(
        one,
        started_at=when(event.get("timestamp")),
        ended_at=ended,
        duration_ms=float(seconds or 0) * 1000 if known and ended is None else None,
        tokens_in=_count(usage, "input_tokens"),
        tokens_out=_count(usage, "output_tokens"),
        model=one.model or model_of(event),
        status="error" if failed else one.status,
        error=str(failed) if failed else one.error,
        attributes=_beside(one, event, stop_reason=_choice(event).get("stop_reason")),
    )


def _called(one: Span, event: Event, seen: Observed) -> Span:
    answered = one.status is not None or one.output is not None
    failed = event.get("error")
    return dataclasses.replace(
        one,
        started_at=when(event.get("timestamp")),
        ended_at=when(event.get("completed")),
        output=one.output if answered else resolved(event.get("result"), seen.attachments),
        status="error" if failed else one.status or ("ok" if "result" in event else None),
        error=one.error or (complaint(failed) if failed else None),
        attributes=_beside(one, event),
    )


def _hidden(id_: str, event: Event, seen: Observed) -> Span:
    """Make a span of a call that a sub-agent made, or that was cut out of the messages."""
    given = resolved(event.get("arguments"), seen.attachments)
    call = span(type="tool", name=event.get("function"), span_id=id_, input=given, attributes={"in_messages": False})
    return _called(call, event, seen)


def _beside(one: Span, event: Event, **more: Any) -> dict[str, Any] | None:
    found = {key: event[key] for key in _BESIDE if event.get(key) is not None}
    given = {key: value for key, value in more.items() if value is not None}
    return {**(one.attributes or {}), **found, **given} or None


def _count(usage: Mapping[str, Any], key: str) -> int | None:
    return whole(number([usage.get(key)]))


def _object(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = value.get(key)
    return found if isinstance(found, dict) else {}
