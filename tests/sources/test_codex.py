"""What the two Codex readers make of lines, events and lists of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from check_workbench.records import Run
from check_workbench.sources import Note, Rejected
from check_workbench.sources.codex.calls import exit_code
from tests.sources.odd import assert_accounted, one_run, read_lines, spoiled

OUTPUT = "Chunk ID: ab\nWall time: 0.1 seconds\nProcess exited with code {}\nOutput:\nwords"


def line(second: int, type_: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": f"2025-12-08T00:00:{second:02d}.000Z", "type": type_, "payload": payload}


def item(second: int, type_: str, **more: Any) -> dict[str, Any]:
    return line(second, "response_item") | {"payload": {"type": type_, **more}}


def event(second: int, type_: str, **more: Any) -> dict[str, Any]:
    return line(second, "event_msg") | {"payload": {"type": type_, **more}}


def says(second: int, role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return item(second, "message", role=role, content=[{"type": kind, "text": text}])


def call(second: int, id_: str, name: str = "exec_command", **more: Any) -> dict[str, Any]:
    return item(second, "function_call", name=name, arguments='{"cmd": "ls"}', call_id=id_, **more)


def output(second: int, id_: str, text: Any) -> dict[str, Any]:
    return item(second, "function_call_output", call_id=id_, output=text)


META = line(
    0, "session_meta", id="c-1", timestamp="2025-12-08T00:00:00Z", cwd="/w", base_instructions={"text": "Be brief."}
)
ROLLOUT = [
    META,
    line(1, "turn_context", model="gpt-x", approval_policy="never"),
    says(1, "user", "<environment_context>linux</environment_context>"),
    event(2, "user_message", message="List it."),
    says(2, "user", "List it."),
    item(4, "reasoning", summary=[{"type": "summary_text", "text": "Hm."}], encrypted_content="xxx"),
    call(5, "k1"),
    event(
        5,
        "token_count",
        info={
            "total_token_usage": {"input_tokens": 9, "output_tokens": 3, "total_tokens": 12},
            "last_token_usage": {"input_tokens": 9, "output_tokens": 3},
        },
    ),
    output(7, "k1", OUTPUT.format(2)),
    event(8, "agent_message", message="There is none."),
    says(8, "assistant", "There is none."),
]


def test_a_rollout() -> None:
    run = one_run("codex", *ROLLOUT)
    assert (run.run_id, run.session_id, run.workflow, run.status) == ("c-1", "c-1", "codex", "ok")
    assert (run.system_prompt, run.input, run.final_output) == ("Be brief.", "List it.", "There is none.")
    assert run.metrics == {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
    assert run.attributes == {"cwd": "/w"}
    assert [(s.type, s.name, s.status, s.model) for s in run.spans] == [
        ("user", None, None, None),
        ("user", None, None, None),
        ("llm", None, None, "gpt-x"),
        ("tool", "exec_command", "error", None),
        ("llm", None, None, "gpt-x"),
    ]
    reply, made = run.spans[2:4]
    assert (reply.tokens_in, reply.tokens_out, (reply.attributes or {})["thinking"]) == (9, 3, "Hm.")
    assert (made.span_id, made.input, made.output, made.error) == (
        "k1",
        '{"cmd": "ls"}',
        OUTPUT.format(2),
        OUTPUT.format(2),
    )
    assert made.attributes == {"exit_code": 2}
    assert [one["type"] for one in run.events] == ["turn_context"]


def test_how_long_calls_and_replies_took() -> None:
    spans = one_run("codex", *ROLLOUT).spans
    seconds = [(s.started_at and s.started_at.second, s.ended_at and s.ended_at.second) for s in spans]
    assert seconds == [(1, None), (2, None), (2, 5), (5, 7), (7, 8)]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (OUTPUT.format(0), 0),
        (OUTPUT.format(-1), -1),
        ("Exit code: 127\nWall time: 0 seconds\nOutput:\n", 127),
        ('{"output": "x", "metadata": {"exit_code": 3, "duration_seconds": 0.1}}', 3),
        ('{"output": "x", "metadata": {"exit_code": true}}', None),
        ('{"exit_code": 1', None),
        ("words\nExit code: 1", None),
        ("", None),
    ],
)
def test_exit_codes(text: str, code: int | None) -> None:
    assert exit_code(text) == code


@pytest.mark.parametrize(
    ("told", "status"),
    [
        (OUTPUT.format(0), "ok"),
        ("words", "ok"),
        ("unsupported call: fly", "error"),
        ("failed to parse function arguments: expected value", "error"),
        ({"content": "no", "success": False}, "error"),
        ({"content": "yes", "success": True}, "ok"),
        ([{"type": "input_text", "text": "seen"}], "ok"),
        ([{"type": "input_image", "image_url": "x"}], "ok"),
    ],
)
def test_which_calls_failed(told: Any, status: str) -> None:
    run = one_run("codex", META, call(1, "k"), output(2, "k", told))
    assert run.spans[1].status == status
    assert (run.spans[1].error is not None) == (status == "error")


def test_ends_of_calls_tell_their_time_and_failure() -> None:
    took = {"secs": 1, "nanos": 500_000_000}
    run = one_run(
        "codex",
        META,
        call(1, "a"),
        output(2, "a", "words"),
        event(2, "exec_command_end", call_id="a", exit_code=1, duration=took),
        call(3, "b", name="mcp__tickets__create"),
        output(4, "b", "words"),
        event(4, "mcp_tool_call_end", call_id="b", duration=took, result={"Ok": {"content": [], "isError": True}}),
        call(5, "c", name="find", namespace="mcp__files__"),
        event(6, "mcp_tool_call_end", call_id="c", result={"Err": "no server"}),
        call(7, "d"),
        event(8, "exec_command_end", call_id="unknown", exit_code=1),
    )
    tools = [s for s in run.spans if s.type != "llm"]
    assert [(s.type, s.status, s.duration_ms, s.error) for s in tools] == [
        ("tool", "error", 1500.0, "words"),
        ("mcp_tool", "error", 1500.0, "words"),
        ("mcp_tool", "error", None, "no server"),
        ("tool", None, None, None),
    ]
    assert len(run.events) == 4


def test_a_failure_that_was_told_before_the_output_stays_one() -> None:
    ended = event(2, "exec_command_end", call_id="a", exit_code=1)
    run = one_run("codex", META, call(1, "a"), ended, output(3, "a", "words"))
    assert (run.spans[1].status, run.spans[1].error, run.spans[1].output) == ("error", "words", "words")


def test_other_calls_and_items() -> None:
    run = one_run(
        "codex",
        META,
        item(1, "custom_tool_call", name="apply_patch", input="*** Begin", call_id="p"),
        item(2, "custom_tool_call_output", call_id="p", output="apply_patch verification failed: no file"),
        item(3, "local_shell_call", call_id="s", status="completed", action={"type": "exec", "command": ["ls"]}),
        item(4, "function_call_output", call_id="s", output="a.py"),
        item(5, "web_search_call", status="completed", action={"type": "search", "query": "q"}),
        item(6, "web_search_call", status="failed", action={"type": "search", "query": "q"}),
        item(7, "ghost_snapshot", ghost_commit={"id": "g"}),
        line(8, "compacted", message="So far.", replacement_history=[]),
    )
    assert [(s.type, s.name, s.status) for s in run.spans] == [
        ("llm", None, None),
        ("tool", "apply_patch", "error"),
        ("llm", None, None),
        ("tool", "local_shell", "ok"),
        ("llm", None, None),
        ("tool", "web_search", "ok"),
        ("tool", "web_search", "error"),
        ("ghost_snapshot", None, None),
        ("system", "compacted", None),
    ]
    assert run.spans[3].output == "a.py"
    assert run.status == "no_output"


@pytest.mark.parametrize(
    ("last", "status"),
    [
        ([event(9, "turn_aborted", reason="interrupted")], "interrupted"),
        ([event(9, "turn_aborted", reason="interrupted"), event(10, "user_message", message="On.")], "ok"),
        ([event(9, "error", message="quota")], "error"),
        ([call(9, "k2")], "no_output"),
    ],
)
def test_how_a_session_ended(last: list[Any], status: str) -> None:
    assert one_run("codex", *ROLLOUT, *last).status == status


def test_a_forked_session_is_one_run_and_told() -> None:
    note, run = read_lines("codex", META, line(0, "session_meta", id="c-0", cwd="/w"), *ROLLOUT[1:])
    assert isinstance(note, Note)
    assert "c-0" in note.text
    assert (run.run_id, len(run.spans)) == ("c-1", 5)


def test_the_older_form_without_payloads() -> None:
    head = {"id": "c-2", "timestamp": "2025-06-01T00:00:00Z", "instructions": "Old.", "git": {}}
    bare = [one["payload"] for one in ROLLOUT if one["type"] == "response_item"]
    run = one_run("codex", head, {"record_type": "state"}, *bare)
    assert (run.run_id, run.system_prompt, run.input) == ("c-2", "Old.", "List it.")
    assert [s.type for s in run.spans] == ["user", "user", "llm", "tool", "llm"]
    assert run.events == [{"record_type": "state"}]


def test_a_list_of_items_is_a_run() -> None:
    bare = [one["payload"] for one in ROLLOUT if one["type"] == "response_item"]
    first, second = read_lines("codex", {"items": bare, "source": "lab"}, {"items": bare[-1:]})
    assert (first.run_id, second.run_id) == ("may/f#1", "may/f#2")
    assert (len(first.spans), first.attributes, second.final_output) == (5, {"source": "lab"}, "There is none.")


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (5, "a line must be an object, got int"),
        ({"type": "response_item", "payload": 5}, "the payload of a line must be an object, got int"),
        ({"type": "response_item", "payload": {"role": None, "type": None}}, "must have a type, or a role"),
        ({"type": "event_msg", "timestamp": "noon", "payload": {}}, "is no time"),
    ],
)
def test_a_line_that_is_none_is_rejected_alone(record: Any, reason: str) -> None:
    bad, run = read_lines("codex", *ROLLOUT, record)
    assert isinstance(bad, Rejected)
    assert (bad.line, reason in bad.reason) == (len(ROLLOUT) + 1, True)
    assert run == one_run("codex", *ROLLOUT)


def test_a_file_without_items_is_told() -> None:
    [told] = read_lines("codex", META)
    assert isinstance(told, Note)


@given(spoiled(ROLLOUT))
def test_odd_lines_are_runs_notes_or_rejected(lines: list[Any]) -> None:
    assert_accounted(read_lines("codex", *lines))


def done(id_: str, type_: str, **more: Any) -> dict[str, Any]:
    return {"type": "item.completed", "item": {"id": id_, "type": type_, **more}}


EVENTS = [
    {"type": "thread.started", "thread_id": "t-1"},
    {"type": "turn.started"},
    done("i0", "reasoning", text="Hm."),
    done("i1", "agent_message", text="I look."),
    {
        "type": "item.started",
        "item": {"id": "i2", "type": "command_execution", "command": "ls", "status": "in_progress"},
    },
    done("i2", "command_execution", command="ls", aggregated_output="no", exit_code=2, status="failed"),
    done(
        "i3", "mcp_tool_call", server="s", tool="find", arguments={"q": 1}, result={"content": []}, status="completed"
    ),
    done("i4", "agent_message", text="None."),
    {"type": "turn.completed", "usage": {"input_tokens": 10, "cached_input_tokens": 4, "output_tokens": 5}},
]


def test_exec_events() -> None:
    run = one_run("codex_exec", *EVENTS)
    assert (run.run_id, run.session_id, run.status, run.final_output) == ("t-1", "t-1", "ok", "None.")
    assert run.metrics == {"prompt_tokens": 10, "cached_input_tokens": 4, "completion_tokens": 5, "total_tokens": 15}
    assert [(s.type, s.name, s.input, s.output, s.status, s.error) for s in run.spans] == [
        ("llm", None, None, "I look.", None, None),
        ("tool", "command_execution", "ls", "no", "error", "no"),
        ("mcp_tool", "find", {"q": 1}, {"content": []}, "ok", None),
        ("llm", None, None, "None.", None, None),
    ]
    assert [s.attributes for s in run.spans[:3]] == [{"thinking": "Hm."}, {"exit_code": 2}, {"server": "s"}]


def test_each_thread_of_a_file_is_a_run() -> None:
    first, second, third = read_lines("codex_exec", *EVENTS[1:], *EVENTS, EVENTS[0] | {"thread_id": "t-2"}, *EVENTS[1:])
    assert [one.run_id for one in (first, second, third)] == ["may/f#1", "t-1", "t-2"]
    assert first.spans == second.spans == third.spans


def test_usage_of_turns_is_added() -> None:
    run = one_run("codex_exec", *EVENTS, *EVENTS[1:])
    assert (run.metrics or {})["total_tokens"] == 30


def test_failures_of_turns() -> None:
    gone = {"message": "quota"}
    run = one_run("codex_exec", EVENTS[0], EVENTS[3], {"type": "error", **gone}, {"type": "turn.failed", "error": gone})
    assert run.status == "error"
    assert [(s.type, s.status, s.error) for s in run.spans[1:]] == [("system", "error", "quota")]


def test_a_command_that_never_ended_has_no_status() -> None:
    run = one_run("codex_exec", *EVENTS[:5])
    assert [(s.name, s.input, s.status) for s in run.spans if s.type == "tool"] == [("command_execution", "ls", None)]


def test_other_exec_items() -> None:
    run = one_run(
        "codex_exec",
        done("a", "file_change", changes=[{"path": "a", "kind": "add"}], status="completed"),
        done("b", "web_search", query="q"),
        done("c", "error", message="odd"),
        {"type": "weather", "sun": True},
    )
    assert [(s.type, s.name, s.status) for s in run.spans] == [
        ("tool", "file_change", "ok"),
        ("tool", "web_search", "ok"),
        ("system", "error", "error"),
    ]
    assert run.events == [{"type": "weather", "sun": True}]


def test_lists_of_events_are_runs() -> None:
    first, second = read_lines("codex_exec", {"events": EVENTS}, {"events": EVENTS[1:], "label": "x"})
    assert (first.run_id, second.run_id, second.attributes) == ("t-1", "may/f#2", {"label": "x"})


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (None, "a line must be an object, got NoneType"),
        ({"type": 5}, "an event must have a type, got 5"),
        ({"type": "item.completed", "item": []}, "the item of item.completed must be an object, got list"),
        ({"type": "item.completed", "item": {}}, "an item must have a type, got None"),
    ],
)
def test_an_event_that_is_none_is_rejected_alone(record: Any, reason: str) -> None:
    bad, run = read_lines("codex_exec", *EVENTS, record)
    assert (bad.line, bad.reason) == (len(EVENTS) + 1, reason)
    assert run == one_run("codex_exec", *EVENTS)


@given(spoiled(EVENTS) | spoiled([{"events": EVENTS}]))
def test_odd_events_are_runs_or_rejected(lines: list[Any]) -> None:
    assert_accounted(read_lines("codex_exec", *lines))


@given(st.lists(st.sampled_from(["ok", "failed", "open"]), max_size=8))
def test_every_command_is_there(ends: list[str]) -> None:
    told: list[Any] = [EVENTS[0]]
    for place, end in enumerate(ends):
        begun = {"id": f"c{place}", "type": "command_execution", "command": f"run {place}"}
        told.append({"type": "item.started", "item": begun})
        if end != "open":
            told.append({"type": "item.completed", "item": {**begun, "exit_code": int(end == "failed")}})
    run = one_run("codex_exec", *told)
    assert isinstance(run, Run)
    expected = {"ok": "ok", "failed": "error", "open": None}
    assert [(s.input, s.status) for s in run.spans] == [(f"run {n}", expected[end]) for n, end in enumerate(ends)]
