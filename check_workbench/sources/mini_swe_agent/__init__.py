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

from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError
from check_workbench.records import Run
from check_workbench.sources.building import conversations, rest
from check_workbench.sources.format import Format
from check_workbench.sources.messages import text_of
from check_workbench.sources.mini_swe_agent.steps import Trajectory, is_answer, is_command
from check_workbench.sources.totals import is_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from check_workbench.sources.format import Head, Origin, Rejected

_FORMAT = "mini-swe-agent"


def detect(head: Head) -> str | None:
    """Say why a file holds trajectories of mini-swe-agent, or None."""
    info = head.first.get("info")
    if isinstance(info, dict) and "mini_version" in info:
        return "its info has a mini_version"
    if str(head.first.get("trajectory_format", "")).startswith(_FORMAT):
        return "its trajectory_format is one of mini-swe-agent"
    if head.shape == "array" and any(is_command(one) or is_answer(one) for one in head.records):
        return "its messages hold commands, and answers that start with <returncode>"
    return None


def _read(path: Path, origin: Origin) -> Iterator[Run | Rejected]:
    return conversations(path, origin, _run)


def _run(record: Mapping[str, Any], origin: Origin, place: int) -> Run:
    messages, info = record.get("messages"), record.get("info")
    if not isinstance(messages, list):
        raise InputError(f"the messages must be a list, got {type(messages).__name__}")
    told = Trajectory()
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


def _status(exit_status: Any, final: str | None) -> str:
    word = exit_status if isinstance(exit_status, str) else "Submitted"
    if word == "Submitted":
        return "ok" if final else "no_output"
    return "interrupted" if word in ("LimitsExceeded", "UserInterruption", "KeyboardInterrupt") else "error"


def _metrics(stats: Any) -> dict[str, float] | None:
    names = {"instance_cost": "total_cost", "api_calls": "api_calls"}
    known = stats if isinstance(stats, dict) else {}
    return {new: known[old] for old, new in names.items() if is_number(known.get(old))} or None


FORMAT = Format(
    name="mini_swe_agent",
    summary="mini-swe-agent trajectories (.traj.json), with their info or as a bare array of messages",
    detect=detect,
    read=_read,
)
