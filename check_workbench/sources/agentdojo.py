"""AgentDojo runs: one JSON object a file, or one a line.

| record | run |
|---|---|
| `pipeline_name suite_name user_task_id attack_type injection_task_id`, by `/` | `run_id` (`none` for the last two) |
| `suite_name` | `workflow` |
| `conversations` or `messages` | spans, `system_prompt`, `input` (first user message); see `messages` |
| a tool message's `error` | `error` and `status` of the call; its `tool_call` repeats the call and is left out |
| text between `<final_answer>` and its end, else the last assistant text | `final_output` |
| `error` | `status` `error`; else `ok` with a final output, `no_output` without one |
| `total_tokens`, `duration` (s) | `metrics.total_tokens`, `metrics.duration_ms` |
| everything else: `utility`, `security`, `tool_permission`, … | `attributes` |

`source_file`, which a collection of runs may add, is where a run was found and no part of it.
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
    from check_workbench.sources.messages import Conversation

_LISTS = ("conversations", "messages")
_ID = ("pipeline_name", "suite_name", "user_task_id", "attack_type", "injection_task_id")
_OPTIONAL = _ID[3:]
_USED = frozenset({*_LISTS, *METRICS, "source_file", "duration"})
_OPEN, _CLOSE = "<final_answer>", "</final_answer>"


def _detect(head: Head) -> str | None:
    if not {"suite_name", "user_task_id"} <= head.keys.keys():
        return None
    return "its first record has suite_name and user_task_id"


def _read(path: Path, origin: Origin) -> Iterator[Run | Rejected]:
    return runs(path, origin, _run)


def _run(record: Mapping[str, Any], _origin: Origin, _place: int) -> Run:
    key = next((key for key in _LISTS if key in record), None)
    if key is None:
        raise InputError("a run must have its messages in conversations or messages")
    told = conversation(record[key])
    final = _final(told)
    return Run(
        run_id="/".join(_id_part(record, name) for name in _ID),
        workflow=_id_part(record, "suite_name"),
        status="error" if record.get("error") else "ok" if final else "no_output",
        input=told.first_request,
        final_output=final,
        system_prompt=told.system_prompt,
        metrics=metrics(record),
        attributes=rest(record, _USED),
        spans=told.spans,
    )


def _id_part(record: Mapping[str, Any], name: str) -> str:
    value = record.get(name)
    if value is None and name in _OPTIONAL:
        return "none"
    if not isinstance(value, str) or not value:
        raise InputError(f"{name} must be text, it is part of the run's id; got {value!r:.80}")
    return value


def _final(told: Conversation) -> str | None:
    text = told.last_reply
    if text is None or _OPEN not in text:
        return text if told.ends_with_reply else None
    answer = text.rpartition(_OPEN)[2].partition(_CLOSE)[0].strip()
    return answer or None


FORMAT = Format(
    name="agentdojo",
    summary="AgentDojo runs with conversations or messages, one a file or one a line",
    detect=_detect,
    read=_read,
)
