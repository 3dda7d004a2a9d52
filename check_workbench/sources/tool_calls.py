"""Tool calls inside what a model answered, and their results inside what it was asked next.

| where | call | result |
|---|---|---|
| OpenAI chat | `tool_calls[].{id, function: {name, arguments}}` | `{role: tool, tool_call_id, content}` |
| OpenAI responses | `{type: function_call, call_id, name, …}` | `{type: function_call_output, call_id, output}` |
| Anthropic | `{type: tool_use, id, name, input}` | `{type: tool_result, tool_use_id, content, is_error}` |
| LangChain | `tool_calls[].{id, name, args}` | `{type: tool, tool_call_id, content, status}` |
| OpenTelemetry | `{type: tool_call, id, name, arguments}` | `{type: tool_call_response, id, response or result}` |
| Gemini | `functionCall` or `function_call`: `{name, args}` | (by no id, so it is not found) |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_TYPES = frozenset({"tool_use", "tool_call", "function_call"})
_ARGUMENTS = ("arguments", "args", "input")
_NESTED = ("functionCall", "function_call")
_RESULT_IDS = ("tool_call_id", "tool_use_id", "call_id", "id")
_RESULTS = ("content", "output", "response", "result")
_RESULT_TYPES = frozenset({"tool", "tool_result", "function_call_output", "tool_call_response"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call that a model asked for."""

    name: str
    id: str | None
    arguments: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a tool gave back."""

    id: str
    output: Any
    failed: bool


def calls_in(answer: Any) -> list[Call]:
    """Find the tool calls in what a model answered, each once.

    Parameters
    ----------
    answer
        A decoded answer, in any of the forms above.

    Examples
    --------
    >>> calls_in({"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "pay", "arguments": "{}"}}]})
    [Call(name='pay', id='c', arguments='{}')]
    """
    found: dict[Any, Call] = {}
    for part in _objects(answer):
        for call in _calls(part):
            found.setdefault(call.id or (call.name, repr(call.arguments)), call)
    return list(found.values())


def results_in(request: Any) -> list[Result]:
    """Find the results of tool calls in what a model was asked.

    Parameters
    ----------
    request
        Decoded messages, in any of the forms above.
    """
    return [result for part in _objects(request) if (result := _result(part)) is not None]


def _calls(part: dict[str, Any]) -> Iterator[Call]:
    listed = part.get("tool_calls")
    made = [*(listed if isinstance(listed, list) else ()), *(part.get(key) for key in _NESTED)]
    if part.get("type") in _TYPES:
        made.append(part)
    for call in made:
        if isinstance(call, dict) and (read := _call(call)) is not None:
            yield read


def _call(call: dict[str, Any]) -> Call | None:
    inner = call["function"] if isinstance(call.get("function"), dict) else call
    name = inner.get("name")
    if not isinstance(name, str) or not name:
        return None
    id_ = next((call[key] for key in ("call_id", "id") if isinstance(call.get(key), str)), None)
    return Call(name=name, id=id_ or None, arguments=next((inner[key] for key in _ARGUMENTS if key in inner), None))


def _result(part: dict[str, Any]) -> Result | None:
    if part.get("type") not in _RESULT_TYPES and part.get("role") != "tool":
        return None
    id_ = next((part[key] for key in _RESULT_IDS if isinstance(part.get(key), str)), None)
    output = next((part[key] for key in _RESULTS if key in part), None)
    failed = part.get("is_error") is True or part.get("status") == "error"
    return None if id_ is None else Result(id=id_, output=output, failed=failed)


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield part
            waiting.extend(reversed(part.values()))
        elif isinstance(part, list):
            waiting.extend(reversed(part))
