"""Results files of chat messages, as tau-bench writes them: an array or lines of `{traj | messages, …}`.

| record | run |
|---|---|
| (none) | `run_id` = path relative to the PATH that was loaded, without suffixes, `#`, place in the file from 1 |
| `traj` or `messages` | spans, `system_prompt`, `input` (first user message); see `messages` |
| last assistant text | `final_output`; `status` is `ok` with one, else `no_output` |
| `workflow`, `env`, `domain` | `workflow`, the first that is there; `tau-bench` for a record with `traj` and `reward` |
| `total_tokens`, `user_cost`, `duration` (s), … | `metrics` |
| everything else: `task_id`, `trial`, `reward`, `info`, … | `attributes` |

`task_id` and `trial` name no run: another model's file has the same ones. A tool result that starts with `Error`
is a failed call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError
from check_workbench.records import Run
from check_workbench.sources.building import METRICS, metrics, rest, runs
from check_workbench.sources.format import Format
from check_workbench.sources.messages import conversation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from check_workbench.sources.format import Head, Origin, Rejected

_LISTS = ("traj", "messages")
_WORKFLOWS = ("workflow", "env", "domain")
_USED = frozenset({*_LISTS, *METRICS, "workflow", "duration"})


def _detect(head: Head) -> str | None:
    if "user_task_id" in head.keys:
        return None
    key = next((key for key in _LISTS if head.keys.get(key) == "["), None)
    return None if key is None else f"its first record has a list of chat messages in {key}"


def _read(path: Path, origin: Origin) -> Iterator[Run | Rejected]:
    return runs(path, origin, _run)


def _run(record: Mapping[str, Any], origin: Origin, place: int) -> Run:
    key = next((key for key in _LISTS if key in record), None)
    if key is None:
        raise InputError("a run must have its chat messages in traj or messages")
    told = conversation(record[key], error_prefix="Error")
    return Run(
        run_id=f"{origin.stem}#{place}",
        workflow=_workflow(record),
        status="ok" if told.last_reply else "no_output",
        input=told.first_request,
        final_output=told.last_reply,
        system_prompt=told.system_prompt,
        metrics=metrics(record),
        attributes=rest(record, _USED),
        spans=told.spans,
    )


def _workflow(record: Mapping[str, Any]) -> str | None:
    named = next((record[key] for key in _WORKFLOWS if isinstance(record.get(key), str)), None)
    if named is None and "traj" in record and "reward" in record:
        return "tau-bench"
    return named


FORMAT = Format(
    name="chat",
    summary="results with OpenAI chat messages in traj or messages (tau-bench), an array or lines",
    detect=_detect,
    read=_read,
)
