"""The check documents that the workbench speaks: read with all problems at once, and thresholds written back."""

from __future__ import annotations

from check_workbench.dialects.check1_promotion import approval_of
from check_workbench.dialects.check1_records import answers_of_record
from check_workbench.dialects.problems import Found, Problem, Reading
from check_workbench.dialects.promoting import notes_on, promoted, promoted_check
from check_workbench.dialects.reading import Survey, read, read_checks, survey
from check_workbench.dialects.validating import file_json, validate_json
from check_workbench.dialects.writing import apply, diff, patched, rewrite, text_of, unified

__all__ = [
    "Found",
    "Problem",
    "Reading",
    "Survey",
    "answers_of_record",
    "apply",
    "approval_of",
    "diff",
    "file_json",
    "notes_on",
    "patched",
    "promoted",
    "promoted_check",
    "read",
    "read_checks",
    "rewrite",
    "survey",
    "text_of",
    "unified",
    "validate_json",
]
