"""What the ADK reader makes of sessions in SQLite, old and new, whole and damaged."""

from __future__ import annotations

import contextlib
import json
import pickle
import shutil
import sqlite3
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from check_workbench.records import RUN_STATUSES, Run
from check_workbench.sources import Note, Recognised, Rejected, recognise
from tests.sources.reading import one_run, only, read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from check_workbench.store import Store

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
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.executescript(TABLES + events)
        yield database
        database.commit()


def add_session(database: sqlite3.Connection, key: tuple[str, str, str] = KEY, state: str = '{"origin": "X"}') -> None:
    database.execute("insert into sessions values (?, ?, ?, ?, 1.7e9, 1700000100.5)", (*key, state))


def add_event(database: sqlite3.Connection, place: int, data: str, key: tuple[str, str, str] = KEY) -> None:
    database.execute("insert into events values (?, ?, ?, ?, ?, ?)", (f"e-{place}", *key, 1.7e9 + place, data))


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "session.db"
    with written(path) as made:
        add_session(made)
        for place, event in enumerate(EVENTS):
            add_event(made, place, json.dumps(event))
    return path


def test_a_session(database: Path) -> None:
    run = one_run(read("adk", database))
    assert (run.run_id, run.workflow, run.session_id, run.status) == ("travel/u/s-1", "travel", "s-1", "ok")
    assert (run.input, run.final_output) == ("To Athens.", "There are none.")
    assert (run.state, run.attributes) == ({"origin": "X"}, {"user_id": "u"})
    assert run.metrics == {"events": 5, "total_tokens": 15, "prompt_tokens": 10, "completion_tokens": 5}
    assert run.started_at == datetime.fromtimestamp(1.7e9, UTC)
    assert run.ended_at == datetime.fromtimestamp(1700000100.5, UTC)


def test_its_events(database: Path) -> None:
    spans = one_run(read("adk", database)).spans
    assert [(s.type, s.name, s.span_id, s.parent_id) for s in spans] == [
        ("event", "root", "e-0", None),
        ("user", None, "e-1", None),
        ("llm", "root", "e-2", None),
        ("tool", "find", "c-1", "e-2"),
        ("tool", "transfer_to_agent", "c-2", "e-2"),
        ("llm", "planner", "e-4", None),
    ]
    assert spans[0].attributes == {"actions": {"state_delta": {"origin": "X"}}}
    assert (spans[2].output, spans[2].model, spans[2].tokens_in, spans[2].tokens_out) == ("I look.", "m-1", 10, 5)
    assert (spans[2].attributes or {})["parts"] == [{"text": "They want to travel.", "thought": True}]
    assert (spans[2].attributes or {})["branch"] == "root.planner"


def test_its_calls(database: Path) -> None:
    find, transfer = one_run(read("adk", database)).spans[3:5]
    assert (find.input, find.output, find.status, find.error) == (
        {"to": "Athens"},
        {"error": "no flights"},
        "error",
        "no flights",
    )
    assert find.started_at is not None
    assert find.ended_at is not None
    assert (find.ended_at - find.started_at).total_seconds() == 1
    assert find.attributes == {"author": "root", "thought_signature": "x", "actions": {"transfer_to_agent": "planner"}}
    assert (transfer.output, transfer.status, transfer.attributes) == ({"result": None}, "ok", {"author": "root"})


@pytest.mark.parametrize(
    ("response", "error"),
    [
        ({"status": "error", "error_message": "full"}, "full"),
        ({"status": "ERROR"}, "error"),
        ({"status": "error", "message": "late"}, "late"),
        ({"error": {"code": 5}}, '{"code": 5}'),
        ({"error": None, "status": "Stored"}, None),
        ({}, None),
        ("fine", None),
        (None, None),
    ],
)
def test_a_failed_call(tmp_path: Path, response: Any, error: str | None) -> None:
    with written(tmp_path / "a.db") as made:
        part = {"function_response": {"name": "pay", "response": response}}
        add_event(made, 0, json.dumps({"author": "a", "content": {"parts": [part]}}))
    [span] = one_run(read("adk", tmp_path / "a.db")).spans
    assert (span.type, span.name, span.error) == ("tool", "pay", error)
    assert span.status == ("ok" if error is None else "error")


@pytest.mark.parametrize(
    ("last", "status"),
    [
        ({"error_code": "500", "error_message": "down"}, "error"),
        ({"interrupted": True}, "interrupted"),
        ({"author": "a", "content": {"parts": [{"text": "Hi."}]}}, "ok"),
        ({"author": "user", "content": {"parts": [{"text": "Hi."}]}}, "no_output"),
    ],
)
def test_how_a_session_ended(tmp_path: Path, last: dict[str, Any], status: str) -> None:
    with written(tmp_path / "a.db") as made:
        add_event(made, 0, json.dumps(last))
    run = one_run(read("adk", tmp_path / "a.db"))
    assert run.status == status
    assert [span.error for span in run.spans] == [last.get("error_message")]


def test_shared_state_keeps_its_prefix(database: Path) -> None:
    with contextlib.closing(sqlite3.connect(database)) as made:
        made.execute("""insert into app_states values ('travel', '{"v": 1}', 0)""")
        made.execute("""insert into user_states values ('travel', 'u', '{"n": "A"}', 0), ('travel', 'w', '{}', 0)""")
        made.commit()
    assert one_run(read("adk", database)).state == {"origin": "X", "app:v": 1, "user:n": "A"}


class Trap:
    """Leaves a file where it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return Path.touch, (self.path,)


def test_an_older_database_is_read_but_never_unpickled(tmp_path: Path) -> None:
    trap, reply = pickle.dumps(Trap(tmp_path / "sprung")), json.dumps({"parts": [{"text": "Yes."}]})
    asked, at = json.dumps(EVENTS[1]["content"]), "2025-06-01 10:00:0"
    rows: list[tuple[Any, ...]] = [
        ("e", *KEY, f"{at}0.250000", "user", trap, asked, None, 0, None, None),
        ("f", *KEY, f"{at}2", "root", trap, reply, '{"prompt_token_count": 3}', 0, 1, None),
    ]
    with written(tmp_path / "old.db", OLD) as made:
        add_session(made)
        made.executemany(f"insert into events values ({', '.join('?' * len(rows[0]))})", rows)
    records = read("adk", tmp_path / "old.db")
    [note] = only(records, Note)
    assert "pickled" in note.text
    run = one_run(records)
    assert (run.input, run.final_output, run.status) == ("To Athens.", "Yes.", "interrupted")
    assert run.spans[0].started_at == datetime(2025, 6, 1, 10, 0, 0, 250_000, UTC)
    assert run.spans[1].tokens_in == 3
    assert not (tmp_path / "sprung").exists()


def test_sessions_without_events_and_events_without_a_session(tmp_path: Path) -> None:
    with written(tmp_path / "a.db") as made:
        add_session(made, ("a", "it's", "empty"))
        add_event(made, 1, json.dumps(EVENTS[1]), ("a", '"; drop table events', "orphan"))
    runs = {run.run_id: run for run in only(read("adk", tmp_path / "a.db"), Run)}
    assert runs.keys() == {"a/it's/empty", 'a/"; drop table events/orphan'}
    assert (runs["a/it's/empty"].spans, runs["a/it's/empty"].status) == ((), "no_output")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("{", "event_data: not valid JSON"),
        ("[]", "event_data must be an object, got list"),
        ('{"a": NaN}', "NaN"),
        ('{"content": {"parts": "x"}}', "a list of parts"),
        ('{"content": {"parts": ["x"]}}', "a list of parts that are objects"),
        ('{"content": 5}', "a list of parts"),
        ('{"timestamp": "soon"}', "is no time"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_a_broken_event_is_rejected_and_the_others_stay(database: Path, data: str, reason: str) -> None:
    with contextlib.closing(sqlite3.connect(database)) as made:
        add_event(made, 9, data)
        made.commit()
    records = read("adk", database)
    [rejected] = only(records, Rejected)
    assert (rejected.line, rejected.reason[:20]) == (1, "event 6 of session 1")
    assert reason in rejected.reason
    assert len(one_run(records).spans) == 6


@pytest.mark.parametrize(
    ("key", "state", "reason"),
    [
        (("", "u", "s"), "{}", "text that is not empty"),
        (KEY, "{", "state: not valid JSON"),
        (KEY, "[]", "state must be an object"),
    ],
)
def test_a_broken_session_is_rejected(tmp_path: Path, key: tuple[str, str, str], state: str, reason: str) -> None:
    with written(tmp_path / "a.db") as made:
        add_session(made, key, state)
    [rejected] = read("adk", tmp_path / "a.db")
    assert isinstance(rejected, Rejected)
    assert reason in rejected.reason


def test_text_that_is_no_utf8_is_rejected(database: Path) -> None:
    with contextlib.closing(sqlite3.connect(database)) as made:
        made.execute("update events set event_data = cast(x'7b22ff227d' as text) where id = 'e-4'")
        made.commit()
    [rejected] = only(read("adk", database), Rejected)
    assert "UTF-8" in rejected.reason


@pytest.mark.parametrize(
    "tables",
    ["create table events (id text)", "create view events as select 1 as app_name", NEW.replace("event_data", "x")],
)
def test_tables_of_another_form_are_rejected(tmp_path: Path, tables: str) -> None:
    with written(tmp_path / "a.db", tables):
        pass
    [rejected] = read("adk", tmp_path / "a.db")
    assert isinstance(rejected, Rejected)
    assert "must" in rejected.reason


def test_columns_that_are_not_known_are_noted(database: Path) -> None:
    with contextlib.closing(sqlite3.connect(database)) as made:
        made.execute("alter table events add column mood text")
        made.commit()
    [note] = only(read("adk", database), Note)
    assert note.text.endswith("mood")


def test_the_file_and_its_folder_stay_as_they_are(database: Path) -> None:
    before = database.read_bytes()
    database.chmod(0o444)
    database.parent.chmod(0o555)
    try:
        recognised = recognise(database)
        read("adk", database)
    finally:
        database.parent.chmod(0o755)
    assert isinstance(recognised, Recognised)
    assert recognised.format.name == "adk"
    assert database.read_bytes() == before
    assert [path.name for path in database.parent.iterdir()] == ["session.db"]


def test_what_lies_in_a_write_ahead_log_counts(database: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    with contextlib.closing(sqlite3.connect(database)) as made:
        made.execute("pragma journal_mode = wal")
        add_event(made, 8, json.dumps({"author": "a", "content": {"parts": [{"text": "From the log."}]}}))
        made.commit()
        for path in tmp_path.glob("session.db*"):
            shutil.copy(path, copy)
    assert one_run(read("adk", copy / "session.db")).final_output == "From the log."
    assert {path.name for path in copy.iterdir()} <= {"session.db", "session.db-wal", "session.db-shm"}


@pytest.mark.parametrize(("keep", "junk"), [(1.0, True), (0.5, False), (0.01, False)])
def test_a_damaged_database_is_rejected(database: Path, store: Store, *, keep: float, junk: bool) -> None:
    data = bytearray(database.read_bytes())
    data = data[: max(20, int(len(data) * keep))]
    if junk:
        data[4096:] = b"\xff" * (len(data) - 4096)
    database.write_bytes(data)
    report = store.load(database)
    assert report.runs == 0
    assert [r.reason.startswith("the SQLite file is damaged") for r in report.rejected] == [True]


def test_a_table_whose_name_is_no_text_harms_nobody(database: Path) -> None:
    database.write_bytes(database.read_bytes().replace(b"user_states", b"user\xffstates"))
    assert isinstance(recognise(database), Recognised)
    assert only(read("adk", database), Run)


def test_other_sqlite_files_are_not_taken(tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "a.db")) as made:
        made.executescript("create table sessions (id); create table events (id)")
    assert recognise(tmp_path / "a.db") is None


@given(
    event=st.fixed_dictionaries(
        {},
        optional={
            "author": st.none() | st.text(max_size=3) | st.integers(),
            "id": st.none() | st.text(max_size=2) | st.integers(),
            "content": st.none() | st.fixed_dictionaries({"parts": st.lists(st.sampled_from([
                {}, {"text": "x"}, {"text": 5}, {"function_call": {}}, {"function_call": 1}, {"function_response": {}},
                {"function_call": {"id": "c", "name": 3}}, {"function_response": {"id": "c", "response": []}},
            ]), max_size=4)}),
            "actions": st.none() | st.lists(st.none(), max_size=1) | st.just({"state_delta": {}}),
            "usage_metadata": st.none() | st.just({"prompt_token_count": "9"}) | st.just({"total_token_count": 4}),
        },
    ),
)  # fmt: skip
def test_nothing_vanishes(event: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.db")
        with written(path) as made:
            add_event(made, 1, json.dumps(event))
            add_event(made, 2, json.dumps(event))
        records = read("adk", path)
    run = one_run(records)
    assert run.status in RUN_STATUSES
    assert len(run.spans) >= 2 - len(only(records, Rejected))
    ids = [span.span_id for span in run.spans if span.span_id is not None]
    assert len(set(ids)) == len(ids)


def test_the_real_sessions(realdata: Path, store: Store) -> None:
    report = store.load(realdata / "adk_sessions")
    assert (report.runs, report.rejected, report.notes) == (140, (), ())
    by_file = store.sql(
        "select count(distinct run_key) as runs, count(*) filter (type = 'tool') as calls "
        "from runs join spans using (run_key) group by source_key order by all",
    )
    assert by_file.to_numpy().tolist() == [[7, 0], [14, 26], [102, 577]]
    events = store.sql("select sum((metrics->>'events')::int)::int as n from runs")
    assert events["n"].item() == 2059
    names = store.sql("select name, count(*) as n from spans where type = 'tool' group by name")
    counts = dict(zip(names["name"], names["n"], strict=True))
    assert (sum(counts.values()), counts["memorize"], counts["transfer_to_agent"]) == (603, 281 + 8, 90 + 7)
    unanswered = store.sql("select count(*) as n from spans where type = 'tool' and duration_ms is null")
    assert unanswered["n"].item() == 0
