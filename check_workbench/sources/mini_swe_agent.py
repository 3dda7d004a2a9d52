"""mini-swe-agent trajectories: an object `{info, messages, trajectory_format}`, or the bare array of its messages.

| record | run |
|---|---|
| (none) | `run_id` = path relative to the PATH that was loaded, without suffixes, `#`, place in the file from 1 |
| first `system`, first `user` message | `system_prompt`, `input`; the latter a span of type `user` as well |
| `assistant` | a span of type `llm`; its `extra.cost` and other keys in `attributes` |
| `extra.actions`, else the command in its one fenced block | spans of type `tool`, named `bash`, after it |
| the message after it: `tool`, or `user` with `<returncode>` or after a submission | its `output` |
| `extra.raw_output`, of which that message's text shows a part | `output` instead |
| `extra.returncode`, else the number in `<returncode>` | `status` and `error` of the command; anything but 0 is one |
| `extra.timestamp` | `ended_at` of a reply and of a command |
| any other message | a span of type `user`, as the agent's own words to the model are: format errors, limits |
| `exit` message, else `info.submission`, else what the last command of a bare array printed | `final_output` |
| `info.exit_status` | `status`: `ok` or `no_output` where it is `Submitted` or missing, `interrupted` at a limit |
| `info.model_stats` | `metrics.total_cost`, `metrics.api_calls` |
| everything else: `info.config`, `instance_id`, … | `attributes` |

A bare array is one run, and is told from any other array of chat messages by its commands: a message of the user that
starts with `<returncode>`, or a block of `mswea_bash_command`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError
from check_workbench.records import Run
from check_workbench.sources.building import conversations, rest
from check_workbench.sources.format import Format
from check_workbench.sources.growing import Growing
from check_workbench.sources.messages import text_of
from check_workbench.sources.times import when
from check_workbench.sources.totals import is_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from check_workbench.sources.format import Head, Origin, Rejected
    from check_workbench.sources.growing import Row

_FENCED = re.compile(r"```(?:mswea_bash_command|bash)\s*\n(.*?)\n?```", re.DOTALL)
_CODE = re.compile(r"<returncode>\s*(-?\d+)\s*</returncode>")
_ANSWER = "<returncode>"
_SUBMITS = ("COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "MINI_SWE_AGENT_FINAL_OUTPUT")
_FORMAT = "mini-swe-agent"
_KNOWN = frozenset({"role", "content", "tool_calls", "tool_call_id", "extra"})
_TOLD = frozenset({"actions", "returncode", "timestamp", "submission", "raw_output"})


def detect(head: Head) -> str | None:
    """Say why a file holds trajectories of mini-swe-agent, or None."""
    info = head.first.get("info")
    if isinstance(info, dict) and "mini_version" in info:
        return "its info has a mini_version"
    if str(head.first.get("trajectory_format", "")).startswith(_FORMAT):
        return "its trajectory_format is one of mini-swe-agent"
    if head.shape == "array" and any(_is_command(one) or _is_answer(one) for one in head.records):
        return "its messages hold commands, and answers that start with <returncode>"
    return None


def _read(path: Path, origin: Origin) -> Iterator[Run | Rejected]:
    return conversations(path, origin, _run)


def _run(record: Mapping[str, Any], origin: Origin, place: int) -> Run:
    messages, info = record.get("messages"), record.get("info")
    if not isinstance(messages, list):
        raise InputError(f"the messages must be a list, got {type(messages).__name__}")
    told = _Telling()
    for number, message in enumerate(messages, start=1):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise InputError(f"message {number} must be an object with a role, got {type(message).__name__}")
        told.add(message, message["role"])
    known = info if isinstance(info, dict) else {}
    final = text_of(known.get("submission")) if told.final is None else told.final
    left = rest(record, frozenset({"messages", "info"})) or {}
    kept = rest(known, frozenset({"submission"})) if isinstance(info, dict) else info
    return Run(
        run_id=f"{origin.stem}#{place}",
        workflow=_FORMAT,
        status=_status(known.get("exit_status"), final),
        input=told.prompt,
        final_output=final,
        system_prompt=told.system,
        metrics=_metrics(known.get("model_stats")),
        attributes=(left | ({"info": kept} if kept else {})) or None,
        spans=told.rows.spans(),
    )


class _Telling:
    """The rows of a trajectory while its messages come in."""

    def __init__(self) -> None:
        self.rows = Growing()
        self.system: str | None = None
        self.prompt: str | None = None
        self.final: str | None = None
        self._open: list[Row] = []
        """Commands of the last reply that nothing answered yet."""

    def add(self, message: Mapping[str, Any], role: str) -> None:
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
        if row is None and self._open and (_is_answer(message) or "returncode" in more or submitted):
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


def _status(exit_status: Any, final: str | None) -> str:
    word = exit_status if isinstance(exit_status, str) else "Submitted"
    if word == "Submitted":
        return "ok" if final else "no_output"
    return "interrupted" if word in ("LimitsExceeded", "UserInterruption", "KeyboardInterrupt") else "error"


def _metrics(stats: Any) -> dict[str, float] | None:
    names = {"instance_cost": "total_cost", "api_calls": "api_calls"}
    known = stats if isinstance(stats, dict) else {}
    return {new: known[old] for old, new in names.items() if is_number(known.get(old))} or None


def _is_answer(message: Any) -> bool:
    text = message.get("content") if isinstance(message, dict) and message.get("role") == "user" else None
    return isinstance(text, str) and text.lstrip().startswith(_ANSWER)


def _is_command(message: Any) -> bool:
    text = message.get("content") if isinstance(message, dict) and message.get("role") == "assistant" else None
    return isinstance(text, str) and "```mswea_bash_command" in text


def _submits(command: str) -> bool:
    return any(word in command for word in _SUBMITS)


FORMAT = Format(
    name="mini_swe_agent",
    summary="mini-swe-agent trajectories (.traj.json), with their info or as a bare array of messages",
    detect=detect,
    read=_read,
)
