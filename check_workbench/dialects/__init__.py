"""The check documents that the workbench speaks: read with all problems at once, and thresholds written back."""

from __future__ import annotations

from check_workbench.dialects.problems import Problem, Reading
from check_workbench.dialects.reading import read, read_checks

__all__ = [
    "Problem",
    "Reading",
    "read",
    "read_checks",
]
