"""Assessments of MLflow traces to decisions and answers.

| assessment with `feedback` | becomes |
|---|---|
| `source.source_type` HUMAN | a decision about the check of that name; see `feedback` |
| … that `overrides` another assessment | the same, with `verdict_seen` true |
| … with `valid` false: a later one of a person replaced it | nothing, and a note |
| LLM_JUDGE, CODE, any other; valid or not | an answer of the check of that name, `method` `mlflow LLM_JUDGE`, … |
| `trace_id`, `span_id` | `run_id`, `span_id` |
| `feedback.value` | a number or true: `score`; text: `choice`; anything else: `value` |
| `feedback.error` | `status` `error`, its message is the `explanation` |
| `rationale`; `last_update_time` or `create_time` | `note` or `explanation`; `decided_at` or `at` |
| `source.source_id` | `decided_by`; of an LLM_JUDGE `model` |
| `metadata` | (not taken; a note counts it) |

An `expectation` says what the answer should have been, not whether it is good; see `mlflow_runs`.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError
from check_workbench.results import Answer
from check_workbench.sources.feedback import About, Feedback
from check_workbench.sources.format import Note
from check_workbench.sources.mlflow.spans import id_of
from check_workbench.sources.times import when
from check_workbench.sources.totals import is_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from check_workbench.records import Decision


class Assessments:
    """The assessments of one file."""

    def __init__(self) -> None:
        self._feedback = Feedback()
        self._replaced = 0

    def read(self, row: Any, run_id: str) -> Decision | Answer | None:
        """Turn one assessment into a decision or an answer, or None where a later one replaced it.

        Parameters
        ----------
        row
            The assessment.
        run_id
            The trace.

        Raises
        ------
        ValueError
            If it cannot be used.
        """
        if not isinstance(row, dict):
            raise InputError(f"an assessment must be an object, got {type(row).__name__}")
        name = _text(row, "assessment_name") or _text(row, "name")
        given, source = row.get("feedback"), row.get("source")
        if name is None or not isinstance(given, dict):
            raise InputError(f"an assessment must have a name and a feedback, got {name!r:.80} and {given!r:.80}")
        source = source if isinstance(source, dict) else {}
        self._feedback.described += bool(row.get("metadata"))
        span, at = id_of(row.get("span_id")), when(row.get("last_update_time") or row.get("create_time"))
        if source.get("source_type") != "HUMAN":
            answer = Answer(check_id=name, run_id=run_id, span_id=span, at=at)
            return _answered(answer, row, given, source)
        if row.get("valid") is False:
            self._replaced += 1
            return None
        by, note = _text(source, "source_id"), _text(row, "rationale")
        seen = True if row.get("overrides") else None
        about = About(run_id=run_id, span_id=span, by=by, at=at, note=note, seen=seen)
        return self._feedback.decision(about, name, given.get("value"))

    def notes(self, file: str) -> Iterator[Note]:
        """Yield what must be told of them.

        Parameters
        ----------
        file
            The file's name in reports.
        """
        yield from self._feedback.notes(file)
        if self._replaced:
            text = f"assessments of people that later ones replaced, and that were not taken: {self._replaced:,}"
            yield Note(file=file, text=text)


def _answered(answer: Answer, row: Mapping[str, Any], given: Mapping[str, Any], source: Mapping[str, Any]) -> Answer:
    kind = _text(source, "source_type") or "assessment"
    error = given.get("error")
    message = _text(error, "error_message") if isinstance(error, dict) else None
    value = given.get("value")
    if value is None and not error and _text(row, "rationale") is None:
        raise InputError("an assessment must have a value, a rationale or an error")
    return dataclasses.replace(
        answer,
        choice=value if isinstance(value, str) and value else None,
        score=float(value) if is_number(value) or isinstance(value, bool) else None,
        value=None if is_number(value) or isinstance(value, str) else value,
        explanation=message or _text(row, "rationale"),
        method=f"mlflow {kind}",
        model=_text(source, "source_id") if kind == "LLM_JUDGE" else None,
        status="error" if error else None,
    )


def _text(row: Mapping[str, Any], key: str) -> str | None:
    value = row.get(key)
    return value if isinstance(value, str) and value else None
