"""The two halves of an exchange with a model, and what was said in them; see `exchanges`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError
from check_workbench.sources.messages import conversation, text_of
from check_workbench.sources.response_items import SHOWN, Items, items_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from check_workbench.records import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What an exchange says, whichever API it went through."""

    spans: tuple[Span, ...]
    system: str | None
    prompt: str | None
    final: str | None


def halves(record: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return the request and the response of a record; either may be the record itself."""
    asked = _inner(record.get("request", record.get("body")))
    told = _inner(record.get("response"))
    return record if asked is None else asked, record if told is None else told


def _inner(part: Any) -> Mapping[str, Any] | None:
    body = part.get("body") if isinstance(part, dict) else None
    return body if isinstance(body, dict) else part if isinstance(part, dict) else None


def asks(asked: Mapping[str, Any]) -> bool:
    """Say whether a part of a record is a request."""
    return isinstance(asked.get("messages"), list) or (
        "input" in asked and ("model" in asked or items_in(asked["input"]))
    )


def tells(told: Mapping[str, Any]) -> bool:
    """Say whether a part of a record is a response."""
    if isinstance(told.get("choices"), list) or isinstance(told.get("output"), list):
        return True
    return isinstance(told.get("content"), list) and told.get("role") == "assistant"


def by_items(asked: Mapping[str, Any], told: Mapping[str, Any]) -> Said:
    """Read an exchange of the Responses API."""
    items, given = Items(), asked.get("input", asked.get("messages"))
    for item in [{"role": "user", "content": given}] if isinstance(given, str) else _list(given):
        items.add(_object(item))
    model = told.get("model", asked.get("model"))
    items.model = model if isinstance(model, str) else None
    for item in _list(told.get("output")):
        items.add(_object(item))
    system = text_of(told.get("instructions", asked.get("instructions")))
    return Said(spans=items.rows.spans(), system=system or items.system, prompt=items.prompt, final=items.final)


def by_messages(asked: Mapping[str, Any], told: Mapping[str, Any]) -> Said:
    """Read an exchange of chat messages, of the Anthropic API too."""
    answer = _answer(told)
    said = conversation([*_list(asked.get("messages")), *answer], error_prefix="Error")
    system = said.system_prompt if said.system_prompt is not None else text_of(asked.get("system"))
    final = said.last_reply if said.spans and said.spans[-1].type == "llm" and said.ends_with_reply else None
    return Said(spans=said.spans, system=system, prompt=said.first_request, final=final)


def _answer(told: Mapping[str, Any]) -> list[Any]:
    choices = _list(told.get("choices"))
    message = choices[0].get("message") if choices and isinstance(choices[0], dict) else None
    if message is None and isinstance(told.get("content"), list):
        message = {"role": "assistant", "content": told["content"]}
    model = told.get("model")
    return [] if message is None else [{"model": model, **message} if isinstance(message, dict) else message]


def is_item(value: Any) -> bool:
    """Say whether a value is an item of the Responses API, and no message of another one."""
    if not items_in([value]):
        return False
    content = value.get("content")
    parts = content if isinstance(content, list) else []
    return value["type"] != "message" or (
        "role" in value and all(isinstance(part, dict) and part.get("type") in SHOWN[:2] for part in parts)
    )


def _object(item: Any) -> Mapping[str, Any]:
    if not isinstance(item, dict):
        raise InputError(f"an item must be an object, got {type(item).__name__}")
    return item


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
