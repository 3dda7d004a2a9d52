"""Chat messages, OpenAI style, to spans: the part that every chat-like format shares.

| message | becomes |
|---|---|
| first `system` or `developer` | the run's `system_prompt` |
| later ones | a span of type `system`, text in `input` |
| `user` | a span of type `user`, text in `input`; the first is the run's `input` as well |
| `assistant` | a span of type `llm`, text in `output`; after it one span of type `tool` for each call |
| `tool`, `function` | the `output` of the call that it answers; without such a call a `tool` span of its own |
| any other role | a span of that type, text in `input` |
| blocks `tool_use` and `tool_result` in a message's content | calls and results, as above; `thinking` in `attributes` |

A call that nobody answered is a `tool` span without output. Arguments stay what was recorded, text or object; the store
compares both in their canonical form.
"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError
from check_workbench.records import Span
from check_workbench.sources.blocks import CALLS, blocks_of
from check_workbench.sources.spans import span

if TYPE_CHECKING:
    from collections.abc import Mapping

    from check_workbench.sources.blocks import Blocks

    _Call = tuple[str | None, Any, str | None]
    """Name, arguments and id of a call."""

_KNOWN = frozenset(
    {"role", "content", "tool_calls", "function_call", "tool_call_id", "tool_call", "name", "error", "model"}
)
_TYPES = {"user": "user", "assistant": "llm", "system": "system", "developer": "system"}
_RESULTS = frozenset({"tool", "function"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What a list of messages says about a run."""

    spans: tuple[Span, ...]
    system_prompt: str | None
    first_request: str | None
    last_reply: str | None
    """Text of the last assistant message that has any."""
    ends_with_reply: bool
    """Whether the last assistant message has text."""


def conversation(messages: Any, *, error_prefix: str | None = None) -> Conversation:
    """Read the messages of one run.

    Parameters
    ----------
    messages
        The list of messages.
    error_prefix
        A tool result that starts so is a failed call; an `error` or `is_error` of the message always makes one.

    Raises
    ------
    InputError
        If they are no chat messages.

    Examples
    --------
    >>> call = {"id": "c1", "function": {"name": "refund", "arguments": '{"order": 7}'}}
    >>> told = conversation([{"role": "assistant", "content": None, "tool_calls": [call]},
    ...                      {"role": "tool", "tool_call_id": "c1", "content": "Error: unknown order"}],
    ...                     error_prefix="Error")
    >>> [(s.type, s.name, s.input, s.status) for s in told.spans]
    [('llm', None, None, None), ('tool', 'refund', '{"order": 7}', 'error')]
    """
    if not isinstance(messages, list):
        raise InputError(f"the messages must be a list, got {_kind(messages)}")
    told = _Telling(error_prefix)
    for place, message in enumerate(messages, start=1):
        role = message.get("role") if isinstance(message, dict) else None
        if not isinstance(role, str):
            raise InputError(f"message {place} must be an object with a role, got {_kind(message)}")
        told.add(message, role)
    return told.conversation()


def text_of(content: Any) -> str | None:
    r"""Flatten a message's content to text.

    Examples
    --------
    >>> text_of([{"type": "text", "text": "Look:"}, {"type": "image_url", "image_url": {}}])
    'Look:\n[image_url]'
    """
    if content is None or isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(_part(part) or f"[{_part_type(part)}]" for part in content)
    return _part(content) or json.dumps(content, ensure_ascii=False)


class _Telling:
    """The rows of a conversation while its messages come in."""

    def __init__(self, error_prefix: str | None) -> None:
        self._prefix = error_prefix
        self._rows: list[Span | _Call] = []
        self._waiting: dict[Any, deque[int]] = {}
        """Places of the calls that are not answered yet."""
        self._seen: set[str] = set()
        self._system: str | None = None
        self._first: str | None = None
        self._last: str | None = None
        self._closed = False

    def add(self, message: Mapping[str, Any], role: str) -> None:
        text = message.get("content")
        if text is not None and not isinstance(text, str):
            if isinstance(text, list) and any(map(_is_block, text)):
                self._unpack(message, role, blocks_of(text))
                return
            text = text_of(text)
        if role in _RESULTS:
            self._answer(message, text)
        elif role == "assistant":
            self._reply(message, text)
        else:
            self._say(message, role, text)

    def conversation(self) -> Conversation:
        return Conversation(
            spans=tuple([row if isinstance(row, Span) else _unanswered(row) for row in self._rows]),
            system_prompt=self._system,
            first_request=self._first,
            last_reply=self._last,
            ends_with_reply=self._closed,
        )

    def _unpack(self, message: Mapping[str, Any], role: str, found: Blocks) -> None:
        """Take a message of the Anthropic API as the messages of which it is made."""
        plain = {**message, "content": found.others or found.text}
        if found.thinking is not None:
            plain["thinking"] = found.thinking
        if role == "assistant":
            made = [{"id": one.get("id"), "name": one.get("name"), "args": one.get("input")} for one in found.calls]
            self._reply({**plain, "tool_calls": [*_calls(message), *made], "function_call": None}, found.text)
        for one in found.results:
            told = {"tool_call_id": one.get("tool_use_id"), "content": one.get("content")}
            self._answer(told | ({"is_error": True} if one.get("is_error") is True else {}), text_of(told["content"]))
        if role != "assistant" and found.text is not None:
            self._say(plain, role, found.text)

    def _say(self, message: Mapping[str, Any], role: str, text: str | None) -> None:
        type_ = _TYPES.get(role, role)
        if type_ == "system" and self._system is None and not self._rows:
            self._system = text
            return
        if type_ == "user" and self._first is None:
            self._first = text
        name = _name(message.get("name"))
        self._rows.append(span(type=type_ or "message", name=name, input=text, attributes=_extras(message)))

    def _reply(self, message: Mapping[str, Any], text: str | None) -> None:
        self._closed = bool(text)
        self._last = text or self._last
        name, model = _name(message.get("name")), _name(message.get("model"))
        self._rows.append(span(type="llm", name=name, output=text, model=model, attributes=_extras(message)))
        fresh: dict[Any, deque[int]] = {}
        for call in _calls(message):
            key, row = self._call(call)
            if key in fresh:
                fresh[key].append(len(self._rows))
            else:
                self._waiting[key] = fresh[key] = deque((len(self._rows),))
            self._rows.append(row)

    def _call(self, call: Any) -> tuple[Any, _Call]:
        if not isinstance(call, dict):
            raise InputError(f"a tool call must be an object, got {_kind(call)}")
        made = call.get("function")
        inner = made if isinstance(made, dict) else call
        name = _name(made if isinstance(made, str) else inner.get("name"))
        given = inner["arguments"] if "arguments" in inner else inner.get("args")
        id_ = call.get("id")
        if not isinstance(id_, str) or not id_:
            return ("by name", name), (name, given, None)
        if id_ in self._seen:
            return id_, (name, given, None)
        self._seen.add(id_)
        return id_, (name, given, id_)

    def _answer(self, message: Mapping[str, Any], text: str | None) -> None:
        id_ = message.get("tool_call_id")
        key = id_ if isinstance(id_, str) and id_ else ("by name", _name(message.get("name")))
        place, row = self._answered(key) or (len(self._rows), (_name(message.get("name")), None, None))
        name, given, span_id = row
        error = self._error(message, text)
        made = span(
            type="tool",
            name=name,
            span_id=span_id,
            input=given,
            output=text,
            status="ok" if error is None else "error",
            error=error,
            attributes=_extras(message),
        )
        self._rows[place : place + 1] = [made]

    def _answered(self, key: Any) -> tuple[int, _Call] | None:
        """Take the place and the call that a result is for, if one waits."""
        places = self._waiting.get(key)
        if not places:
            return None
        row = self._rows[places[0]]
        return None if isinstance(row, Span) else (places.popleft(), row)

    def _error(self, message: Mapping[str, Any], text: str | None) -> str | None:
        if error := message.get("error"):
            return text_of(error) or "error"
        flagged = message.get("is_error") is True
        if flagged or (self._prefix is not None and text is not None and text.startswith(self._prefix)):
            return text or "error"
        return None


def _unanswered(call: _Call) -> Span:
    name, given, span_id = call
    return span(type="tool", name=name, span_id=span_id, input=given)


def _calls(message: Mapping[str, Any]) -> list[Any]:
    calls = message.get("tool_calls") or []
    if not isinstance(calls, list):
        raise InputError(f"tool_calls must be a list, got {_kind(calls)}")
    legacy = message.get("function_call")
    return [*calls, legacy] if legacy else calls


def _extras(message: Mapping[str, Any]) -> dict[str, Any] | None:
    content = message.get("content")
    odd = isinstance(content, list) and any(_part(part) is None for part in content)
    if not odd and _KNOWN.issuperset(message):
        return None
    extras = {key: value for key, value in message.items() if key not in _KNOWN and value is not None}
    if odd:
        extras["content"] = content
    return extras or None


def _is_block(part: Any) -> bool:
    """Say whether a part of a message is one of the Anthropic API that is more than text."""
    type_ = part.get("type") if isinstance(part, dict) else None
    return isinstance(type_, str) and (type_ in CALLS or type_ == "thinking" or type_.endswith("tool_result"))


def _part(part: Any) -> str | None:
    if isinstance(part, str):
        return part
    if isinstance(part, dict):
        given = part.get("text", part.get("content"))
        return given if isinstance(given, str) else None
    return None


def _part_type(part: Any) -> str:
    type_ = part.get("type") if isinstance(part, dict) else None
    return type_ if isinstance(type_, str) else "part"


def _name(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _kind(value: Any) -> str:
    return "null" if value is None else type(value).__name__
