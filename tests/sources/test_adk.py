"""What the ADK reader makes of sessions in SQLite, old and new, whole and damaged."""

from __future__ import annotations

import contextlib
import json
import pickle
import sqlite3
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from check_workbench.records import RUN_STATUSES, Run
from check_workbench.sources import Note, Rejected
from tests.sources.adk_database import EVENTS, KEY, NEW, OLD, add_event, add_session, whole, written
from tests.sources.reading import one_run, only, read

if TYPE_CHECKING:
    from check_workbench.store import Store


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return whole(tmp_path / "session.db")


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


def test_counts_that_none_can_have_and_errors_that_are_no_text(tmp_path: Path) -> None:
    usage = {"prompt_token_count": 10**30, "candidates_token_count": 4}
    event = {"author": "a", "content": {"parts": [{"text": "Hi."}]}, "usage_metadata": usage, "error_message": {"a": 1}}
    with written(tmp_path / "a.db") as made:
        add_event(made, 0, json.dumps(event))
    run = one_run(read("adk", tmp_path / "a.db"))
    assert run.metrics == {"events": 1, "completion_tokens": 4}
    assert (run.spans[0].tokens_in, run.spans[0].tokens_out, run.spans[0].error) == (None, 4, '{"a": 1}')


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
