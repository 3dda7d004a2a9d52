"""Six vocabularies of attributes to the fields of a span."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from check_workbench.sources.otel.names import KEYS
from tests.sources.traces import START, Told, run

if TYPE_CHECKING:
    from check_workbench.records import Span


def span(attributes: dict[str, Any] | None = None, **told: Any) -> Span:
    [made] = run(Told(attributes=attributes or {}, **told)).spans
    return made


@pytest.mark.parametrize(
    ("attributes", "type_"),
    [
        ({}, "span"),
        ({"openinference.span.kind": "LLM"}, "llm"),
        ({"openinference.span.kind": "RETRIEVER"}, "retriever"),
        ({"openinference.span.kind": "UNKNOWN", "gen_ai.operation.name": "chat"}, "llm"),
        ({"neatlogs.span.kind": "MCP_TOOL"}, "mcp_tool"),
        ({"mcp.method.name": "tools/call", "gen_ai.operation.name": "execute_tool"}, "mcp_tool"),
        ({"mcp.method.name": "tools/list", "gen_ai.operation.name": "execute_tool"}, "tool"),
        ({"gen_ai.tool.type": "MCPTool", "gen_ai.operation.name": "execute_tool"}, "mcp_tool"),
        ({"gen_ai.tool.type": "function", "gen_ai.operation.name": "execute_tool"}, "tool"),
        ({"gen_ai.operation.name": "chat"}, "llm"),
        ({"gen_ai.operation.name": "text_completion"}, "llm"),
        ({"gen_ai.operation.name": "generate_content"}, "llm"),
        ({"gen_ai.operation.name": "invoke_agent"}, "agent"),
        ({"gen_ai.operation.name": "create_agent"}, "agent"),
        ({"gen_ai.operation.name": "embeddings"}, "embedding"),
        ({"gen_ai.operation.name": "unknown"}, "span"),
        ({"traceloop.span.kind": "workflow"}, "workflow"),
        ({"traceloop.span.kind": "task"}, "task"),
        ({"ai.operationId": "ai.generateText"}, "agent"),
        ({"ai.operationId": "ai.generateText.doGenerate"}, "llm"),
        ({"ai.operationId": "ai.streamObject.doStream"}, "llm"),
        ({"ai.operationId": "ai.generateObject"}, "chain"),
        ({"ai.operationId": "ai.toolCall"}, "tool"),
        ({"ai.operationId": "ai.embed.doEmbed"}, "embedding"),
        ({"llm.request.type": "chat"}, "llm"),
        ({"llm.request.type": "embedding"}, "embedding"),
        ({"aws.genai.span_kind": "AGENT"}, "agent"),
        ({"gen_ai.tool.name": "pay"}, "tool"),
        ({"gen_ai.request.model": "m"}, "llm"),
        ({"http.request.method": "GET"}, "http"),
        ({"db.system.name": "sqlite"}, "db"),
        ({"rpc.system": "grpc"}, "rpc"),
        ({"openinference.span.kind": 7, "gen_ai.operation.name": ["chat"]}, "span"),
    ],
)
def test_types(attributes: dict[str, Any], type_: str) -> None:
    assert span(attributes).type == type_


@pytest.mark.parametrize(
    ("attributes", "recorded", "name"),
    [
        ({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "pay"}, "execute_tool pay", "pay"),
        ({"gen_ai.operation.name": "execute_tool"}, "execute_tool pay", "pay"),
        ({"openinference.span.kind": "TOOL", "tool.name": "pay"}, "PayTool", "pay"),
        ({"openinference.span.kind": "TOOL"}, "PayTool", "PayTool"),
        ({"traceloop.span.kind": "tool", "traceloop.entity.name": "pay"}, "pay.tool", "pay"),
        ({"ai.operationId": "ai.toolCall", "ai.toolCall.name": "pay"}, "ai.toolCall", "pay"),
        ({"neatlogs.span.kind": "TOOL", "neatlogs.tool.name": "pay"}, "t", "pay"),
        ({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "clerk"}, "invoke_agent clerk", "clerk"),
        ({"gen_ai.operation.name": "chat", "gen_ai.agent.name": "clerk"}, "chat m", "chat m"),
    ],
)
def test_names(attributes: dict[str, Any], recorded: str, name: str) -> None:
    made = span(attributes, name=recorded)
    assert made.name == name
    assert ((made.attributes or {})["otel"].get("name") == recorded) == (name != recorded)


@pytest.mark.parametrize("field", ["input", "output"])
def test_contents_by_priority(field: str) -> None:
    keys = KEYS[field]
    attributes = {key: f"from {key}" for key in reversed(keys)}
    for place, key in enumerate(keys):
        made = span(attributes)
        assert getattr(made, field) == f"from {key}"
        assert (made.attributes or {}).keys() - {"otel"} == set(keys[place + 1 :])
        del attributes[key]


@pytest.mark.parametrize("field", ["model", "tokens_in", "tokens_out"])
def test_models_and_tokens_by_priority(field: str) -> None:
    keys = KEYS[field]
    attributes: dict[str, Any] = {
        key: f"m{place}" if field == "model" else place for place, key in enumerate(keys, start=1)
    }
    for place, key in enumerate(keys, start=1):
        assert getattr(span(attributes), field) == (f"m{place}" if field == "model" else place)
        del attributes[key]


@pytest.mark.parametrize("tokens", ["many", -1, 2.5, True, 2**63, "", None])
def test_tokens_that_are_no_count_stay_attributes(tokens: Any) -> None:
    made = span({"gen_ai.usage.input_tokens": tokens} if tokens is not None else {})
    assert made.tokens_in is None
    if tokens is not None:
        assert (made.attributes or {})["gen_ai.usage.input_tokens"] == tokens


def test_recorded_json_text_stays_text() -> None:
    made = span({"gen_ai.tool.name": "f", "gen_ai.tool.call.arguments": '{"b": 1}', "gen_ai.tool.call.result": "[1]"})
    assert (made.input, made.output) == ('{"b": 1}', "[1]")


def test_the_schema_of_a_tool_is_no_input() -> None:
    made = span({"openinference.span.kind": "TOOL", "tool.parameters": "{}"})
    assert made.input is None
    assert (made.attributes or {})["tool.parameters"] == "{}"


def test_messages_of_open_inference_are_put_together() -> None:
    made = span(
        {
            "openinference.span.kind": "LLM",
            "llm.input_messages.10.message.content": "last",
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.contents.0.message_content.type": "text",
            "llm.input_messages.0.message.contents.0.message_content.text": "Hi",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "pay",
            "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c",
        }
    )
    assert made.input == [{"role": "user", "contents": [{"type": "text", "text": "Hi"}]}, {"content": "last"}]
    assert made.output == [{"tool_calls": [{"function": {"name": "pay"}, "id": "c"}]}]
    assert made.attributes == {"otel": {"kind": "internal"}}


def test_messages_that_contradict_each_other_stay_attributes() -> None:
    odd = {"llm.input_messages.0.message.content": "x", "llm.input_messages.0.message.content.0": "y"}
    made = span(odd)
    assert made.input is None
    assert made.attributes == {**odd, "otel": {"kind": "internal"}}


def test_prompts_of_open_llmetry_are_put_together() -> None:
    made = span(
        {
            "llm.request.type": "chat",
            "gen_ai.prompt.0.role": "user",
            "gen_ai.prompt.0.content": "Hi",
            "gen_ai.completion.0.content": "Ho",
        }
    )
    assert (made.input, made.output) == ([{"role": "user", "content": "Hi"}], [{"content": "Ho"}])


def test_documents_are_the_output_of_a_retriever() -> None:
    made = span({"openinference.span.kind": "RETRIEVER", "retrieval.documents.0.document.content": "page"})
    assert made.output == [{"content": "page"}]


def event(name: str, **attributes: Any) -> dict[str, Any]:
    return {"name": name, "time": START, "attributes": attributes}


DETAILS = event(
    "gen_ai.client.inference.operation.details",
    **{"gen_ai.input.messages": "[1]", "gen_ai.output.messages": "[2]"},
)
PROMPT = event("gen_ai.content.prompt", **{"gen_ai.prompt": "p"})
COMPLETION = event("gen_ai.content.completion", **{"gen_ai.completion": "c"})
MESSAGES = [
    event("gen_ai.system.message", content="Rules."),
    event("gen_ai.user.message", content="Hi", **{"gen_ai.system": "x"}),
    event("gen_ai.choice", message={"content": "Ho"}),
]
ASKED = [{"role": "system", "content": "Rules."}, {"role": "user", "content": "Hi"}]


@pytest.mark.parametrize(
    ("events", "given", "answered"),
    [
        ([DETAILS], "[1]", "[2]"),
        ([PROMPT, COMPLETION], "p", "c"),
        (MESSAGES, ASKED, [{"role": "assistant", "content": "Ho"}]),
        ([event("note")], None, None),
    ],
)
def test_contents_in_events(events: list[dict[str, Any]], given: Any, answered: Any) -> None:
    made = span({"gen_ai.operation.name": "chat"}, events=events)
    assert (made.input, made.output) == (given, answered)
    assert (made.attributes or {})["otel"]["events"] == events


def test_attributes_win_over_events() -> None:
    made = span({"input.value": "a"}, events=[PROMPT])
    assert made.input == "a"


EXCEPTION = {"exception.type": "E", "exception.message": "no money"}
RAISED = event("exception", **EXCEPTION)


@pytest.mark.parametrize(
    ("told", "status", "error"),
    [
        ({}, None, None),
        ({"failed": False}, "ok", None),
        ({"failed": True}, "error", None),
        ({"failed": True, "message": "why"}, "error", "why"),
        ({"failed": True, "attributes": {"error.message": "m", "error.type": "T"}}, "error", "m"),
        (
            {"failed": True, "attributes": {"error.type": "T"}, "events": [event("exception", **EXCEPTION)]},
            "error",
            "E: no money",
        ),
        ({"attributes": {"error.type": "T"}}, "error", "T"),
        ({"attributes": {"tool.is_error": True}}, "error", None),
        ({"failed": False, "attributes": {"neatlogs.tool.is_error": True}}, "error", None),
        ({"attributes": {"neatlogs.tool.is_error": False}}, None, None),
        ({"events": [RAISED]}, None, None),
        ({"events": [event("exception", **EXCEPTION, **{"exception.escaped": "False"})]}, None, None),
        ({"events": [event("exception", **EXCEPTION, **{"exception.escaped": "True"})]}, "error", "E: no money"),
    ],
)
def test_failures(told: dict[str, Any], status: str | None, error: str | None) -> None:
    made = span(**told)
    assert (made.status, made.error) == (status, error)


def test_an_attribute_named_like_ours_is_kept() -> None:
    assert span({"otel": 5}).attributes == {"otel": 5, "otel~2": {"kind": "internal"}}


@pytest.mark.parametrize("size", [3_000])
def test_many_numbered_attributes_take_no_square_of_time(size: int) -> None:
    attributes = {f"llm.input_messages.{n}.message.content": str(n) for n in range(size)}
    made = span({"openinference.span.kind": "LLM", **attributes})
    assert [message["content"] for message in made.input] == [str(n) for n in range(size)]
