"""Rules: what code can measure in recorded runs, set-based, and the findings above a cut.

One file per rule type; `table.TYPES` registers them. Expressions are unbound Ibis tables: they run on any cursor of any
thread, and on every engine that Ibis speaks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from check_workbench.rules import shape
from check_workbench.rules.stored import asked_of, findings, first_spans, measure_into
from check_workbench.rules.table import TYPES
from check_workbench.rules.unrecovered_error import left_failed

if TYPE_CHECKING:
    from ibis.expr.types import Table

    from check_workbench.checks import Rule

__all__ = ["TYPES", "asked_of", "find", "findings", "first_spans", "left_failed", "measure", "measure_into"]


def measure(rule: Rule, spans: Table, runs: Table) -> Table:
    """Measure every run of `runs`.

    Parameters
    ----------
    rule
        What to measure.
    spans, runs
        Unbound tables of the store's form, or any expression of that form.

    Returns
    -------
    Table
        `run_key`, `value` (0 where nothing matches, NULL where it cannot be said) and `reason` (why not): one row a
        run.

    Raises
    ------
    InputError
        If a field of the rule does not exist, or RE2 cannot compile its pattern.

    Source: neatroots, "Rules".
    """
    table: Table = TYPES[type(rule)].measure(rule, shape.Recorded(spans=spans, runs=runs))
    return table


def find(rule: Rule, at: float, spans: Table, runs: Table, *, label: str = "seq") -> Table:
    """Find what a rule raises at a cut.

    Parameters
    ----------
    rule
        What to look for.
    at
        Findings are raised from this measurement on; rules that cannot be tuned raise each hit.
    spans, runs
        As for `measure`.
    label
        The column that names spans: `seq` or `span_id`.

    Returns
    -------
    Table
        `run_key key value spans quote resolved`: one row a group (`repeat`), a streak (`errors`), a span (`slow match
        requires_before`), a tool (`unrecovered_error`), else a run. `key` tells the findings of a run apart.

    Source: neatroots, "Rules".
    """
    recorded = shape.Recorded(spans=spans, runs=runs, at=at, label=label)
    table: Table = TYPES[type(rule)].find(rule, recorded)
    return table
