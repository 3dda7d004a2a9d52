"""Logs of requests to a model and what it answered: chat completions, the Responses API, the Anthropic API, batches.

| record | run |
|---|---|
| (none) | `run_id` = path relative to the PATH that was loaded, without suffixes, `#`, place in the file from 1 |
| `request`, `body`, or the record itself: `messages`, `system` | spans, `system_prompt`, `input`; see `messages` |
| the same: `input`, `instructions` | the same; see `response_items` |
| `response`, its `body`, or the record itself: `choices[0].message`, `content`, `output` | the last spans |
| `usage` | `metrics`, and the tokens of the last reply |
| `model` | `model` of the replies that the response brought |
| `created` or `created_at`, `completed_at` | `started_at`, `ended_at` |
| text of the last reply, if no call follows it | `final_output`; `status` is `ok` with one, else `no_output` |
| `error`, a `status_code` from 400 on, `status` `failed` | `status` `error` |
| `status` `incomplete` or `cancelled` | `status` `interrupted` |
| everything else, further `choices` too | `attributes`: of the record, and as `request` and `response` |

An array or lines of nothing but items of the Responses API are one run. A response that only asks for tools has status
`no_output`: one exchange is a part of what an agent does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError
from check_workbench.records import Run
from check_workbench.sources.building import conversations, rest
from check_workbench.sources.format import Format
from check_workbench.sources.messages import conversation, text_of
from check_workbench.sources.response_items import SHOWN, Items, items_in
from check_workbench.sources.times import when
from check_workbench.sources.totals import is_number, number, whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from check_workbench.records import Span
    from check_workbench.sources.format import Head, Origin, Rejected

_ASKED = ("messages", "input", "system", "instructions")
_TOLD = ("choices", "output", "content", "role", "usage")
_RECORD = frozenset({"request", "response", "body", *_ASKED, *_TOLD})
_USAGE = (
    ("prompt_tokens", ("prompt_tokens", "input_tokens")),
    ("completion_tokens", ("completion_tokens", "output_tokens")),
)
_CACHED = ("cache_creation_input_tokens", "cache_read_input_tokens")
_ENDS = {"failed": "error", "cancelled": "interrupted", "incomplete": "interrupted"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """What an exchange says, whichever API it went through."""

    spans: tuple[Span, ...]
    system: str | None
    prompt: str | None
    final: str | None


def detect(head: Head) -> str | None:
    """Say why a file holds exchanges with a model, or None."""
    first = head.first
    if _is_item(first) and "payload" not in head.keys:
        return "its records are items of the Responses API"
    if "spans" in head.keys or "observations" in head.keys:
        return None
    asked, told = _parts(first)
    if asked is not first and _asks(asked):
        return "its first record has a request with messages or input"
    if told is not first and _tells(told) and (_asks(first) or "custom_id" in first):
        return "its first record has a response with choices, output or content, and what it answers"
    if first.get("object") == "chat.completion" and isinstance(first.get("choices"), list):
        return "its first record is a chat completion"
    if items_in(first.get("output")) or items_in(first.get("input")):
        return "its first record has items of the Responses API as input or output"
    return None


def _read(path: Path, origin: Origin) -> Iterator[Run | Rejected]:
    return conversations(path, origin, _run, alone=_is_item)


def _run(record: Mapping[str, Any], origin: Origin, place: int) -> Run:
    asked, told = _parts(record)
    if not _asks(asked) and not _tells(told):
        raise InputError("a record must have a request with messages or input, or a response with choices or output")
    by_items = "input" in asked or "output" in told or any(_is_item(one) for one in _list(asked.get("messages")))
    found = _by_items(asked, told) if by_items else _by_messages(asked, told)
    counted = _metrics(told.get("usage"))
    return Run(
        run_id=f"{origin.stem}#{place}",
        status=_status(record, told) or ("ok" if found.final else "no_output"),
        started_at=when(told.get("created", told.get("created_at"))),
        ended_at=when(told.get("completed_at")),
        input=found.prompt,
        final_output=found.final,
        system_prompt=found.system,
        metrics=counted,
        attributes=_attributes(record, asked, told),
        spans=_counted(found.spans, counted or {}) if _tells(told) else found.spans,
    )


def _parts(record: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return the request and the response of a record; either may be the record itself."""
    asked = _inner(record.get("request", record.get("body")))
    told = _inner(record.get("response"))
    return record if asked is None else asked, record if told is None else told


def _inner(part: Any) -> Mapping[str, Any] | None:
    body = part.get("body") if isinstance(part, dict) else None
    return body if isinstance(body, dict) else part if isinstance(part, dict) else None


def _asks(asked: Mapping[str, Any]) -> bool:
    return isinstance(asked.get("messages"), list) or (
        "input" in asked and ("model" in asked or items_in(asked["input"]))
    )


def _tells(told: Mapping[str, Any]) -> bool:
    if isinstance(told.get("choices"), list) or isinstance(told.get("output"), list):
        return True
    return isinstance(told.get("content"), list) and told.get("role") == "assistant"


def _by_items(asked: Mapping[str, Any], told: Mapping[str, Any]) -> _Told:
    items, given = Items(), asked.get("input", asked.get("messages"))
    for item in [{"role": "user", "content": given}] if isinstance(given, str) else _list(given):
        items.add(_object(item))
    model = told.get("model", asked.get("model"))
    items.model = model if isinstance(model, str) else None
    for item in _list(told.get("output")):
        items.add(_object(item))
    system = text_of(told.get("instructions", asked.get("instructions")))
    return _Told(spans=items.rows.spans(), system=system or items.system, prompt=items.prompt, final=items.final)


def _by_messages(asked: Mapping[str, Any], told: Mapping[str, Any]) -> _Told:
    answer = _answer(told)
    said = conversation([*_list(asked.get("messages")), *answer], error_prefix="Error")
    system = said.system_prompt if said.system_prompt is not None else text_of(asked.get("system"))
    final = said.last_reply if said.spans and said.spans[-1].type == "llm" and said.ends_with_reply else None
    return _Told(spans=said.spans, system=system, prompt=said.first_request, final=final)


def _answer(told: Mapping[str, Any]) -> list[Any]:
    choices = _list(told.get("choices"))
    message = choices[0].get("message") if choices and isinstance(choices[0], dict) else None
    if message is None and isinstance(told.get("content"), list):
        message = {"role": "assistant", "content": told["content"]}
    model = told.get("model")
    return [] if message is None else [{"model": model, **message} if isinstance(message, dict) else message]


def _counted(spans: tuple[Span, ...], counted: Mapping[str, float]) -> tuple[Span, ...]:
    """Give the last reply, which the response brought, its tokens."""
    last = next((place for place in range(len(spans) - 1, -1, -1) if spans[place].type == "llm"), None)
    if last is None:
        return spans
    read, written = whole(counted.get("prompt_tokens")), whole(counted.get("completion_tokens"))
    return (*spans[:last], replace(spans[last], tokens_in=read, tokens_out=written), *spans[last + 1 :])


def _metrics(usage: Any) -> dict[str, float] | None:
    known = usage if isinstance(usage, dict) else {}
    found = {name: value for name, keys in _USAGE if (value := number(known.get(key) for key in keys)) is not None}
    if "prompt_tokens" in found:
        found["prompt_tokens"] += sum(known[key] for key in _CACHED if is_number(known.get(key)))
    if len(found) == len(_USAGE):
        found["total_tokens"] = sum(found.values())
    return found or None


def _status(record: Mapping[str, Any], told: Mapping[str, Any]) -> str | None:
    outer = record.get("response")
    code = outer.get("status_code") if isinstance(outer, dict) else None
    if record.get("error") or told.get("error") or (is_number(code) and code >= 400):
        return "error"
    return _ENDS.get(str(told.get("status")))


def _attributes(record: Mapping[str, Any], asked: Mapping[str, Any], told: Mapping[str, Any]) -> dict[str, Any] | None:
    found = rest(record, _RECORD) or {}
    for key, part, used in (("request", asked, _ASKED), ("response", told, _TOLD)):
        kept = rest(part, frozenset(used)) if part is not record else None
        if kept:
            found[key] = kept
    if len(_list(told.get("choices"))) > 1:
        found["choices"] = told["choices"][1:]
    if told.get("usage") is not None:
        found["usage"] = told["usage"]
    return found or None


def _is_item(value: Any) -> bool:
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


FORMAT = Format(
    name="exchange",
    summary="requests to a model with their responses (chat completions, Responses API, Anthropic API, batches)",
    detect=detect,
    read=_read,
)
