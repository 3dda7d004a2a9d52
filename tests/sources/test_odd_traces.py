"""Spans with something odd in them: whatever it is, each is in a run that can be stored, or rejected in words."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from check_workbench.records import Run
from check_workbench.sources import Note, Rejected
from check_workbench.store.batches import Placed, batch
from tests.sources.test_neatlogs import SPAN
from tests.sources.traces import Told, flat_span, jaeger, js_span, otlp, records, tempo

RICH = [
    Told(
        attributes={
            "openinference.span.kind": "LLM",
            "llm.input_messages.0.message.role": "user",
            "gen_ai.usage.input_tokens": 3,
            "output.value": '[{"role": "assistant", "content": "Ho"}]',
            "session.id": "s",
        },
        events=[{"name": "exception", "time": 5, "attributes": {"exception.message": "no"}}],
        failed=True,
    ),
    Told(span="c" * 16, parent="b" * 16, attributes={"gen_ai.tool.name": "pay", "gen_ai.tool.call.arguments": "{}"}),
]
DOCUMENTS: dict[str, Any] = {
    "otlp": otlp(RICH),
    "jaeger": jaeger(RICH),
    "spans": [flat_span(told) for told in RICH],
    "js_spans": [js_span(told) for told in RICH],
    "neatlogs": [SPAN, {**SPAN, "span_id": "c"}],
}
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=6)
    | st.sampled_from(["b" * 16, "#1", "#2", "0" * 32, "LLM", "chat", "ERROR", "-1", "1e400", "\ud800", "\0"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=4,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in inner for place in places(item, (*path, key)))]


def put(document: Any, place: tuple[Any, ...], value: Any) -> None:
    *way, last = place
    inner = document
    for key in way:
        inner = inner[key]
    inner[last] = value


@pytest.mark.parametrize("name", DOCUMENTS)
@given(data=st.data())
@settings(max_examples=60)
def test_odd_values_anywhere(name: str, data: st.DataObject) -> None:
    odd = copy.deepcopy(DOCUMENTS[name])
    for _ in range(data.draw(st.integers(1, 3))):
        put(odd, data.draw(st.sampled_from([place for place in places(odd) if place])), data.draw(JSON))
    made = records(json.dumps(odd), format_name=name)
    assert all(isinstance(record, Run | Rejected | Note) for record in made)
    runs = [record for record in made if isinstance(record, Run)]
    assert all(run.spans for run in runs)
    _, refused = batch([Placed(key, key, run) for key, run in enumerate(runs, start=1)])
    assert refused == []


@pytest.mark.parametrize("size", [2_000])
def test_long_chains_and_wide_trees_take_no_square_of_time(size: int) -> None:
    chain = [
        Told(span=f"{n:016x}", parent=f"{n - 1:016x}", attributes={"gen_ai.operation.name": "chat"})
        for n in range(1, size)
    ]
    wide = [Told(trace="d" * 32, span=f"{n:016x}", parent="e" * 16) for n in range(1, size)]
    same = [Told(trace="f" * 32, name=str(n)) for n in range(size)]
    runs = [one for one in records(json.dumps(tempo([*chain, *wide, *same]))) if isinstance(one, Run)]
    assert [len(run.spans) for run in runs] == [size - 1, size - 1, size]
