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
from check_workbench.stats.intervals import Estimate, lower_bounds, normal_quantile, upper_bounds

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from check_workbench.stats.arrays import Flags, Floats, Ints

POINTS = 500
TAIL = 0.025
"""Each side of the curve's 95 % intervals."""


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
    effective: Floats
    """Effective number of flagged labels (Kish); the plain number where labels are not weighted."""
    effective_positives: float

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
    def precision_low(self) -> Floats:
        """Lower end of the 95 % interval of precision: exact, or by effective counts where labels are weighted."""
        return lower_bounds(_scaled(self.precision, self.effective), self.effective, delta=TAIL)

    @property
    def precision_high(self) -> Floats:
        """Upper end of the 95 % interval of precision."""
        return upper_bounds(_scaled(self.precision, self.effective), self.effective, delta=TAIL)

    @property
    def recall_low(self) -> Floats:
        """Lower end of the 95 % interval of recall."""
        return lower_bounds(_scaled(self.recall, self.effective_positives), self.effective_positives, delta=TAIL)

    @property
    def recall_high(self) -> Floats:
        """Upper end of the 95 % interval of recall."""
        return upper_bounds(_scaled(self.recall, self.effective_positives), self.effective_positives, delta=TAIL)


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
    at, tp, fp, squares = _cumulated(values, is_positive, weight)
    kept = _spread(len(at), points)
    flagged = tp + fp
    of_positives = weight[is_positive]
    return Curve(
        at=at[kept],
        tp=tp[kept],
        fp=fp[kept],
        positives=float(of_positives.sum()),
        negatives=float(weight[~is_positive].sum()),
        weighted=bool(weight.min() < weight.max()),
        effective=(flagged**2 / squares)[kept],
        effective_positives=float(of_positives.sum() ** 2 / (of_positives**2).sum()) if len(of_positives) else 0.0,
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


def _cumulated(values: Floats, is_positive: Flags, weight: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return cuts ascending, and the weights of positives and negatives at or above each, and the squared weights."""
    at, group = np.unique(values, return_inverse=True)

    def above(part: Floats) -> Floats:
        return np.bincount(group, weights=part, minlength=len(at))[::-1].cumsum()[::-1]

    return at, above(weight * is_positive), above(weight * ~is_positive), above(weight**2)


def _spread(size: int, points: int) -> Ints:
    return np.round(np.linspace(0, size - 1, min(size, points))).astype(np.int64)


def _ratio(part: Floats, whole: Floats) -> Floats:
    rate = np.full(len(part), np.nan)
    np.divide(part, whole, out=rate, where=whole > 0)
    return rate


def _scaled(rate: Floats, effective: Floats | float) -> Floats:
    return np.asarray(np.nan_to_num(rate) * effective)
