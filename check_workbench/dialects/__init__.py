"""The check documents that the workbench speaks: read with all problems at once, and thresholds written back."""

from __future__ import annotations

from check_workbench.dialects.check1_records import answers_of_record
from check_workbench.dialects.problems import Found, Problem, Reading
from check_workbench.dialects.reading import read, read_checks
from check_workbench.dialects.validating import validate_json
from check_workbench.dialects.writing import apply, diff, enforced, patched

__all__ = [
    "Found",
    "Problem",
    "Reading",
    "answers_of_record",
    "apply",
    "diff",
    "enforced",
    "patched",
    "read",
    "read_checks",
    "validate_json",
]
