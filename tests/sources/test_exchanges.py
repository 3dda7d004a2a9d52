"""What becomes of requests to a model and its responses, whichever API they went through, and of bare messages."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from check_workbench.records import Run
from check_workbench.sources import Recognised, Rejected, recognise
from tests.sources.odd import assert_accounted, one_run, read_lines, read_text, spoiled

ASKED: dict[str, Any] = {
    "model": "gpt-x",
    "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Refund 7."}],
    "temperature": 0,
}
CALL = {"id": "c", "type": "function", "function": {"name": "refund", "arguments": '{"order": 7}'}}
TOLD: dict[str, Any] = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1_770_000_000,
    "model": "gpt-x-2025",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Done."}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 20, "completion_tokens": 2, "total_tokens": 22},
}
USAGE = {"prompt_tokens": 20, "completion_tokens": 2, "total_tokens": 22}
ITEMS = [
    {"role": "user", "content": "Refund 7."},
    {"type": "function_call", "call_id": "c", "name": "refund", "arguments": '{"order": 7}'},
    {"type": "function_call_output", "call_id": "c", "output": "ok"},
]
RESPONSE: dict[str, Any] = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1_770_000_000,
    "completed_at": 1_770_000_004,
    "status": "completed",
    "model": "gpt-x",
    "instructions": "Be brief.",
    "output": [
        {"type": "reasoning", "id": "rs", "summary": []},
        {"type": "message", "id": "msg", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]},
    ],
    "usage": {"input_tokens": 20, "output_tokens": 2},
}
CLAUDE: dict[str, Any] = {
    "role": "assistant",
    "model": "claude-x",
    "content": [{"type": "text", "text": "Done."}],
    "usage": {"input_tokens": 5, "cache_read_input_tokens": 15, "output_tokens": 2},
}


@pytest.mark.parametrize(
    "record",
    [
        {"request": ASKED, "response": TOLD},
        {**ASKED, "response": TOLD},
        {"request": {"body": ASKED}, "response": {"status_code": 200, "body": TOLD}},
        {"custom_id": "7", "body": ASKED, "response": {"status_code": 200, "body": TOLD}},
        {"request": {"model": "gpt-x", "input": ITEMS[:1], "instructions": "Be brief."}, "response": RESPONSE},
        {"request": {"model": "gpt-x", "input": "Refund 7."}, "response": RESPONSE},
        {"input": ITEMS[:1], "output": RESPONSE["output"], "instructions": "Be brief.", "usage": RESPONSE["usage"]},
        {"request": {"system": "Be brief.", "messages": ASKED["messages"][1:]}, "response": CLAUDE},
    ],
)
def test_one_exchange_in_many_forms(record: dict[str, Any]) -> None:
    run = one_run("exchange", record)
    assert (run.run_id, run.status, run.system_prompt) == ("may/f#1", "ok", "Be brief.")
    assert (run.input, run.final_output, run.metrics) == ("Refund 7.", "Done.", USAGE)
    assert [(s.type, s.input, s.output) for s in run.spans] == [("user", "Refund 7.", None), ("llm", None, "Done.")]
    assert (run.spans[1].tokens_in, run.spans[1].tokens_out) == (20, 2)


def test_what_no_field_takes_stays() -> None:
    choices = [*TOLD["choices"], {"index": 1, "message": {"role": "assistant", "content": "Or so."}}]
    run = one_run("exchange", {"request": ASKED, "response": {**TOLD, "choices": choices}, "user": "u"})
    assert run.attributes == {
        "user": "u",
        "request": {"model": "gpt-x", "temperature": 0},
        "response": {key: TOLD[key] for key in ("id", "object", "created", "model")},
        "choices": choices[1:],
        "usage": TOLD["usage"],
    }
    assert run.spans[1].model == "gpt-x-2025"
    assert run.started_at is not None


@pytest.mark.parametrize("record", [TOLD, {"custom_id": "7", "response": {"body": TOLD}}])
def test_a_response_alone(record: dict[str, Any]) -> None:
    run = one_run("exchange", record)
    assert (run.input, run.final_output, run.metrics, len(run.spans)) == (None, "Done.", USAGE, 1)


def test_a_response_of_the_responses_api_alone() -> None:
    run = one_run("exchange", RESPONSE)
    assert (run.system_prompt, run.final_output) == ("Be brief.", "Done.")
    assert run.started_at is not None
    assert run.ended_at is not None
    assert (run.ended_at - run.started_at).total_seconds() == 4


@pytest.mark.parametrize(
    ("record", "status"),
    [
        ({"request": ASKED, "response": {"status_code": 500, "body": {"error": {"message": "x"}}}}, "error"),
        ({"request": ASKED, "error": {"message": "x"}}, "error"),
        ({"request": ASKED, "response": None}, "no_output"),
        ({"input": "x", "model": "m", "response": {**RESPONSE, "status": "failed"}}, "error"),
        ({"input": "x", "model": "m", "response": {**RESPONSE, "status": "incomplete"}}, "interrupted"),
        (
            {"request": ASKED, "response": {"choices": [{"message": {"role": "assistant", "tool_calls": [CALL]}}]}},
            "no_output",
        ),
    ],
)
def test_how_an_exchange_ended(record: dict[str, Any], status: str) -> None:
    assert one_run("exchange", record).status == status


def test_calls_of_both_apis() -> None:
    answer = {"role": "tool", "tool_call_id": "c", "content": "ok"}
    asks = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    chat = one_run("exchange", {"request": {"messages": [*ASKED["messages"], asks, answer]}, "response": TOLD})
    items = one_run("exchange", {"request": {"input": ITEMS, "model": "m"}, "response": RESPONSE})
    for run in (chat, items):
        [call] = [s for s in run.spans if s.type == "tool"]
        assert (call.name, call.span_id, call.input, call.output, call.status) == (
            "refund",
            "c",
            '{"order": 7}',
            "ok",
            "ok",
        )


def test_items_served_by_the_api() -> None:
    run = one_run(
        "exchange",
        {
            "object": "response",
            "output": [
                {"type": "mcp_call", "id": "m1", "server_label": "s", "name": "find", "arguments": "{}", "output": "A"},
                {"type": "mcp_call", "id": "m2", "server_label": "s", "name": "find", "arguments": "{}", "error": "no"},
                {"type": "code_interpreter_call", "id": "m3", "code": "1+1", "outputs": [{"logs": "2"}]},
                {"type": "file_search_call", "id": "m4", "status": "completed", "queries": ["q"], "results": None},
            ],
        },
    )
    assert [(s.type, s.name, s.input, s.output, s.status, s.error) for s in run.spans[1:]] == [
        ("mcp_tool", "find", "{}", "A", "ok", None),
        ("mcp_tool", "find", "{}", None, "error", "no"),
        ("tool", "code_interpreter", "1+1", [{"logs": "2"}], "ok", None),
        ("tool", "file_search", ["q"], None, "ok", None),
    ]


def test_bare_items_are_one_run() -> None:
    items = [*ITEMS[1:], RESPONSE["output"][1]]
    runs = [
        read_lines("exchange", *items),
        read_text("exchange", json.dumps(items)),
        read_lines("exchange", {"input": items}),
    ]
    [[first], [second], [third]] = runs
    assert first == second == third
    assert [s.type for s in first.spans] == ["llm", "tool", "llm"]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (5, "a run must be an object, got int"),
        ({"a": 1}, "a record must have a request with messages or input"),
        ({"request": {"messages": [5]}}, "message 1 must be an object with a role"),
        ({"request": {"input": [5], "model": "m"}, "response": RESPONSE}, "an item must be an object, got int"),
        ({"request": ASKED, "response": {**TOLD, "created": "noon"}}, "is no time"),
    ],
)
def test_what_is_no_exchange_is_rejected(record: Any, reason: str) -> None:
    run, bad = read_lines("exchange", {"request": ASKED, "response": TOLD}, record)
    assert isinstance(run, Run)
    assert isinstance(bad, Rejected)
    assert (bad.line, reason in bad.reason) == (2, True)


@given(
    spoiled([{"request": ASKED, "response": TOLD}])
    | spoiled([{"request": {"input": ITEMS, "model": "m"}, "response": RESPONSE}])
    | spoiled([{"request": ASKED, "response": CLAUDE}]),
)
def test_odd_exchanges_are_runs_or_rejected(lines: list[Any]) -> None:
    assert_accounted(read_lines("exchange", *lines))


MESSAGES = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(MESSAGES),
        json.dumps(MESSAGES, indent=1),
        "\n".join(map(json.dumps, MESSAGES)),
        json.dumps([MESSAGES]),
    ],
)
def test_bare_messages_are_one_run(text: str) -> None:
    [run] = read_text("chat", text)
    assert (run.run_id, run.input, run.final_output, len(run.spans)) == ("may/f#1", "Hi", "Hello", 2)


def test_lists_of_messages_are_a_run_each() -> None:
    runs = read_text("chat", json.dumps([MESSAGES, MESSAGES]))
    assert [run.run_id for run in runs] == ["may/f#1", "may/f#2"]


def test_a_broken_message_among_bare_ones_is_told() -> None:
    found = read_text("chat", "\n".join([json.dumps(MESSAGES[0]), "{broken", json.dumps(MESSAGES[1])]))
    assert [type(one) for one in found] == [Rejected, Run]
    assert len(found[1].spans) == 2


def test_a_fine_tuning_file_with_the_system_beside_the_messages() -> None:
    run = one_run("chat", {"system": "Be kind.", "messages": MESSAGES, "tools": [{"type": "function"}]})
    assert (run.system_prompt, run.attributes) == ("Be kind.", {"tools": [{"type": "function"}]})


@pytest.mark.parametrize(
    ("records", "name"),
    [
        ([{"messages": MESSAGES}], "chat"),
        (MESSAGES, "chat"),
        ([{"messages": MESSAGES, "response": TOLD}], "exchange"),
        ([{"request": ASKED, "response": TOLD}], "exchange"),
        ([TOLD], "exchange"),
        ([RESPONSE], "exchange"),
        (ITEMS[1:], "exchange"),
        ([{"custom_id": "a", "response": {"body": TOLD}}], "exchange"),
        ([{"items": ITEMS[1:]}], "codex"),
        ([{"timestamp": "2025-01-01", "type": "session_meta", "payload": {}}], "codex"),
        ([{"type": "thread.started", "thread_id": "t"}], "codex_exec"),
        ([{"events": [{"type": "item.completed", "item": {}}]}], "codex_exec"),
        ([{"schema_version": "ATIF-v1.6", "steps": []}], "atif"),
        ([{"trajectory": [{"action": "a", "observation": "o", "thought": "t"}]}], "swe_agent"),
        ([{"info": {"mini_version": "1"}, "messages": MESSAGES}], "mini_swe_agent"),
        ([{"messages": MESSAGES, "trajectory_format": "mini-swe-agent-1"}], "mini_swe_agent"),
        (
            [{"type": "user", "uuid": "u", "parentUuid": None, "sessionId": "s", "message": {"role": "user"}}],
            "claude_code",
        ),
        ([{"type": "summary", "summary": "s", "leafUuid": "u"}], "claude_code"),
    ],
)
def test_each_shape_fits_one_format(tmp_path: Any, records: list[Any], name: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(map(json.dumps, records)) + "\n")
    found = recognise(path)
    assert isinstance(found, Recognised)
    assert found.format.name == name


def test_commands_tell_mini_swe_agent_from_a_chat(tmp_path: Any) -> None:
    path = tmp_path / "x.json"
    answers = [*MESSAGES, {"role": "user", "content": "<returncode>0</returncode>"}]
    for messages, name in ((MESSAGES, "chat"), (answers, "mini_swe_agent")):
        path.write_text(json.dumps(messages))
        found = recognise(path)
        assert isinstance(found, Recognised)
        assert found.format.name == name


@pytest.mark.parametrize(
    "records",
    [
        [{"type": "message", "role": "assistant", "content": [{"type": "text", "text": "x"}]}],
        [{"role": "x", "speed": 1}],
        [{"response": {"content": []}}],
        [{"trajectory": [{"action": "a", "observation": "o"}], "reward": 1}],
        [{"events": [{"type": "click"}]}],
        [{"input": "x", "output": "y"}],
        [[1, 2]],
    ],
)
def test_what_only_looks_alike_is_none_of_these(tmp_path: Any, records: list[Any]) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))
    found = recognise(path)
    own = {"chat", "exchange", "codex", "codex_exec", "atif", "swe_agent", "mini_swe_agent", "claude_code"}
    assert not isinstance(found, Recognised) or found.format.name not in own
