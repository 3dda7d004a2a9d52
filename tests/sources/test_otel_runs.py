"""What a trace says of its run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.sources.traces import SCOPE, START, Told, listed, otlp_span, run, runs

MS = 1_000_000
IDS = [f"{n:016x}" for n in range(1, 9)]


def told(place: int, parent: int | None = None, **fields: Any) -> Told:
    above = None if parent is None else IDS[parent]
    return Told(**{"span": IDS[place], "parent": above, "start": START + place * MS, "end": START + 50 * MS, **fields})


def kind(name: str, **attributes: Any) -> dict[str, Any]:
    return {"openinference.span.kind": name, **{key.replace("__", "."): value for key, value in attributes.items()}}


def test_the_root_gives_input_output_and_times() -> None:
    made = run(
        told(1, 0, attributes=kind("LLM", input__value="inner", output__value="inner")),
        told(0, attributes=kind("CHAIN", input__value="Hi", output__value="Ho")),
    )
    assert (made.input, made.final_output, made.status) == ("Hi", "Ho", "ok")
    assert (made.started_at, made.ended_at) == (made.spans[1].started_at, made.spans[1].ended_at)
    assert made.metrics == {"duration_ms": 50.0}


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_the_root_has_no_parent_before_it_has_an_early_start(order: tuple[int, ...]) -> None:
    spans = [
        told(0, 7, attributes=kind("CHAIN", input__value="its parent is elsewhere")),
        told(1, attributes=kind("CHAIN", input__value="no parent")),
        told(2, attributes=kind("CHAIN", input__value="later")),
    ]
    assert run(*(spans[place] for place in order)).input == "no parent"


def test_without_contents_of_the_root_those_of_the_agents() -> None:
    made = run(
        told(0, attributes={"http.method": "POST"}),
        told(2, 0, end=START + 30 * MS, attributes=kind("AGENT", input__value="second", output__value="first to end")),
        told(1, 0, end=START + 40 * MS, attributes=kind("AGENT", input__value="first", output__value="last to end")),
        told(3, 2, attributes=kind("LLM", input__value="m", output__value="m")),
    )
    assert (made.input, made.final_output) == ("first", "last to end")


def test_without_contents_of_agents_those_of_the_models() -> None:
    made = run(
        told(0),
        told(1, 0, end=START + 9 * MS, attributes=kind("LLM", input__value="ask", output__value="call a tool")),
        told(2, 0, end=START + 20 * MS, attributes=kind("LLM", input__value="ask again", output__value="Done.")),
        told(3, 0, attributes=kind("TOOL", input__value="t", output__value="t")),
    )
    assert (made.input, made.final_output) == ("ask", "Done.")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (
            '[{"role": "user", "content": "a"}, {"role": "ai", "content": "b"}, {"role": "user", "content": "c"}]',
            "c",
        ),
        ('[{"role": "user", "parts": [{"type": "text", "content": "Hi"}, {"type": "image"}]}]', "Hi"),
        ('{"messages": [{"type": "human", "content": [{"text": "a"}, {"text": "b"}]}]}', "a\nb"),
        (
            '{"contents": [{"role": "user", "parts": [{"text": "Hi"}]}, {"role": "user", "parts": [{"x": 1}]}]}',
            "Hi",
        ),
        ('{"messages": [{"kwargs": {"type": "human", "content": "Hi"}}]}', "Hi"),
        ('{"prompt": "Hi"}', "Hi"),
        ('{"task": "Hi", "stream": false}', "Hi"),
        ('{"order": 7}', '{"order": 7}'),
        ("[1, 2]", "[1, 2]"),
        ("{broken", "{broken"),
        ("Hi", "Hi"),
    ],
)
def test_the_request_is_read_out_of_messages(value: str, text: str) -> None:
    made = run(told(0, attributes=kind("AGENT", input__value=value)))
    assert made.input == text
    assert made.spans[0].input == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ('{"choices": [{"message": {"role": "assistant", "content": "Ho"}}]}', "Ho"),
        (
            '{"output": [{"type": "reasoning"}, {"role": "assistant", "content": [{"type": "t", "text": "Ho"}]}]}',
            "Ho",
        ),
        ('{"content": {"role": "model", "parts": [{"text": "Ho"}]}}', "Ho"),
        ('{"role": "assistant", "content": "Ho"}', "Ho"),
        ('{"generations": [[{"text": "Ho", "message": {"kwargs": {"type": "ai", "content": "Ho"}}}]]}', "Ho"),
        ('{"answer": 42}', '{"answer": 42}'),
        ('"quoted"', '"quoted"'),
    ],
)
def test_the_reply_is_read_out_of_messages(value: str, text: str) -> None:
    assert run(told(0, attributes=kind("LLM", output__value=value))).final_output == text


@pytest.mark.parametrize(
    ("attributes", "text"),
    [
        ({"gen_ai.system_instructions": '[{"type": "text", "content": "Rules."}]'}, "Rules."),
        ({"gen_ai.system_instructions": "Rules."}, "Rules."),
        ({"gen_ai.input.messages": '[{"role": "system", "parts": [{"content": "Rules."}]}]'}, "Rules."),
        ({"gen_ai.prompt.0.role": "system", "gen_ai.prompt.0.content": "Rules."}, "Rules."),
        ({"gcp.vertex.agent.llm_request": '{"config": {"system_instruction": "Rules."}}'}, "Rules."),
        ({"input.value": "no messages"}, None),
    ],
)
def test_system_prompts(attributes: dict[str, Any], text: str | None) -> None:
    assert run(told(0, attributes={"gen_ai.operation.name": "chat", **attributes})).system_prompt == text


@pytest.mark.parametrize(
    ("spans", "status"),
    [
        ([told(0, failed=True, attributes=kind("CHAIN", output__value="Ho"))], "error"),
        ([told(0, failed=False), told(1, 0, failed=True)], "ok"),
        ([told(0), told(1, 0, failed=True)], None),
        ([told(0, attributes=kind("CHAIN", output__value="Ho")), told(1, 0, failed=True)], "ok"),
        ([told(0), told(1, 0, attributes=kind("LLM", input__value="Hi"))], "no_output"),
        ([told(0, failed=True, attributes={"neatlogs.trace.interrupted": True})], "interrupted"),
        ([told(0, attributes={"neatlogs.trace.interrupted": False})], None),
    ],
)
def test_states(spans: list[Told], status: str | None) -> None:
    assert run(*spans).status == status


AGENT = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "clerk"}


@pytest.mark.parametrize(
    ("service", "attributes", "workflow"),
    [
        ("shop", {"traceloop.workflow.name": "refund", **AGENT}, "refund"),
        ("shop", {"neatlogs.workflow.name": "refund"}, "refund"),
        ("shop", AGENT, "shop"),
        ("unknown_service:python", AGENT, "clerk"),
        (None, AGENT, "clerk"),
        (None, {"gen_ai.agent.name": "clerk", "ai.telemetry.functionId": "f"}, "f"),
        (None, {"openinference.span.kind": "CHAIN"}, "work"),
        (None, {}, None),
    ],
)
def test_workflows(service: str | None, attributes: dict[str, Any], workflow: str | None) -> None:
    resource = {"attributes": listed({"service.name": service})} if service else {}
    block = {"resource": resource, "scopeSpans": [{"scope": SCOPE, "spans": [otlp_span(Told(attributes=attributes))]}]}
    [made] = runs(json.dumps({"resourceSpans": [block]}))
    assert made.workflow == workflow


@pytest.mark.parametrize(
    "key",
    [
        "session.id",
        "gen_ai.conversation.id",
        "langfuse.session.id",
        "neatlogs.session.id",
        "gcp.vertex.agent.session_id",
    ],
)
def test_sessions(key: str) -> None:
    made = run(told(0), told(1, 0, attributes={key: "s-1"}), told(2, 0, attributes={key: "s-2"}))
    assert made.session_id == "s-1"
    assert [(one.attributes or {}).get(key) for one in made.spans] == [None, "s-1", "s-2"]


USED = {"gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 2, "operation.cost": 0.5}


def test_tokens_are_those_of_the_models() -> None:
    made = run(
        told(0, attributes={**AGENT, "gen_ai.usage.input_tokens": 999}),
        told(1, 0, attributes={"gen_ai.operation.name": "chat", **USED}),
        told(2, 0, attributes={"gen_ai.operation.name": "embeddings", "gen_ai.usage.input_tokens": 5}),
    )
    assert made.metrics == {
        "prompt_tokens": 15,
        "completion_tokens": 2,
        "total_tokens": 17,
        "total_cost": 0.5,
        "duration_ms": 50.0,
    }


def test_without_models_tokens_are_those_of_the_outermost_spans() -> None:
    made = run(
        told(0),
        told(1, 0, attributes={**AGENT, "llm.token_count.total": 100, "llm.token_count.prompt": 90}),
        told(2, 1, attributes={**AGENT, "llm.token_count.total": 60}),
        told(3, 0, attributes={**AGENT, "llm.token_count.total": 7}),
    )
    assert made.metrics == {"total_tokens": 107, "prompt_tokens": 90, "duration_ms": 50.0}


def test_a_model_call_seen_from_outside_is_no_second_one() -> None:
    made = run(
        told(0, attributes={"gen_ai.request.model": "m", **USED}),
        told(1, 0, attributes={"gen_ai.operation.name": "generate_content", **USED}),
        told(2, 1, attributes={"llm.request.type": "chat", **USED}),
        told(3, 0, attributes={"gen_ai.tool.name": "ask"}),
        told(4, 3, attributes={"gen_ai.operation.name": "chat", **USED}),
    )
    assert [one.type for one in made.spans] == ["chain", "chain", "llm", "tool", "llm"]
    assert (made.metrics or {})["total_tokens"] == 24


def test_a_span_without_an_id_has_none() -> None:
    span = {**otlp_span(told(0)), "spanId": ""}
    block = {"scopeSpans": [{"spans": [span, {**span, "name": "x"}, {**span, "spanId": "#1"}]}]}
    [made] = runs(json.dumps({"resourceSpans": [block]}))
    assert [one.span_id for one in made.spans] == [None, None, "#1~2"]


def test_each_copy_of_an_id_counts_once() -> None:
    span = otlp_span(told(0))
    other = {**span, "name": "x"}
    block = {"scopeSpans": [{"spans": [span, other, span, other]}]}
    [made] = runs(json.dumps({"resourceSpans": [block]}))
    assert [one.name for one in made.spans] == [span["name"], "x"]
