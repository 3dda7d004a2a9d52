"""Claude Code sessions: JSON lines as the command line keeps them, one line an event.

| line | run |
|---|---|
| `sessionId` | `run_id` and `session_id`; of a sub-agent `run_id` is `sessionId/agentId` |
| `message` of a `user`, text | a span of type `user` |
| the same with `isMeta` or `isCompactSummary` | a span of type `system`, named `meta` or `compact_summary` |
| `message` of an `assistant` | a span of type `llm`; the lines of one `message.id` are one reply |
| `tool_use` | a span of type `tool`, or `mcp_tool` where its name starts with `mcp__` |
| `tool_result`, `is_error` | `output`, `status` and `error` of that call; beside it `toolUseResult` in `attributes` |
| `timestamp` | a call runs from its own to its result's, a reply from that of its `parentUuid` to its last |
| `usage`, once a reply | `tokens_in` (the cache counts), `tokens_out`, `metrics`; whole in `attributes` |
| `costUSD`, once a reply | `metrics.total_cost` |
| first `user` text that is not `isMeta` | `input` |
| text of the last reply, if no call follows it | `final_output`; `status` is `ok` with one, else `no_output` |
| `[Request interrupted by user…`, no reply after it | `status` `interrupted` |
| `isApiErrorMessage` on the last reply | `status` `error` |
| `system` | a span of type `system`, named by its `subtype`; with `level: error` a failed one |
| `cwd`, `gitBranch`, `version`, … | `attributes` of the run; of a span only where they differ from the run's |
| `summary`, `custom-title`, `ai-title` | `attributes.titles` |
| any other line: `queue-operation`, `attachment`, `progress`, … | `events`, as recorded |

Side chains. A file of nothing but `isSidechain` lines is a run of its own: `agentId`, or without one what follows
`agent-` in the file's name, completes its `run_id`. Side chains inside of a session's file that have an `agentId` are
such runs too. Those without belong to the session's run: their spans lie in the call whose `prompt` began them,
`attributes.sidechain` is true, and the prompt itself is a span of type `agent`.

Branches. Where a prompt was written anew (two prompts with one `parentUuid`), what followed the first one has
`attributes.abandoned`; it happened, so it stays. A line that repeats an earlier `uuid` is left out, with a note. `uuid`
names the spans of prompts and replies; beyond that `uuid` and `parentUuid` order lines and are not kept, nor are the
signatures of thoughts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.sources.building import refusal
from check_workbench.sources.claude_code.session import Session
from check_workbench.sources.format import Format, Note, Rejected
from check_workbench.sources.gathering import Group, Part, gather
from check_workbench.sources.json_items import items, opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import IO

    from check_workbench.sources.claude_code.session import Line
    from check_workbench.sources.format import Head, Origin, Record

_CHAIN = frozenset({"parentUuid", "sessionId"})
"""Keys that stand before the message, so that a large first one does not hide them."""
_OPENING = {"summary": "leafUuid", "file-history-snapshot": "snapshot", "queue-operation": "operation"}
"""Lines that may come before the first message, with a key that tells them."""
_BETWEEN = "\n"


def _detect(head: Head) -> str | None:
    if head.shape != "lines":
        return None
    if any(isinstance(one, dict) and one.keys() >= _CHAIN for one in head.records):
        return "its lines have sessionId and parentUuid"
    type_ = head.first.get("type")
    key = _OPENING.get(type_) if isinstance(type_, str) else None
    return f"its first line is a {type_} with {key}" if key is not None and key in head.keys else None


def _read(path: Path, origin: Origin) -> Iterator[Record]:
    with opened(path) as stream:
        told: Iterator[Group | Record] = gather(_lines(stream, origin), stream.tell)
        for found in told:
            if isinstance(found, Group):
                yield from _session(found, origin)
            else:
                yield found


def _lines(stream: IO[bytes], origin: Origin) -> Iterator[Part | Rejected | Note]:
    """Give each line the key of its run; one that names no session goes with the line before it."""
    early: list[Line] = []
    key: str | None = None
    for item in items(stream, origin.file):
        if isinstance(item, Rejected):
            yield item
        elif not isinstance(item.value, dict):
            kind = type(item.value).__name__
            yield Rejected(file=origin.file, line=item.line, reason=f"a line must be an object, got {kind}")
        else:
            key = _key(item.value) or key
            early.append((item.line, item.value))
            if key is not None:
                yield from (Part(key, line) for line in early)
                early.clear()
    if early:
        yield Note(file=origin.file, text=f"{len(early)} lines name no session, so no run was made of them")


def _key(record: dict[str, Any]) -> str | None:
    session, agent = record.get("sessionId"), record.get("agentId")
    if not isinstance(session, str) or not session:
        return None
    own = record.get("isSidechain") is True and isinstance(agent, str)
    return f"{session}{_BETWEEN}{agent}" if own else session


def _session(group: Group, origin: Origin) -> Iterator[Record]:
    name, _, agent = group.key.partition(_BETWEEN)
    lines: list[Line] = [(line, record) for line, record in group.values]
    messages = [record for _, record in lines if isinstance(record.get("message"), dict)]
    aside = bool(messages) and all(record.get("isSidechain") is True for record in messages)
    if aside and not agent:
        agent = origin.stem.rpartition("/")[2].removeprefix("agent-")
    session = Session(name, agent if aside else None)
    for line, record in lines:
        if reason := refusal(session.add, record):
            yield Rejected(file=origin.file, line=line, reason=reason)
    if session.repeated:
        repeated = f"{session.repeated} lines of session {name} repeat the uuid of an earlier line and were left out"
        yield Note(file=origin.file, text=repeated)
    if session.spans_told:
        yield session.run()
    else:
        yield Note(file=origin.file, text=f"{len(lines)} lines of session {name} hold no message, so no run was made")


FORMAT = Format(
    name="claude_code",
    summary="Claude Code sessions and sub-agents, the JSON lines of ~/.claude/projects",
    detect=_detect,
    read=_read,
)
