"""What each cut would flag, and how well scores rank.

Scores here mean *problem*: what has a score at or above the cut is flagged. Negate scores that mean good.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq
from scipy.stats import rankdata

from check_workbench.errors import InputError, UndefinedError
from check_workbench.stats.arrays import flags, floats
from check_workbench.stats.intervals import Estimate, normal_quantile
from check_workbench.stats.weighted import Sums, effective, recalls, shares

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from check_workbench.stats.arrays import Flags, Floats, Ints

POINTS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One point per cut, cuts ascending: counts (sums of weights where labels are weighted), rates and intervals."""

    at: Floats
    tp: Floats
    fp: Floats
    positives: float
    """Sum over all positives, flagged or not."""
    negatives: float
    weighted: bool
    of_flagged: Sums
    of_passed: Sums

    @property
    def fn(self) -> Floats:
        """Positives that are not flagged."""
        return self.positives - self.tp

    @property
    def tn(self) -> Floats:
        """Negatives that are not flagged."""
        return self.negatives - self.fp

    @property
    def flagged(self) -> Floats:
        """Everything that is flagged."""
        return self.tp + self.fp

    @property
    def flagged_share(self) -> Floats:
        """Share of everything that is flagged."""
        return self.flagged / (self.positives + self.negatives)

    @property
    def precision(self) -> Floats:
        """Share of positives among what is flagged; NaN where nothing is flagged."""
        return _ratio(self.tp, self.flagged)

    @property
    def recall(self) -> Floats:
        """Share of the positives that are flagged; NaN where there are no positives."""
        return _ratio(self.tp, np.full(len(self.at), self.positives))

    @property
    def effective(self) -> Floats:
        """How many equally weighted flagged labels would tell precision as surely."""
        return effective(self.of_flagged)

    @property
    def precision_low(self) -> Floats:
        """Lower end of the 95 % interval of precision: exact, or by effective counts where labels are weighted."""
        return shares(self.of_flagged, self.effective)[0]

    @property
    def precision_high(self) -> Floats:
        """Upper end of the 95 % interval of precision."""
        return shares(self.of_flagged, self.effective)[1]

    @property
    def recall_low(self) -> Floats:
        """Lower end of the 95 % interval of recall: exact, or by what is found and missed where labels are weighted."""
        return self._recalls()[0]

    @property
    def recall_high(self) -> Floats:
        """Upper end of the 95 % interval of recall."""
        return self._recalls()[1]

    def _recalls(self) -> tuple[Floats, Floats]:
        squares = self.of_flagged.true_squares + self.of_passed.true_squares
        n = self.positives**2 / squares if self.positives > 0 else np.zeros(len(self.at))
        whole = Sums(weight=np.full(len(self.at), self.positives), squares=squares, true=self.tp, true_squares=squares)
        exact = shares(whole, n)
        if not self.weighted:
            return exact
        both = (self.of_flagged.weight > 0) & (self.of_passed.weight > 0) & (n > 0)
        low, high = recalls(self.of_flagged, self.of_passed)
        return np.where(both, low, exact[0]), np.where(both, high, exact[1])


def curve(scores: ArrayLike, positive: ArrayLike, *, weights: ArrayLike | None = None, points: int = POINTS) -> Curve:
    """Count what each cut flags.

    Cuts are the distinct observed values, so that equal scores always stay together; if there are more than `points`,
    that many evenly spaced ones of them, the smallest and the largest included.

    Parameters
    ----------
    scores
        Higher means more surely a problem.
    positive
        Whether there is a problem.
    weights
        1 / inclusion probability of each label; None means that all are equal.
    points
        Largest number of cuts, at least 2.

    Raises
    ------
    UndefinedError
        Where there are no labels.

    Examples
    --------
    >>> found = curve([0.1, 0.4, 0.4, 0.9], [False, False, True, True])
    >>> found.at, found.precision.round(2), found.recall
    (array([0.1, 0.4, 0.9]), array([0.5 , 0.67, 1.  ]), array([1. , 1. , 0.5]))
    """
    values = floats(scores)
    is_positive = flags(positive, len(values))
    if not len(values):
        raise UndefinedError("no curve: there are no labelled scores.")
    if points < 2:
        raise InputError(f"points must be at least 2, got {points}.")
    weight = _weights(weights, len(values))
    at, group = np.unique(values, return_inverse=True)
    kept = _spread(len(at), points)

    def each(part: Floats) -> Floats:
        return np.bincount(group, weights=part, minlength=len(at)).astype(np.float64)

    flagged = Sums.of(weight, is_positive, lambda part: each(part)[::-1].cumsum()[::-1][kept])
    passed = Sums.of(weight, is_positive, lambda part: np.append(0.0, each(part).cumsum()[:-1])[kept])
    return _curve(at[kept], flagged, passed, weight, is_positive)


def one_cut(flagged: ArrayLike, positive: ArrayLike, *, weights: ArrayLike | None = None) -> Curve:
    """Count what a cut flags that is given by what it flags.

    Parameters
    ----------
    flagged
        Whether the cut flags it.
    positive, weights
        As for `curve`.

    Examples
    --------
    >>> found = one_cut([True, True, False], [True, False, True])
    >>> found.precision, found.recall
    (array([0.5]), array([0.5]))
    """
    is_positive = flags(positive, np.size(positive))
    hit = flags(flagged, len(is_positive), "flagged")
    weight = _weights(weights, len(hit))
    found = Sums.of(weight, is_positive, lambda part: part[hit].sum(keepdims=True))
    passed = Sums.of(weight, is_positive, lambda part: part[~hit].sum(keepdims=True))
    return _curve(np.array([np.nan]), found, passed, weight, is_positive)


def _curve(at: Floats, flagged: Sums, passed: Sums, weight: Floats, positive: Flags) -> Curve:
    return Curve(
        at=at,
        tp=flagged.true,
        fp=np.maximum(flagged.weight - flagged.true, 0.0),
        positives=float(weight[positive].sum()),
        negatives=float(weight[~positive].sum()),
        weighted=bool(len(weight)) and bool(weight.min() < weight.max()),
        of_flagged=flagged,
        of_passed=passed,
    )


def auc(scores: ArrayLike, positive: ArrayLike, *, confidence: float = 0.95) -> Estimate:
    """Return the chance that a positive scores above a negative (ties count half), with its interval.

    Parameters
    ----------
    scores, positive
        As for `curve`.
    confidence
        Chance, on average, that the interval covers the true value.

    Raises
    ------
    UndefinedError
        Where one of the two classes is absent.

    Notes
    -----
    The interval inverts Hanley and McNeil's (1982) variance as Newcombe (2006, Statistics in Medicine 25, method 5)
    does, so that it keeps a width also at 1.

    Examples
    --------
    >>> value, low, high = auc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
    >>> value, round(low, 3), round(high, 3)
    (0.75, 0.227, 0.967)
    """
    values = floats(scores)
    is_positive = flags(positive, len(values))
    m, n = int(is_positive.sum()), int((~is_positive).sum())
    if not m or not n:
        absent = "positive" if not m else "negative"
        raise UndefinedError(f"the AUC has no value: no label is {absent}. It compares positives with negatives.")
    value = float((rankdata(values)[is_positive].sum() - m * (m + 1) / 2) / (m * n))
    z, middle = normal_quantile(confidence), (m + n) / 2 - 1

    def gap(truth: float, side: float) -> float:
        spread = 1 + middle * (1 - truth) / (2 - truth) + middle * truth / (1 + truth)
        return truth - value - side * z * float(np.sqrt(truth * (1 - truth) * spread / (m * n)))

    low = 0.0 if value <= 0 else brentq(gap, 0.0, min(value, 1 - 1e-12), args=(-1.0,))
    high = 1.0 if value >= 1 else brentq(gap, max(value, 1e-12), 1.0, args=(1.0,))
    return Estimate(value, float(low), float(high))


def pile_up(scores: ArrayLike, *, limit: float = 0.20) -> tuple[float, float] | None:
    """Return the value at which more than `limit` of the scores lie, with their share, or None.

    No cut can tell such scores apart: an answer capped at .90 is the usual cause.

    Examples
    --------
    >>> pile_up([0.9, 0.9, 0.1, 0.2]), pile_up([0.1, 0.2, 0.3, 0.4, 0.5])
    ((0.9, 0.5), None)
    """
    values, count = np.unique(floats(scores), return_counts=True)
    if not len(values):
        return None
    top = int(np.argmax(count))
    part = float(count[top] / count.sum())
    return (float(values[top]), part) if part > limit else None


def _weights(weights: ArrayLike | None, length: int) -> Floats:
    if weights is None:
        return np.ones(length)
    weight = floats(weights, "weights")
    if weight.shape != (length,) or (weight <= 0).any():
        raise InputError(f"weights must be {length} numbers above 0: 1 / inclusion probability, one per score.")
    return weight


def _spread(size: int, points: int) -> Ints:
    return np.round(np.linspace(0, size - 1, min(size, points))).astype(np.int64)


def _ratio(part: Floats, whole: Floats) -> Floats:
    rate = np.full(len(part), np.nan)
    np.divide(part, whole, out=rate, where=whole > 0)
    return rate
