"""Sessions that the Agent Development Kit keeps in SQLite, one run a session.

| table | run |
|---|---|
| `app_name`, `user_id`, `session_id`, by `/` | `run_id` |
| `app_name` | `workflow` |
| `sessions.id` | `session_id` |
| `sessions.create_time`, `sessions.update_time` | `started_at`, `ended_at` |
| `sessions.state`, with `app_states` under `app:` and `user_states` under `user:` | `state` |
| `user_id` | `attributes` |
| `events`, by `timestamp` | spans, `input`, `final_output`, `status`, `metrics`; see `adk_events` |

Newer databases hold an event as JSON in `event_data`. Older ones hold it in columns, of which `actions` is a pickled
Python object: it is never opened, and a note says so. Events without a session are a run too. The file is opened read
only; what lies in a write-ahead log beside it counts.
"""

from __future__ import annotations

import sqlite3
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError
from check_workbench.sources.adk.events import Session, parts_of, run_of
from check_workbench.sources.format import Format, Note, Rejected
from check_workbench.sources.json_text import decode, reason_of
from check_workbench.sources.sqlite_files import name_of, opened_database
from check_workbench.sources.times import when

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from check_workbench.records import Run
    from check_workbench.sources.format import Head, Origin

    _Key = tuple[Any, Any, Any]
    """App, user and session as they are stored: bytes, or what SQLite makes of a column."""

_KEYS = ("app_name", "user_id", "session_id")
_JSON = frozenset(
    {
        "content",
        "grounding_metadata",
        "custom_metadata",
        "usage_metadata",
        "citation_metadata",
        "input_transcription",
        "output_transcription",
        "long_running_tool_ids_json",
    }
)
_FLAGS = frozenset({"partial", "turn_complete", "interrupted"})
_PLAIN = frozenset({"id", "invocation_id", "timestamp", "author", "branch", "error_code", "error_message"})
_PICKLED = "actions"
_STATES = {"app_states": "app:", "user_states": "user:"}
"""Tables with state that several sessions share, and what goes before their keys."""


def _detect(head: Head) -> str | None:
    if head.kind != "sqlite" or not {"sessions", "events"} <= head.names or head.names.isdisjoint(_STATES):
        return None
    return "it is a SQLite file with sessions, events and the states of apps and users"


def _read(path: Path, origin: Origin) -> Iterator[Run | Rejected | Note]:
    place = 0
    try:
        with opened_database(path) as database:
            columns = _columns(database)
            yield from (Note(file=origin.file, text=text) for text in _left_out(columns))
            for key, rows in _sessions(database, columns):
                place += 1
                yield from _session(database, key, rows, (origin.file, place))
    except sqlite3.Error as error:
        reason = f"the SQLite file is damaged behind {place} sessions that could be read: {error}"
        yield Rejected(file=origin.file, line=place + 1, reason=reason)
    except InputError as error:
        yield Rejected(file=origin.file, line=1, reason=str(error))


def _columns(database: sqlite3.Connection) -> list[str]:
    tables = {name_of(name) for (name,) in database.execute("select name from sqlite_master where type = 'table'")}
    columns = [name_of(row[1]) for row in database.execute("pragma table_info(events)")]
    if not {"sessions", "events"} <= tables or not {*_KEYS, "timestamp"} <= set(columns):
        raise InputError("sessions and events must be tables with app_name, user_id and session_id")
    if "event_data" not in columns and "content" not in columns:
        raise InputError("the table events must have event_data or content, or there is nothing to read")
    return columns


def _left_out(columns: list[str]) -> Iterator[str]:
    if _PICKLED in columns:
        yield (
            "the actions of its events are pickled Python objects, which are never opened: changes of the state and "
            "transfers are not in the spans. Its times have no zone and were read as UTC"
        )
    known = {*_KEYS, "event_data", _PICKLED, *_JSON, *_FLAGS, *_PLAIN}
    if unknown := [name for name in columns if name not in known]:
        yield f"columns of events that are not known were not read: {', '.join(unknown)}"


def _sessions(
    database: sqlite3.Connection,
    columns: list[str],
) -> Iterator[tuple[_Key, list[dict[str, Any]]]]:
    """Yield the key of each session with the rows of its events, then the sessions without events."""
    others = [name for name in columns if name in {"event_data", *_JSON, *_FLAGS, *_PLAIN}]
    names = (*_KEYS, *others)
    seen: set[_Key] = set()
    rows = database.execute(f"select {', '.join(names)} from events order by {', '.join(_KEYS)}, timestamp, rowid")
    for key, group in groupby(rows, key=itemgetter(0, 1, 2)):
        seen.add(key)
        yield key, [dict(zip(others, row[3:], strict=True)) for row in group]
    for key in database.execute("select app_name, user_id, id from sessions order by 1, 2, 3"):
        if key not in seen:
            yield key, []


def _session(
    database: sqlite3.Connection,
    key: _Key,
    rows: Iterable[Mapping[str, Any]],
    where: tuple[str, int],
) -> Iterator[Run | Rejected]:
    """Read one session; `where` is the file and the session's place in it."""
    file, place = where
    events = []
    for number, row in enumerate(rows, start=1):
        try:
            event = _event(row)
            parts_of(event)
            when(event.get("timestamp"))
        except ValueError as error:
            yield Rejected(file=file, line=place, reason=f"event {number} of session {place}: {error}")
            continue
        events.append(event)
    try:
        yield run_of(_stored(database, key), events)
    except ValueError as error:
        yield Rejected(file=file, line=place, reason=f"session {place}: {error}")


def _event(row: Mapping[str, Any]) -> dict[str, Any]:
    beside = {name: _text(row[name]) for name in _PLAIN if row.get(name) is not None}
    if row.get("event_data") is not None:
        return {**beside, **_object(row["event_data"], "event_data")}
    flags = {name: bool(row[name]) for name in _FLAGS if row.get(name) is not None}
    parts = {name.removesuffix("_json"): _decoded(row[name], name) for name in _JSON if row.get(name) is not None}
    return {**beside, **flags, **parts}


def _stored(database: sqlite3.Connection, key: _Key) -> Session:
    """Return a session with what its own row and the shared states say."""
    found = database.execute(
        "select state, create_time, update_time from sessions where app_name is cast(? as text) "
        "and user_id is cast(? as text) and id is cast(? as text)",
        key,
    ).fetchone()
    state, created, updated = found or (None, None, None)
    merged = {} if state is None else _object(state, "state")
    for table, prefix in _STATES.items():
        for name, value in _shared(database, table, key).items():
            merged[prefix + name] = value
    app, user, session = (_text(part) for part in key)
    return Session(app=app, user=user, id=session, state=merged, created=_text(created), updated=_text(updated))


def _shared(database: sqlite3.Connection, table: str, key: _Key) -> dict[str, Any]:
    columns = {name_of(row[1]) for row in database.execute(f"pragma table_info({table})")}
    keys = [name for name in _KEYS[:2] if name in columns]
    if not keys:
        return {}
    where = " and ".join(f"{name} is cast(? as text)" for name in keys)
    found = database.execute(f"select state from {table} where {where}", key[: len(keys)]).fetchone()
    return {} if found is None or found[0] is None else _object(found[0], f"state in {table}")


def _object(value: Any, name: str) -> dict[str, Any]:
    found = _decoded(value, name)
    if not isinstance(found, dict):
        raise InputError(f"{name} must be an object, got {type(found).__name__}")
    return found


def _decoded(value: Any, name: str) -> Any:
    if not isinstance(value, bytes):
        raise InputError(f"{name} must be JSON text, got {type(value).__name__}")
    try:
        return decode(value)
    except ValueError as error:
        raise InputError(f"{name}: {reason_of(error)}") from None


def _text(value: Any) -> Any:
    return value.decode("utf-8") if isinstance(value, bytes) else value


FORMAT = Format(
    name="adk",
    summary="sessions of the Agent Development Kit in a SQLite file",
    detect=_detect,
    read=_read,
)
