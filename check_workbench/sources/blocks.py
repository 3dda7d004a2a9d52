"""The content of a message of the Anthropic API: text, thoughts, tool calls and tool results, in blocks.

| block | becomes |
|---|---|
| `text`, or a plain text | `text` |
| `thinking` | `thinking`, without its signature |
| `tool_use`, `server_tool_use`, `mcp_tool_use` | `calls` |
| `tool_result`, and any type that ends so | `results` |
| any other: `image`, `document`, `redacted_thinking`, … | `others`, and `[its type]` in the text where people see it |
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_HIDDEN = frozenset({"redacted_thinking"})
Block: TypeAlias = "dict[str, Any]"


class Blocks(NamedTuple):
    """What a message says, by kind."""

    text: str | None
    thinking: str | None
    calls: list[Block]
    results: list[Block]
    others: list[Any]
    """Blocks that text cannot show, as recorded."""


def blocks_of(content: Any) -> Blocks:
    r"""Sort the blocks of a message.

    Parameters
    ----------
    content
        A text, a list of blocks, or nothing.

    Examples
    --------
    >>> told = blocks_of([{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Yes."},
    ...                   {"type": "tool_use", "id": "c", "name": "Read", "input": {}}])
    >>> told.text, told.thinking, [call["name"] for call in told.calls]
    ('Yes.', 'Hm.', ['Read'])
    """
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[Block] = []
    results: list[Block] = []
    others: list[Any] = []
    for block in content if isinstance(content, list) else [] if content is None else [content]:
        named = block.get("type") if isinstance(block, dict) else None
        type_ = named if isinstance(named, str) else "part"
        if isinstance(block, str):
            texts.append(block)
        elif type_ == "text" and isinstance(block.get("text"), str):
            texts.append(block["text"])
        elif type_ == "thinking" and isinstance(block.get("thinking"), str):
            thoughts.append(block["thinking"])
        elif type_ in CALLS:
            calls.append(block)
        elif type_.endswith("tool_result"):
            results.append(block)
        else:
            others.append(block)
            if type_ not in _HIDDEN:
                texts.append(f"[{type_}]")
    return Blocks(_joined(texts), _joined(thoughts), calls, results, others)


def _joined(texts: list[str]) -> str | None:
    return "\n".join(texts) if texts else None
