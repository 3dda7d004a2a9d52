"""Settings of all nine rule types with a cut each, and the comparison of queries with the reference."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any

from check_workbench import rules
from check_workbench.checks import (
    Count,
    Errors,
    Match,
    Metric,
    Repeat,
    RequiresBefore,
    Rule,
    RunEnd,
    Selector,
    Slow,
    UnrecoveredError,
)
from check_workbench.store.expressions import compiled
from check_workbench.store.schema import unbound
from tests import reference_rules

if TYPE_CHECKING:
    from collections.abc import Mapping

    import duckdb

    Rows = Mapping[int, tuple[dict[str, Any], list[dict[str, Any]]]]

TOOLS = Selector(types=("tool", "mcp_tool"))


def every_type(*, required: str, requiring: str) -> tuple[tuple[Rule, float], ...]:
    """Return rules of all nine types with their cuts, for runs that know the two tool names."""
    before = RequiresBefore(span=Selector(names=(requiring,)), requires=Selector(names=(required,)))
    return (
        (Repeat(span=TOOLS), 3),
        (Repeat(span=TOOLS), 1.5),
        (Repeat(same=("tool", "input", "output")), 2),
        (Repeat(same=("type", "status", "error", "model")), 2),
        (Repeat(same=("name",)), 4),
        (Repeat(same=()), 0),
        (Errors(span=TOOLS), 2),
        (Errors(), 1),
        (Count(span=TOOLS), 4),
        (Count(span=Selector(names=(required, requiring), statuses=("ok",))), 1),
        (Slow(), 500),
        (Slow(span=Selector(names=(required,))), 0),
        *((Metric(metric=name), 2) for name in ("spans", "tool_calls", "errors", "llm_calls")),
        *((Metric(metric=name), 100) for name in ("total_tokens", "duration_ms", "a.b/c~d", "'; drop table runs")),
        (Match(pattern=r"b.*1|not found"), 1),
        (Match(pattern=r"^[xy]$|É", ignore_case=True, fields=("output", "name")), 1),
        (Match(pattern="a*", span=TOOLS, fields=("input",)), 1),
        (before, 1),
        (RequiresBefore(requires=TOOLS), 2),
        (RequiresBefore(requires=Selector(names=(required,), types=("tool",)), span=TOOLS), 1),
        (UnrecoveredError(span=TOOLS), 1),
        (UnrecoveredError(), 2),
        (RunEnd(), 1),
        (RunEnd(statuses=("ok",)), 1),
    )


@functools.cache
def queries(rule: Rule, at: float) -> tuple[str, str]:
    """Return the SQL of a rule's measurement and of its findings."""
    spans, runs = unbound("spans"), unbound("runs")
    return compiled(rules.measure(rule, spans, runs)), compiled(rules.find(rule, at, spans, runs))


def rows(cursor: duckdb.DuckDBPyConnection) -> Rows:
    """Return all runs with their spans in sequence, as the reference reads them."""
    runs = _records(cursor, "select * from runs")
    found: Rows = {run["run_key"]: (run | {"metrics": json.loads(run["metrics"] or "null")}, []) for run in runs}
    for span in _records(cursor, "select * from spans order by run_key, seq"):
        found[span["run_key"]][1].append(span)
    return found


def assert_agree(cursor: duckdb.DuckDBPyConnection, rule: Rule, at: float, recorded: Rows) -> None:
    """Assert that queries and reference measure and find the same."""
    measuring, finding = queries(rule, at)
    measured = {key: (value, reason) for key, value, reason in cursor.execute(measuring).fetchall()}
    expected = {key: reference_rules.measure(rule, run, spans) for key, (run, spans) in recorded.items()}
    assert measured == expected, rule
    found = cursor.execute(finding).fetchall()
    assert len({(run_key, key) for run_key, key, *_ in found}) == len(found), f"{rule}: keys repeat within a run"
    plain = sorted(
        (key, None if isinstance(rule, Repeat) else name, v, tuple(s), q, r) for key, name, v, s, q, r in found
    )
    slow = sorted(
        (key, item.key, item.value, item.spans, item.quote, item.resolved)
        for key, (run, spans) in recorded.items()
        for item in reference_rules.find(rule, at, run, spans)
    )
    assert plain == slow, rule


def _records(cursor: duckdb.DuckDBPyConnection, query: str) -> list[dict[str, Any]]:
    result = cursor.execute(query)
    names = [column[0] for column in result.description or ()]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
