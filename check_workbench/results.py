"""What came of a check: `Evidence`, `Answer`, `Finding`, `Verdict`; from an answer and a cut to a status.

A verdict is derived from an answer and can be derived again; an answer never changes.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

from check_workbench.checks import (
    AtLeast,
    FlagAt,
    FlagLevel,
    FlagOn,
    Levels,
    PassBand,
    PassLevel,
    PassNames,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    import pandas as pd

    from check_workbench.checks import Item

Status = Literal["pass", "fail", "unsure", "error", "skipped", "not_checked", "not_applicable"]
WORST_FIRST: tuple[Status, ...] = ("error", "not_checked", "unsure", "fail", "skipped", "pass", "not_applicable")
"""Which status a check with several questions takes (check-1, section 3: unsure over fail over pass)."""
DECIDED: tuple[Status, ...] = ("pass", "fail", "unsure")
METHODS = ("rule", "recorded", "logprobs", "reported", "one_hot")


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What the evaluator was shown of a run, and what was cut to make it fit."""

    run_id: str
    text: str
    step_id: str | None = None
    spans: tuple[str, ...] = ()
    """Ids of the spans that were shown."""
    spans_cut: int = 0
    characters_cut: int = 0

    @property
    def truncated(self) -> bool:
        """Whether anything was cut."""
        return self.spans_cut > 0 or self.characters_cut > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer to one question on one unit; it never changes."""

    check_id: str
    run_id: str
    item: int = 0
    """Place of the question in its check, from 0."""
    step_id: str | None = None
    span_id: str | None = None
    attempt: int | None = None
    ask: str | None = None
    """The question as it was recorded with the answer."""
    asked: str | None = None
    """The asked digest of the item, for answers made here."""
    probability: float | None = None
    probabilities: Mapping[str, float] | None = None
    choice: str | None = None
    level: float | None = None
    passed: bool | None = None
    score: float | None = None
    value: Any = None
    explanation: str | None = None
    findings: Any = None
    quote: str | None = None
    confidence: float | None = None
    """As the evaluator reported it; `confidence_of` computes ours."""
    method: str | None = None
    model: str | None = None
    status: str | None = None
    """`error` or `skipped` where there is no answer."""
    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One place where a check saw a problem."""

    id: str
    check: str
    run: str
    status: Literal["raised", "resolved"]
    value: float
    step: str | None = None
    spans: tuple[str, ...] = ()
    quote: str | None = None
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a check says of one unit at its present cut-offs."""

    check: str
    run: str
    status: Status
    step: str | None = None
    attempt: int | None = None
    score: float | None = None
    """The value of the first item, or the least clear of several (see `calibration`)."""
    reason: str | None = None
    """Why there is no decision, for `error skipped not_checked not_applicable`."""
    advisory: bool = False
    blocking: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One item judged: its status, its one-dimensional score, and why it could not be decided."""

    status: Status
    score: float | None = None
    reason: str | None = None


def judge(item: Item, answer: Answer) -> Judged:
    """Apply an item's cut to an answer.

    The score is what calibration moves the cut over: the probability, the probability of the flagged names, the
    expected level; for named choices and levels of check-1 the confidence where the answer is a passing one, else 0.

    Parameters
    ----------
    item
        What was asked, with its cut.
    answer
        The answer.

    Returns
    -------
    Judged
        `not_checked` with a reason where the answer lacks what the cut needs.

    Examples
    --------
    >>> from check_workbench.checks import FlagAt, Item, YesNo
    >>> item = Item(asks=YesNo(ask="Did it fail?"), cut=FlagAt(value=0.8))
    >>> judge(item, Answer(check_id="c", run_id="r", probability=0.8)).status
    'fail'
    """
    if answer.status in {"error", "skipped"}:
        return Judged(status=answer.status, reason=f"recorded as {answer.status}")  # type: ignore[arg-type]
    match item.cut:
        case FlagAt(value=cut):
            return _flagged(answer.probability, cut)
        case FlagOn(names=names, value=cut):
            return _flagged(_mass(answer, names), cut)
        case FlagLevel(value=cut):
            return _flagged(level_of(answer), cut)
        case PassBand(pass_at=pass_at, fail_below=fail_below):
            return _banded(answer.probability, pass_at, fail_below)
        case PassNames() | PassLevel():
            return _confident(item, answer)
        case AtLeast(value=cut):
            return _flagged(answer.score, cut)


def worst(statuses: Iterable[Status]) -> Status:
    """Return the status that a check takes from its items.

    Source: check-1, section 3; a part that was not checked never counts as passed.

    Examples
    --------
    >>> worst(["pass", "fail", "unsure"]), worst(["pass", "not_checked"]), worst(["fail", "pass"])
    ('unsure', 'not_checked', 'fail')
    """
    return min(statuses, key=WORST_FIRST.index)


def confidence_of(answer: Answer, *, options: int = 0) -> float | None:
    """Compute the confidence of a choice or level from its probabilities, or return the reported one.

    Choice: (max p - 1/K) / (1 - 1/K). Levels: 1 - E|i - mode| / D, where D is the mean absolute deviation of a
    uniform distribution about its centre. Source: the System One answer format, `confidence`.

    Parameters
    ----------
    answer
        The answer; `probabilities` by option name, or by level written as a number.
    options
        Number of options of a choice; 0 means that the probabilities are of levels.

    Returns
    -------
    float or None
        In [0, 1]; None where neither probabilities nor a reported confidence exist.

    Examples
    --------
    >>> confidence_of(Answer(check_id="c", run_id="r", probabilities={"a": 0.8, "b": 0.1, "c": 0.1}), options=3)
    0.7
    """
    vector = answer.probabilities
    if not vector:
        return answer.confidence
    if options:
        return round((max(vector.values()) - 1 / options) / (1 - 1 / options), 12)
    weights = _by_level(vector)
    total = sum(weights) or 1.0
    mode = max(range(len(weights)), key=lambda i: (weights[i], -i))
    spread = sum(abs(i - mode) * p for i, p in enumerate(weights)) / total
    centre = (len(weights) - 1) / 2
    uniform = sum(abs(i - centre) for i in range(len(weights))) / len(weights)
    return round(max(0.0, 1 - spread / uniform), 12) if uniform else 1.0


def level_of(answer: Answer) -> float | None:
    """Return the expected level from the probabilities, or the recorded level."""
    if not answer.probabilities:
        return answer.level
    weights = _by_level(answer.probabilities)
    total = sum(weights)
    return sum(i * p for i, p in enumerate(weights)) / total if total else answer.level


def name_of(answer: Answer) -> str | None:
    """Return the most probable option, or the recorded choice; ties go to the first named."""
    if answer.probabilities:
        return max(answer.probabilities, key=lambda name: answer.probabilities[name])  # type: ignore[index]
    return answer.choice


def frame(rows: Sequence[Any], record: type) -> pd.DataFrame:
    """Return a DataFrame with one column per field of a record type, also where there are no rows."""
    import pandas as pd

    names = [f.name for f in fields(record)]
    return pd.DataFrame([[getattr(row, name) for name in names] for row in rows], columns=names)


def _flagged(value: float | None, cut: float) -> Judged:
    if value is None:
        return Judged(status="not_checked", reason="the answer has no value of the kind that was asked")
    return Judged(status="fail" if value >= cut else "pass", score=value)


def _banded(value: float | None, pass_at: float, fail_below: float | None) -> Judged:
    if value is None:
        return Judged(status="not_checked", reason="the answer has no probability")
    if value >= pass_at:
        return Judged(status="pass", score=value)
    failing = fail_below is None or value < fail_below
    return Judged(status="fail" if failing else "unsure", score=value)


def _confident(item: Item, answer: Answer) -> Judged:
    if isinstance(item.cut, PassNames):
        return _confident_name(item.cut, answer, options=len(getattr(item.asks, "options", ())))
    return _confident_level(item, answer)


def _confident_name(cut: PassNames, answer: Answer, *, options: int) -> Judged:
    name = name_of(answer)
    if name is None:
        return Judged(status="not_checked", reason="the answer names no option")
    sure = confidence_of(answer, options=options)
    status: Status = "pass" if name in cut.passing else "unsure" if name in cut.unsure else "fail"
    return _gated(status, sure, cut.confidence)


def _confident_level(item: Item, answer: Answer) -> Judged:
    cut = item.cut
    if not isinstance(cut, PassLevel) or not isinstance(item.asks, Levels):
        return Judged(status="not_checked", reason="a level cut needs a question with levels")
    level = _mode(answer)
    if level is None:
        return Judged(status="not_checked", reason="the answer has no level")
    return _gated("pass" if level >= cut.level else "fail", confidence_of(answer), cut.confidence)


def _gated(status: Status, sure: float | None, needed: float) -> Judged:
    score = (sure if sure is not None else 1.0) if status == "pass" else 0.0
    if sure is None and needed > 0:
        return Judged(status="unsure", score=score, reason="no confidence was recorded")
    if sure is not None and sure < needed:
        return Judged(status="unsure", score=score)
    return Judged(status=status, score=score)


def _mode(answer: Answer) -> float | None:
    if not answer.probabilities:
        return answer.level
    weights = _by_level(answer.probabilities)
    return float(max(range(len(weights)), key=lambda i: (weights[i], -i)))


def _mass(answer: Answer, names: Sequence[str]) -> float | None:
    if answer.probabilities:
        return sum(answer.probabilities.get(name, 0.0) for name in names)
    if answer.choice is None:
        return None
    return 1.0 if answer.choice in names else 0.0


def _by_level(vector: Mapping[str, float]) -> list[float]:
    levels = {int(key): p for key, p in vector.items()}
    return [levels.get(i, 0.0) for i in range(max(levels) + 1)]
