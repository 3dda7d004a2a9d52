"""The check documents that the workbench speaks: read with all problems at once, and thresholds written back."""

from __future__ import annotations

from check_workbench.dialects.check1_records import answers_of_record
from check_workbench.dialects.problems import Found, Problem, Reading
from check_workbench.dialects.reading import Survey, read, read_checks, survey
from check_workbench.dialects.validating import file_json, validate_json
from check_workbench.dialects.writing import apply, diff, enforced, patched

__all__ = [
    "Found",
    "Problem",
    "Reading",
    "Survey",
    "answers_of_record",
    "apply",
    "diff",
    "enforced",
    "file_json",
    "patched",
    "read",
    "read_checks",
    "survey",
    "validate_json",
]
