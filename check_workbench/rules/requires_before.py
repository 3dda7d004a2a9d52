"""Rule type `requires_before`.

Fires when
    a matching span runs before any required call of the same run has succeeded and ended.

Why it matters
    Refunding without looking up the order, or cancelling without reading the reservation, is right only by luck.

Example
    `issue_refund` without an earlier successful `lookup_order`, `requires: lookup_order`.

What it cannot see
    Whether the earlier call looked up the same order; and required work that left no span.

The measurement is the number of such spans. Earlier means: lower in sequence, and ended when this one started (end as
recorded, or start plus duration). Where that end is unknown, or any span of the run lacks a start time, sequence alone
decides. There is one finding a span.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import ibis

from check_workbench.rules import shape

if TYPE_CHECKING:
    from ibis.expr.types import Table

    from check_workbench.checks import RequiresBefore
    from check_workbench.rules.shape import Recorded


def measure(rule: RequiresBefore, recorded: Recorded) -> Table:
    """Count the unprepared spans of each run."""
    early = _unprepared(rule, recorded)
    return shape.measured(recorded.runs, early.group_by("run_key").agg(value=early.count()))


def find(rule: RequiresBefore, recorded: Recorded) -> Table:
    """Find each unprepared span."""
    early = _unprepared(rule, recorded)
    found = early.select("run_key", first="seq", value=ibis.literal(1).cast("float64"))
    texts = shape.matching(recorded.quoted, rule.span)
    return shape.spotted(found, texts, texts.input, recorded.label)


def _unprepared(rule: RequiresBefore, recorded: Recorded) -> Table:
    spans = recorded.spans
    asked = shape.selected(spans, rule.span)
    required = shape.selected(spans, rule.requires)
    kept = spans.filter(asked | (required & ~spans.failed))
    every = recorded.quoted
    untimed = every.filter(every.started_at.isnull()).select(at_run="run_key").distinct()
    joined = kept.left_join(untimed, [("run_key", "at_run")])
    success = shape.selected(joined, rule.requires) & ~joined.failed
    end = ibis.ifelse(joined.at_run.isnull(), shape.ended(joined), ibis.null("timestamp(6)"))
    narrow = joined.select(
        "run_key",
        "seq",
        "started_at",
        asked=shape.selected(joined, rule.span),
        end=ibis.ifelse(success, end, ibis.null("timestamp(6)")),
        endless=success & end.isnull(),
    )
    before = ibis.window(group_by="run_key", order_by="seq", preceding=(None, 1))
    seen = narrow.mutate(earliest=narrow.end.min().over(before), any_before=narrow.endless.any().over(before))
    ready = (seen.earliest <= seen.started_at).fill_null(shape.NO) | seen.any_before.fill_null(shape.NO)
    return seen.filter(seen.asked & ~ready)
