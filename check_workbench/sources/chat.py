"""Files of chat messages: records with `traj` or `messages`, as tau-bench and fine-tuning write them, or bare messages.

| record | run |
|---|---|
| (none) | `run_id` = path relative to the PATH that was loaded, without suffixes, `#`, place in the file from 1 |
| `traj` or `messages` | spans, `system_prompt`, `input` (first user message); see `messages` |
| an array of messages among the records | the same; messages that stand by themselves are one run together |
| `system`, if no message is of that role | `system_prompt` |
| last assistant text | `final_output`; `status` is `ok` with one, else `no_output` |
| `workflow`, `env`, `domain` | `workflow`, the first that is there; `tau-bench` for a record with `traj` and `reward` |
| `total_tokens`, `user_cost`, `duration` (s), … | `metrics` |
| everything else: `task_id`, `trial`, `reward`, `info`, `tools`, … | `attributes` |

`task_id` and `trial` name no run: another model's file has the same ones. A tool result that starts with `Error`
is a failed call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError
from check_workbench.records import Run
from check_workbench.sources import exchanges, mini_swe_agent
from check_workbench.sources.building import LISTS, METRICS, conversations, is_message, metrics, rest
from check_workbench.sources.format import Format
from check_workbench.sources.messages import conversation, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from check_workbench.sources.format import Head, Origin, Rejected

_WORKFLOWS = ("workflow", "env", "domain")
_USED = frozenset({*LISTS, *METRICS, "workflow", "duration"})


def _detect(head: Head) -> str | None:
    if "user_task_id" in head.keys or mini_swe_agent.detect(head) or exchanges.detect(head):
        return None
    key = next((key for key in LISTS if head.keys.get(key) == "["), None)
    if key is not None:
        return f"its first record has a list of chat messages in {key}" if _may_be_chat(head.records, key) else None
    first: Any = head.records[0] if head.records else None
    listed = isinstance(first, list) and bool(first)
    message = first[0] if listed else first
    if not is_message(message) or "content" not in message or "type" in message or "uuid" in message:
        return None
    return "its records are lists of chat messages" if listed else "its records are chat messages"


def _may_be_chat(records: Iterable[Any], key: str) -> bool:
    """Say whether some of the lists that can be seen start with a message, or none can be seen."""
    listed = [one[key] for one in records if isinstance(one, dict) and isinstance(one.get(key), list) and one[key]]
    return not listed or any(isinstance(one[0], dict) and "role" in one[0] for one in listed)


def _read(path: Path, origin: Origin) -> Iterator[Run | Rejected]:
    return conversations(path, origin, _run)


def _run(record: Mapping[str, Any], origin: Origin, place: int) -> Run:
    key = next((key for key in LISTS if key in record), None)
    if key is None:
        raise InputError("a run must have its chat messages in traj or messages")
    told = conversation(record[key], error_prefix="Error")
    given = record.get("system") if told.system_prompt is None else None
    return Run(
        run_id=f"{origin.stem}#{place}",
        workflow=_workflow(record),
        status="ok" if told.last_reply else "no_output",
        input=told.first_request,
        final_output=told.last_reply,
        system_prompt=told.system_prompt if given is None else text_of(given),
        metrics=metrics(record),
        attributes=rest(record, _USED if given is None else _USED | {"system"}),
        spans=told.spans,
    )


def _workflow(record: Mapping[str, Any]) -> str | None:
    named = next((record[key] for key in _WORKFLOWS if isinstance(record.get(key), str)), None)
    if named is None and "traj" in record and "reward" in record:
        return "tau-bench"
    return named


FORMAT = Format(
    name="chat",
    summary="chat messages in traj or messages (tau-bench, fine-tuning files), or bare messages; an array or lines",
    detect=_detect,
    read=_read,
)
