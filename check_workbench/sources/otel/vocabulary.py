"""Which attribute gives which field of a span: six vocabularies in one table.

The first attribute of a row that is there and fits wins; all names, by priority, stand in `names`. `N` is a
number: such attributes are put together to a list of messages or documents.

| field | attributes |
|---|---|
| `type` | the kind of a Neatlogs record; `mcp.method.name` `tools/call`, `gen_ai.tool.type` MCP; |
| | `openinference.span.kind`; `neatlogs.span.kind`; `gen_ai.operation.name`; `traceloop.span.kind`; |
| | `ai.operationId`; `llm.request.type`; `aws.genai.span_kind` |
| `name` of a tool | `gen_ai.tool.name`, `tool.name`, `ai.toolCall.name`, `neatlogs.tool.name`, |
| | `traceloop.entity.name` |
| `name` of an agent | `gen_ai.agent.name`, `agent.name`, `neatlogs.agent.name`, `traceloop.entity.name` |
| `input` of a tool | `gen_ai.tool.call.arguments`, `input.value`, `traceloop.entity.input`, `ai.toolCall.args`, |
| | `neatlogs.tool.input`, `gcp.vertex.agent.tool_call_args` |
| `input` of others | `input.value`, `traceloop.entity.input`, `gen_ai.input.messages`, `gen_ai.prompt`, |
| | `ai.prompt.messages`, `ai.prompt`, `gcp.vertex.agent.llm_request`; then events; |
| | then `llm.input_messages.N`, `gen_ai.prompt.N` |
| `output` of a tool | `gen_ai.tool.call.result`, `output.value`, `traceloop.entity.output`, `ai.toolCall.result`, |
| | `neatlogs.tool.output`, `gcp.vertex.agent.tool_response` |
| `output` of others | `output.value`, `traceloop.entity.output`, `gen_ai.output.messages`, `gen_ai.completion`, |
| | `ai.response.text`, `ai.response.object`, `ai.response.toolCalls`, `gcp.vertex.agent.llm_response`; |
| | then events; then `llm.output_messages.N`, `gen_ai.completion.N`, `retrieval.documents.N` |
| `model` | `gen_ai.response.model`, `ai.response.model`, `llm.model_name`, `gen_ai.request.model`, `ai.model.id` |
| `tokens_in` | `gen_ai.usage.input_tokens`, `gen_ai.usage.prompt_tokens`, `llm.token_count.prompt`, |
| | `llm.usage.prompt_tokens`, `ai.usage.inputTokens`, `ai.usage.promptTokens`; `tokens_out` likewise |
| `error` | message of the status; `error.message`; the last exception event; `error.type` |

A span without a kind is a `tool` if it names one, an `llm` if it names a model, else `http`, `db`, `rpc`, `messaging`
by what it names, else `span`. `tool.parameters` is the schema of a tool, no input.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from check_workbench.sources.otel.names import AI_STEPS, KEYS, NAMED, OPERATIONS
from check_workbench.sources.totals import is_number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Understood(NamedTuple):
    """What attributes say of the fields of a span and of its run."""

    values: dict[str, Any]
    keys: dict[str, str]
    """Which attribute gave each of them."""


def understood(attributes: Mapping[str, Any]) -> Understood:
    """Read the attributes of a span.

    Parameters
    ----------
    attributes
        By name.

    Examples
    --------
    >>> told = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "refund", "tool.name": "x"}
    >>> understood(told).values
    {'type': 'tool', 'tool': 'refund'}
    """
    values: dict[str, Any] = {}
    keys: dict[str, str] = {}
    ranks: dict[str, int] = {}
    for key, value in attributes.items():
        place = _TABLE.get(key)
        if place is None:
            continue
        field, rank, read = place
        if field in ranks and ranks[field] < rank:
            continue
        found = read(value)
        if found is not None:
            values[field], keys[field], ranks[field] = found, key, rank
    return Understood(values, keys)


def type_of(values: Mapping[str, Any]) -> str:
    """Return the type of a span by what is known of it."""
    type_: str | None = values.get("type")
    if type_ is not None:
        return type_
    if "tool" in values:
        return "tool"
    return "llm" if "model" in values else values.get("named", "span")


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _content(value: Any) -> Any:
    return None if value == "" else value


def _count(value: Any) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19:
        return int(value)
    if not is_number(value) or not 0 <= value < 2**63 or value != int(value):
        return None
    return int(value)


def _cost(value: Any) -> float | None:
    return value if is_number(value) and value >= 0 else None


def _kind(value: Any) -> str | None:
    name = value.lower() if isinstance(value, str) else ""
    return None if name in {"", "unknown", "unspecified"} else name


def _operation(value: Any) -> str | None:
    return OPERATIONS.get(value.lower()) if isinstance(value, str) else None


def _ai_step(value: Any) -> str | None:
    if not isinstance(value, str):
        return None
    return AI_STEPS.get(value) or ("llm" if ".do" in value else None)


def _mcp_method(value: Any) -> str | None:
    return "mcp_tool" if value == "tools/call" else None


def _mcp_type(value: Any) -> str | None:
    return "mcp_tool" if isinstance(value, str) and "mcp" in value.lower() else None


def _constant(type_: str) -> Callable[[Any], str]:
    return lambda _: type_


def _true(value: Any) -> bool | None:
    return True if value is True or value in ("true", "True") else None


_TYPES: tuple[tuple[str, Callable[[Any], Any]], ...] = (
    ("neatlogs.record.kind", _kind),
    ("mcp.method.name", _mcp_method),
    ("gen_ai.tool.type", _mcp_type),
    ("openinference.span.kind", _kind),
    ("neatlogs.span.kind", _kind),
    ("gen_ai.operation.name", _operation),
    ("traceloop.span.kind", _kind),
    ("ai.operationId", _ai_step),
    ("llm.request.type", _operation),
    ("aws.genai.span_kind", _kind),
)
_READ: dict[str, Callable[[Any], Any]] = {
    "tool": _text,
    "agent": _text,
    "entity": _text,
    "input": _content,
    "output": _content,
    "system": _content,
    "model": _text,
    "tokens_in": _count,
    "tokens_out": _count,
    "tokens": _count,
    "cost": _cost,
    "message": _text,
    "error": _text,
    "flag": _true,
    "session": _text,
    "workflow": _text,
    "function": _text,
    "interrupted": _true,
}
_TABLE: dict[str, tuple[str, int, Callable[[Any], Any]]] = {
    **{key: ("type", rank, read) for rank, (key, read) in enumerate(_TYPES)},
    **{key: (field, rank, _READ[field]) for field, keys in KEYS.items() for rank, key in enumerate(keys)},
    **{key: ("named", rank, _constant(type_)) for rank, (key, type_) in enumerate(NAMED.items())},
}
