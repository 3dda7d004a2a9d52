"""What events of a span say: the words of a conversation, and exceptions.

| event | gives |
|---|---|
| `gen_ai.client.inference.operation.details` | `gen_ai.input.messages` and `gen_ai.output.messages` |
| `gen_ai.content.prompt`, `gen_ai.content.completion` | `gen_ai.prompt`, `gen_ai.completion` |
| `gen_ai.system.message`, `.user.message`, `.assistant.message`, `.tool.message` | one message of the input each |
| `gen_ai.choice` | one message of the output each |
| any with a `body` of `input` and `output` | the messages in them |
| `exception` | the error of a span that failed, `type: message` |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.sources.otel.attributes import attributes_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_INPUT = ("gen_ai.input.messages", "gen_ai.prompt")
_OUTPUT = ("gen_ai.output.messages", "gen_ai.completion")
_CHOICE = "gen_ai.choice"
_EVENT = {"event_name": "name", "timeUnixNano": "time", "time_unix_nano": "time", "timestamp": "time"}


def events_of(given: Any) -> list[dict[str, Any]]:
    """Return events with `name`, `time`, `attributes`, and what else was recorded of them.

    Examples
    --------
    >>> events_of([{"timestamp": 5, "fields": [{"key": "event", "value": "exception"}]}])
    [{'name': 'exception', 'time': 5, 'attributes': {}}]
    """
    return [_event(item) for item in given] if isinstance(given, list) else []


def content_of_events(events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Find `input` and `output` in the events of a span.

    Examples
    --------
    >>> content_of_events([{"name": "gen_ai.user.message", "attributes": {"content": "Hi"}}])
    {'input': [{'role': 'user', 'content': 'Hi'}]}
    """
    found: dict[str, Any] = {}
    said: dict[str, list[Any]] = {"input": [], "output": []}
    for event in events:
        given, body = event.get("attributes") or {}, event.get("body")
        for field, keys in (("input", _INPUT), ("output", _OUTPUT)):
            value = next((given[key] for key in keys if given.get(key)), None)
            if value is None and isinstance(body, dict) and body.get(field):
                value = _messages(body[field])
            if value is not None:
                found.setdefault(field, value)
        name = event.get("name")
        if isinstance(name, str) and name.startswith("gen_ai.") and name.endswith(".message"):
            said["input"].append(_message(name.split(".")[1], given, body))
        elif name == _CHOICE:
            said["output"].append(_message("assistant", given, body))
    return {**{field: value for field, value in said.items() if value}, **found}


def exception_of(events: Sequence[Mapping[str, Any]]) -> tuple[bool, str | None]:
    """Say whether an exception left the span, and what the last one was.

    Examples
    --------
    >>> exception_of([{"name": "exception", "attributes": {"exception.type": "E", "exception.message": "no"}}])
    (False, 'E: no')
    """
    escaped, words = False, None
    for event in events:
        if event.get("name") == "exception":
            given = event.get("attributes") or {}
            said = [given[key] for key in ("exception.type", "exception.message") if given.get(key)]
            words = ": ".join(map(str, said)) or words
            escaped = escaped or given.get("exception.escaped") in (True, "true", "True")
    return escaped, words


def _messages(value: Any) -> Any:
    return value["messages"] if isinstance(value, dict) and "messages" in value else value


def _message(role: str, given: Mapping[str, Any], body: Any) -> dict[str, Any]:
    told = {key: value for key, value in given.items() if not key.startswith("gen_ai.")}
    if body is not None:
        told |= body if isinstance(body, dict) else {"content": body}
    inner = told.get("message")
    return {"role": role, **(inner if isinstance(inner, dict) else told)}


def _event(item: Any) -> dict[str, Any]:
    if not isinstance(item, dict):
        return {"name": "event", "value": item}
    named: dict[str, Any] = item
    event = {_EVENT.get(key, key): value for key, value in named.items() if value or value is False}
    given = attributes_of(event.get("attributes") or event.pop("fields", None) or {})
    if "name" not in event:
        event = {"name": given.get("event", "event"), **event}
        given = {key: value for key, value in given.items() if key != "event"}
    event["attributes"] = given
    return event
