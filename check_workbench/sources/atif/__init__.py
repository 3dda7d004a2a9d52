"""Trajectories in the Agent Trajectory Interchange Format (ATIF v1): one object a run.

| record | run |
|---|---|
| (none) | `run_id` = path relative to the PATH that was loaded, without suffixes, `#`, place in the file from 1 |
| `session_id` | `session_id`; a trajectory and its continuation share it, so it names no run |
| `agent.name` | `workflow`; the rest of `agent` in `attributes` |
| steps of `system`: the first step | `system_prompt`; later ones are spans of type `system` |
| steps of `user` | spans of type `user`; the first is `input` |
| steps of `agent` | a span of type `llm`: `message`, `model_name`, `metrics`; after it one of type `tool` a tool call |
| `observation.results[]` with `source_call_id` | the `output` of that call |
| without one, as of commands in the message | a span of type `observation`, or `agent` with `subagent_trajectory_ref` |
| `timestamp` | `started_at` of the step's spans |
| last message of the agent | `final_output`; `status` is `ok` with one, else `no_output` |
| `final_metrics` | `metrics`: `prompt_tokens completion_tokens total_tokens total_cost steps` |
| everything else: `extra`, `notes`, `is_copied_context`, … | `attributes` of the run, or of the step's span |

A trajectory with `continued_trajectory_ref` goes on in another file: that is a run of its own with the same
`session_id`, and the first one has neither `final_output` nor `status`. Steps that a continuation repeats from its
first part are there with `attributes.is_copied_context`. Embedded `subagent_trajectories` are runs of their own:
`run_id` of the outer one, `/`, their `trajectory_id`, or their place from 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError
from check_workbench.records import Run
from check_workbench.sources.atif.steps import Steps
from check_workbench.sources.building import rest, runs_of
from check_workbench.sources.format import Format
from check_workbench.sources.totals import is_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from check_workbench.sources.format import Head, Origin, Rejected

_USED = frozenset({"session_id", "steps", "subagent_trajectories"})
_TOTALS = {
    "total_prompt_tokens": "prompt_tokens",
    "total_completion_tokens": "completion_tokens",
    "total_cost_usd": "total_cost",
    "total_steps": "steps",
}


def _detect(head: Head) -> str | None:
    version = head.first.get("schema_version")
    return f"its schema_version is {version}" if isinstance(version, str) and version.startswith("ATIF") else None


def _read(path: Path, origin: Origin) -> Iterator[Run | Rejected]:
    return runs_of(path, origin, lambda record, origin, place: _every(record, f"{origin.stem}#{place}"))


def _every(record: Mapping[str, Any], run_id: str) -> list[Run]:
    """Return the run of a trajectory, and those of the trajectories inside of it."""
    inner = record.get("subagent_trajectories")
    found = [_run(record, run_id)]
    for place, one in enumerate(inner if isinstance(inner, list) else (), start=1):
        if not isinstance(one, dict):
            raise InputError(f"sub-agent trajectory {place} must be an object, got {type(one).__name__}")
        id_ = one.get("trajectory_id")
        found += _every(one, f"{run_id}/{id_ if isinstance(id_, str) and id_ else place}")
    return found


def _run(record: Mapping[str, Any], run_id: str) -> Run:
    steps, agent = record.get("steps"), record.get("agent")
    if not isinstance(steps, list):
        raise InputError(f"the steps must be a list, got {type(steps).__name__}")
    told = Steps()
    for number, step in enumerate(steps, start=1):
        if not isinstance(step, dict):
            raise InputError(f"step {number} must be an object, got {type(step).__name__}")
        told.add(step)
    name = agent.get("name") if isinstance(agent, dict) else None
    session = record.get("session_id")
    goes_on = record.get("continued_trajectory_ref") is not None
    times = [row["started_at"] for row in told.rows.rows if row["started_at"] is not None]
    return Run(
        run_id=run_id,
        workflow=name if isinstance(name, str) else None,
        session_id=session if isinstance(session, str) else None,
        status=None if goes_on else "ok" if told.final else "no_output",
        started_at=min(times, default=None),
        ended_at=max(times, default=None),
        input=told.prompt,
        final_output=None if goes_on else told.final,
        system_prompt=told.system,
        metrics=_metrics(record.get("final_metrics")),
        attributes=rest(record, _USED),
        spans=told.rows.spans(),
    )


def _metrics(totals: Any) -> dict[str, float] | None:
    known = totals if isinstance(totals, dict) else {}
    found = {new: known[old] for old, new in _TOTALS.items() if is_number(known.get(old))}
    if {"prompt_tokens", "completion_tokens"} <= found.keys():
        found["total_tokens"] = found["prompt_tokens"] + found["completion_tokens"]
    return found or None


FORMAT = Format(
    name="atif",
    summary="trajectories in the Agent Trajectory Interchange Format (ATIF v1)",
    detect=_detect,
    read=_read,
)
