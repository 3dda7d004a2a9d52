"""Canonical spans of Neatlogs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from check_workbench.sources import Rejected
from tests.sources.traces import START, lines, records, runs

if TYPE_CHECKING:
    from check_workbench.records import Span

SPAN: dict[str, Any] = {
    "schema_version": 2,
    "trace_id": "a" * 32,
    "span_id": "b" * 16,
    "parent_span_id": None,
    "name": "pay",
    "kind": "TOOL",
    "start_time_unix_nano": str(START),
    "end_time_unix_nano": str(START + 1_000_000),
    "ownership": "user",
    "wrapper": None,
    "input": {"value": '{"a": 1}', "type": "json", "media": []},
    "output": {"value": "paid", "type": "text"},
    "status": {"code": "OK", "message": "", "source": "sdk"},
    "error": None,
    "semantic": {"x": 1},
    "attributes": {"neatlogs.tool.name": "refund", "neatlogs.tool.is_error": False, "neatlogs.session.id": "s-1"},
}


def one(**changes: Any) -> Span:
    [run] = runs(json.dumps({**SPAN, **changes}))
    return run.spans[0]


def test_a_span() -> None:
    [run] = runs(lines([SPAN, {**SPAN, "span_id": "c", "kind": "LLM", "attributes": None}]))
    first, second = run.spans
    assert (first.type, first.name, first.input, first.output, first.status) == (
        "tool",
        "refund",
        '{"a": 1}',
        "paid",
        "ok",
    )
    assert (second.type, second.name) == ("llm", "pay")
    assert (run.session_id, run.metrics) == ("s-1", {"duration_ms": 1.0})
    assert first.attributes == {
        "neatlogs.tool.is_error": False,
        "neatlogs.session.id": "s-1",
        "otel": {
            "schema_version": 2,
            "ownership": "user",
            "input": {"type": "json", "media": []},
            "output": {"type": "text"},
            "semantic": {"x": 1},
            "status": {"source": "sdk"},
            "name": "pay",
        },
    }


@pytest.mark.parametrize(("kind", "type_"), [("MCP_TOOL", "mcp_tool"), ("WORKFLOW", "workflow"), ("UNKNOWN", "tool")])
def test_kinds(kind: str, type_: str) -> None:
    assert one(kind=kind).type == type_


@pytest.mark.parametrize(
    ("changes", "status", "error"),
    [
        ({"error": {"type": "E", "message": "no", "stack": "s"}}, "error", "no"),
        ({"error": {"type": "E"}}, "error", "E"),
        ({"error": "no"}, "error", "no"),
        ({"error": {"type": "E", "message": "no"}, "status": {"code": "ERROR", "message": "why"}}, "error", "why"),
        ({"status": {"code": "UNSET"}}, None, None),
        ({"status": "ERROR"}, "error", None),
        ({"status": None}, None, None),
        ({"attributes": {"neatlogs.tool.is_error": True}}, "error", None),
    ],
)
def test_failures(changes: dict[str, Any], status: str | None, error: str | None) -> None:
    made = one(**changes)
    assert (made.status, made.error) == (status, error)


def test_the_record_wins_over_attributes_which_stay() -> None:
    made = one(attributes={"neatlogs.span.kind": "CHAIN", "neatlogs.tool.input": "other"})
    assert (made.type, made.input) == ("tool", '{"a": 1}')
    assert {"neatlogs.span.kind", "neatlogs.tool.input"} <= (made.attributes or {}).keys()


def test_the_stack_of_an_error_is_kept() -> None:
    made = one(error={"message": "no", "stack": "line 1"}, status={"code": "OK"})
    assert (made.attributes or {})["otel"]["error"] == {"message": "no", "stack": "line 1"}
    assert (made.attributes or {})["otel"]["recorded_status"] == {"code": "OK"}


def test_lists_with_something_around_them() -> None:
    [run] = runs(json.dumps({"project": "p", "spans": [SPAN]}))
    assert (run.attributes or {})["around"] == {"project": "p"}


@pytest.mark.parametrize("changes", [{"input": 5}, {"output": None}, {"attributes": [1]}, {"kind": 7}, {"name": None}])
def test_odd_values_are_no_crash(changes: dict[str, Any]) -> None:
    assert one(**changes).span_id == "b" * 16


def test_what_is_no_span_is_rejected() -> None:
    rejected, run = records(lines([SPAN, 5]))
    assert isinstance(rejected, Rejected)
    assert len(run.spans) == 1
