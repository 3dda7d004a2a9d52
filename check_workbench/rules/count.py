"""Rule type `count`.

Fires when
    a run holds `at_least` matching spans.

Why it matters
    Runaway runs cost money long before anybody reads them; some calls should happen once at most.

Example
    `send_email` five times in a run that should send one, at_least 2.

What it cannot see
    Whether the work needed so many calls: long tasks count like lost ones.

The measurement is the number of matching spans; there is one finding a run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from check_workbench.rules import shape

if TYPE_CHECKING:
    from ibis.expr.types import Table

    from check_workbench.checks import Count
    from check_workbench.rules.shape import Recorded


def measure(rule: Count, recorded: Recorded) -> Table:
    """Count the matching spans of each run."""
    match = shape.matching(recorded.spans, rule.span)
    return shape.measured(recorded.runs, match.group_by("run_key").agg(value=match.count()))


def find(rule: Count, recorded: Recorded) -> Table:
    """Find each run with at least `at` matching spans."""
    match = shape.matching(recorded.spans, rule.span)
    counted = match.group_by("run_key").agg(
        value=match.count(), spans=match[recorded.label].collect(order_by=match.seq, include_null=True)
    )
    return shape.once(counted, recorded, counted)
