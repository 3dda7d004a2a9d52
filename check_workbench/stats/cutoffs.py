"""What a cut is wanted for: a floor of precision or recall, the least cost, or a bounded risk."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from check_workbench.errors import InputError, UndefinedError
from check_workbench.stats.certify import START, p_value
from check_workbench.stats.curves import Curve, auc, curve, pile_up

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from check_workbench.stats.arrays import Floats

__all__ = ["Curve", "CutRange", "Goal", "Redraw", "auc", "bootstrap_cut", "choose", "curve", "meets", "pile_up"]

_NUMBER = r"(\d+(?:\.\d+)?|\.\d+)"
_FORMS = {
    "precision": re.compile(rf"precision\s*>=\s*{_NUMBER}"),
    "recall": re.compile(rf"recall\s*>=\s*{_NUMBER}"),
    "cost": re.compile(rf"cost\s+{_NUMBER}\s*:\s*{_NUMBER}"),
    "risk": re.compile(rf"risk\s*<=\s*{_NUMBER}\s*@\s*{_NUMBER}"),
}
UNWEIGHTED = "a bounded risk needs labels drawn with equal probability; these have differing weights."
_STEPS = 50
"""Steps of coverage that a risk goal walks over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """A goal that a cut can meet or miss."""

    kind: Literal["precision", "recall", "cost", "risk"]
    value: float
    """The floor of precision or recall, the largest risk, or the cost of a false flag."""
    other: float | None = None
    """The cost of a missed problem, or the confidence of a bounded risk."""

    def __str__(self) -> str:
        """Return the goal as it is written."""
        match self.kind:
            case "cost":
                return f"cost {self.value:g}:{self.other:g}"
            case "risk":
                return f"risk<={self.value:g}@{self.other:g}"
            case _:
                return f"{self.kind}>={self.value:g}"

    @classmethod
    def parse(cls, text: str) -> Goal:
        """Read a goal.

        Parameters
        ----------
        text
            `precision>=0.9`, `recall>=0.95`, `cost 1:5` (a false flag costs 1, a missed problem 5), or
            `risk<=0.05@0.9` (of what is not flagged at most 5 % have the problem, with confidence 90 %).

        Raises
        ------
        InputError
            Saying what would work.

        Examples
        --------
        >>> str(Goal.parse("recall >= .95")), Goal.parse("cost 1:5").other
        ('recall>=0.95', 5.0)
        """
        plain = text.strip().lower() if isinstance(text, str) else ""
        for kind, form in _FORMS.items():
            if found := form.fullmatch(plain):
                numbers = [float(part) for part in found.groups()]
                goal = cls(kind=kind, value=numbers[0], other=numbers[1] if len(numbers) > 1 else None)  # type: ignore[arg-type]
                goal._check(text)
                return goal
        raise InputError(
            f"{text!r} is no goal. Write 'precision>=0.9', 'recall>=0.95', 'cost 1:5' (a false flag : a missed "
            "problem), or 'risk<=0.05@0.9' (largest risk @ confidence)."
        )

    def _check(self, text: str) -> None:
        if self.kind == "cost":
            if self.value <= 0 or not self.other:
                raise InputError(f"{text!r}: both costs must be above 0, as in 'cost 1:5'.")
            return
        inside = 0 < self.value <= 1 if self.kind in {"precision", "recall"} else 0 < self.value < 1
        if not inside:
            raise InputError(
                f"{text!r}: {self.kind} is a share between 0 and 1, got {self.value:g}. Write 90 % as 0.9."
            )
        if self.kind == "risk" and not 0 < (self.other or 0) < 1:
            raise InputError(f"{text!r}: the confidence must lie between 0 and 1, as in 'risk<=0.05@0.9'.")


def choose(of: Curve, goal: Goal) -> int | None:
    """Return the place on the curve of the cut that serves a goal best.

    Precision: the highest recall that keeps it. Recall: the highest precision that keeps it. Cost: the least cost.
    Risk: the last cut of a walk that starts at 40 % not flagged. Among equals the higher cut, which flags less.

    Parameters
    ----------
    of
        What each cut flags.
    goal
        What is wanted.

    Returns
    -------
    int or None
        None where no cut meets the goal, or flagging nothing at all would cost less than any cut.

    Raises
    ------
    UndefinedError
        Where the goal has no meaning for these labels: recall without positives, a bounded risk with weights.

    Examples
    --------
    >>> found = curve([0.1, 0.4, 0.4, 0.9], [False, False, True, True])
    >>> found.at[choose(found, Goal.parse("precision>=0.9"))], found.at[choose(found, Goal.parse("recall>=0.9"))]
    (np.float64(0.9), np.float64(0.4))
    """
    match goal.kind:
        case "precision":
            return _best(np.where(of.precision >= goal.value - 1e-12, of.tp, -np.inf))
        case "recall":
            if of.positives <= 0:
                raise UndefinedError("recall has no value: no label is positive. Label some work that has the problem.")
            return _best(np.where(of.recall >= goal.value - 1e-12, of.precision, -np.inf))
        case "cost":
            miss = goal.other or 0.0
            cost = goal.value * of.fp + miss * of.fn
            return None if miss * of.positives < cost.min() else _best(-cost)
        case "risk":
            return _bounded(of, alpha=goal.value, delta=1 - (goal.other or 0.0))


def meets(of: Curve, goal: Goal, *, flagged: float, true: float) -> bool:
    """Say whether a cut that was given beforehand meets a goal; of a cost, whether no cut costs less.

    Parameters
    ----------
    of
        The curve of the same labels.
    goal
        What is wanted.
    flagged, true
        Labels that the cut flags, and those of them that are problems; sums of weights where the curve has weights.

    Raises
    ------
    UndefinedError
        Where a bounded risk is wanted of labels with weights.

    Examples
    --------
    >>> found = curve([0.1, 0.4, 0.4, 0.9], [False, False, True, True])
    >>> meets(found, Goal.parse("precision>=0.9"), flagged=1, true=1)
    True
    >>> meets(found, Goal.parse("recall>=0.9"), flagged=1, true=1)
    False
    """
    missed = of.positives - true
    match goal.kind:
        case "precision":
            return flagged > 0 and true / flagged >= goal.value - 1e-12
        case "recall":
            return of.positives > 0 and true / of.positives >= goal.value - 1e-12
        case "cost":
            miss = goal.other or 0.0
            least = min(miss * of.positives, float((goal.value * of.fp + miss * of.fn).min()))
            return goal.value * (flagged - true) + miss * missed <= least + 1e-9
        case "risk":
            if of.weighted:
                raise UndefinedError(UNWEIGHTED)
            passing = of.positives + of.negatives - flagged
            return passing > 0 and float(p_value(missed, passing, goal.value)) <= 1 - (goal.other or 0.0)


def _best(worth: Floats) -> int | None:
    if not len(worth) or worth.max() == -np.inf:
        return None
    return int(len(worth) - 1 - np.argmax(worth[::-1]))


def _bounded(of: Curve, *, alpha: float, delta: float) -> int | None:
    """Walk from 40 % not flagged towards higher cuts, in steps of 2 %, while the exact test holds."""
    if of.weighted:
        raise UndefinedError(UNWEIGHTED)
    passing = of.fn + of.tn
    steps = np.arange(np.ceil(START * _STEPS), _STEPS + 1) / _STEPS * (of.positives + of.negatives)
    cuts = np.unique(np.searchsorted(passing, steps - 1e-9))
    cuts = cuts[cuts < len(passing)]
    failed = p_value(of.fn[cuts], passing[cuts], alpha) > delta
    taken = int(np.argmax(failed)) if failed.any() else len(failed)
    return int(cuts[taken - 1]) if taken else None


@dataclass(frozen=True, slots=True, kw_only=True)
class CutRange:
    """How far the chosen cut moves when the labels are drawn again."""

    low: float
    """5 % of the draws chose a lower cut."""
    high: float
    none: float
    """Share of the draws in which no cut met the goal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Redraw:
    """How labels are drawn again: which belong together, from which seed, how often."""

    clusters: ArrayLike | None = None
    """One value per label; labels with equal values are drawn together. None means each alone."""
    weights: ArrayLike | None = None
    """1 / inclusion probability of each label; None means that all are equal."""
    seed: int = 0
    repeats: int = 200


def bootstrap_cut(scores: ArrayLike, positive: ArrayLike, goal: Goal, redraw: Redraw | None = None) -> CutRange:
    """Choose a cut again and again on labels drawn with replacement, and return the middle 90 % of the choices.

    Parameters
    ----------
    scores, positive
        As for `curve`.
    goal
        What is wanted.
    redraw
        Clusters, weights, seed and number of draws.

    Raises
    ------
    UndefinedError
        Where there are no labels, or no draw has a cut that meets the goal.

    Examples
    --------
    >>> scores = [0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9]
    >>> bootstrap_cut(scores, [0, 0, 0, 0, 1, 1, 1, 1], Goal.parse("precision>=0.9"))
    CutRange(low=0.6, high=0.8, none=0.0)
    """
    how = redraw or Redraw()
    values, hits = np.asarray(scores, dtype=np.float64), np.asarray(positive, dtype=np.bool_)
    keys = np.arange(len(values)) if how.clusters is None else np.asarray(how.clusters)
    weight = None if how.weights is None else np.asarray(how.weights, dtype=np.float64)
    _, group = np.unique(keys, return_inverse=True)
    members = np.split(np.argsort(group, kind="stable"), np.cumsum(np.bincount(group))[:-1])
    rng = np.random.default_rng(how.seed)
    chosen = []
    for _ in range(how.repeats):
        rows = np.concatenate([members[i] for i in rng.integers(0, len(members), len(members))])
        cut = _redrawn(curve(values[rows], hits[rows], weights=None if weight is None else weight[rows]), goal)
        chosen += [] if cut is None else [cut]
    if not chosen:
        raise UndefinedError(f"no redrawn sample has a cut that meets {goal}; more labels are needed, or a lower goal.")
    low, high = np.quantile(chosen, (0.05, 0.95), method="inverted_cdf")
    return CutRange(low=float(low), high=float(high), none=1 - len(chosen) / how.repeats)


def _redrawn(found: Curve, goal: Goal) -> float | None:
    try:
        place = choose(found, goal)
    except UndefinedError:
        return None
    return None if place is None else float(found.at[place])
