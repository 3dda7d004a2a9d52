"""Calls in what a model answered, results in what it was asked, and the spans made of both."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from check_workbench.records import Span
from check_workbench.sources.called import called
from check_workbench.sources.encoded import meant
from check_workbench.sources.tool_calls import Call, Result, calls_in, results_in

OPENAI = {"choices": [{"message": {"tool_calls": [{"id": "c", "function": {"name": "pay", "arguments": "{}"}}]}}]}
RESPONSES = {"output": [{"type": "function_call", "id": "fc_1", "call_id": "c", "name": "pay", "arguments": "{}"}]}
ANTHROPIC = {"content": [{"type": "text"}, {"type": "tool_use", "id": "c", "name": "pay", "input": "{}"}]}
LANGCHAIN = {"kwargs": {"tool_calls": [{"id": "c", "name": "pay", "args": "{}", "type": "tool_call"}]}}
OTEL = [{"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "pay", "arguments": "{}"}]}]
END = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize("answer", [OPENAI, RESPONSES, ANTHROPIC, LANGCHAIN, OTEL])
def test_every_form_of_a_call(answer: Any) -> None:
    assert calls_in(answer) == [Call(name="pay", id="c", arguments="{}")]


@pytest.mark.parametrize("key", ["functionCall", "function_call"])
def test_gemini_calls_have_no_id(key: str) -> None:
    answer = {"content": {"parts": [{key: {"name": "pay", "args": {"to": "x"}}}]}}
    assert calls_in(answer) == [Call(name="pay", id=None, arguments={"to": "x"})]


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "text",
        {"tool_calls": "none"},
        {"tool_calls": [None, 5, {}, {"name": ""}, {"function": {"name": 7}}]},
        {"tools": [{"type": "function", "function": {"name": "pay"}, "name": "pay"}]},
        {"function_call": None},
    ],
)
def test_what_is_no_call(answer: Any) -> None:
    assert calls_in(answer) == []


def test_a_call_that_is_told_twice_is_one() -> None:
    assert len(calls_in([OPENAI, LANGCHAIN])) == 1
    gemini = {"functionCall": {"name": "pay", "args": {}}}
    assert len(calls_in([gemini, gemini, {"functionCall": {"name": "pay", "args": {"to": "x"}}}])) == 2


@pytest.mark.parametrize(
    "message",
    [
        {"role": "tool", "tool_call_id": "c", "content": "paid"},
        {"type": "function_call_output", "call_id": "c", "output": "paid"},
        {"type": "tool_result", "tool_use_id": "c", "content": "paid"},
        {"type": "tool", "id": "m1", "tool_call_id": "c", "content": "paid"},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c", "response": "paid"}]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c", "result": "paid"}]},
    ],
)
def test_every_form_of_a_result(message: Any) -> None:
    assert results_in({"messages": [{"role": "user", "content": "Pay."}, message]}) == [
        Result(id="c", output="paid", failed=False)
    ]


def test_failed_results() -> None:
    told = [
        {"type": "tool_result", "tool_use_id": "c", "content": "no", "is_error": True},
        {"type": "tool", "tool_call_id": "d", "content": "no", "status": "error"},
    ]
    assert [result.failed for result in results_in(told)] == [True, True]


def test_a_call_becomes_a_span_behind_the_answer_that_has_it() -> None:
    first = Span(type="llm", span_id="a", output=OPENAI, ended_at=END)
    second = Span(type="llm", span_id="b", input=[{"role": "tool", "tool_call_id": "c", "content": "paid"}])
    assert called([first, second]) == (
        first,
        Span(
            type="tool",
            name="pay",
            span_id="c",
            parent_id="a",
            input="{}",
            output="paid",
            status="ok",
            started_at=END,
            attributes={"found_in": "output"},
        ),
        second,
    )


def test_a_failed_result_makes_a_failed_call() -> None:
    told = [{"type": "tool_result", "tool_use_id": "c", "content": "no", "is_error": True}]
    call = called([Span(type="llm", output=ANTHROPIC), Span(type="llm", input=told)])[1]
    assert (call.status, call.error) == ("error", "no")


def test_a_call_that_nobody_answered() -> None:
    call = called([Span(type="llm", output=OPENAI)])[1]
    assert (call.output, call.status) == (None, None)


@pytest.mark.parametrize(
    "other", [Span(type="tool", name="else"), Span(type="span", name="pay"), Span(type="chain", span_id="c")]
)
def test_a_trace_that_tells_of_its_tools_gets_no_more(other: Span) -> None:
    spans = (Span(type="llm", output=OPENAI), other)
    assert called(spans) == spans


def test_the_same_call_in_two_spans_is_one() -> None:
    spans = [Span(type="llm", output=OPENAI), Span(type="llm", output=RESPONSES), Span(type="chain", output=OPENAI)]
    assert [one.type for one in called(spans)] == ["llm", "tool", "llm", "chain"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"Hello"', "Hello"),
        ('{"a": [1]}', {"a": [1]}),
        ("[1, 2]", [1, 2]),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ('"\\"twice\\""', '"twice"'),
        ('{"a": "{}"}', {"a": "{}"}),
        (" [1]\n", [1]),
        ("", ""),
        ("42", "42"),
        ("null", "null"),
        ("{broken", "{broken"),
        ("{'a': 1}", "{'a': 1}"),
        ('{"a": NaN}', '{"a": NaN}'),
        ("[" * 100_000, "[" * 100_000),
        ('"open', '"open'),
        (None, None),
        (7, 7),
        ({"a": "[1]"}, {"a": "[1]"}),
    ],
)
def test_json_in_a_text_is_what_was_meant(text: Any, value: Any) -> None:
    assert meant(text) == value
