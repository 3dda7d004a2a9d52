"""Events of `codex exec --json`: lines, or objects with a list of them.

| event | run |
|---|---|
| `thread.started`: `thread_id` | `run_id` and `session_id`; in a file of lines it begins a new run |
| without one | `run_id` = path relative to the PATH that was loaded, without suffixes, `#`, place from 1 |
| item `agent_message` | a span of type `llm`, `text` in `output`; the last one is `final_output` |
| item `reasoning` | `attributes.thinking` of the message after it; without one, a span of type `llm` |
| item `command_execution` | a span of type `tool` with that name: `command`, `aggregated_output` |
| its `exit_code` other than 0, `status` `failed` or `declined`, `error` | `status` and `error` of the span |
| item `mcp_tool_call` | a span of type `mcp_tool`: `tool`, `arguments`, `result`, `error`; `server` in `attributes` |
| items `file_change`, `web_search`, `todo_list`, … | a span of type `tool` with that name |
| item `error`, event `error` | a failed span of type `system` |
| `item.started`, `item.updated` | the item as it is until `item.completed` comes; one that never does has no `status` |
| `turn.completed`: `usage` | `metrics`, all turns added |
| `turn.failed` | `status` `error`; else it is `ok` with a message, `no_output` without one |
| any other event | `events`, as recorded |

The events have no times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.sources.building import refusal
from check_workbench.sources.codex.thread import CodexThread
from check_workbench.sources.format import Format, Rejected
from check_workbench.sources.json_items import items, opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from check_workbench.records import Run
    from check_workbench.sources.format import Head, Origin, Record
    from check_workbench.sources.json_items import Item

_KINDS = ("thread.started", "turn.started", "item.started", "item.updated", "item.completed")


def _detect(head: Head) -> str | None:
    listed = head.first.get("events")
    event = listed[0] if isinstance(listed, list) and listed else head.first
    type_ = event.get("type") if isinstance(event, dict) else None
    return f"its first event is {type_}" if type_ in _KINDS else None


def _read(path: Path, origin: Origin) -> Iterator[Record]:
    thread: CodexThread | None = None
    with opened(path) as stream:
        for item in items(stream, origin.file):
            if isinstance(item, Rejected):
                yield item
                continue
            if isinstance(item.value, dict) and isinstance(item.value.get("events"), list):
                yield from _listed(item, origin)
                continue
            if thread is None or _begins(item.value):
                yield from () if thread is None else (thread.run(),)
                thread = CodexThread(f"{origin.stem}#{item.place}")
            if reason := refusal(thread.add, item.value):
                yield Rejected(file=origin.file, line=item.line, reason=reason)
    if thread is not None:
        yield thread.run()


def _begins(value: Any) -> bool:
    return isinstance(value, dict) and value.get("type") == "thread.started"


def _listed(item: Item, origin: Origin) -> Iterator[Run | Rejected]:
    """Read a record that holds all events of a thread."""
    rest = {key: value for key, value in item.value.items() if key != "events"}
    thread = CodexThread(f"{origin.stem}#{item.place}", rest)
    for event in item.value["events"]:
        if reason := refusal(thread.add, event):
            yield Rejected(file=origin.file, line=item.line, reason=reason)
    yield thread.run()


FORMAT = Format(
    name="codex_exec",
    summary="events of codex exec --json, as lines or in a list",
    detect=_detect,
    read=_read,
)
