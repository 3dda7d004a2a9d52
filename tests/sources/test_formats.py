"""What the chat and AgentDojo readers make of a record."""

from __future__ import annotations

import copy
import json
import tempfile
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from check_workbench.records import RUN_STATUSES, Run
from check_workbench.sources import READERS, Origin, Rejected

CHAT: dict[str, Any] = {
    "task_id": 4,
    "trial": 1,
    "reward": 0.0,
    "info": {"task": {"user_id": "u"}},
    "traj": [
        {"role": "system", "content": "Rules."},
        {"role": "user", "content": "Cancel it."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c", "name": "f", "content": "Error: no"},
        {"role": "assistant", "content": "I could not."},
    ],
}
DOJO: dict[str, Any] = {
    "source_file": "runs/x.json",
    "suite_name": "bank",
    "pipeline_name": "model-1",
    "user_task_id": "user_task_0",
    "injection_task_id": None,
    "attack_type": None,
    "utility": True,
    "security": False,
    "total_tokens": 120,
    "duration": 1.5,
    "conversations": [
        {"role": "user", "content": "Pay."},
        {
            "role": "assistant",
            "content": "<final_answer></final_answer>",
            "tool_calls": [{"function": "pay", "args": {"to": "x"}, "id": "t"}],
        },
        {
            "role": "tool",
            "tool_call_id": "t",
            "tool_call": {"function": "pay", "args": {}},
            "content": "",
            "error": "no money",
        },
        {"role": "assistant", "content": "I think.\n<final_answer>\nNot paid.</final_answer>", "tool_calls": []},
    ],
}


def read(name: str, *records: Any) -> list[Run | Rejected]:
    reader = READERS[name].read
    assert reader is not None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "f.jsonl")
        path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
        made = list(reader(path, Origin(file="f.jsonl", stem="may/f")))
    assert all(isinstance(record, Run | Rejected) for record in made)
    return cast("list[Run | Rejected]", made)


def one(name: str, record: dict[str, Any], **changes: Any) -> Run:
    [run] = read(name, {**record, **changes})
    assert isinstance(run, Run)
    return run


def test_a_chat_record() -> None:
    run = one("chat", CHAT)
    assert (run.run_id, run.workflow, run.status) == ("may/f#1", "tau-bench", "ok")
    assert (run.system_prompt, run.input, run.final_output) == ("Rules.", "Cancel it.", "I could not.")
    assert run.attributes == {"task_id": 4, "trial": 1, "reward": 0.0, "info": {"task": {"user_id": "u"}}}
    assert run.metrics is None
    assert [(s.type, s.status) for s in run.spans] == [("user", None), ("llm", None), ("tool", "error"), ("llm", None)]


def test_chat_ids_count_broken_records_too() -> None:
    found = read("chat", CHAT, {"traj": 5}, CHAT)
    assert [r.run_id if isinstance(r, Run) else r.line for r in found] == ["may/f#1", 2, "may/f#3"]


@pytest.mark.parametrize(
    ("changes", "field", "value"),
    [
        ({"env": "retail"}, "workflow", "retail"),
        ({"workflow": "w", "env": "retail"}, "workflow", "w"),
        ({"traj": []}, "status", "no_output"),
        (
            {"total_tokens": 7, "duration": 2, "user_cost": 0.5},
            "metrics",
            {"total_tokens": 7, "user_cost": 0.5, "duration_ms": 2000},
        ),
        ({"total_tokens": True, "duration": "long"}, "metrics", None),
    ],
)
def test_chat_fields(changes: dict[str, Any], field: str, value: Any) -> None:
    assert getattr(one("chat", CHAT, **changes), field) == value


def test_an_agentdojo_record() -> None:
    run = one("agentdojo", DOJO)
    assert run.run_id == "model-1/bank/user_task_0/none/none"
    assert (run.workflow, run.status, run.input, run.final_output) == ("bank", "ok", "Pay.", "Not paid.")
    assert run.metrics == {"total_tokens": 120, "duration_ms": 1500.0}
    assert run.attributes is not None
    assert (run.attributes["utility"], run.attributes["security"]) == (True, False)
    call = run.spans[2]
    assert (call.type, call.name, call.input, call.output, call.status, call.error) == (
        "tool",
        "pay",
        {"to": "x"},
        "",
        "error",
        "no money",
    )


def test_where_an_agentdojo_run_was_found_is_no_part_of_it() -> None:
    alone = {key: value for key, value in DOJO.items() if key != "source_file"}
    assert one("agentdojo", DOJO) == one("agentdojo", alone)


def test_the_stock_agentdojo_shape() -> None:
    messages = [
        {"role": "system", "content": [{"type": "text", "content": "Rules."}]},
        {"role": "user", "content": [{"type": "text", "content": "Pay."}]},
        {"role": "assistant", "content": [{"type": "text", "content": "Paid."}], "tool_calls": None},
    ]
    record = {key: value for key, value in DOJO.items() if key != "conversations"}
    run = one(
        "agentdojo", record, messages=messages, attack_type="direct", injection_task_id="i_1", error="ran out of turns"
    )
    assert run.run_id == "model-1/bank/user_task_0/direct/i_1"
    assert (run.system_prompt, run.input, run.final_output, run.status) == ("Rules.", "Pay.", "Paid.", "error")


@pytest.mark.parametrize(
    ("last", "final", "status"),
    [
        ("<final_answer>never closed", "never closed", "ok"),
        ("<final_answer> </final_answer>", None, "no_output"),
        ("plain words", "plain words", "ok"),
        ("<final_answer>a</final_answer><final_answer>b</final_answer>", "b", "ok"),
        ("", None, "no_output"),
        (None, None, "no_output"),
    ],
)
def test_the_final_answer(last: str | None, final: str | None, status: str) -> None:
    run = one("agentdojo", DOJO, conversations=[{"role": "assistant", "content": last}])
    assert (run.final_output, run.status) == (final, status)


@pytest.mark.parametrize(
    ("name", "record", "reason"),
    [
        ("chat", {"task_id": 1}, "messages in traj or messages"),
        ("chat", {"traj": "x"}, "must be a list, got str"),
        ("chat", [[]], "a run must be an object, got list"),
        ("chat", 5, "a run must be an object, got int"),
        ("agentdojo", {**DOJO, "user_task_id": 3}, "user_task_id must be text"),
        ("agentdojo", {**DOJO, "suite_name": ""}, "suite_name must be text"),
        ("agentdojo", {"suite_name": "s"}, "in conversations or messages"),
        ("agentdojo", {**DOJO, "conversations": [None]}, "message 1 must be an object with a role"),
    ],
)
def test_what_is_no_run_is_rejected(name: str, record: Any, reason: str) -> None:
    [found] = read(name, record)
    assert isinstance(found, Rejected)
    assert (found.file, found.line) == ("f.jsonl", 1)
    assert reason in found.reason


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=4,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in inner for place in places(item, (*path, key)))]


@pytest.mark.parametrize(("name", "record"), [("chat", CHAT), ("agentdojo", DOJO)])
@given(data=st.data())
def test_a_record_with_something_odd_in_it_is_a_run_or_rejected(
    name: str, record: dict[str, Any], data: st.DataObject
) -> None:
    odd = copy.deepcopy(record)
    for _ in range(data.draw(st.integers(1, 3))):
        *way, last = data.draw(st.sampled_from([place for place in places(odd) if place]))
        inner = odd
        for key in way:
            inner = inner[key]
        inner[last] = data.draw(JSON)
    [found] = read(name, odd)
    assert isinstance(found, Run | Rejected)
    if isinstance(found, Run):
        assert found.status in RUN_STATUSES
        assert all(isinstance(span.type, str) and span.type for span in found.spans)
