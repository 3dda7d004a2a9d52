"""OTLP and its relatives: the same spans in every encoding are the same runs, and nothing vanishes."""

from __future__ import annotations

import dataclasses
import gzip
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from check_workbench.records import Run
from check_workbench.sources import READERS, Note, Origin, Rejected
from check_workbench.sources.gathering import gather
from check_workbench.sources.otel import reading as otel_reading
from check_workbench.store.validity import problem_of
from tests.sources.traces import ENCODINGS, START, Told, lines, listed, otlp, otlp_span, records, run, runs

if TYPE_CHECKING:
    from pathlib import Path

    from check_workbench.store import Store

TRACES = ["1" * 32, "a2" * 16, "0" * 31 + "f"]
IDS = [f"{n:016x}" for n in (1, 2, 3, 4, 0xABC)]
KEYS = [
    "gen_ai.operation.name",
    "gen_ai.tool.name",
    "openinference.span.kind",
    "input.value",
    "output.value",
    "gen_ai.usage.input_tokens",
    "llm.token_count.total",
    "session.id",
    "llm.input_messages.0.message.role",
    "llm.input_messages.0.message.content",
    "otel",
    "x'; drop table spans; --",
    "is_error",
]
VALUES = (
    st.sampled_from(["chat", "execute_tool", "LLM", "TOOL", "", "é 東", '{"a": 1}'])
    | st.integers(-5, 2**62)
    | st.booleans()
    | st.floats(allow_nan=False, allow_infinity=False)
)
EVENTS = st.lists(
    st.builds(
        lambda name, attributes: {"name": name, "time": START, "attributes": attributes},
        st.sampled_from(["exception", "gen_ai.user.message", "note"]),
        st.dictionaries(st.sampled_from(["exception.message", "content"]), st.just("words"), max_size=1),
    ),
    max_size=1,
)
SPANS = st.lists(
    st.builds(
        Told,
        trace=st.sampled_from(TRACES),
        span=st.sampled_from(IDS),
        parent=st.none() | st.sampled_from([*IDS, "f" * 16]),
        name=st.sampled_from(["work", "execute_tool pay", "chat m"]),
        start=st.integers(0, 5).map(lambda n: START + n * 1_000_000),
        end=st.integers(0, 9).map(lambda n: START + n * 1_000_000),
        failed=st.sampled_from([None, False, True]),
        message=st.sampled_from(["", "no"]),
        kind=st.sampled_from(["internal", "client"]),
        attributes=st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=4),
        events=EVENTS,
    ),
    min_size=1,
    max_size=12,
)


@given(spans=SPANS)
@settings(max_examples=30)
def test_every_encoding_gives_the_same_runs(spans: list[Told]) -> None:
    expected = runs(ENCODINGS["otlp"](spans))
    for name, encode in ENCODINGS.items():
        assert (name, runs(encode(spans))) == (name, expected)


@given(spans=SPANS)
@settings(max_examples=60)
def test_no_span_vanishes_and_every_run_can_be_stored(spans: list[Told]) -> None:
    made = records(ENCODINGS["otlp"](spans))
    found = [record for record in made if isinstance(record, Run)]
    different = {(told.trace, repr(told)) for told in spans}
    assert [one.run_id for one in found] == list(dict.fromkeys(told.trace for told in spans))
    assert sum(len(one.spans) for one in found) == len(different)
    assert not [problem for one in found if (problem := problem_of(one))]
    noted = [note.text for note in made if isinstance(note, Note)]
    assert any("word for word" in text for text in noted) == (len(different) < len(spans))
    ids = {(told.trace, told.span) for told in spans}
    assert any("renamed" in text for text in noted) == (len(ids) < len(different))


@given(spans=SPANS)
@settings(max_examples=30)
def test_what_moves_to_disk_comes_back_the_same(spans: list[Told]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(otel_reading, "gather", lambda told, _: gather(told, iter(range(10**6)).__next__, held=1))
        moved = records(ENCODINGS["otlp"](spans))
    assert moved == records(ENCODINGS["otlp"](spans))


def test_a_trace_over_several_documents_is_one_run() -> None:
    spans = [Told(span=IDS[0]), Told(span=IDS[1], parent=IDS[0]), Told(trace=TRACES[0]), Told(span=IDS[2])]
    first, second = runs(lines([otlp([told]) for told in spans]))
    assert (first.run_id, [one.span_id for one in first.spans]) == ("a" * 32, IDS[:3])
    assert (second.run_id, len(second.spans)) == (TRACES[0], 1)


@pytest.mark.parametrize(
    "given_id", ["B47D761FE79BE88AEE41342CDD527268", "tH12H+eb6IruQTQs3VJyaA==", "0xb47d761fe79be88aee41342cdd527268"]
)
def test_ids_are_lower_case_hexadecimal(given_id: str) -> None:
    [made] = runs(json.dumps(otlp([Told(trace=given_id)])))
    assert made.run_id == "b47d761fe79be88aee41342cdd527268"


@pytest.mark.parametrize(
    "moment",
    [START, str(START), START // 1000, START // 10**6, START / 10**9, "2026-09-21T14:13:20Z", f"{START // 10**9}.0"],
)
def test_times_in_any_unit(moment: Any) -> None:
    span = {**otlp_span(Told()), "startTimeUnixNano": moment}
    [made] = runs(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}))
    assert made.spans[0].started_at is not None
    assert made.spans[0].started_at.isoformat() == "2026-09-21T14:13:20+00:00"


@pytest.mark.parametrize("moment", ["soon", [1], {}, True, 10**30, -(10**18), "9" * 25, "2500-01-01T00:00:00Z"])
def test_a_time_that_is_none_is_left_out_with_a_note(moment: Any) -> None:
    span = {**otlp_span(Told()), "startTimeUnixNano": moment}
    made, note = records(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}))
    assert made.spans[0].started_at is None
    assert made.spans[0].attributes["otel"]["start"] == moment
    assert "1 span with a time that is none between 1970 and 2200" in note.text
    assert problem_of(made) is None


@pytest.mark.parametrize("moment", [None, "", 0, "0"])
def test_no_time_is_no_time(moment: Any) -> None:
    [made] = runs(
        json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [{**otlp_span(Told()), "endTimeUnixNano": moment}]}]}]})
    )
    assert made.spans[0].ended_at is None
    assert made.metrics is None


@pytest.mark.parametrize(
    ("code", "status"),
    [(0, None), (1, "ok"), (2, "error"), ("STATUS_CODE_OK", "ok"), ("2", "error"), ("Error", "error"), (None, None)],
)
def test_states_as_numbers_and_words(code: Any, status: str | None) -> None:
    span = {**otlp_span(Told()), "status": {"code": code, "message": "why"}}
    [made] = runs(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}))
    assert (made.spans[0].status, made.spans[0].error) == (status, "why" if status == "error" else None)


def test_values_of_every_type() -> None:
    values = {"s": "x", "i": 7, "b": False, "d": 0.5, "a": [1, "y", [True]], "o": {"k": {"n": "z"}}, "e": []}
    attributes = [
        *listed(values),
        {"key": "bytes", "value": {"bytesValue": "AQI="}},
        {"key": "nothing", "value": {}},
        {"key": "big", "value": {"intValue": 2**60}},
        {"key": "words", "value": {"intValue": "many"}},
        {"key": "odd", "value": {"newValue": 1}},
        {"key": "none", "value": {"arrayValue": {}}},
    ]
    span = {**otlp_span(Told()), "attributes": attributes}
    [made] = runs(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}))
    assert made.spans[0].attributes == {
        **values,
        "bytes": "AQI=",
        "nothing": None,
        "big": 2**60,
        "words": "many",
        "odd": {"newValue": 1},
        "none": [],
        "otel": {"kind": "internal"},
    }


def test_attributes_that_break_the_rules_are_kept() -> None:
    span = {
        **otlp_span(Told()),
        "attributes": [{"key": "a", "value": {"intValue": 1}}, {"key": "a", "value": {"intValue": 2}}, 5],
    }
    [made] = runs(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}))
    assert made.spans[0].attributes == {"a": 1, "a~2": 2, "#3": 5, "otel": {"kind": "internal"}}


@pytest.mark.parametrize("changes", [{"kind": {"x": 1}}, {"kind": "odd"}, {"events": {"a": 1}}, {"events": "none"}])
def test_what_is_not_understood_is_kept(changes: dict[str, Any]) -> None:
    [made] = runs(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [{**otlp_span(Told()), **changes}]}]}]}))
    assert (made.spans[0].attributes or {})["otel"].items() >= changes.items()


def test_what_else_a_span_has_is_kept() -> None:
    more = {
        "traceState": "a=1",
        "flags": 257,
        "droppedAttributesCount": 3,
        "links": [{"traceId": "x"}],
        "droppedLinksCount": 0,
    }
    [made] = runs(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [{**otlp_span(Told()), **more}]}]}]}))
    del more["droppedLinksCount"]
    assert made.spans[0].attributes == {"otel": {**more, "kind": "internal"}}


def test_resource_and_scope_stand_once_where_they_are_the_same() -> None:
    made = run(Told(), Told(span=IDS[0]))
    assert made.attributes == {
        "resource": {"service.name": "refunds", "host.name": "w7"},
        "scope": {"name": "agents", "version": "1.2"},
    }
    assert made.workflow == "refunds"


def test_what_differs_stands_on_the_spans() -> None:
    blocks = [
        {
            "resource": {"attributes": listed({"service.name": "one", "host.name": f"w{n}"})},
            "schemaUrl": "u",
            "scopeSpans": [
                {"spans": [otlp_span(Told(span=IDS[n]))], "scope": {"name": "s", "version": str(n), "attributes": []}}
            ],
        }
        for n in (0, 1)
    ]
    [made] = runs(json.dumps({"resourceSpans": blocks}))
    assert made.attributes == {"resource": {"service.name": "one", "schema_url": "u"}, "scope": {"name": "s"}}
    assert [one.attributes for one in made.spans] == [
        {"otel": {"kind": "internal", "resource": {"host.name": f"w{n}"}, "scope": {"version": str(n)}}} for n in (0, 1)
    ]


def test_spans_twice_and_ids_twice() -> None:
    same, other = Told(span=IDS[0]), Told(span=IDS[0], name="other")
    made, *notes = records(json.dumps(otlp([same, same, other, dataclasses.replace(other, name="third")])))
    assert [(one.span_id, one.name) for one in made.spans] == [
        (IDS[0], "work"),
        (f"{IDS[0]}~2", "other"),
        (f"{IDS[0]}~3", "third"),
    ]
    assert [note.text.split(" ")[0] for note in notes] == ["1", "2"]


def test_a_span_above_itself_is_put_at_the_top() -> None:
    spans = [Told(span=IDS[0], parent=IDS[1]), Told(span=IDS[1], parent=IDS[0]), Told(span=IDS[2], parent=IDS[2])]
    made, note = records(json.dumps(otlp(spans)))
    assert [one.parent_id for one in made.spans] == [None, IDS[0], None]
    assert made.spans[0].attributes["otel"]["parent_id"] == IDS[1]
    assert "2 spans in a circle of parents" in note.text
    assert problem_of(made) is None


def test_a_parent_that_is_not_there_stays() -> None:
    made = run(Told(parent="f" * 16))
    assert made.spans[0].parent_id == "f" * 16
    assert problem_of(made) is None


@pytest.mark.parametrize(
    ("span", "reason"),
    [
        (5, "must be an object, got int"),
        ({}, "must have a trace id"),
        ({"traceId": "0" * 32}, "must have a trace id"),
        ({"traceId": ["a"]}, "an id must be text"),
        ({"traceId": "a" * 32, "spanId": {"x": 1}}, "an id must be text"),
        ({"traceId": "a" * 32, "status": {"code": "MAYBE"}}, "must be UNSET, OK or ERROR"),
        ({"traceId": "a" * 32, "links": [json.loads("[" * 150 + "]" * 150)]}, "nested too deeply"),
    ],
)
def test_one_bad_span_is_rejected_alone(span: Any, reason: str) -> None:
    document = {"resourceSpans": [{"scopeSpans": [{"spans": [otlp_span(Told()), span, otlp_span(Told(span=IDS[0]))]}]}]}
    rejected, made = records(json.dumps(document, indent=0))
    assert isinstance(rejected, Rejected)
    assert reason in rejected.reason
    assert rejected.line > 20
    assert len(made.spans) == 2


def test_deep_values_are_rejected_and_deep_lists_of_blocks_are_not_followed() -> None:
    deep: Any = "x"
    for _ in range(300):
        deep = {"arrayValue": {"values": [deep]}}
    span = {**otlp_span(Told()), "attributes": [{"key": "deep", "value": deep}]}
    [rejected] = records(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}))
    assert "nested too deeply" in rejected.reason


@pytest.mark.parametrize("end", [40, 400, 700, -30, -3])
def test_a_cut_file_gives_its_whole_spans(end: int) -> None:
    text = json.dumps(otlp([Told(span=id_) for id_ in IDS]))
    made = records(text[:end], format_name="otlp")
    assert isinstance(made[0], Rejected)
    whole = sum(len(one.spans) for one in made if isinstance(one, Run))
    assert whole == text[:end].count('"message": ""}}')


def test_a_broken_line_costs_itself_only() -> None:
    good = json.dumps(otlp([Told(span=IDS[0])]))
    made = records(
        good[:-60] + "\n" + json.dumps(otlp([Told(span=IDS[1])])) + "\n" + json.dumps(otlp([Told(span=IDS[2])]))
    )
    assert [type(one).__name__ for one in made] == ["Rejected", "Run"]
    assert [one.span_id for one in made[1].spans][-2:] == IDS[1:3]


def test_other_signals_may_come_first() -> None:
    made = records(lines([{"resourceLogs": [{"x": 1}]}, {"resourceMetrics": []}, otlp([Told()])]))
    assert [type(one).__name__ for one in made] == ["Note", "Run"]


def test_other_signals_are_noted() -> None:
    made = records(json.dumps({**otlp([Told()]), "resourceLogs": [{"x": 1}], "partialSuccess": {}}))
    assert [one.text for one in made if isinstance(one, Note)] == ["resourceLogs holds no spans and is left out"]


@pytest.mark.parametrize(
    "document", [{"resourceSpans": []}, {"resourceSpans": [{}]}, {"resourceSpans": [{"scopeSpans": []}]}]
)
def test_no_spans_are_no_runs(document: Any) -> None:
    assert records(json.dumps(document), format_name="otlp") == []


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{}",
        "5",
        '{"resourceSpans": 5}',
        '{"resourceSpans": [5, {"scopeSpans": [7]}]}',
        '{"resourceSpans": {"a": 1}}',
    ],
)
def test_odd_outlines_are_no_runs_and_no_crash(text: str) -> None:
    assert not [one for one in records(text, format_name="otlp") if isinstance(one, Run)]


def test_compressed_files(tmp_path: Path) -> None:
    path = tmp_path / "t.json.gz"
    path.write_bytes(gzip.compress(json.dumps(otlp([Told()])).encode(), mtime=0))
    read = READERS["otlp"].read
    assert read is not None
    [made] = read(path, Origin.of(path))
    assert isinstance(made, Run)


def test_a_load_through_the_store(tmp_path: Path, store: Store) -> None:
    spans = [
        Told(
            span=IDS[0], attributes={"openinference.span.kind": "AGENT", "input.value": 'Refund "7"\'; drop table runs'}
        ),
        Told(span=IDS[1], parent=IDS[0], failed=True, message="no", attributes={"tool.name": "pay"}),
        Told(span=IDS[1], parent=IDS[0], attributes={"tool.name": "pay", "input.value": '{"b": 1, "a": 2}'}),
    ]
    (tmp_path / "t.json").write_text(json.dumps(otlp(spans)))
    report = store.load(tmp_path / "t.json")
    assert (report.runs, report.spans, report.rejected) == (1, 3, ())
    assert any("renamed" in note for note in report.notes)
    again = store.load(tmp_path / "t.json")
    assert (again.runs, again.already) == (0, 1)
    rows = store.sql("select type, name, status, error, failed from spans order by seq")
    assert Counter(rows["type"]) == {"agent": 1, "tool": 2}
    assert list(rows["failed"]) == [False, True, False]
