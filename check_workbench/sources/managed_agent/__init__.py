"""Sessions of Anthropic managed agents, recorded as lines of `[method, payload]` around the client that ran them.

| line | becomes |
|---|---|
| `client.beta.sessions.create`, the session | a run: `run_id` is its id, `workflow` and `system_prompt` its agent's |
| `client.beta.sessions.events.send`, `[session id, {events}]` | what was sent, unless the stream repeats it |
| `client.beta.sessions.events.stream`, an event | see below; it belongs to the session before it |

A file that starts without a session takes the id from what is sent, else `run_id` is the path relative to the PATH that
was loaded, without suffixes, `#`, and the number of the session in the file.

| event | becomes |
|---|---|
| `user.message` | a `user` span; the first is the run's `input` |
| `span.model_request_start` and `_end` | an `llm` span with its tokens; cached tokens are read as well |
| `agent.message` | `output` of the request around it, else an `llm` span; the last is the run's `final_output` |
| `agent.tool_use`, `agent.custom_tool_use`; `agent.mcp_tool_use` | a `tool` span; `mcp_tool` |
| `agent.tool_result`, `agent.mcp_tool_result`, `user.custom_tool_result` | `output` of the call, `is_error` |
| `user.tool_confirmation` | `attributes.confirmation` and `deny_message` of the call, whose time counts from there |
| the last `session.status_idle` with `requires_action`, or `session.status_running` | `status` `interrupted` |
| `session.error`, `session.status_terminated`, or `retries_exhausted` | `status` `error` |
| all that are no span: `session.*`, `agent.thinking`, … | the run's `events` |

To allow or deny one tool call is no judgement of the run, so it becomes no decision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError
from check_workbench.sources.format import Format, Rejected
from check_workbench.sources.json_items import lines, opened
from check_workbench.sources.managed_agent.session import CREATE, SEND, STREAM, Session, run_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from check_workbench.records import Run
    from check_workbench.sources.format import Head, Origin

_METHODS = "client.beta.sessions."


def _detect(head: Head) -> str | None:
    first = head.records[0] if head.records else None
    if head.shape == "array" and isinstance(first, str) and first.startswith(_METHODS):
        return f"its first line is a call of {first:.60}"
    return None


def _read(path: Path, origin: Origin) -> Iterator[Run | Rejected]:
    session: Session | None = None
    count = 0
    with opened(path) as stream:
        for item in lines(stream, origin.file):
            if isinstance(item, Rejected):
                yield item
                continue
            try:
                method, payload = _call(item.value)
                if session is None or method == CREATE:
                    yield from _told(session, origin)
                    count += 1
                    session = Session(run_id=f"{origin.stem}#{count}", line=item.line)
                session.take(method, payload)
            except ValueError as error:
                yield Rejected(file=origin.file, line=item.line, reason=str(error))
    yield from _told(session, origin)


def _call(value: Any) -> tuple[str, Any]:
    if not isinstance(value, list) or len(value) != 2 or value[0] not in (CREATE, SEND, STREAM):
        raise InputError(f"a line must be [method, payload] of {CREATE}, {SEND} or {STREAM}, got {value!r:.80}")
    return value[0], value[1]


def _told(session: Session | None, origin: Origin) -> Iterator[Run | Rejected]:
    if session is None:
        return
    try:
        yield run_of(session)
    except (ValueError, RecursionError) as error:
        yield Rejected(file=origin.file, line=session.line, reason=f"session {session.run_id}: {error}")


FORMAT = Format(
    name="managed_agent",
    summary="sessions of Anthropic managed agents, recorded as lines of [method, payload]",
    detect=_detect,
    read=_read,
)
