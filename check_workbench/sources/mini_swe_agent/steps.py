"""One trajectory of mini-swe-agent, message by message; see `mini_swe_agent` for what becomes of what."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from check_workbench.sources.growing import Growing
from check_workbench.sources.messages import text_of
from check_workbench.sources.times import when

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from check_workbench.sources.growing import Row

_FENCED = re.compile(r"```(?:mswea_bash_command|bash)\s*\n(.*?)\n?```", re.DOTALL)
_CODE = re.compile(r"<returncode>\s*(-?\d+)\s*</returncode>")
_ANSWER = "<returncode>"
_SUBMITS = ("COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "MINI_SWE_AGENT_FINAL_OUTPUT")
_KNOWN = frozenset({"role", "content", "tool_calls", "tool_call_id", "extra"})
_TOLD = frozenset({"actions", "returncode", "timestamp", "submission", "raw_output"})


class Trajectory:
    """The rows of a trajectory while its messages come in."""

    def __init__(self) -> None:
        self.rows = Growing()
        self.system: str | None = None
        self.prompt: str | None = None
        self.final: str | None = None
        self._open: list[Row] = []
        """Commands of the last reply that nothing answered yet."""

    def add(self, message: Mapping[str, Any], role: str) -> None:
        """Take the next message."""
        text, extra = text_of(message.get("content")), message.get("extra")
        more = extra if isinstance(extra, dict) else {}
        kept = {key: value for key, value in message.items() if key not in _KNOWN and value is not None}
        kept |= {key: value for key, value in more.items() if key not in _TOLD and value is not None}
        if role == "system" and self.system is None and not self.rows.rows:
            self.system = text
        elif role == "assistant":
            self.rows.add(type="llm", output=text, ended_at=when(more.get("timestamp")), attributes=kept)
            self._open = [self._command(*one) for one in _commands(message, more, text)]
        elif role == "exit":
            self.final = text_of(more.get("submission")) if "submission" in more else text
            self.rows.add(type="system", name="exit", input=text, attributes=kept)
        elif not self._answers(message, more, text, kept):
            self.prompt = text if self.prompt is None else self.prompt
            self.rows.add(type="user", input=text, attributes=kept)

    def _command(self, command: Any, id_: Any) -> Row:
        return self.rows.call(id_, type="tool", name="bash", input=command, attributes={})

    def _answers(self, message: Mapping[str, Any], more: Mapping[str, Any], text: str | None, kept: Any) -> bool:
        """Give a command its output, if the message is one."""
        row = self.rows.answer(message.get("tool_call_id"))
        submitted = bool(self._open) and isinstance(self._open[0]["input"], str) and _submits(self._open[0]["input"])
        if row is None and self._open and (is_answer(message) or "returncode" in more or submitted):
            row = self._open[0]
        if row is None:
            return False
        self._open = [one for one in self._open if one is not row]
        found = _CODE.match((text or "").lstrip())
        code = more.get("returncode", int(found[1][:9]) if found else 0)
        output = text_of(more["raw_output"]) if "raw_output" in more else text
        row.update(
            output=output,
            status="error" if code != 0 else "ok",
            error=(output or f"exit code {code}") if code != 0 else None,
            ended_at=when(more.get("timestamp")),
            attributes={"returncode": code, **kept} if code != 0 or found or "returncode" in more else kept,
        )
        if submitted and not found and self.final is None:
            self.final = text
        return True


def _commands(message: Mapping[str, Any], more: Mapping[str, Any], text: str | None) -> Iterator[tuple[Any, Any]]:
    actions = more.get("actions")
    if isinstance(actions, list):
        for one in actions:
            yield (one.get("command"), one.get("tool_call_id")) if isinstance(one, dict) else (one, None)
        return
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        made = call.get("function") if isinstance(call, dict) else None
        yield (made.get("arguments") if isinstance(made, dict) else made), call.get("id") if made is not None else None
    fenced = _FENCED.findall(text or "")
    if not calls and len(fenced) == 1:
        yield fenced[0], None


def is_answer(message: Any) -> bool:
    """Say whether a message answers a command."""
    text = message.get("content") if isinstance(message, dict) and message.get("role") == "user" else None
    return isinstance(text, str) and text.lstrip().startswith(_ANSWER)


def is_command(message: Any) -> bool:
    """Say whether a message holds a command in the fence that is mini-swe-agent's own."""
    text = message.get("content") if isinstance(message, dict) and message.get("role") == "assistant" else None
    return isinstance(text, str) and "```mswea_bash_command" in text


def _submits(command: str) -> bool:
    return any(word in command for word in _SUBMITS)
