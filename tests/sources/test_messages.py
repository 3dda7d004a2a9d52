from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from check_workbench.errors import InputError
from check_workbench.sources.messages import conversation, text_of


def call(name: Any, arguments: Any = "{}", id_: Any = None) -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def asks(*calls: Any, content: Any = None) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def result(content: Any, **rest: Any) -> dict[str, Any]:
    return {"role": "tool", "content": content, **rest}


def test_a_dialogue_becomes_spans_in_message_order() -> None:
    told = conversation(
        [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "Refund 7"},
            asks(call("refund", '{"order": 7}', "c1"), content="One moment."),
            result("done", tool_call_id="c1", name="refund"),
            {"role": "system", "content": "Be brief."},
            {"role": "assistant", "content": "It is refunded.", "model": "m-1"},
        ],
    )
    assert [(s.type, s.name, s.span_id, s.input, s.output, s.status) for s in told.spans] == [
        ("user", None, None, "Refund 7", None, None),
        ("llm", None, None, None, "One moment.", None),
        ("tool", "refund", "c1", '{"order": 7}', "done", "ok"),
        ("system", None, None, "Be brief.", None, None),
        ("llm", None, None, None, "It is refunded.", None),
    ]
    assert told.spans[-1].model == "m-1"
    assert (told.system_prompt, told.first_request, told.last_reply) == ("Be kind.", "Refund 7", "It is refunded.")
    assert told.ends_with_reply


def test_results_find_their_calls_whatever_the_order() -> None:
    told = conversation(
        [asks(call("a", id_="1"), call("b", id_="2")), result("B", tool_call_id="2"), result("A", tool_call_id="1")]
    )
    assert [(s.name, s.output) for s in told.spans[1:]] == [("a", "A"), ("b", "B")]


def test_an_id_used_again_in_a_later_turn_belongs_to_that_turn() -> None:
    told = conversation([asks(call("a", id_="0")), asks(call("b", id_="0")), result("B", tool_call_id="0")])
    assert [(s.name, s.span_id, s.output, s.status) for s in told.spans if s.type == "tool"] == [
        ("a", "0", None, None),
        ("b", None, "B", "ok"),
    ]


def test_twins_in_one_turn_are_answered_in_order() -> None:
    told = conversation(
        [asks(call("a", id_="0"), call("a", id_="0")), result("1", tool_call_id="0"), result("2", tool_call_id="0")]
    )
    assert [s.output for s in told.spans if s.type == "tool"] == ["1", "2"]


def test_a_result_without_a_call_is_a_span_of_its_own() -> None:
    [span] = conversation([result("lost", tool_call_id="c9", name="find")]).spans
    assert (span.type, span.name, span.input, span.output) == ("tool", "find", None, "lost")


def test_a_call_without_a_result_has_no_output_and_no_status() -> None:
    span = conversation([asks(call("a", id_="1"))]).spans[1]
    assert (span.output, span.status, span.error) == (None, None, None)


def test_the_old_function_call_form_is_read() -> None:
    told = conversation(
        [
            {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": '{"x": 1}'}},
            {"role": "function", "name": "f", "content": "2"},
        ],
    )
    assert [(s.name, s.input, s.output) for s in told.spans[1:]] == [("f", '{"x": 1}', "2")]


@pytest.mark.parametrize("arguments", ["not json", "{", "5", '"text"', '{"a": NaN}', "[" * 50_000, ""])
def test_arguments_that_are_no_json_stay_text(arguments: str) -> None:
    assert conversation([asks(call("a", arguments))]).spans[1].input == arguments


@pytest.mark.parametrize(
    ("message", "prefix", "error"),
    [
        ({"content": "Error: no such order"}, "Error", "Error: no such order"),
        ({"content": "Error: no such order"}, None, None),
        ({"content": "no Error here"}, "Error", None),
        ({"content": "out", "error": "boom"}, None, "boom"),
        ({"content": "out", "error": {"code": 5}}, None, '{"code": 5}'),
        ({"content": "out", "error": None}, None, None),
        ({"content": None, "is_error": True}, None, "error"),
        ({"content": "out", "is_error": False}, None, None),
    ],
)
def test_which_results_are_errors(message: dict[str, Any], prefix: str | None, error: str | None) -> None:
    [span] = conversation([{"role": "tool", **message}], error_prefix=prefix).spans
    assert (span.error, span.status) == (error, "error" if error else "ok")
    assert span.output == message["content"]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, None),
        ("plain", "plain"),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb"),
        ([{"type": "text", "content": "a"}, "b"], "a\nb"),
        ([{"type": "image_url", "image_url": {"url": "u"}}], "[image_url]"),
        ([5, None], "[part]\n[part]"),
        ({"text": "a"}, "a"),
        ({"x": 1}, '{"x": 1}'),
        (3, "3"),
    ],
)
def test_content_is_flattened(content: Any, text: str | None) -> None:
    assert text_of(content) == text


def test_what_text_cannot_show_stays_in_the_attributes() -> None:
    parts = [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "u"}}]
    [span] = conversation([{"role": "user", "content": parts, "refusal": None, "weight": 0.5}]).spans
    assert span.attributes == {"content": parts, "weight": 0.5}


def test_blocks_of_the_anthropic_api_are_calls_and_results() -> None:
    told = conversation(
        [
            {"role": "user", "content": [{"type": "text", "text": "Refund 7"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "Hm.", "signature": "s"},
                    {"type": "text", "text": "One moment."},
                    {"type": "tool_use", "id": "c1", "name": "refund", "input": {"order": 7}},
                    {"type": "tool_use", "id": "c2", "name": "mail", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c2", "content": "no", "is_error": True},
                    {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "done"}]},
                    {"type": "text", "text": "And now?"},
                ],
            },
        ],
    )
    assert [(s.type, s.name, s.span_id, s.input, s.output, s.error) for s in told.spans] == [
        ("user", None, None, "Refund 7", None, None),
        ("llm", None, None, None, "One moment.", None),
        ("tool", "refund", "c1", {"order": 7}, "done", None),
        ("tool", "mail", "c2", {}, "no", "no"),
        ("user", None, None, "And now?", None, None),
    ]
    assert told.spans[1].attributes == {"thinking": "Hm."}
    assert (told.first_request, told.last_reply) == ("Refund 7", "One moment.")


def test_blocks_beside_calls_of_the_other_kind_are_refused_only_where_those_are_odd() -> None:
    used = {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]}
    both = conversation([{**used, "tool_calls": [call("g", id_="d")]}])
    assert [s.name for s in both.spans[1:]] == ["g", "f"]
    with pytest.raises(InputError, match="tool_calls must be a list"):
        conversation([{**used, "tool_calls": 5}])


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        (None, "must be a list, got null"),
        ({}, "must be a list, got dict"),
        ([5], "message 1 must be an object with a role, got int"),
        ([{"content": "x"}], "message 1 must be an object with a role"),
        ([{"role": "user", "content": "x"}, {"role": 3}], "message 2 must be an object with a role"),
        ([asks("x")], "a tool call must be an object, got str"),
        ([{"role": "assistant", "tool_calls": "x"}], "tool_calls must be a list, got str"),
    ],
)
def test_what_is_no_conversation_says_why(messages: Any, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        conversation(messages)


def test_names_are_only_ever_text() -> None:
    told = conversation([asks(call({"a": 1}), call(None), call('"; drop table runs; --'))])
    assert [s.name for s in told.spans[1:]] == ['{"a": 1}', None, '"; drop table runs; --']


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
ODD_CALLS = st.fixed_dictionaries(
    {}, optional={"id": JSON, "function": JSON, "name": JSON, "args": JSON, "arguments": JSON}
)
ODD_MESSAGES = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "user", "assistant", "tool", "function", "", "critic"])},
    optional={
        "content": JSON,
        "tool_calls": JSON | st.lists(ODD_CALLS, max_size=2),
        "function_call": JSON,
        "tool_call_id": JSON,
        "name": JSON,
        "error": JSON,
        "is_error": JSON,
        "model": JSON,
        "extra": JSON,
    },
)


@given(st.lists(ODD_MESSAGES | JSON, max_size=5))
def test_odd_messages_are_read_or_refused(messages: list[Any]) -> None:
    try:
        told = conversation(messages, error_prefix="Error")
    except InputError:
        return
    for span in told.spans:
        assert span.type
        assert span.status in (None, "ok", "error")
        assert all(
            v is None or isinstance(v, str) for v in (span.name, span.span_id, span.error, span.model, span.output)
        )
    ids = [span.span_id for span in told.spans if span.span_id]
    assert len(ids) == len(set(ids))
