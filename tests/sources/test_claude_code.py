"""What the Claude Code reader makes of the lines of a session."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from check_workbench.records import Run
from check_workbench.sources import Note, Recognised, Rejected, gathering, recognise
from check_workbench.sources.claude_code.replies import tokens_of
from tests.sources.odd import assert_accounted, one_run, read_lines, read_text, spoiled

if TYPE_CHECKING:
    from pathlib import Path

    from check_workbench.store import Store

SESSION = "s-1"


def line(number: int, type_: str, content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": type_, "content": content, **more.pop("message", {})}
    base = {
        "parentUuid": f"u{number - 1}" if number > 1 else None,
        "isSidechain": False,
        "sessionId": SESSION,
        "cwd": "/work",
        "version": "2.0.1",
        "type": type_,
        "message": message,
        "uuid": f"u{number}",
        "timestamp": f"2025-09-03T00:00:{number:02d}.000Z",
    }
    return base | more


def says(number: int, content: Any, **more: Any) -> dict[str, Any]:
    return line(number, "user", content, **more)


def replies(number: int, *blocks: Any, id_: Any = None, **more: Any) -> dict[str, Any]:
    message = {"id": id_ or f"m{number}", "model": "claude-x", **more.pop("message", {})}
    return line(number, "assistant", list(blocks), message=message, **more)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(id_: str, name: str = "Read", **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id_, "name": name, "input": given}


def result(id_: str, content: Any = "done", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id_, "content": content, **more}


TALK = [
    says(1, "Mend it."),
    replies(2, text("I look."), use("t1", file_path="a.py")),
    says(3, [result("t1", "no such file", is_error=True)], toolUseResult="Error: no such file"),
    replies(4, text("There is no such file.")),
]


def test_a_session() -> None:
    run = one_run("claude_code", *TALK)
    assert (run.run_id, run.session_id, run.workflow, run.status) == (SESSION, SESSION, "claude-code", "ok")
    assert (run.input, run.final_output) == ("Mend it.", "There is no such file.")
    assert run.attributes == {"cwd": "/work", "version": "2.0.1"}
    assert [(s.type, s.name, s.input, s.output, s.status, s.error) for s in run.spans] == [
        ("user", None, "Mend it.", None, None, None),
        ("llm", None, None, "I look.", None, None),
        ("tool", "Read", {"file_path": "a.py"}, "no such file", "error", "no such file"),
        ("llm", None, None, "There is no such file.", None, None),
    ]
    assert run.spans[2].attributes == {"toolUseResult": "Error: no such file"}
    assert [s.span_id for s in run.spans] == ["u1", "u2", "t1", "u4"]


def test_calls_and_replies_last_as_long_as_their_lines_say() -> None:
    run = one_run("claude_code", *TALK)
    seconds = [(s.started_at and s.started_at.second, s.ended_at and s.ended_at.second) for s in run.spans]
    assert seconds == [(1, None), (1, 2), (2, 3), (3, 4)]
    assert run.started_at is not None
    assert run.ended_at is not None
    assert (run.started_at.second, run.ended_at.second) == (1, 4)


def test_the_lines_of_one_message_are_one_reply_and_count_once() -> None:
    small = {"usage": {"input_tokens": 3, "cache_read_input_tokens": 100, "output_tokens": 1}}
    full = {
        "usage": {"input_tokens": 3, "cache_read_input_tokens": 100, "output_tokens": 40},
        "stop_reason": "tool_use",
    }
    run = one_run(
        "claude_code",
        says(1, "Go."),
        replies(2, {"type": "thinking", "thinking": "Hm.", "signature": "x"}, id_="m", message=small),
        replies(3, text("Two calls."), id_="m", message=small),
        replies(4, use("a"), id_="m", message=full),
        says(5, [result("a")]),
        replies(6, use("b"), id_="m", message=small),
        says(7, [result("b")]),
    )
    [reply] = [s for s in run.spans if s.type == "llm"]
    assert (reply.output, reply.tokens_in, reply.tokens_out, reply.model) == ("Two calls.", 103, 40, "claude-x")
    assert reply.attributes is not None
    assert (reply.attributes["thinking"], reply.attributes["usage"]) == ("Hm.", full["usage"])
    assert reply.attributes["stop_reason"] == "tool_use"
    assert run.metrics == {"prompt_tokens": 103, "completion_tokens": 40, "total_tokens": 143}
    assert (run.status, run.final_output) == ("no_output", None)


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        (None, (None, None)),
        ({}, (None, None)),
        ({"input_tokens": True, "output_tokens": "9"}, (None, None)),
        ({"input_tokens": 1, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 3}, (6, None)),
        ({"input_tokens": -1, "output_tokens": 10**30}, (None, None)),
    ],
)
def test_tokens(usage: Any, tokens: tuple[int | None, int | None]) -> None:
    assert tokens_of(usage) == tokens


@pytest.mark.parametrize(
    ("last", "status"),
    [
        (says(3, "[Request interrupted by user]"), "interrupted"),
        (
            says(3, [result("t1", "refused", is_error=True), text("[Request interrupted by user for tool use]")]),
            "interrupted",
        ),
        (replies(3, text("API Error: overloaded"), isApiErrorMessage=True), "error"),
        (says(3, [result("t1")]), "no_output"),
        (replies(3, text("Done.")), "ok"),
    ],
)
def test_how_it_ended(last: dict[str, Any], status: str) -> None:
    assert one_run("claude_code", says(1, "Go."), replies(2, use("t1")), last).status == status


def test_what_a_reply_cost_counts_once_however_many_lines_say_it() -> None:
    run = one_run(
        "claude_code",
        says(1, "Hi"),
        replies(2, text("Look."), id_="m-1", costUSD=0.5),
        replies(3, use("t-1"), id_="m-1", costUSD=0.5),
        replies(4, text("Done."), id_="m-2", costUSD=0.25),
        replies(5, text("Bye."), costUSD=0.125),
    )
    assert (run.metrics or {})["total_cost"] == 0.875


def test_an_interruption_that_work_goes_on_from_is_no_end() -> None:
    run = one_run(
        "claude_code", *TALK[:2], says(3, "[Request interrupted by user]"), says(4, "Go on."), replies(5, text("Yes."))
    )
    assert (run.status, run.input, run.final_output) == ("ok", "Mend it.", "Yes.")


def test_words_of_the_harness_are_not_the_users() -> None:
    run = one_run(
        "claude_code",
        says(1, "Caveat.", isMeta=True),
        says(2, "Earlier work.", isCompactSummary=True),
        says(3, "Mend it."),
        {"type": "system", "subtype": "compact_boundary", "content": "Compacted", "sessionId": SESSION, "uuid": "u4"},
        {
            "type": "system",
            "subtype": "api_error",
            "level": "error",
            "content": "529",
            "sessionId": SESSION,
            "uuid": "u5",
        },
    )
    assert run.input == "Mend it."
    assert [(s.type, s.name, s.status, s.error) for s in run.spans] == [
        ("system", "meta", None, None),
        ("system", "compact_summary", None, None),
        ("user", None, None, None),
        ("system", "compact_boundary", None, None),
        ("system", "api_error", "error", "529"),
    ]


def test_other_lines_are_kept() -> None:
    extra = [
        {"type": "summary", "summary": "Mending", "leafUuid": "u9"},
        {"type": "queue-operation", "operation": "enqueue", "content": "more", "sessionId": SESSION},
        {"type": "attachment", "attachment": {"type": "file"}, "sessionId": SESSION, "uuid": "u7", "parentUuid": "u1"},
        {"type": "ai-title", "aiTitle": "A mend", "sessionId": SESSION},
    ]
    run = one_run("claude_code", extra[0], *TALK, *extra[1:])
    assert run.events == extra[1:3]
    assert run.attributes is not None
    assert run.attributes["titles"] == ["Mending", "A mend"]


def test_what_differs_from_the_session_stays_with_the_span() -> None:
    run = one_run("claude_code", says(1, "Go."), replies(2, text("Hi."), cwd="/other", requestId="r"))
    assert run.spans[1].attributes == {"message_id": "m2", "cwd": "/other", "requestId": "r"}


def test_side_chains_lie_in_the_calls_that_began_them() -> None:
    aside = {"isSidechain": True}
    run = one_run(
        "claude_code",
        says(1, "Go."),
        replies(2, use("a", "Task", prompt="Look."), use("b", "Task", prompt="Look.")),
        says(3, "Look.", parentUuid=None, **aside),
        replies(4, use("c", "mcp__files__read"), **aside),
        says(5, [result("c")], **aside),
        says(6, "Look.", parentUuid=None, **aside),
        says(7, "Unknown.", parentUuid=None, **aside),
        says(8, [result("a", [text("Seen.")])], parentUuid="u2"),
    )
    assert [(s.type, s.parent_id) for s in run.spans] == [
        ("user", None),
        ("llm", None),
        ("tool", None),
        ("tool", None),
        ("agent", "a"),
        ("llm", "a"),
        ("mcp_tool", "a"),
        ("agent", "b"),
        ("agent", None),
    ]
    assert all((s.attributes or {}).get("sidechain") is True for s in run.spans[4:])
    assert (run.spans[2].output, run.input) == ("Seen.", "Go.")


def test_a_file_of_one_side_chain_is_a_run_of_its_own() -> None:
    aside = {"isSidechain": True}
    lines = [says(1, "Look.", **aside), replies(2, text("Seen."), **aside)]
    run = one_run("claude_code", *lines, stem="deep/agent-7f3")
    assert (run.run_id, run.session_id, run.input, run.final_output) == (f"{SESSION}/7f3", SESSION, "Look.", "Seen.")
    assert [s.type for s in run.spans] == ["user", "llm"]
    named = one_run("claude_code", *({**one, "agentId": "abc"} for one in lines), stem="deep/agent-7f3")
    assert named.run_id == f"{SESSION}/abc"


def test_side_chains_with_an_id_are_runs_beside_the_session() -> None:
    aside = {"isSidechain": True, "agentId": "abc"}
    found = read_lines(
        "claude_code", *TALK, says(8, "Look.", parentUuid=None, **aside), replies(9, text("S."), **aside)
    )
    assert [run.run_id for run in found] == [SESSION, f"{SESSION}/abc"]
    assert [len(run.spans) for run in found] == [4, 2]


def test_what_followed_a_prompt_that_was_written_anew_is_marked() -> None:
    run = one_run(
        "claude_code",
        says(1, "Go."),
        replies(2, text("Where?")),
        says(3, "Left."),
        replies(4, use("a")),
        says(5, [result("a")]),
        says(6, "Right.", parentUuid="u2"),
        replies(7, text("Right it is.")),
    )
    marked = [(s.attributes or {}).get("abandoned", False) for s in run.spans]
    assert marked == [False, False, True, True, True, False, False]
    assert run.final_output == "Right it is."


def test_prompts_written_anew_within_one_another_are_walked_once() -> None:
    rewritten = [says(1, "Hi", uuid="b0")]
    for n in range(4000):
        rewritten += [says(2, "Go", uuid=f"{kind}{n + 1}", parentUuid=f"b{n}") for kind in "bc"]
    began = time.process_time()
    run = one_run("claude_code", *rewritten)
    assert sum((one.attributes or {}).get("abandoned", False) for one in run.spans) == 7999
    assert time.process_time() - began < 8


def test_results_of_calls_made_at_once_are_no_branches() -> None:
    run = one_run(
        "claude_code",
        says(1, "Go."),
        replies(2, use("a"), use("b")),
        says(3, [result("b", "B")], parentUuid="u2"),
        says(4, [result("a", "A")], parentUuid="u2"),
    )
    assert [(s.output, (s.attributes or {}).get("abandoned")) for s in run.spans[2:]] == [("A", None), ("B", None)]


def test_a_repeated_line_is_left_out_and_told() -> None:
    run, note = sorted(read_lines("claude_code", *TALK, *TALK), key=lambda one: isinstance(one, Note))
    assert run == one_run("claude_code", *TALK)
    assert note.text == f"4 lines of session {SESSION} repeat the uuid of an earlier line and were left out"


def test_sessions_of_one_file_are_runs_of_their_own() -> None:
    other = [{**one, "sessionId": "s-2"} for one in TALK]
    mixed = [one for pair in zip(TALK, other, strict=True) for one in pair]
    assert [run.run_id for run in read_lines("claude_code", *mixed)] == [SESSION, "s-2"]


def test_parts_that_moved_to_a_file_make_the_same_run(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = read_lines("claude_code", *TALK)
    monkeypatch.setattr(gathering.gather, "__kwdefaults__", {"held": -1})
    assert read_lines("claude_code", *TALK) == whole


def test_a_result_of_pictures_and_one_without_a_call() -> None:
    picture = {"type": "image", "source": {"data": "x"}}
    run = one_run(
        "claude_code", replies(1, use("a")), says(2, [result("a", [text("See"), picture]), result("z", "lost")])
    )
    seen, lost = run.spans[1:]
    assert (seen.output, (seen.attributes or {})["content"]) == ("See\n[image]", [text("See"), picture])
    assert (lost.type, lost.name, lost.output) == ("tool", None, "lost")


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (says(9, "x") | {"message": 5}, "the message of a user line must be an object, got int"),
        (says(9, "x", timestamp="yesterday"), "is no time"),
        (5, "a line must be an object, got int"),
        ([says(9, "x")], "a line must be an object, got list"),
    ],
)
def test_a_line_that_is_none_is_rejected_alone(record: Any, reason: str) -> None:
    found = read_lines("claude_code", *TALK, record)
    [bad] = [one for one in found if isinstance(one, Rejected)]
    assert (bad.line, reason in bad.reason) == (5, True)
    assert one_run("claude_code", *TALK) in found


def test_a_large_first_line_is_recognised(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps(says(1, "x" * 300_000)) + "\n")
    found = recognise(path)
    assert isinstance(found, Recognised)
    assert found.format.name == "claude_code"


def test_a_cut_file_keeps_what_came_before() -> None:
    whole = "\n".join(map(json.dumps, TALK))
    found = read_text("claude_code", whole[:-40])
    assert [type(one) for one in found] == [Rejected, Run]
    assert found[1].status == "no_output"


def test_lines_without_messages_make_no_run() -> None:
    [told] = read_lines("claude_code", {"type": "summary", "summary": "x", "leafUuid": "y"})
    assert isinstance(told, Note)
    snapshot = {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}, "sessionId": SESSION}
    [told] = read_lines("claude_code", snapshot)
    assert isinstance(told, Note)


@given(spoiled([*TALK, says(5, "Look.", parentUuid=None, isSidechain=True), {"type": "system", "sessionId": SESSION}]))
def test_odd_lines_are_runs_notes_or_rejected(lines: list[Any]) -> None:
    assert_accounted(read_lines("claude_code", *lines))


@given(st.integers(1, 6), st.integers(0, 3))
def test_every_call_and_result_is_there(calls: int, lost: int) -> None:
    used = [use(f"t{n}") for n in range(calls)]
    told = [result(f"t{n}") for n in range(calls + lost)]
    run = one_run("claude_code", says(1, "Go."), replies(2, *used), says(3, told))
    tools = [s for s in run.spans if s.type == "tool"]
    assert len(tools) == calls + lost
    assert all(s.output == "done" for s in tools)


def test_hostile_lines_through_the_store(store: Store, tmp_path: Path) -> None:
    name = "'; drop table runs; --"
    deep = '{"type":"user","sessionId":"s-1","uuid":"d","message":{"content":' + "[" * 100_000 + "]" * 100_000 + "}}"
    lines = [
        json.dumps(says(1, "Go.")),
        json.dumps(replies(2, use("t", name))),
        json.dumps(says(3, [result("t", '"quoted" \ud83d')])),
        '{"type":"user","sessionId":"s-1","uuid":"n","message":{"content":NaN}}',
        deep,
        json.dumps(replies(4, text("Done."), message={"usage": {"input_tokens": 10**30, "output_tokens": 1e300}})),
    ]
    (tmp_path / "s.jsonl").write_text("\n".join(lines))
    late = [says(1, "Go.", sessionId="s-9", timestamp="9999-01-01T00:00:00Z"), replies(2, text("Hi."), sessionId="s-9")]
    (tmp_path / "late.jsonl").write_text("\n".join(map(json.dumps, late)))
    report = store.load(tmp_path)
    assert report.runs == 1
    assert [(bad.line, bad.reason.split(":")[0]) for bad in report.rejected if bad.file.endswith("s.jsonl")] == [
        (4, "not valid JSON"),
        (5, "not valid JSON"),
    ]
    assert [bad.reason for bad in report.rejected if bad.file.endswith("late.jsonl")] == [
        "the run: ended_at must lie between 1970 and 2200, got 9999-01-01T00:00:00+00:00"
    ]
    found = store.sql("select name, output from spans where type = 'tool'")
    assert found.values.tolist() == [[name, '"quoted" \ufffd']]
