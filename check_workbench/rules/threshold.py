"""Rule type `threshold`.

Fires when
    a number of the whole run, its `metric`, reaches `at_least`.

Why it matters
    Cost, time and size have budgets, and a run far beyond its budget is rarely a good run.

Example
    `metric: total_tokens`, at_least 200000.

What it cannot see
    Which part of the run was dear; and whether the number was recorded correctly.

The measurement is the recorded number, whatever its name. Where a run does not record one of these, it is derived:
`spans`, `tool_calls` (types tool and mcp_tool) and `errors` (failed spans) by counting, `duration_ms` from the run's
start and end, `llm_calls` where the run shows any llm span, `total_tokens` where every llm span has both token counts
and there is one. Otherwise the run is `not_checked`, never 0. There is one finding a run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import ibis

from check_workbench.rules import shape

if TYPE_CHECKING:
    from ibis.expr.types import Column, Table

    from check_workbench.checks import Metric
    from check_workbench.rules.shape import Recorded

UNKNOWN = "the metric is not recorded"
NO_NUMBER = "the recorded metric is not a number"
TOOLS = ("tool", "mcp_tool")
COUNTED = ("spans", "tool_calls", "errors")
DERIVED = (*COUNTED, "llm_calls", "total_tokens", "duration_ms")


def measure(rule: Metric, recorded: Recorded) -> Table:
    """Return the metric of each run."""
    metric = recorded.runs.metrics[_pointer(rule.metric)]
    number = metric.unwrap_as("float64")
    known = recorded.runs.select(
        "run_key",
        given=(metric.cast("string") != "null").fill_null(shape.NO),
        number=ibis.ifelse(number.isinf(), ibis.null("float64"), number),
    )
    values = _with_derived(rule.metric, known, recorded)
    reason = ibis.cases(
        (values.value.notnull(), ibis.null("string")),
        (values.given, ibis.literal(NO_NUMBER)),
        else_=ibis.literal(UNKNOWN),
    )
    return values.select("run_key", "value", reason=reason)


def find(rule: Metric, recorded: Recorded) -> Table:
    """Find each run whose metric reaches the cut."""
    return shape.once(measure(rule, recorded), recorded)


def _pointer(name: str) -> str:
    return "/" + name.replace("~", "~0").replace("/", "~1")


def _with_derived(metric: str, known: Table, recorded: Recorded) -> Table:
    if metric not in DERIVED:
        return known.mutate(value=known.number)
    derived = _derived(metric, recorded).select("derived", at_run="run_key")
    joined = known.left_join(derived, [("run_key", "at_run")])
    counted = joined.derived.fill_null(0.0) if metric in COUNTED else joined.derived
    return joined.mutate(value=ibis.ifelse(joined.given, joined.number, counted))


def _derived(metric: str, recorded: Recorded) -> Table:
    spans, runs = recorded.spans, recorded.runs
    if metric == "duration_ms":
        return runs.select("run_key", derived=runs.ended_at.delta(runs.started_at, unit="microsecond") / 1000)
    kept = spans.filter(_counts(metric, spans))
    if metric != "total_tokens":
        return kept.group_by("run_key").agg(derived=kept.count().cast("float64"))
    tokens = (kept.tokens_in + kept.tokens_out).cast("float64")
    every = kept.group_by("run_key").agg(total=tokens.sum(), known=tokens.count(), all=kept.count())
    return every.select("run_key", derived=ibis.ifelse(every.known == every["all"], every.total, None))


def _counts(metric: str, spans: Table) -> Column:
    if metric == "tool_calls":
        return spans.type.isin(TOOLS)
    if metric == "errors":
        return spans.failed
    return shape.YES if metric == "spans" else spans.type == "llm"
