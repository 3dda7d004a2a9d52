"""SWE-agent trajectories, the `.traj` files: one run a file.

| record | run |
|---|---|
| (none) | `run_id` = path relative to the PATH that was loaded, without suffixes, `#`, place in the file from 1 |
| `trajectory[]`: `response` | a span of type `llm`; `attributes.thought` where the thought is no part of the response |
| `action`, `observation` | a span of type `tool` after it, named by the first word of the action |
| `execution_time` (s) | `duration_ms` of that call |
| `state`, and any other key of a step | `attributes` of that call |
| `history`: first `system` message | `system_prompt` |
| first `user` message that is no demonstration | `input` |
| demonstrations (`is_demo`) | spans of type `system`, named `demonstration` |
| `info.submission` | `final_output` |
| `info.exit_status` | `status`, see below |
| `info.model_stats`: `tokens_sent tokens_received instance_cost api_calls` | `metrics`: `prompt_tokens`, … |
| everything else: `environment`, `replay_config`, the rest of `info` | `attributes` |

`status` is `ok` with a submission that `exit_status` calls `submitted`, `interrupted` where a limit or the user stopped
the agent, `error` for any other `exit_…`, else `no_output`. The rest of `history`, and a step's `query`, repeat what
the steps say and are left out. No exit codes are recorded: a call failed where SWE-agent's own tools say so (a refused
edit, a time-out, a blocked command), not where the program that it ran did. Replays and demonstrations count 0 tokens
and calls, which is no measurement: such numbers are no `metrics`, they stay in `attributes.info`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError
from check_workbench.records import Run
from check_workbench.sources.building import rest, runs
from check_workbench.sources.format import Format
from check_workbench.sources.messages import text_of
from check_workbench.sources.spans import span
from check_workbench.sources.totals import is_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from check_workbench.records import Span
    from check_workbench.sources.format import Head, Origin, Rejected

_STEP = frozenset({"action", "observation"})
_OWN = ("response", "thought", "state", "execution_time")
"""Keys of a step that tell it from those of other agents."""
_TOLD = frozenset({"response", "thought", "action", "observation", "execution_time", "query"})
_FAILURES = (
    "Your proposed edit has introduced new syntax error(s)",
    "EXECUTION TIMED OUT",
    "COMMAND TIMED OUT",
    "Your command was blocked",
    "No replacement was performed",
)
"""How the observation of a call starts that SWE-agent's own tools refused or stopped."""
_STOPPED = ("exit_cost", "exit_total", "exit_context", "exit_forfeit", "exit_command_timeout", "early_exit", "skipped")
_STATS = {
    "instance_cost": "total_cost",
    "tokens_sent": "prompt_tokens",
    "tokens_received": "completion_tokens",
    "api_calls": "api_calls",
}
_FREE = ("instance_cost", "tokens_received")
"""What may be 0 where tokens were sent."""


def _detect(head: Head) -> str | None:
    steps = head.first.get("trajectory")
    step = steps[0] if isinstance(steps, list) and steps else None
    if not isinstance(step, dict) or not step.keys() >= _STEP or not any(key in step for key in _OWN):
        return None
    return "its trajectory has steps of action, observation and response"


def _read(path: Path, origin: Origin) -> Iterator[Run | Rejected]:
    return runs(path, origin, _run)


def _run(record: Mapping[str, Any], origin: Origin, place: int) -> Run:
    steps, info = record.get("trajectory"), record.get("info")
    if not isinstance(steps, list):
        raise InputError(f"the trajectory must be a list of steps, got {type(steps).__name__}")
    told = info if isinstance(info, dict) else {}
    history = [one for one in _list(record.get("history")) if isinstance(one, dict)]
    final = text_of(told.get("submission"))
    left = rest(record, frozenset({"trajectory", "history", "info"})) or {}
    kept = rest(told, frozenset({"submission"})) if isinstance(info, dict) else info
    return Run(
        run_id=f"{origin.stem}#{place}",
        workflow="swe-agent",
        status=_status(told.get("exit_status"), final),
        input=_said(history, "user"),
        final_output=final,
        system_prompt=_said(history, "system"),
        metrics=_metrics(told.get("model_stats")),
        attributes=(left | ({"info": kept} if kept else {})) or None,
        spans=(*_demonstrations(history), *(one for n, step in enumerate(steps, start=1) for one in _step(step, n))),
    )


def _status(exit_status: Any, final: str | None) -> str:
    word = exit_status if isinstance(exit_status, str) else ""
    if word.startswith("submitted"):
        return "ok" if final else "no_output"
    if word.startswith(_STOPPED):
        return "interrupted"
    return "error" if word.startswith("exit_") else "no_output"


def _metrics(stats: Any) -> dict[str, float] | None:
    if not isinstance(stats, dict):
        return None
    counted = _STATS if stats.get("tokens_sent") else {"api_calls": "api_calls"}
    found = {counted[key]: stats[key] for key in counted if is_number(stats.get(key)) and (stats[key] or key in _FREE)}
    if {"prompt_tokens", "completion_tokens"} <= found.keys():
        found["total_tokens"] = found["prompt_tokens"] + found["completion_tokens"]
    return found or None


def _said(history: list[dict[str, Any]], role: str) -> str | None:
    said = (one for one in history if one.get("role") == role and one.get("is_demo") is not True)
    return next((text_of(one.get("content")) for one in said), None)


def _demonstrations(history: list[dict[str, Any]]) -> Iterator[Span]:
    for one in history:
        if one.get("is_demo") is True:
            yield span(type="system", name="demonstration", input=text_of(one.get("content")))


def _step(step: Any, number: int) -> Iterator[Span]:
    if not isinstance(step, dict):
        raise InputError(f"step {number} must be an object, got {type(step).__name__}")
    response, thought = text_of(step.get("response")), text_of(step.get("thought"))
    apart = thought and thought.strip() not in (response or "")
    yield span(type="llm", output=response, attributes={"thought": thought} if apart else None)
    action, observation = text_of(step.get("action")), text_of(step.get("observation"))
    if not action and not observation:
        return
    error = observation if observation is not None and observation.lstrip().startswith(_FAILURES) else None
    seconds = step.get("execution_time")
    yield span(
        type="tool",
        name=(action or "").strip().partition("\n")[0].partition(" ")[0] or None,
        input=action,
        output=observation,
        status="ok" if error is None else "error",
        error=error,
        duration_ms=seconds * 1000.0 if is_number(seconds) and abs(seconds) < 1e300 else None,
        attributes=rest(step, _TOLD),
    )


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


FORMAT = Format(
    name="swe_agent",
    summary="SWE-agent trajectories (.traj) with steps of action and observation",
    detect=_detect,
    read=_read,
)
