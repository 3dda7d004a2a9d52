"""Rule type `run_end`.

Fires when
    the run ended in one of the given ways: `error`, `no_output`, `interrupted`; without `status`, in any of them.

Why it matters
    A run that broke off delivered nothing, whatever its steps looked like.

Example
    A run whose recorded status is `no_output`.

What it cannot see
    Runs that ended well by their own account and are wrong.

The measurement is 1 or 0. A run without a recorded status is `not_checked`. There is one finding a run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import ibis

from check_workbench.rules import shape

if TYPE_CHECKING:
    from ibis.expr.types import Table

    from check_workbench.checks import RunEnd
    from check_workbench.rules.shape import Recorded

UNKNOWN = "the run has no recorded status"


def measure(rule: RunEnd, recorded: Recorded) -> Table:
    """Say of each run whether it ended in one of the given ways."""
    runs = recorded.runs
    return runs.select(
        "run_key",
        value=runs.status.isin(rule.statuses).cast("float64"),
        reason=ibis.ifelse(runs.status.isnull(), UNKNOWN, ibis.null("string")),
    )


def find(rule: RunEnd, recorded: Recorded) -> Table:
    """Find each run that ended in one of the given ways."""
    runs = recorded.runs
    ends = runs.filter(runs.status.isin(rule.statuses))
    return shape.once(ends.select("run_key", value=ibis.literal(1).cast("float64"), quote="status"), recorded)
