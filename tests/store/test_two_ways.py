from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from check_workbench.store import open_store
from tests.store.making import contents, load_slowly, write

pytestmark = pytest.mark.usefixtures("alone")
"""Files of our own lines are read by the database; small ones that are stored together are in `test_gathered`."""

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
scalars = st.none() | st.booleans() | st.integers(-(10**12), 10**12) | texts | st.sampled_from([0.5, -2.25, 1e3])
values = st.recursive(scalars, lambda v: st.lists(v, max_size=3) | st.dictionaries(texts, v, max_size=3), max_leaves=6)
objects = st.dictionaries(texts, values, max_size=3)
times = st.sampled_from(
    [
        "2026-01-01T00:00:00Z",
        "2026-01-01 10:00:00.123456+02:00",
        "2026-01-01T00:00",
        "2026-01-01T05:00:00.1234567-0530",
        1767225600,
        1767225600.25,
        1767225600123,
        1767225600123456,
        "1767225600.5",
    ],
)
names = st.sampled_from(["search", "refund", "'; drop table runs; --", "é\n"])
spans = st.fixed_dictionaries(
    {"type": st.sampled_from(["tool", "llm", "mcp_tool"])},
    optional={
        "name": names,
        "input": values,
        "output": values | st.just({"content": [{"type": "text", "text": "found"}], "isError": True}),
        "status": st.sampled_from(["ok", "error"]),
        "error": texts,
        "started_at": times,
        "ended_at": times,
        "duration_ms": st.integers(0, 10**6) | st.sampled_from([0.5, "12", 1e21]),
        "tokens_in": st.integers(0, 10**9),
        "model": names,
        "attributes": objects | st.just({"x.is_error": True}),
        "parent_id": st.sampled_from(["#1", "#2", "elsewhere"]),
        "cost": st.integers(0, 3),
    },
)
steps = st.fixed_dictionaries(
    {"step_id": names},
    optional={
        "attempt": st.integers(1, 3),
        "output": values,
        "evidence": values,
        "accepted": st.booleans(),
        "at": times,
        "check": objects,
    },
)
runs = st.fixed_dictionaries(
    {},
    optional={
        "workflow": names,
        "mode": st.sampled_from(["live", "test"]),
        "status": st.sampled_from(["ok", "error", "no_output"]),
        "started_at": times,
        "input": values,
        "final_output": values,
        "metrics": objects,
        "attributes": objects,
        "state": values,
        "events": st.lists(values, max_size=2),
        "spans": st.lists(spans, max_size=5),
        "steps": st.lists(steps, max_size=2),
    },
)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(runs, min_size=4, max_size=12))
def test_both_ways_of_loading_give_the_same_rows_and_digests(tmp_path_factory, found):
    records = [{"run_id": f"r{i}", **record} for i, record in enumerate(found)]
    path = write(tmp_path_factory.mktemp("two") / "a.jsonl", *records)
    with open_store() as fast, open_store() as slow:
        loaded, read = fast.load(path), _slowly(slow, records)
        assert loaded.runs == read
        assert loaded.runs + len(loaded.rejected) == len(records)
        for name in ("runs", "spans", "steps"):
            assert contents(fast, name) == contents(slow, name)


def _slowly(store, records):
    return load_slowly(store, *records).runs
