"""Rule type `slow`.

Fires when
    one matching span took at least `at_least_ms` milliseconds. For the whole run use `threshold` with `duration_ms`.

Why it matters
    A person waits for the slowest call, and a tool that hangs is often a tool that fails.

Example
    A `search` of 42 seconds, at_least_ms 30000.

What it cannot see
    Many calls that are each a little slow, and time between calls.

The measurement is the longest known duration. A run whose matching spans all lack a duration is `not_checked`; where
only some lack one, the others speak. There is one finding a span.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import ibis

from check_workbench.rules import shape

if TYPE_CHECKING:
    from ibis.expr.types import Table

    from check_workbench.checks import Slow
    from check_workbench.rules.shape import Recorded

UNKNOWN = "no matching span has a duration"


def measure(rule: Slow, recorded: Recorded) -> Table:
    """Measure the longest matching span of each run, in milliseconds."""
    match = shape.matching(recorded.spans, rule.span)
    longest = match.group_by("run_key").agg(longest=match.duration_ms.max())
    keyed = longest.select("longest", at_run="run_key")
    joined = recorded.runs.select("run_key").left_join(keyed, [("run_key", "at_run")])
    unknown = joined.at_run.notnull() & joined.longest.isnull()
    return joined.select(
        "run_key",
        value=ibis.ifelse(joined.at_run.isnull(), 0.0, joined.longest),
        reason=ibis.ifelse(unknown, UNKNOWN, ibis.null("string")),
    )


def find(rule: Slow, recorded: Recorded) -> Table:
    """Find each matching span of at least `at` milliseconds."""
    match = shape.matching(recorded.spans, rule.span)
    slow = match.filter(match.duration_ms >= recorded.at)
    found = slow.mutate(
        key=slow.span_id,
        value=slow.duration_ms,
        spans=shape.listed(slow[recorded.label]),
        quote=ibis.null("string"),
        resolved=shape.NO,
    )
    return shape.findings(found)
