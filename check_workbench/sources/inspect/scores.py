"""Scores of an Inspect sample to answers, and edits of them by people to decisions.

| score | becomes |
|---|---|
| its name | `check_id` |
| `value` `C`, `I`, `N` | `passed` true, false, false; `score` 1, 0, 0 |
| `value` `P` | `score` 0.5, `passed` left open |
| true, false | `passed`, `score` 1 or 0 |
| a number | `score` |
| any other `value`: text, list, object | `value`, as in every case |
| `explanation` | `explanation` |
| the scorer's own model call, else `metadata.grading`, else the scorer's option `model` | `model` |
| time of the score's event | `at` |
| `history`: the first entry without `provenance` | the answer, where the score was edited |
| `history`: an entry with `provenance` and a new `value` | a decision; of one author the last counts |

A decision says `no_problem` or `problem` for the check of that name, `unclear` where the new value says neither; the
value is its `answer`, author, time and reason are kept. Its author saw the score: `verdict_seen` is true.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from check_workbench.records import Decision
from check_workbench.results import Answer
from check_workbench.sources.times import when

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from check_workbench.sources.inspect.events import Observed

    Score = Mapping[str, Any]

_GRADES: dict[str, tuple[bool | None, float]] = {
    "C": (True, 1.0),
    "I": (False, 0.0),
    "N": (False, 0.0),
    "P": (None, 0.5),
}
_SAYS = {True: "no_problem", False: "problem", None: "unclear"}
_UNCHANGED = "UNCHANGED"


def opinions(
    run_id: str, scores: Mapping[str, Score], seen: Observed, options: Mapping[str, Any]
) -> Iterator[Answer | Decision]:
    """Read what scorers and people said of a sample.

    Parameters
    ----------
    run_id
        The run.
    scores
        The sample's scores by name.
    seen
        The sample's events.
    options
        The scorers' options by name.

    Yields
    ------
    Answer or Decision
        In the order of the scores.

    Raises
    ------
    ValueError
        If a time is none.
    """
    for name, score in scores.items():
        given = _original(score)
        if given is not None:
            model = seen.graders.get(name) or _grader(score) or _text(options.get(name))
            yield _answer((run_id, name), given, model, when(seen.scored_at.get(name)))
        yield from _decisions(run_id, name, score)


def _original(score: Score) -> Score | None:
    """Return the score as its scorer gave it, or None where a person gave it."""
    history = _history(score)
    if not history:
        return score
    first = history[0]
    return None if isinstance(first.get("provenance"), dict) else first


def _answer(about: tuple[str, str], given: Score, model: str | None, at: datetime | None) -> Answer:
    run_id, name = about
    passed, number = _graded(given.get("value"))
    return Answer(
        check_id=name,
        run_id=run_id,
        passed=passed,
        score=number,
        value=given.get("value"),
        explanation=_text(given.get("explanation")),
        method=f"inspect {name}",
        model=model,
        at=at,
    )


def _decisions(run_id: str, name: str, score: Score) -> Iterator[Decision]:
    found: dict[str | None, Decision] = {}
    for entry in _history(score):
        by = entry.get("provenance")
        if not isinstance(by, dict) or entry.get("value", _UNCHANGED) == _UNCHANGED:
            continue
        author = _text(by.get("author"))
        found.pop(author, None)
        found[author] = Decision(
            run_id=run_id,
            decision=_SAYS[_graded(entry["value"])[0]],
            check_id=name,
            answer=entry["value"],
            decided_by=author,
            decided_at=when(by.get("timestamp")),
            verdict_seen=True,
            provenance="imported",
            note=_text(by.get("reason")),
        )
    yield from found.values()


def _history(score: Score) -> list[Mapping[str, Any]]:
    history = score.get("history")
    return [entry for entry in history if isinstance(entry, dict)] if isinstance(history, list) else []


def _graded(value: Any) -> tuple[bool | None, float | None]:
    if isinstance(value, bool):
        return value, float(value)
    if isinstance(value, int | float):
        return None, float(value) if abs(value) < 1e300 else None
    return _GRADES.get(value, (None, None)) if isinstance(value, str) else (None, None)


def _grader(score: Score) -> str | None:
    """Return the model that a model-graded score keeps with the conversation it was graded in."""
    metadata = score.get("metadata")
    messages = metadata.get("grading") if isinstance(metadata, dict) else None
    told = messages if isinstance(messages, list) else []
    models = [
        message.get("model") for message in told if isinstance(message, dict) and message.get("role") == "assistant"
    ]
    return _text(models[-1]) if models else None


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
