"""Langfuse scores to decisions and answers.

| score | becomes |
|---|---|
| `source` ANNOTATION | a decision about the check named `name`; see `feedback` for what its value says |
| … of `dataType` CORRECTION | a decision about the work; its text, the output as a person rewrote it, is the `note` |
| … which differs from the recorded output | `edited`; `unclear` where it does not, or where the output is not there |
| `source` EVAL or API | an answer of the check named `name`, `method` `langfuse EVAL` or `langfuse API` |
| `traceId`, `observationId` | `run_id`, `span_id` |
| `value`; of BOOLEAN true or false, of texts `stringValue`, if there | `answer`; `score`, of texts `choice` |
| `comment` | `note`, `explanation` |
| `authorUserId`, `timestamp`, `projectId` | `decided_by`, `decided_at` or `at`, `project` |

Whoever sends scores to the API may be a person or a program; Langfuse does not say which, so they are answers.
A score of a session or of a dataset run names no trace and is rejected.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError
from check_workbench.results import Answer
from check_workbench.sources.encoded import meant
from check_workbench.sources.feedback import About, Feedback
from check_workbench.sources.format import Note
from check_workbench.sources.times import when
from check_workbench.sources.totals import is_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from check_workbench.records import Decision, Run

SOURCES = ("ANNOTATION", "API", "EVAL")
_TEXTS = ("CATEGORICAL", "TEXT")
_TIMES = ("timestamp", "updatedAt", "createdAt")


@dataclass(slots=True)
class Scores:
    """The scores of one file, and what must be told of them at its end."""

    feedback: Feedback = field(default_factory=Feedback)
    unchanged: int = 0
    """Corrections that cannot be seen to change anything."""

    def read(self, row: Mapping[str, Any], run: Run | None = None) -> Decision | Answer:
        """Turn one score into a decision or an answer.

        Parameters
        ----------
        row
            The score, keys in camelCase.
        run
            The trace that it came with, if it did.

        Raises
        ------
        ValueError
            If it cannot be used.
        """
        source = row.get("source")
        if source not in SOURCES:
            raise InputError(f"the source of a score must be one of {', '.join(SOURCES)}, got {source!r:.80}")
        name = _text(row, "name")
        self.feedback.described += bool(meant(row.get("metadata")))
        if row.get("dataType") == "CORRECTION":
            return self._correction(row, run)
        value = _value(row)
        if source == "ANNOTATION":
            return self.feedback.decision(_about(row, row.get("comment")), name, value)
        return Answer(
            check_id=name,
            run_id=_run_id(row),
            span_id=_optional(row, "observationId"),
            choice=value if isinstance(value, str) else None,
            score=None if isinstance(value, str) else float(value),
            value=value if isinstance(value, bool) else None,
            explanation=_optional(row, "comment"),
            method=f"langfuse {source}",
            at=_at(row),
        )

    def notes(self, file: str) -> Iterator[Note]:
        """Yield what must be told of the scores.

        Parameters
        ----------
        file
            The file's name in reports.
        """
        yield from self.feedback.notes(file)
        if self.unchanged:
            text = "corrections that repeat the recorded output, or come without it, count as unclear"
            yield Note(file=file, text=f"{text}: {self.unchanged:,}")

    def _correction(self, row: Mapping[str, Any], run: Run | None) -> Decision:
        text = _optional(row, "longStringValue") or _optional(row, "stringValue") or _optional(row, "value")
        if text is None:
            raise InputError("a correction must have its text in longStringValue or stringValue")
        before = _output(run, _optional(row, "observationId"))
        edited = before is not None and meant(text) != before
        self.unchanged += not edited
        return _about(row, text).decision("edited" if edited else "unclear")


def _about(row: Mapping[str, Any], note: Any) -> About:
    return About(
        run_id=_run_id(row),
        span_id=_optional(row, "observationId"),
        by=_optional(row, "authorUserId"),
        at=_at(row),
        note=note if isinstance(note, str) and note else None,
        project=_optional(row, "projectId"),
    )


def _output(run: Run | None, observation: str | None) -> Any:
    if run is None:
        return None
    if observation is None:
        return run.final_output
    return next((one.output for one in run.spans if one.span_id == observation), None)


def _value(row: Mapping[str, Any]) -> str | float | bool:
    kind = row.get("dataType")
    value = row.get("value")
    if kind in _TEXTS:
        value = row.get("stringValue") or value
        if isinstance(value, str) and value:
            return value
    elif isinstance(value, bool) or is_number(value):
        return bool(value) if kind == "BOOLEAN" and value in {0, 1} else value
    raise InputError(f"a score of data type {kind} must have a value, got {value!r:.80}")


def _run_id(row: Mapping[str, Any]) -> str:
    value = row.get("traceId")
    if not isinstance(value, str) or not value:
        owner = "a session" if row.get("sessionId") else "a dataset run" if row.get("datasetRunId") else "nothing"
        raise InputError(f"a score must name its trace in traceId; this one is of {owner}")
    return value


def _at(row: Mapping[str, Any]) -> datetime | None:
    return when(next((row[key] for key in _TIMES if row.get(key)), None))


def _text(row: Mapping[str, Any], key: str) -> str:
    value = _optional(row, key)
    if value is None:
        raise InputError(f"{key} of a score must be text, got {row.get(key)!r:.80}")
    return value


def _optional(row: Mapping[str, Any], key: str) -> str | None:
    value = row.get(key)
    return value if isinstance(value, str) and value else None
