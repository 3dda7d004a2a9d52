"""Items of the Responses API to rows: what models said and called, and what came back.

| item | becomes |
|---|---|
| `message` of `user`, or with a role and no type | a span of type `user` |
| `message` of `system` or `developer` | the `system_prompt` if it comes first, else a span of type `system` |
| `message` of `assistant` | a span of type `llm`, text in `output` |
| `reasoning` | `attributes.thinking` of the reply that it belongs to; what is encrypted is left out |
| `function_call`, `custom_tool_call`, … | a span of type `tool`; before it one of type `llm`, if no reply is open |
| the same with an MCP name or namespace, `mcp_call` | a span of type `mcp_tool` |
| `web_search_call` and others that the service runs | a span of type `tool`, with what the item says of its result |
| `…_output` with the `call_id` of a call | `output` of that call; `success: false` is an error |
| any other item | a span of that type, whole in `attributes` |

A reply is open from its first item to the next one that is not the model's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError
from check_workbench.sources.growing import Growing, tool_type
from check_workbench.sources.messages import text_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from check_workbench.sources.growing import Row

TYPES = ("message", "reasoning", "function_call", "function_call_output", "custom_tool_call")
"""Types by which a list of items is recognised."""
_INPUTS = ("arguments", "input", "action", "code", "queries", "query")
_OUTPUTS = ("output", "outputs", "results", "result", "tools")
_TOLD = frozenset({"type", "id", "call_id", "name", "role", "content", "status", *_INPUTS})
_FAILED = ("failed", "declined")
_ENDED = ("completed", *_FAILED)
SHOWN = ("input_text", "output_text", "text", "summary_text", "reasoning_text", "refusal")
"""Types of the parts of an item that text shows whole."""


class Items:
    """The rows of a run while its items come in.

    Examples
    --------
    >>> told = Items()
    >>> told.add({"type": "function_call", "call_id": "c", "name": "pay", "arguments": "{}"})
    >>> _ = told.add({"type": "function_call_output", "call_id": "c", "output": "paid"})
    >>> [(one.type, one.name, one.output) for one in told.rows.spans()]
    [('llm', None, None), ('tool', 'pay', 'paid')]
    """

    def __init__(self) -> None:
        self.rows = Growing()
        self.system: str | None = None
        self.prompt: str | None = None
        self.final: str | None = None
        """Text of the last reply, if no call followed it."""
        self.model: str | None = None
        """The model of the replies to come."""
        self.reply: Row | None = None
        """The last reply."""
        self.calls: dict[str, Row] = {}
        """The last call of each id."""
        self._open = False
        self._before: datetime | None = None

    def add(self, item: Mapping[str, Any], at: datetime | None = None) -> Row | None:
        """Take the next item, and return the call that it answers, if it answers one.

        Raises
        ------
        InputError
            If it has neither a type nor a role.
        """
        type_ = item.get("type", "message" if "role" in item else None)
        if not isinstance(type_, str) or not type_:
            raise InputError("an item must have a type, or a role")
        if type_ == "message":
            self._message(item, at)
        elif type_ == "reasoning":
            thoughts = [*_parts(item.get("summary")), *_parts(item.get("content"))]
            kept = self._replying(at)["attributes"]
            if thoughts:
                kept["thinking"] = "\n".join([*([kept["thinking"]] if "thinking" in kept else []), *thoughts])
        elif type_.endswith("_output"):
            return self._answer(item, type_, at)
        elif type_.endswith("_call") or type_ == "mcp_list_tools":
            self._call(item, type_, at)
        else:
            self.rows.add(type=type_, started_at=at, attributes={k: v for k, v in item.items() if k != "type"})
        return None

    def _message(self, item: Mapping[str, Any], at: datetime | None) -> None:
        role, content = item.get("role"), item.get("content")
        kept = {key: value for key, value in item.items() if key not in _TOLD and value is not None}
        text = text_of(content)
        if isinstance(content, list) and not all(isinstance(p, dict) and p.get("type") in SHOWN for p in content):
            kept["content"] = content
        if role == "assistant":
            if self._open and self.reply is not None and self.reply["output"] is not None:
                self._open = False
            row = self._replying(at)
            row["output"] = text
            row["attributes"] |= kept
            self.final = text or None
            return
        self._open, self._before = False, at
        if role in ("system", "developer"):
            if self.system is None and not self.rows.rows:
                self.system = text
                return
            self.rows.add(type="system", input=text, started_at=at, attributes=kept)
            return
        self.prompt = text if self.prompt is None and role == "user" else self.prompt
        type_ = role if isinstance(role, str) and role else "message"
        self.rows.add(type=type_, input=text, started_at=at, attributes=kept)

    def _replying(self, at: datetime | None) -> Row:
        if not self._open or self.reply is None:
            started = self._before or at
            self.reply = self.rows.add(
                type="llm", model=self.model, output=None, started_at=started, ended_at=at, attributes={}
            )
            self._open = True
        self.reply["ended_at"] = at
        return self.reply

    def _call(self, item: Mapping[str, Any], type_: str, at: datetime | None) -> None:
        self._replying(at)
        self.final = None
        given = item.get("name") if isinstance(item.get("name"), str) else None
        space = item.get("namespace") if isinstance(item.get("namespace"), str) else None
        id_ = item.get("call_id") or item.get("id")
        row = self.rows.call(
            id_,
            type="mcp_tool" if type_.startswith("mcp_") else tool_type(space or given),
            name=given or type_.removesuffix("_call"),
            input=next((item[key] for key in _INPUTS if item.get(key) is not None), None),
            started_at=at,
            attributes={key: value for key, value in item.items() if key not in _TOLD and value is not None},
        )
        if isinstance(id_, str):
            self.calls[id_] = row
        result = next((item[key] for key in _OUTPUTS if item.get(key) is not None), None)
        ended = item.get("status") in _ENDED and type_ not in ("function_call", "custom_tool_call")
        if ended or item.get("error") or result is not None:
            self._close(row, result, item, at)

    def _close(self, row: Row, result: Any, item: Mapping[str, Any], at: datetime | None) -> None:
        failed = bool(item.get("error")) or item.get("status") in _FAILED
        row.update(output=result, status="error" if failed else "ok", ended_at=at)
        if failed:
            row["error"] = text_of(item.get("error")) or str(item["status"])
        row["attributes"] = {k: v for k, v in row["attributes"].items() if k not in _OUTPUTS and k != "error"}

    def _answer(self, item: Mapping[str, Any], type_: str, at: datetime | None) -> Row:
        self._open, self._before = False, at
        id_, result = item.get("call_id"), item.get("output", item.get("tools"))
        row = self.rows.answer(id_)
        if row is None:
            row = self.rows.add(type="tool", name=type_.removesuffix("_output"), started_at=at, attributes={})
        failed = item.get("status") in _FAILED or row.get("status") == "error"
        if isinstance(result, dict) and "content" in result:
            failed = failed or result.get("success") is False
            result = result["content"]
        shown = isinstance(result, list) and all(isinstance(p, dict) and p.get("type") in SHOWN for p in result)
        output = text_of(result) if shown else result
        row.update(output=output, status="error" if failed else "ok", ended_at=at)
        if failed:
            row["error"] = text_of(result) or row.get("error") or "error"
        return row


def items_in(value: Any) -> bool:
    """Say whether a value is a list that starts with an item of the Responses API."""
    first = value[0] if isinstance(value, list) and value else None
    return isinstance(first, dict) and first.get("type") in TYPES


def _parts(value: Any) -> list[str]:
    parts = value if isinstance(value, list) else [] if value is None else [value]
    return [text for part in parts if (text := text_of(part))]
