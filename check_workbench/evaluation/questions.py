"""Questions: recorded answers first, then the evaluator, else `not_checked`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from check_workbench.evaluation.asking import ask
from check_workbench.evaluation.judging import judged_answers
from check_workbench.evaluation.recorded import Key, Pool, unit_of
from check_workbench.evaluation.requests import Asking
from check_workbench.evaluation.rows import plain_values

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pandas as pd

    from check_workbench.checks import Check
    from check_workbench.evaluators import Evaluator
    from check_workbench.results import Answer
    from check_workbench.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where answers come from besides the store's tables, and where they go."""

    store: Store
    evaluator: Evaluator | None = None
    progress: Callable[[str, float], None] | None = None
    keep: bool = True
    """Whether rules measure all runs and keep that, or only the given ones and keep nothing."""


@dataclass(slots=True, kw_only=True)
class Answered:
    """The answers that count for one item: by unit, with the reason where there is none."""

    answers: dict[Key, list[Answer]] = field(default_factory=dict)
    reasons: dict[Key, str] = field(default_factory=dict)
    notes: Counter[str] = field(default_factory=Counter)
    """What a reader must know of the answers, with counts."""


def answered(check: Check, place: int, units: pd.DataFrame, pool: Pool, source: Source) -> Answered:
    """Find the answers to one question on units.

    Parameters
    ----------
    check
        The check.
    place
        Place of the question among its items.
    units
        Rows of `units_of` to which the check applies.
    pool
        The recorded answers.
    source
        The evaluator that is asked for what is missing, if any.
    """
    found = Answered()
    for key in keys_of(units):
        answers, reason = pool.chosen(key)
        if answers:
            found.answers[key] = answers
        else:
            found.reasons[key] = reason
    found.notes.update(pool.notes())
    _ask(check, place, units, source=source, found=found)
    return found


def _ask(check: Check, place: int, units: pd.DataFrame, *, source: Source, found: Answered) -> None:
    """Ask for what is missing; a failed answer is missing, and of spans each that has none."""
    if source.evaluator is None:
        return
    known = {key: frozenset(one.span_id for one in _good(answers)) for key, answers in found.answers.items()}
    by_span = check.items[place].scope == "span"
    lacks = [not known.get(key) or (by_span and None not in known[key]) for key in keys_of(units)]
    asking = Asking(
        check=check,
        place=place,
        evaluator=source.evaluator,
        store=source.store,
        progress=source.progress,
        known=known,
    )
    answers, notes = ask(asking, units[lacks])
    found.notes.update(notes)
    for answer in answers:
        key = unit_of(check, answer)
        others = [one for one in found.answers.get(key, []) if one.span_id != answer.span_id]
        found.answers[key] = [*others, answer]


def judged(check: Check, place: int, units: pd.DataFrame, found: Answered) -> pd.DataFrame:
    """Judge units by the answers that count for them.

    Returns
    -------
    DataFrame
        `score status reason method model answered_at` on the index of the units.
    """
    import pandas as pd

    rows = [_row(check, place, found, key) for key in keys_of(units)]
    table = pd.DataFrame(
        rows, index=units.index, columns=["score", "status", "reason", "method", "model", "answered_at"]
    )
    table["score"] = table["score"].astype("float64")
    table["answered_at"] = pd.to_datetime(table["answered_at"])
    return table


def keys_of(units: pd.DataFrame) -> list[Key]:
    """Return the key of each unit, in order."""
    return list(zip(units["run_id"].tolist(), plain_values(units["attempt"]), strict=True))


def _row(check: Check, place: int, found: Answered, key: Key) -> Mapping[str, Any]:
    answers = found.answers.get(key)
    if not answers:
        reason = found.reasons.get(key)
        return {"score": None, "status": "not_checked", "reason": reason}
    result = judged_answers(check, check.items[place], answers)
    last = answers[-1]
    dates = [answer.at for answer in answers if answer.at is not None]
    return {
        "score": result.score,
        "status": result.status,
        "reason": result.reason,
        "method": last.method or "recorded",
        "model": last.model,
        "answered_at": max(dates) if dates else None,
    }


def _good(answers: list[Answer]) -> list[Answer]:
    return [answer for answer in answers if answer.status != "error"]
