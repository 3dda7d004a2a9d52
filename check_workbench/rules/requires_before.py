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
    return shape.findings(
        early.mutate(
            key=early.span_id,
            value=ibis.literal(1).cast("float64"),
            spans=shape.listed(early[recorded.label]),
            quote=ibis.null("string"),
            resolved=shape.NO,
        ),
    )


def _unprepared(rule: RequiresBefore, recorded: Recorded) -> Table:
    spans = recorded.spans
    ready = _ready(rule, recorded)
    asked = shape.matching(spans, rule.span).select("run_key", "seq", "span_id", "started_at")
    joined = asked.left_join(ready, [("run_key", "at_run")])
    timely = (joined.earliest <= joined.started_at).fill_null(shape.NO)
    earlier = (joined["first"] < joined.seq).fill_null(shape.NO)
    return joined.filter(~(timely | earlier)).select("run_key", "seq", "span_id")


def _ready(rule: RequiresBefore, recorded: Recorded) -> Table:
    """Return of each run the earliest end of a required success, and the first sequence of one that has no such end.

    A success that took time precedes whatever starts at its end or later. One without a known end, or that took no
    time, precedes whatever has a higher sequence: sequence follows the start times, so this is the same rule.
    """
    every = recorded.quoted
    success = every.filter(shape.selected(every, rule.requires), ~every.failed)
    narrow = success.select("run_key", "seq", "started_at", end=shape.ended(success))
    untimed = every.filter(every.started_at.isnull()).select(at_run="run_key").distinct()
    joined = narrow.left_join(untimed, [("run_key", "at_run")])
    by_time = (joined.at_run.isnull() & (joined.end > joined.started_at)).fill_null(shape.NO)
    return (
        joined.mutate(by_time=by_time)
        .group_by(at_run="run_key")
        .agg(
            earliest=lambda each: each.end.min(where=each.by_time), first=lambda each: each.seq.min(where=~each.by_time)
        )
    )
