"""Queries and reference agree on made-up runs: ties, missing times, missing values, JSON in any key order."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from check_workbench.store.digests import text_digest
from check_workbench.store.schema import TABLES, unbound
from tests.rules.battery import assert_agree, every_type, rows

if TYPE_CHECKING:
    from collections.abc import Iterator

ARROW = {name: unbound(name).schema().to_pyarrow() for name in ("runs", "spans")}
BATTERY = every_type(required="look", requiring="act")
NOON = datetime(2026, 5, 4, 12)  # noqa: DTZ001
TEXTS = [None, "", "x", "not found", '{"a": 1, "b": 2}', '{"b":2,"a":1}', '{"a":{"d":1,"c":[1,2]}}', "[1, 2]", "[2,1]"]
TEXTS += ['{"a": {"c": [1,2], "d": 1}}', "{broken", "é\nb\n1", "x" * 300 + "b1"]
ANSWERS = [
    None,
    "",
    " \n",
    "All done.",
    "I could  not do it",
    "It FAILED",
    "I couldn\u2019t",
    "unfailing",
    "no \u0130ssue",
]
METRICS: list[dict[str, Any] | None] = [
    None,
    {},
    {"total_tokens": 7, "spans": None},
    {"a.b/c~d": 101.5, "errors": "many", "llm_calls": True},
]
METRICS += [{"'; drop table runs": 100, "duration_ms": 1e3, "tool_calls": [1]}, {"a": {"b/c~d": 500}}]

maybe_time = st.one_of(st.none(), st.integers(0, 4).map(lambda seconds: NOON + timedelta(seconds=seconds)))
times = st.integers(0, 4).map(lambda seconds: NOON + timedelta(seconds=seconds))


@st.composite
def made_spans(draw: st.DrawFn) -> list[dict[str, Any]]:
    starts = draw(st.sampled_from([times, times, maybe_time]))
    spans = draw(st.lists(made_span(starts), max_size=9))
    timed = all(span["started_at"] for span in spans)
    order = sorted(range(len(spans)), key=lambda place: (spans[place]["started_at"] if timed else NOON, place))
    return [spans[place] | {"seq": seq, "span_id": f"#{place + 1}"} for seq, place in enumerate(order)]


def made_span(starts: st.SearchStrategy[datetime | None]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {
            "type": st.sampled_from(["tool", "tool", "mcp_tool", "llm"]),
            "name": st.sampled_from(["look", "act", "act", None, "a|b", "É"]),
            "input": st.sampled_from(TEXTS),
            "output": st.sampled_from(TEXTS),
            "mcp_text": st.sampled_from([None, None, "b 1"]),
            "status": st.sampled_from([None, "ok", "error"]),
            "error": st.sampled_from([None, None, "", "not found"]),
            "started_at": starts,
            "ended_at": maybe_time,
            "duration_ms": st.sampled_from([None, 0.0, 499.5, 500.0, 2000.0, -3.0, 1e300]),
            "tokens_in": st.sampled_from([None, 3, 90]),
            "tokens_out": st.sampled_from([3, 90]),
            "model": st.sampled_from([None, "m"]),
            "failed": st.booleans(),
        },
    )


made_runs = st.lists(
    st.fixed_dictionaries(
        {
            "status": st.sampled_from([None, "ok", "error", "no_output", "interrupted"]),
            "started_at": maybe_time,
            "ended_at": maybe_time,
            "final_output": st.sampled_from(ANSWERS),
            "metrics": st.sampled_from(METRICS),
            "spans": made_spans(),
        },
    ),
    min_size=1,
    max_size=8,
)


@pytest.fixture(scope="module")
def cursor() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute("set threads = 1")
        for name in ("runs", "spans"):
            connection.execute(TABLES[name].create(name))
        yield connection


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(runs=made_runs)
def test_queries_and_reference_agree(cursor: duckdb.DuckDBPyConnection, runs: list[dict[str, Any]]) -> None:
    _fill(cursor, runs)
    recorded = rows(cursor)
    for rule, at in BATTERY:
        assert_agree(cursor, rule, at, recorded)


def _fill(cursor: duckdb.DuckDBPyConnection, runs: list[dict[str, Any]]) -> None:
    cursor.execute("truncate spans; truncate runs")
    spans = [{"run_key": key} | span for key, run in enumerate(runs) for span in run["spans"]]
    own = [
        {**run, "run_key": key, "run_id": f"r{key}", "metrics": json.dumps(run["metrics"])}
        for key, run in enumerate(runs)
    ]
    _insert(cursor, "runs", own)
    _insert(cursor, "spans", spans)
    cursor.execute(f"update spans set input_digest = {text_digest('input')}, output_digest = {text_digest('output')}")


def _insert(cursor: duckdb.DuckDBPyConnection, name: str, records: list[dict[str, Any]]) -> None:
    fields = [column for column in ARROW[name].names if not records or column in records[0]]
    table = pa.Table.from_pylist(records, pa.schema([ARROW[name].field(column) for column in fields]))
    cursor.register("made", table)
    cursor.execute(f"insert into {name} by name select * from made")
    cursor.unregister("made")
