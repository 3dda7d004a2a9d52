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

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError
from check_workbench.records import Run
from check_workbench.sources.building import conversations, rest
from check_workbench.sources.exchanges.parts import asks, by_items, by_messages, halves, is_item, tells
from check_workbench.sources.format import Format
from check_workbench.sources.response_items import items_in
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


def detect(head: Head) -> str | None:
    """Say why a file holds exchanges with a model, or None."""
    first = head.first
    if is_item(first) and "payload" not in head.keys:
        return "its records are items of the Responses API"
    if "spans" in head.keys or "observations" in head.keys:
        return None
    asked, told = halves(first)
    if asked is not first and asks(asked):
        return "its first record has a request with messages or input"
    if told is not first and tells(told) and (asks(first) or "custom_id" in first):
        return "its first record has a response with choices, output or content, and what it answers"
    if first.get("object") == "chat.completion" and isinstance(first.get("choices"), list):
        return "its first record is a chat completion"
    if items_in(first.get("output")) or items_in(first.get("input")):
        return "its first record has items of the Responses API as input or output"
    return None


def _read(path: Path, origin: Origin) -> Iterator[Run | Rejected]:
    return conversations(path, origin, _run, alone=is_item)


def _run(record: Mapping[str, Any], origin: Origin, place: int) -> Run:
    asked, told = halves(record)
    if not asks(asked) and not tells(told):
        raise InputError("a record must have a request with messages or input, or a response with choices or output")
    items = "input" in asked or "output" in told or any(is_item(one) for one in _list(asked.get("messages")))
    found = by_items(asked, told) if items else by_messages(asked, told)
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
        spans=_counted(found.spans, counted or {}) if tells(told) else found.spans,
    )


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


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


FORMAT = Format(
    name="exchange",
    summary="requests to a model with their responses (chat completions, Responses API, Anthropic API, batches)",
    detect=detect,
    read=_read,
)
