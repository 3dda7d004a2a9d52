"""ADK databases for tests, written by hand."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KEY = ("travel", "u", "s-1")
TABLES = """
create table app_states (app_name text primary key, state text not null, update_time real not null);
create table user_states (app_name text, user_id text, state text not null, update_time real not null);
create table sessions (app_name text, user_id text, id text, state text, create_time, update_time);
"""
NEW = "create table events (id text, app_name text, user_id text, session_id text, timestamp, event_data text)"
OLD = (
    "create table events (id text, app_name text, user_id text, session_id text, timestamp, author text, "
    "actions blob, content text, usage_metadata text, partial boolean, interrupted boolean, error_code text)"
)
EVENTS: list[dict[str, Any]] = [
    {"author": "root", "actions": {"state_delta": {"origin": "X"}, "artifact_delta": {}}},
    {"author": "user", "content": {"role": "user", "parts": [{"text": "To Athens."}]}},
    {
        "author": "root",
        "model_version": "m-1",
        "branch": "root.planner",
        "usage_metadata": {"total_token_count": 15, "prompt_token_count": 10, "candidates_token_count": 5},
        "content": {
            "role": "model",
            "parts": [
                {"text": "They want to travel.", "thought": True},
                {"text": "I look."},
                {"function_call": {"id": "c-1", "name": "find", "args": {"to": "Athens"}}, "thought_signature": "x"},
                {"function_call": {"id": "c-2", "name": "transfer_to_agent", "args": {"agent_name": "planner"}}},
            ],
        },
    },
    {
        "author": "root",
        "actions": {"transfer_to_agent": "planner"},
        "content": {
            "role": "user",
            "parts": [
                {"function_response": {"id": "c-1", "name": "find", "response": {"error": "no flights"}}},
                {"function_response": {"id": "c-2", "name": "transfer_to_agent", "response": {"result": None}}},
            ],
        },
    },
    {"author": "planner", "content": {"role": "model", "parts": [{"text": "There are none."}]}},
]


@contextlib.contextmanager
def written(path: Path, events: str = NEW) -> Iterator[sqlite3.Connection]:
    """Make a database with the tables of a version, and leave it open for rows."""
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.executescript(TABLES + events)
        yield database
        database.commit()


def add_session(database: sqlite3.Connection, key: tuple[str, str, str] = KEY, state: str = '{"origin": "X"}') -> None:
    """Add the row of a session."""
    database.execute("insert into sessions values (?, ?, ?, ?, 1.7e9, 1700000100.5)", (*key, state))


def add_event(database: sqlite3.Connection, place: int, data: str, key: tuple[str, str, str] = KEY) -> None:
    """Add an event, `place` seconds after the start."""
    database.execute("insert into events values (?, ?, ?, ?, ?, ?)", (f"e-{place}", *key, 1.7e9 + place, data))


def whole(path: Path) -> Path:
    """Make a database with one session of all events."""
    with written(path) as made:
        add_session(made)
        for place, event in enumerate(EVENTS):
            add_event(made, place, json.dumps(event))
    return path
