"""From measurements and answers to scores, and from the scores of a check's items to its verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.checks import Choice, Levels, thresholds
from check_workbench.evaluation.units import ABOUT, UNIT
from check_workbench.results import WORST_FIRST, Judged, judge

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from check_workbench.checks import Check, Item
    from check_workbench.results import Answer

SCORES = [
    "check", "item", "key", "means", *UNIT, "score", "status", "reason", "method", "model", "answered_at", *ABOUT,
]  # fmt: skip
VERDICTS = ["check", "run", "step", "attempt", "status", "score", "reason", "advisory", "blocking"]


def judged_answers(check: Check, item: Item, answers: Sequence[Answer]) -> Judged:
    """Judge one unit by its answers, one per span that was asked about, or one for the whole unit.

    Parameters
    ----------
    check
        The check.
    item
        Which of its items was asked.
    answers
        At least one; the least favourable decides, and one that has no score counts only if none has.
    """
    judged = [_judged(check, item, answer) for answer in answers]
    scored = [one for one in judged if one.score is not None]
    if scored:
        return _least_favourable(scored, item)
    return min(judged, key=lambda one: WORST_FIRST.index(one.status))


def failing(check: Check, place: int, answers: Sequence[Answer]) -> list[Answer]:
    """Return the answers of one unit that fail, in their order."""
    return [answer for answer in answers if _judged(check, check.items[place], answer).status == "fail"]


def _least_favourable(scored: Sequence[Judged], item: Item) -> Judged:
    if item.means == "problem":
        return max(scored, key=lambda one: one.score or 0.0)
    return min(scored, key=lambda one: (WORST_FIRST.index(one.status), one.score or 0.0))


def misfit(item: Item, answer: Answer) -> str | None:
    """Say why an answer cannot be one to a question, or None if it can.

    Examples
    --------
    >>> from check_workbench.checks import FlagLevel, Item, Levels
    >>> from check_workbench.results import Answer
    >>> item = Item(asks=Levels(ask="How bad?", levels=("fine", "bad")), cut=FlagLevel(value=1))
    >>> misfit(item, Answer(check_id="c", run_id="r", level=7))
    'the answer has a level that the question has not: levels are numbered from 0'
    """
    named = set(answer.probabilities or {})
    if isinstance(item.asks, Choice):
        known = {name for name, _ in item.asks.options}
        strange = named - known or (answer.choice is not None and answer.choice not in known)
        return "the answer names an option that the question has not" if strange else None
    if isinstance(item.asks, Levels):
        top = len(item.asks.levels) - 1
        beyond = answer.level is not None and not 0 <= answer.level <= top
        strange = named - {str(level) for level in range(top + 1)} or beyond
        return "the answer has a level that the question has not: levels are numbered from 0" if strange else None
    return None


def _judged(check: Check, item: Item, answer: Answer) -> Judged:
    why = misfit(item, answer)
    if why is not None:
        return Judged(status="not_checked", reason=why)
    judged = judge(item, answer)
    if judged.status == "error" and check.dialect == "neatroots":
        return Judged(status="not_checked", reason="the evaluator failed on it")
    if judged.status == "not_checked" and check.dialect == "check-1" and answer.explanation:
        return Judged(status="not_checked", reason=answer.explanation)
    return judged


def scored(check: Check, place: int, units: pd.DataFrame, judged: pd.DataFrame) -> pd.DataFrame:
    """Build the score rows of one item.

    Parameters
    ----------
    check
        The check.
    place
        Place of the item, from 0.
    units
        Rows of `units_of`.
    judged
        `score status reason method model answered_at` on the same index.
    """
    table = units[[*UNIT, *ABOUT]].join(judged)
    item = check.items[place]
    keys = [threshold.key for threshold in thresholds(check) if threshold.item == place]
    away = units["why"].notna()
    table.loc[away, "status"] = "not_applicable"
    table.loc[away, "reason"] = units.loc[away, "why"]
    table.loc[away, "score"] = None
    named = table.assign(check=check.id, item=place, key=keys[0] if keys else None, means=item.means)
    return named[SCORES]


def verdicts_of(check: Check, scores: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Build the verdicts of a check from the score rows of its items.

    Parameters
    ----------
    check
        The check.
    scores
        One table of `scored` per item, on the same index.

    Returns
    -------
    DataFrame
        The worst item decides; of several the score is the least clear one. Source: check-1, section 3.
    """
    first = scores[0]
    worst = first[["status", "reason", "score"]].copy()
    for table in scores[1:]:
        worse = table["status"].map(WORST_FIRST.index) < worst["status"].map(WORST_FIRST.index)
        worst.loc[worse, ["status", "reason"]] = table.loc[worse, ["status", "reason"]]
        worst["score"] = worst["score"].where(~(table["score"] < worst["score"]), table["score"])
    names = {"run_id": "run", "step_id": "step"}
    table = first[UNIT].rename(columns=names).join(worst)
    flags: dict[str, Any] = {"check": check.id, "advisory": check.advisory, "blocking": blocking(check)}
    return table.assign(**flags)[VERDICTS]


def blocking(check: Check) -> bool:
    """Say whether a bad verdict of the check holds the work up.

    Examples
    --------
    >>> from check_workbench.checks import Check
    >>> blocking(Check(id="p/s", dialect="check-1", items=(), advisory=True))
    False
    """
    return not check.advisory if check.dialect == "check-1" else check.action == "halt"
