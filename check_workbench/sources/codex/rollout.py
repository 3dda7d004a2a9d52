"""Codex sessions: the rollout files that the command line keeps, and lists of their items.

| line | run |
|---|---|
| `session_meta`: `id` | `run_id` and `session_id` |
| without one | `run_id` = path relative to the PATH that was loaded, without suffixes, `#`, place in the file from 1 |
| `base_instructions` or `instructions` | `system_prompt` |
| the rest of it: `cwd`, `cli_version`, `git`, … | `attributes` |
| `response_item`, or the item itself in older files and in `{items: […]}` | spans, see `response_items` |
| `event_msg` of type `user_message`, the first | `input`; else the first message of a user that is not Codex's own |
| `token_count` | `metrics`, from the last total; `tokens_in` and `tokens_out` of the reply before it |
| `exec_command_end mcp_tool_call_end patch_apply_end` | `duration_ms` and failure of the call with its `call_id` |
| `turn_aborted`; `error` | `status` `interrupted`; `error`, and a failed span of type `system` |
| `turn_context` | `model` of the replies after it |
| `compacted` | a span of type `system` |
| `timestamp` | a call runs from its line's to its output's; a reply from that of what it answers to its last item's |
| text of the last reply, if no call follows it | `final_output`; `status` is `ok` with one, else `no_output` |
| all events and contexts but those that repeat items word by word | `events`, as recorded |

A call failed with an exit code other than 0, or where Codex says that it refused or stopped it. A session that was
forked repeats its source's lines, and so that one's `session_meta`: it stays one run, with a note.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from check_workbench.sources.building import refusal
from check_workbench.sources.codex.session import CodexSession
from check_workbench.sources.format import Format, Note, Rejected
from check_workbench.sources.json_items import items, opened
from check_workbench.sources.response_items import items_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from check_workbench.records import Run
    from check_workbench.sources.format import Head, Origin, Record
    from check_workbench.sources.json_items import Item

_KINDS = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})


def _detect(head: Head) -> str | None:
    type_ = head.first.get("type")
    if isinstance(type_, str) and type_ in _KINDS and "payload" in head.keys:
        return f"its first line is a {type_} with a payload"
    if items_in(head.first.get("items")):
        return "its first record has a list of items as the Responses API writes them"
    if head.shape == "lines" and {"id", "timestamp", "instructions"} <= head.keys.keys() and "type" not in head.keys:
        return "its first line is the head of a session, with id, timestamp and instructions"
    return None


def _read(path: Path, origin: Origin) -> Iterator[Record]:
    session, place = CodexSession(), 0
    with opened(path) as stream:
        for item in items(stream, origin.file):
            if isinstance(item, Rejected):
                yield item
            elif isinstance(item.value, dict) and isinstance(item.value.get("items"), list):
                yield from _listed(item, origin)
            else:
                place = place or item.place
                if reason := refusal(session.add, item.value):
                    yield Rejected(file=origin.file, line=item.line, reason=reason)
    if len(session.ids) > 1:
        others = ", ".join(dict.fromkeys(session.ids[1:]))
        yield Note(file=origin.file, text=f"session {session.ids[0]} holds the lines of {others} too: it was forked")
    if session.spans_told:
        yield session.run(f"{origin.stem}#{place}")
    elif place:
        yield Note(file=origin.file, text="no line holds an item, so no run was made of them")


def _listed(item: Item, origin: Origin) -> Iterator[Run | Rejected]:
    """Read a record that holds all items of a session."""
    session = CodexSession()
    session.name({key: value for key, value in item.value.items() if key != "items"})
    for part in item.value["items"]:
        if reason := refusal(session.item, part):
            yield Rejected(file=origin.file, line=item.line, reason=reason)
    yield session.run(f"{origin.stem}#{item.place}")


FORMAT = Format(
    name="codex",
    summary="Codex sessions (rollout-….jsonl), or objects with a list of their items",
    detect=_detect,
    read=_read,
)
