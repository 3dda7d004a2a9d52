"""LangSmith feedback to decisions and answers.

| feedback | becomes |
|---|---|
| `feedback_source.type` `app` or `human` | a decision about the check named `key`; see `feedback` |
| … `api`, with `human` or `user` as `source` or `type` in the source's metadata | the same |
| any other, or none: `model`, `api`, … | an answer of the check named `key`, `method` `langsmith` and the type |
| `trace_id`, else `run_id` | `run_id` |
| `run_id`, where it is not the trace | `span_id` |
| the label that `feedback_config` has for the score, `value`, `score` | of a decision the first that says good or bad |
| `score`; a text `value`; any other `value` | of an answer `score`, else `choice`; `value` |
| `comment`, and `correction` of a decision | `note`, `explanation` |
| user name or id, `modified_at`, else `created_at` | `decided_by`, `decided_at` or `at` |
| `error` | `status` `error` of an answer |
| `extra`, and `correction` of an answer | (not taken; a note counts them) |

Feedback on an experiment or a project names no run and is rejected.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError
from check_workbench.results import Answer
from check_workbench.sources.feedback import About, decision_of
from check_workbench.sources.times import when
from check_workbench.sources.totals import is_number

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from check_workbench.records import Decision
    from check_workbench.sources.feedback import Feedback

_PEOPLE = ("app", "human")
_STATED = ("human", "user")


def opinion(row: Any, feedback: Feedback) -> Decision | Answer:
    """Turn one row of feedback into a decision or an answer.

    Parameters
    ----------
    row
        The row.
    feedback
        Counts what does not say good or bad.

    Raises
    ------
    ValueError
        If it cannot be used.
    """
    if not isinstance(row, dict):
        raise InputError(f"feedback must be an object, got {type(row).__name__}")
    name, run = _text(row, "key"), _text(row, "run_id")
    if name is None or run is None:
        raise InputError(f"feedback must have a key and the run_id of a run, got {name!r:.80} and {run!r:.80}")
    source = row.get("feedback_source")
    source = source if isinstance(source, dict) else {}
    human = _is_human(source)
    feedback.described += bool(row.get("extra") or (row.get("correction") and not human))
    if human:
        return _decision(row, source, name, feedback)
    return _answer(row, source, name)


def _is_human(source: Mapping[str, Any]) -> bool:
    if source.get("type") in _PEOPLE:
        return True
    metadata = source.get("metadata")
    stated = (metadata.get("source"), metadata.get("type")) if isinstance(metadata, dict) else ()
    return source.get("type") == "api" and any(value in _STATED for value in stated)


def _decision(row: Mapping[str, Any], source: Mapping[str, Any], name: str, feedback: Feedback) -> Decision:
    said = [value for value in (_label(row), row.get("value"), row.get("score")) if value is not None]
    if not said:
        raise InputError(f"feedback of a person must have a value or a score, got neither under {name!r:.80}")
    run_id, span_id = _unit(row)
    correction = row.get("correction")
    texts = [_text(row, "comment"), f"correction: {_in_text(correction)}" if correction else None]
    about = About(
        run_id=run_id,
        span_id=span_id,
        by=_text(source, "user_name") or _text(source, "user_id"),
        at=_at(row),
        note="\n".join(text for text in texts if text) or None,
    )
    return feedback.decision(about, name, next((v for v in said if decision_of(name, v) != "unclear"), said[0]))


def _answer(row: Mapping[str, Any], source: Mapping[str, Any], name: str) -> Answer:
    score, value = row.get("score"), row.get("value")
    failed = row.get("error") is True
    if score is None and value is None and not failed and not _text(row, "comment"):
        raise InputError(f"feedback must have a score, a value or a comment, got none under {name!r:.80}")
    if score is not None and not is_number(score) and not isinstance(score, bool):
        raise InputError(f"the score of feedback must be a number, got {score!r:.80}")
    run_id, span_id = _unit(row)
    chosen = value if isinstance(value, str) and score is None else None
    return Answer(
        check_id=name,
        run_id=run_id,
        span_id=span_id,
        choice=chosen or None,
        score=None if score is None else float(score),
        value=score if isinstance(score, bool) and value is None else None if chosen else value,
        explanation=_text(row, "comment"),
        method=f"langsmith {_text(source, 'type') or 'feedback'}",
        status="error" if failed else None,
        at=_at(row),
    )


def _unit(row: Mapping[str, Any]) -> tuple[str, str | None]:
    run = str(row["run_id"])
    trace = _text(row, "trace_id") or run
    return trace, None if trace == run else run


def _label(row: Mapping[str, Any]) -> str | None:
    config = row.get("feedback_config")
    categories = config.get("categories") if isinstance(config, dict) else None
    for category in categories if isinstance(categories, list) else ():
        if isinstance(category, dict) and row.get("score") is not None and category.get("value") == row["score"]:
            return _text(category, "label")
    return None


def _at(row: Mapping[str, Any]) -> datetime | None:
    return when(row.get("modified_at") or row.get("created_at"))


def _in_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _text(row: Mapping[str, Any], key: str) -> str | None:
    value = row.get(key)
    return value if isinstance(value, str) and value else None
