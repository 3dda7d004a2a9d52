"""What the readers of SWE-agent, mini-swe-agent and ATIF make of a trajectory."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from check_workbench.records import Run
from check_workbench.sources import Rejected
from tests.sources.odd import assert_accounted, one_run, read_lines, read_text, spoiled

SWE: dict[str, Any] = {
    "environment": "main",
    "trajectory": [
        {
            "action": "open a.py 3\n",
            "observation": "[File: a.py]",
            "response": "Let me look.\n```\nopen a.py 3\n```",
            "thought": "Let me look.\n",
            "state": '{"open_file": "a.py"}',
            "execution_time": 0.5,
            "query": [{"role": "user", "content": "long"}],
        },
        {
            "action": "edit 1:1\nx =\n",
            "observation": "\nYour proposed edit has introduced new syntax error(s). Please read",
            "response": "edit",
            "thought": "I mend it.",
        },
        {"action": "", "observation": None, "response": "I give up.", "thought": ""},
    ],
    "history": [
        {"role": "system", "content": "You are an engineer."},
        {"role": "user", "content": "Watch this.", "is_demo": True},
        {"role": "user", "content": "Mend the bug."},
        {"role": "assistant", "content": "Let me look."},
    ],
    "info": {
        "exit_status": "submitted",
        "submission": "diff --git",
        "model_stats": {"instance_cost": 0.5, "tokens_sent": 90, "tokens_received": 10, "api_calls": 3},
        "edited_files30": "x",
    },
    "replay_config": "{}",
}


def test_a_swe_agent_trajectory() -> None:
    run = one_run("swe_agent", SWE)
    assert (run.run_id, run.workflow, run.status, run.final_output) == ("may/f#1", "swe-agent", "ok", "diff --git")
    assert (run.system_prompt, run.input) == ("You are an engineer.", "Mend the bug.")
    assert run.metrics == {
        "total_cost": 0.5,
        "prompt_tokens": 90,
        "completion_tokens": 10,
        "api_calls": 3,
        "total_tokens": 100,
    }
    kept = {key: value for key, value in SWE["info"].items() if key != "submission"}
    assert run.attributes == {"environment": "main", "replay_config": "{}", "info": kept}
    assert [(s.type, s.name, s.status, s.duration_ms) for s in run.spans] == [
        ("system", "demonstration", None, None),
        ("llm", None, None, None),
        ("tool", "open", "ok", 500.0),
        ("llm", None, None, None),
        ("tool", "edit", "error", None),
        ("llm", None, None, None),
    ]
    looks, opens, mends, edits = run.spans[1:5]
    assert (looks.attributes, mends.attributes) == (None, {"thought": "I mend it."})
    assert (opens.input, opens.attributes) == ("open a.py 3\n", {"state": '{"open_file": "a.py"}'})
    assert edits.error == SWE["trajectory"][1]["observation"]


@pytest.mark.parametrize(
    ("exit_status", "submission", "status"),
    [
        ("submitted", "diff", "ok"),
        ("submitted", "", "no_output"),
        ("submitted (exit_cost)", "diff", "ok"),
        ("exit_cost", None, "interrupted"),
        ("exit_context", None, "interrupted"),
        ("early_exit", None, "interrupted"),
        ("exit_error", None, "error"),
        ("exit_format", None, "error"),
        (None, "diff", "no_output"),
        (5, None, "no_output"),
    ],
)
def test_how_swe_agent_ended(exit_status: Any, submission: Any, status: str) -> None:
    info = {"exit_status": exit_status, "submission": submission}
    assert one_run("swe_agent", {**SWE, "info": info}).status == status


@pytest.mark.parametrize(
    ("observation", "failed"),
    [
        ("EXECUTION TIMED OUT", True),
        ("\nEXECUTION TIMED OUT", True),
        ("No replacement was performed, old_str", True),
        ("Traceback (most recent call last):", False),
        ("", False),
        (None, False),
    ],
)
def test_which_swe_agent_calls_failed(observation: Any, failed: bool) -> None:  # noqa: FBT001 - a table's column
    step = {"action": "python a.py", "observation": observation, "response": "run"}
    call = one_run("swe_agent", {**SWE, "trajectory": [step]}).spans[2]
    assert (call.name, call.status) == ("python", "error" if failed else "ok")


FENCE = "```mswea_bash_command\n{}\n```"
MINI: list[dict[str, Any]] = [
    {"role": "system", "content": "Use bash."},
    {"role": "user", "content": "Mend the bug."},
    {"role": "assistant", "content": "I look.\n" + FENCE.format("ls")},
    {"role": "user", "content": "<returncode>2</returncode>\n<output>\nno\n</output>"},
    {"role": "assistant", "content": "No command."},
    {"role": "user", "content": "Give exactly one command."},
    {"role": "assistant", "content": FENCE.format("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT; cat patch")},
    {"role": "user", "content": "diff --git"},
]


def test_bare_messages_of_mini_swe_agent() -> None:
    found = read_text("mini_swe_agent", json.dumps(MINI, indent=1))
    [run] = found
    assert (run.run_id, run.workflow, run.status, run.final_output) == ("may/f#1", "mini-swe-agent", "ok", "diff --git")
    assert (run.system_prompt, run.input) == ("Use bash.", "Mend the bug.")
    assert [(s.type, s.name, s.input, s.status) for s in run.spans if s.type != "llm"] == [
        ("user", None, "Mend the bug.", None),
        ("tool", "bash", "ls", "error"),
        ("user", None, "Give exactly one command.", None),
        ("tool", "bash", "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT; cat patch", "ok"),
    ]
    assert run.spans[2].attributes == {"returncode": 2}
    assert run.spans[2].error == MINI[3]["content"]


def test_an_object_of_mini_swe_agent_with_actions() -> None:
    record = {
        "info": {
            "mini_version": "2.0.0",
            "exit_status": "Submitted",
            "submission": "diff",
            "model_stats": {"instance_cost": 0.05, "api_calls": 2},
            "config": {"agent": {}},
        },
        "messages": [
            {"role": "system", "content": "Use bash."},
            {"role": "user", "content": "Mend."},
            {
                "role": "assistant",
                "content": "Two at once.",
                "tool_calls": [{"id": "a"}, {"id": "b"}],
                "extra": {
                    "actions": [{"command": "ls", "tool_call_id": "a"}, {"command": "pwd", "tool_call_id": "b"}],
                    "cost": 0.01,
                    "timestamp": 1_770_000_000.5,
                },
            },
            {"role": "tool", "tool_call_id": "b", "content": "cut", "extra": {"raw_output": "/w", "returncode": 0}},
            {
                "role": "tool",
                "tool_call_id": "a",
                "content": "no",
                "extra": {"raw_output": "none", "returncode": 1, "timestamp": 1_770_000_003},
            },
            {"role": "exit", "content": "diff", "extra": {"exit_status": "Submitted", "submission": "diff"}},
        ],
        "trajectory_format": "mini-swe-agent-1.1",
        "instance_id": "x-1",
    }
    run = one_run("mini_swe_agent", record)
    assert (run.status, run.final_output, run.metrics) == ("ok", "diff", {"total_cost": 0.05, "api_calls": 2})
    assert run.attributes is not None
    assert (run.attributes["instance_id"], run.attributes["info"]["config"]) == ("x-1", {"agent": {}})
    assert [(s.type, s.span_id, s.input, s.output, s.status) for s in run.spans] == [
        ("user", None, "Mend.", None, None),
        ("llm", None, None, "Two at once.", None),
        ("tool", "a", "ls", "none", "error"),
        ("tool", "b", "pwd", "/w", "ok"),
        ("system", None, "diff", None, None),
    ]
    assert run.spans[1].attributes == {"cost": 0.01}
    assert run.spans[2].ended_at is not None


@pytest.mark.parametrize(
    ("exit_status", "status"),
    [("Submitted", "ok"), ("LimitsExceeded", "interrupted"), ("RuntimeError", "error"), (None, "ok")],
)
def test_how_mini_swe_agent_ended(exit_status: Any, status: str) -> None:
    info = {"mini_version": "1.9", "exit_status": exit_status, "submission": "diff"}
    assert one_run("mini_swe_agent", {"info": info, "messages": MINI[:4]}).status == status


ATIF: dict[str, Any] = {
    "schema_version": "ATIF-v1.5",
    "session_id": "s",
    "agent": {"name": "hands", "version": "1", "model_name": "m"},
    "steps": [
        {"step_id": 1, "source": "system", "message": "Be good."},
        {"step_id": 2, "source": "user", "message": "Write it.", "timestamp": "2025-10-01T00:00:00Z"},
        {
            "step_id": 3,
            "source": "agent",
            "timestamp": "2025-10-01T00:00:05Z",
            "message": "I write.",
            "model_name": "m-2",
            "reasoning_content": "Hm.",
            "tool_calls": [
                {"tool_call_id": "a", "function_name": "write", "arguments": {"path": "x"}},
                {"tool_call_id": "b", "function_name": "mcp__s__read", "arguments": {}},
                {"tool_call_id": "c", "function_name": "finish", "arguments": {}},
            ],
            "observation": {
                "results": [
                    {"source_call_id": "b", "content": [{"type": "text", "text": "B"}]},
                    {"source_call_id": "a", "content": "A"},
                    {"content": "prompt$"},
                    {"subagent_trajectory_ref": [{"session_id": "s-sub"}]},
                ]
            },
            "metrics": {"prompt_tokens": 10, "completion_tokens": 5, "cost_usd": 0.1},
        },
        {"step_id": 4, "source": "system", "message": "Compacted.", "is_copied_context": True},
    ],
    "final_metrics": {"total_prompt_tokens": 10, "total_completion_tokens": 5, "total_cost_usd": 0.1, "total_steps": 4},
    "notes": "n",
}


def test_an_atif_trajectory() -> None:
    run = one_run("atif", ATIF)
    assert (run.run_id, run.session_id, run.workflow, run.status) == ("may/f#1", "s", "hands", "ok")
    assert (run.system_prompt, run.input, run.final_output) == ("Be good.", "Write it.", "I write.")
    assert run.metrics == {
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "total_cost": 0.1,
        "steps": 4,
        "total_tokens": 15,
    }
    assert [(s.type, s.name, s.span_id, s.output, s.status) for s in run.spans] == [
        ("user", None, None, None, None),
        ("llm", None, None, "I write.", None),
        ("tool", "write", "a", "A", "ok"),
        ("mcp_tool", "mcp__s__read", "b", "B", "ok"),
        ("tool", "finish", "c", None, None),
        ("observation", None, None, "prompt$", "ok"),
        ("agent", None, None, None, "ok"),
        ("system", None, None, None, None),
    ]
    reply = run.spans[1]
    assert (reply.model, reply.tokens_in, reply.tokens_out) == ("m-2", 10, 5)
    assert (reply.attributes or {})["reasoning_content"] == "Hm."
    assert run.spans[6].attributes == {"subagent_trajectory_ref": [{"session_id": "s-sub"}]}
    assert run.spans[7].attributes == {"is_copied_context": True}
    assert run.attributes is not None
    assert set(run.attributes) == {"schema_version", "agent", "final_metrics", "notes"}
    assert (run.started_at, run.ended_at) == (run.spans[0].started_at, run.spans[1].started_at)


def test_a_trajectory_that_goes_on_elsewhere_has_no_end() -> None:
    run = one_run("atif", {**ATIF, "continued_trajectory_ref": "cont-1.json"})
    assert (run.status, run.final_output) == (None, None)
    assert (run.attributes or {})["continued_trajectory_ref"] == "cont-1.json"


def test_embedded_trajectories_are_runs() -> None:
    inner = {**ATIF, "trajectory_id": "sub", "subagent_trajectories": [ATIF]}
    found = read_lines("atif", {**ATIF, "subagent_trajectories": [inner, ATIF]}, ATIF)
    assert [run.run_id for run in found] == ["may/f#1", "may/f#1/sub", "may/f#1/sub/1", "may/f#1/2", "may/f#2"]
    assert all(len(run.spans) == 8 for run in found)


@pytest.mark.parametrize(
    ("name", "record", "reason"),
    [
        ("swe_agent", {"trajectory": 5}, "the trajectory must be a list of steps, got int"),
        ("swe_agent", {"trajectory": [5]}, "step 1 must be an object, got int"),
        ("swe_agent", [1], "a run must be an object, got list"),
        ("mini_swe_agent", {"info": {}}, "the messages must be a list, got NoneType"),
        ("mini_swe_agent", {"messages": [{"role": 5}]}, "message 1 must be an object with a role"),
        ("atif", {"steps": None}, "the steps must be a list, got NoneType"),
        ("atif", {"steps": [None]}, "step 1 must be an object, got NoneType"),
        ("atif", {"steps": [{"source": "agent", "tool_calls": [5]}]}, "a tool call must be an object, got int"),
        ("atif", {"steps": [{"observation": {"results": [5]}}]}, "a result must be an object, got int"),
        ("atif", {"steps": [{"timestamp": "noon"}]}, "is no time"),
        ("atif", {"steps": [], "subagent_trajectories": [5]}, "sub-agent trajectory 1 must be an object, got int"),
    ],
)
def test_what_is_no_trajectory_is_rejected(name: str, record: Any, reason: str) -> None:
    good = {"swe_agent": SWE, "mini_swe_agent": {"info": {}, "messages": MINI}, "atif": ATIF}[name]
    run, bad = sorted(read_lines(name, good, record), key=lambda one: isinstance(one, Rejected))
    assert isinstance(run, Run)
    assert (bad.line, reason in bad.reason) == (2, True)


@given(spoiled([SWE]))
def test_odd_swe_agent_trajectories(lines: list[Any]) -> None:
    assert_accounted(read_lines("swe_agent", *lines))


@given(spoiled(MINI) | spoiled([{"info": {"mini_version": "2"}, "messages": MINI}]))
def test_odd_mini_swe_agent_trajectories(lines: list[Any]) -> None:
    assert_accounted(read_lines("mini_swe_agent", *lines))


@given(spoiled([ATIF]))
def test_odd_atif_trajectories(lines: list[Any]) -> None:
    assert_accounted(read_lines("atif", *lines))


@pytest.mark.parametrize(
    ("stats", "metrics"),
    [
        ({"tokens_sent": 0, "tokens_received": 0, "instance_cost": 0, "api_calls": 0}, None),
        ({"tokens_sent": 0, "tokens_received": 0, "instance_cost": 0, "api_calls": 11}, {"api_calls": 11}),
        (
            {"tokens_sent": 9, "tokens_received": 0, "instance_cost": 0},
            {"prompt_tokens": 9, "completion_tokens": 0, "total_cost": 0, "total_tokens": 9},
        ),
        ({"tokens_sent": "9", "instance_cost": True}, None),
        (5, None),
    ],
)
def test_what_a_replay_did_not_count_is_no_metric(stats: Any, metrics: Any) -> None:
    run = one_run("swe_agent", {**SWE, "info": {"model_stats": stats}})
    assert run.metrics == metrics
    assert run.attributes is not None
    assert run.attributes["info"] == {"model_stats": stats}
