"""The table of rule types: which file measures which settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from check_workbench import checks
from check_workbench.rules import (
    count,
    errors,
    match,
    repeat,
    requires_before,
    run_end,
    slow,
    threshold,
    unrecovered_error,
)

if TYPE_CHECKING:
    from types import ModuleType

TYPES: dict[type[checks.Rule], ModuleType] = {
    checks.Repeat: repeat,
    checks.Errors: errors,
    checks.Count: count,
    checks.Slow: slow,
    checks.Metric: threshold,
    checks.Match: match,
    checks.RequiresBefore: requires_before,
    checks.UnrecoveredError: unrecovered_error,
    checks.RunEnd: run_end,
}
"""Each module has `measure(rule, recorded)` and `find(rule, recorded)`."""
