"""Rule type `errors`.

Fires when
    `at_least` matching spans failed one after the other. A span failed if its status is error or any error flag is set.

Why it matters
    One failed call is daily life; a streak says that the agent does not understand why it fails.

Example
    Three calls of `search` in a row that end in "invalid date", at_least 3.

What it cannot see
    Failures that the tool reports as ordinary text, and failures with a success between each two of them.

The measurement is the longest streak among the matching spans; other spans between them do not break it. There is one
finding a streak, resolved when a matching span after it succeeded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import ibis

from check_workbench.rules import shape

if TYPE_CHECKING:
    from ibis.expr.types import Table

    from check_workbench.checks import Errors
    from check_workbench.rules.shape import Recorded


def measure(rule: Errors, recorded: Recorded) -> Table:
    """Measure the longest streak of each run."""
    match = shape.matching(recorded.spans, rule.span)
    failed = match.failed.cast("int32")
    marks = match.group_by("run_key").agg(
        marks=(match.seq * 2 + failed).collect(include_null=True),
        failures=failed.sum(),
    )
    line = marks.marks.sort().map(lambda mark: (mark % 2).cast("string")).join("")
    longest = line.split("0").map(lambda streak: streak.length()).maxs()
    streak = ibis.ifelse(marks.failures < 2, marks.failures, longest)
    return shape.measured(recorded.runs, marks.select("run_key", value=streak))


def find(rule: Errors, recorded: Recorded) -> Table:
    """Find each streak of at least `at` failures."""
    match = shape.matching(recorded.spans, rule.span).select(
        *dict.fromkeys(["run_key", "seq", recorded.label, "failed"])
    )
    fine = (~match.failed).cast("int64")
    placed = match.mutate(
        before=fine.sum().over(ibis.cumulative_window(group_by="run_key", order_by="seq")),
        total=fine.sum().over(ibis.window(group_by="run_key")),
    )
    failed = placed.filter(placed.failed)
    streaks = failed.group_by("run_key", "before").agg(
        value=failed.count(),
        first=failed.seq.min(),
        spans=failed[recorded.label].collect(order_by=failed.seq, include_null=True),
        total=failed.total.max(),
    )
    found = streaks.filter(streaks.value >= recorded.at)
    found = found.mutate(resolved=found.total > found.before)
    return shape.spotted(found, shape.complaints(recorded.quoted), recorded.label)
