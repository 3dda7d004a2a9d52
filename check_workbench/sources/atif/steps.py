"""One ATIF trajectory, step by step; see `atif` for what becomes of what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError
from check_workbench.sources.building import rest
from check_workbench.sources.growing import Growing, tool_type
from check_workbench.sources.messages import text_of
from check_workbench.sources.times import when
from check_workbench.sources.totals import is_number, whole

if TYPE_CHECKING:
    from collections.abc import Mapping

_STEP = frozenset({"step_id", "timestamp", "source", "message", "model_name", "tool_calls", "observation"})
_RESULT = frozenset({"source_call_id", "content"})
_CALL = frozenset({"tool_call_id", "function_name", "arguments"})


class Steps:
    """The rows of a trajectory while its steps come in."""

    def __init__(self) -> None:
        self.rows = Growing()
        self.system: str | None = None
        self.prompt: str | None = None
        self.final: str | None = None

    def add(self, step: Mapping[str, Any]) -> None:
        """Take the next step.

        Raises
        ------
        InputError
            If a call or a result is no object.
        """
        source, text, at = step.get("source"), text_of(step.get("message")), when(step.get("timestamp"))
        kept = rest(step, _STEP) or {}
        if isinstance(step.get("message"), list):
            kept["message"] = step["message"]
        if source == "agent":
            self._reply(step, text, at, kept)
        elif source == "system" and self.system is None and not self.rows.rows and "observation" not in step:
            self.system = text
        else:
            type_ = source if isinstance(source, str) and source else "message"
            self.prompt = text if type_ == "user" and self.prompt is None else self.prompt
            self.rows.add(type=type_, input=text, started_at=at, attributes=kept)
        self._observe(step.get("observation"), at)

    def _reply(self, step: Mapping[str, Any], text: str | None, at: Any, kept: dict[str, Any]) -> None:
        used, model = step.get("metrics"), step.get("model_name")
        self.final = text or self.final
        row = self.rows.add(type="llm", output=text, started_at=at, attributes=kept)
        row["model"] = model if isinstance(model, str) else None
        if isinstance(used, dict):
            row["tokens_in"], row["tokens_out"] = _count(used, "prompt_tokens"), _count(used, "completion_tokens")
        calls = step.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if not isinstance(call, dict):
                raise InputError(f"a tool call must be an object, got {type(call).__name__}")
            name, given = call.get("function_name"), call.get("arguments")
            name = name if isinstance(name, str) else None
            more = rest(call, _CALL) or {}
            self.rows.call(
                call.get("tool_call_id"), type=tool_type(name), name=name, input=given, started_at=at, attributes=more
            )

    def _observe(self, observation: Any, at: Any) -> None:
        results = observation.get("results") if isinstance(observation, dict) else None
        for result in results if isinstance(results, list) else ():
            if not isinstance(result, dict):
                raise InputError(f"a result must be an object, got {type(result).__name__}")
            content, more = result.get("content"), rest(result, _RESULT) or {}
            if isinstance(content, list):
                more["content"] = content
            row = self.rows.answer(result.get("source_call_id"))
            if row is None:
                type_ = "agent" if result.get("subagent_trajectory_ref") is not None else "observation"
                row = self.rows.add(type=type_, started_at=at, attributes={})
            row.update(output=text_of(content), status="ok")
            row["attributes"] |= more


def _count(used: Mapping[str, Any], key: str) -> int | None:
    return whole(used[key]) if is_number(used.get(key)) else None
