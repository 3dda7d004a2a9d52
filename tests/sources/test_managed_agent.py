"""What the reader of managed agents makes of a recorded session."""

from __future__ import annotations

import json
import tempfile
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings

from check_workbench.records import RUN_STATUSES, Run
from check_workbench.sources import READERS, Origin, Recognised, Rejected, recognise
from tests.sources.odd import spoiled

if TYPE_CHECKING:
    from check_workbench.store import Store

CREATE, SEND, STREAM = (f"client.beta.sessions.{name}" for name in ("create", "events.send", "events.stream"))


def at(second: int) -> str:
    return f"2026-05-01T10:00:{second:02}Z"


def event(kind: str, id_: str, second: int, **more: Any) -> list[Any]:
    return [STREAM, {"type": kind, "id": id_, "processed_at": at(second), **more}]


def text(words: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": words}]


SESSION: dict[str, Any] = {
    "id": "sesn_1",
    "created_at": at(0),
    "agent": {"name": "Helper", "system": "Be kind.", "model": {"id": "m-1"}, "tools": []},
    "title": "t",
    "metadata": {},
}
LINES: list[Any] = [
    [CREATE, SESSION],
    [SEND, ["sesn_1", {"events": [{"type": "user.message", "content": text("Go.")}]}]],
    event("session.status_running", "e1", 1),
    event("user.message", "e2", 1, content=text("Go.")),
    event("span.model_request_start", "e3", 2),
    event("agent.thinking", "e4", 3),
    event("agent.message", "e5", 3, content=text("I look.")),
    event("agent.tool_use", "e6", 3, name="look", input={"at": 1}, evaluated_permission="allow"),
    event(
        "span.model_request_end",
        "e7",
        4,
        model_request_start_id="e3",
        is_error=False,
        model_usage={
            "input_tokens": 2,
            "cache_read_input_tokens": 7,
            "cache_creation_input_tokens": 1,
            "output_tokens": 5,
        },
    ),
    event("agent.tool_result", "e8", 6, tool_use_id="e6", content=text("seen"), is_error=False),
    event("agent.mcp_tool_use", "e9", 7, name="pay", input={}, mcp_server_name="bank"),
    event("session.status_idle", "e10", 7, stop_reason={"type": "requires_action", "event_ids": ["e9"]}),
    [SEND, ["sesn_1", {"events": [{"type": "user.tool_confirmation", "tool_use_id": "e9", "result": "deny"}]}]],
    event("user.tool_confirmation", "e11", 20, tool_use_id="e9", result="deny", deny_message="no"),
    event("agent.mcp_tool_result", "e12", 21, mcp_tool_use_id="e9", content=text("Rejected: no"), is_error=True),
    event("agent.message", "e13", 22, content=text("I could not.")),
    event("session.status_idle", "e14", 23, stop_reason={"type": "end_turn"}),
]


def read(*lines: Any) -> list[Run | Rejected]:
    reader = READERS["managed_agent"].read
    assert reader is not None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "f.jsonl")
        path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
        found = list(reader(path, Origin(file="f.jsonl", stem="may/f")))
    assert all(isinstance(one, Run | Rejected) for one in found)
    return [one for one in found if isinstance(one, Run | Rejected)]


def run_of(*lines: Any) -> Run:
    [run] = read(*lines)
    assert isinstance(run, Run)
    return run


def test_the_run() -> None:
    run = run_of(*LINES)
    assert (run.run_id, run.workflow, run.system_prompt, run.status) == ("sesn_1", "Helper", "Be kind.", "ok")
    assert (run.input, run.final_output) == ("Go.", "I could not.")
    assert run.started_at == datetime(2026, 5, 1, 10, tzinfo=UTC)
    assert run.ended_at == datetime(2026, 5, 1, 10, 0, 23, tzinfo=UTC)
    assert run.metrics == {
        "duration_ms": 23_000.0,
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "total_tokens": 15,
        "errors": 1,
    }
    assert run.attributes is not None
    assert sorted(run.attributes) == ["agent", "created_at", "title"]
    assert [one["type"] for one in run.events] == [
        "session.status_running",
        "agent.thinking",
        "session.status_idle",
        "session.status_idle",
    ]


def test_the_spans() -> None:
    user, request, look, pay, last = run_of(*LINES).spans
    assert (user.type, user.input, user.span_id) == ("user", "Go.", "e2")
    assert (request.type, request.output, request.model, request.status) == ("llm", "I look.", "m-1", "ok")
    assert (request.tokens_in, request.tokens_out) == (10, 5)
    assert request.ended_at == datetime(2026, 5, 1, 10, 0, 4, tzinfo=UTC)
    assert (look.type, look.name, look.parent_id, look.input) == ("tool", "look", "e3", {"at": 1})
    assert (look.output, look.status, look.duration_ms) == ("seen", "ok", None)
    assert look.attributes == {"evaluated_permission": "allow"}
    assert (pay.type, pay.name, pay.parent_id, pay.status) == ("mcp_tool", "pay", None, "error")
    assert (pay.error, pay.output) == ("Rejected: no", "Rejected: no")
    assert pay.attributes == {"mcp_server_name": "bank", "confirmation": "deny", "deny_message": "no"}
    assert (last.type, last.output, last.span_id) == ("llm", "I could not.", "e13")


def test_a_call_that_waited_for_a_person_takes_as_long_as_it_ran() -> None:
    assert run_of(*LINES).spans[3].duration_ms == 1000.0


def test_what_was_sent_and_never_came_back_is_told() -> None:
    silent = run_of(*LINES[:2])
    assert [(one.type, one.input, one.started_at) for one in silent.spans] == [("user", "Go.", None)]
    assert silent.status == "no_output"
    again = run_of(*LINES[:4], LINES[1])
    assert [one.span_id for one in again.spans] == ["e2", None]


def test_an_event_that_the_stream_repeats_counts_once() -> None:
    assert run_of(*LINES[:-1], *LINES[3:]) == run_of(*LINES)


def test_of_two_equal_events_that_were_sent_one_comes_back() -> None:
    sent = [SEND, ["sesn_1", {"events": [{"type": "user.message", "content": text("Go.")}]}]]
    [run] = read([CREATE, SESSION], sent, sent, event("user.message", "e1", 1, content=text("Go.")))
    assert isinstance(run, Run)
    assert [(one.input, one.span_id) for one in run.spans] == [("Go.", None), ("Go.", "e1")]


def test_many_events_that_never_come_back_take_little_time() -> None:
    sent = [[SEND, ["sesn_1", {"events": [{"type": "user.message", "content": text(f"{n}")}]}]] for n in range(5000)]
    streamed = [event("user.message", f"e{n}", 1, content=text("other")) for n in range(5000)]
    began = time.process_time()
    [run] = read([CREATE, SESSION], *sent, *streamed)
    assert isinstance(run, Run)
    assert len(run.spans) == 10_000
    assert time.process_time() - began < 5


def test_a_custom_tool_is_answered_by_the_client() -> None:
    asked = event("agent.custom_tool_use", "c1", 2, name="weather", input={"in": "Prague"})
    sent: dict[str, Any] = {"type": "user.custom_tool_result", "custom_tool_use_id": "c1", "content": text("sunny")}
    echo = event(sent["type"], "c2", 5, custom_tool_use_id="c1", content=sent["content"], is_error=False)
    for lines in ([[SEND, ["sesn_1", {"events": [sent]}]]], [[SEND, ["sesn_1", {"events": [sent]}]], echo]):
        [call] = run_of(LINES[0], asked, *lines).spans
        assert (call.type, call.name, call.output, call.status) == ("tool", "weather", "sunny", "ok")


def test_a_result_that_is_more_than_text_stays_whole() -> None:
    content = [{"type": "document", "source": {"data": "x"}}]
    lines = [
        event("agent.tool_use", "t", 2, name="f"),
        event("agent.tool_result", "r", 3, tool_use_id="t", content=content),
    ]
    assert run_of(LINES[0], *lines).spans[0].output == content


@pytest.mark.parametrize(
    ("last", "status"),
    [
        (event("session.status_idle", "z", 30, stop_reason={"type": "end_turn"}), "ok"),
        (event("session.status_idle", "z", 30, stop_reason={"type": "requires_action"}), "interrupted"),
        (event("session.status_idle", "z", 30, stop_reason={"type": "retries_exhausted"}), "error"),
        (event("session.status_running", "z", 30), "interrupted"),
        (event("session.status_rescheduled", "z", 30), "interrupted"),
        (event("session.status_terminated", "z", 30), "error"),
        (event("session.error", "z", 30), "error"),
    ],
)
def test_how_a_session_ends(last: Any, status: str) -> None:
    assert run_of(*LINES, last).status == status


def test_several_sessions_and_one_without_a_name() -> None:
    found = read(LINES[3], LINES[0], LINES[3], [CREATE, {**SESSION, "id": "sesn_2"}])
    assert [(one.run_id, len(one.spans)) for one in found if isinstance(one, Run)] == [
        ("may/f#1", 1),
        ("sesn_1", 1),
        ("sesn_2", 0),
    ]
    named = run_of(*LINES[1:4])
    assert (named.run_id, named.workflow) == ("sesn_1", None)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({"a": 1}, "a line must be [method, payload]"),
        ([STREAM], "a line must be [method, payload]"),
        (["client.beta.sessions.delete", {}], "a line must be [method, payload]"),
        ([CREATE, []], "a session must be an object, got list"),
        ([CREATE, {"id": ""}], "the id of a session must be text"),
        ([SEND, {"events": []}], "what is sent must be"),
        ([SEND, ["sesn_2", {"events": []}]], "lie inside the recording of sesn_1"),
        ([SEND, ["sesn_1", {"events": None}]], "an event must be an object, got NoneType"),
        ([STREAM, "e"], "an event must be an object, got str"),
        ([STREAM, {"type": 7}], "the type of an event must be text"),
    ],
)
def test_lines_that_are_no_calls_are_rejected(line: Any, reason: str) -> None:
    found = read(*LINES, line)
    last = next(one for one in found if isinstance(one, Rejected))
    assert last.line == len(LINES) + 1
    assert reason in last.reason
    assert run_of(*LINES) in found


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (event("user.message", "x", 9, content=text("Go."), processed_at="soon"), "is no time"),
        ([STREAM, {"type": "agent.message", "id": 7}], "the id of an event must be text"),
    ],
)
def test_a_session_that_cannot_be_told_says_why(line: Any, reason: str) -> None:
    if "processed_at" in line[1]:
        line[1]["processed_at"] = "soon"
    [found] = read(*LINES, line)
    assert isinstance(found, Rejected)
    assert found.line == 1
    assert found.reason.startswith("session sesn_1: ")
    assert reason in found.reason


@pytest.mark.parametrize("first", ["", "\n", "\ufeff"])
def test_detection(tmp_path: Path, first: str) -> None:
    (tmp_path / "x.jsonl").write_text(first + "\n".join(map(json.dumps, LINES)))
    found = recognise(tmp_path / "x.jsonl")
    assert isinstance(found, Recognised)
    assert found.format.name == "managed_agent"
    assert "client.beta.sessions.create" in found.reason


def test_other_arrays_are_not_taken(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('["client.beta.files.create", {}]\n')
    assert recognise(tmp_path / "x.jsonl") is None


def test_real_sessions(realdata: Path, store: Store) -> None:
    for path in sorted((realdata / "langsmith_runs").glob("*.jsonl")):
        report = store.load(path)
        assert (report.runs, report.rejected) == (1, ())
    spans = store.sql("select type, name, status, attributes->>'confirmation' as said from spans")
    assert Counter(spans["type"]) == {"llm": 9, "user": 4, "tool": 3, "mcp_tool": 2}
    called = sorted(spans[spans["name"].notna()].itertuples(index=False, name=None), key=str)
    assert [(name, status) for _, name, status, _ in called] == [
        ("web_search_exa", "error"),
        ("web_search_exa", "ok"),
        ("bash", "ok"),
        ("get_weather", "ok"),
        ("web_fetch", "ok"),
    ]
    runs = store.sql("select workflow, status, metrics->>'prompt_tokens' as read from runs")
    assert Counter(runs["workflow"]) == {"Coding Assistant": 2, "Exa assistant": 2}
    assert set(runs["status"]) == {"ok"}
    assert sorted(map(int, runs["read"])) == [14329, 14476, 18028, 33803]


@settings(max_examples=50)
@given(odd=spoiled(LINES))
def test_nothing_breaks_whatever_stands_in_a_line(odd: Any) -> None:
    found = read(*odd)
    assert found
    for run in found:
        if isinstance(run, Run):
            assert run.status in RUN_STATUSES
            assert all(isinstance(one.type, str) and one.type for one in run.spans)
