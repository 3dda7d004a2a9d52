"""From scores to probabilities that mean what they say: the more labels there are, the freer the curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy.special import expit, logit

from check_workbench.errors import UndefinedError
from check_workbench.stats.arrays import flags, floats, weighing
from check_workbench.stats.reliability import calibration_error

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from check_workbench.stats.arrays import Flags, Floats

BETA_FROM = 200
"""Labels from which a curve with two slopes is worth its noise."""
ISOTONIC_FROM = 1000
"""Labels from which a free monotone curve is worth its noise."""
_EDGE = 1e-6
_FREE = 1e6
"""So little is a slope held back that the scale of the scores does not matter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Platt:
    """A logistic curve over the score, or over its log-odds."""

    slope: float
    intercept: float
    odds: bool
    """Whether the scores are shares, whose log-odds are taken."""

    def __call__(self, scores: ArrayLike) -> Floats:
        """Return the probabilities of scores."""
        return np.asarray(expit(self.slope * _line(floats(scores), odds=self.odds) + self.intercept))


@dataclass(frozen=True, slots=True, kw_only=True)
class Beta:
    """A curve over shares that may bend differently at its two ends."""

    low: float
    """Slope over the logarithm of the share."""
    high: float
    """Slope over minus the logarithm of what is left to 1."""
    intercept: float

    def __call__(self, scores: ArrayLike) -> Floats:
        """Return the probabilities of scores."""
        return np.asarray(expit(_ends(floats(scores)) @ (self.low, self.high) + self.intercept))


@dataclass(frozen=True, slots=True, kw_only=True)
class Isotonic:
    """A rising curve through its knots."""

    at: Floats
    probability: Floats

    def __call__(self, scores: ArrayLike) -> Floats:
        """Return the probabilities of scores."""
        return np.interp(floats(scores), self.at, self.probability)


Recalibrated: TypeAlias = Platt | Beta | Isotonic


def recalibrate(
    scores: ArrayLike, positive: ArrayLike, *, weights: ArrayLike | None = None, clusters: ArrayLike | None = None
) -> Recalibrated:
    """Fit a curve from score to probability.

    Below 200 labels it is Platt's; from 200 on, over shares, the beta curve where it rises; from 1,000 on the isotonic
    one, but only where the smooth curve clearly misses what happened.

    Parameters
    ----------
    scores
        Probabilities in [0, 1], or any scores.
    positive
        Whether it happened.
    weights
        How much work each label stands for, where labels were drawn with differing probability.
    clusters
        What each label belongs to; what is alike within clusters does not call for the isotonic curve.

    Raises
    ------
    UndefinedError
        Where one class is absent, or all scores are equal.

    Notes
    -----
    Sources: Platt (1999), Advances in Large Margin Classifiers, with his targets, which keep the slope finite where the
    scores part the classes; Kull, Silva Filho and Flach (2017), AISTATS, beta calibration; Zadrozny and Elkan (2002),
    KDD.

    Examples
    --------
    >>> recalibrate([0.1, 0.3, 0.4, 0.6, 0.7, 0.9], [0, 0, 1, 0, 1, 1])([0.1, 0.9]).round(2)
    array([0.2, 0.8])
    """
    values, hit, weight = _labels(scores, positive, weights)
    smooth = _smooth(values, hit, weight, bent=len(values) >= BETA_FROM)
    if len(values) < ISOTONIC_FROM:
        return smooth
    if not calibration_error(smooth(values), hit, weights=weights, clusters=clusters).beyond_chance:
        return smooth
    return _isotonic(values, hit, weight)


def refitted(
    curve: Recalibrated, scores: ArrayLike, positive: ArrayLike, *, weights: ArrayLike | None = None
) -> Recalibrated:
    """Fit a curve of the same kind to other labels.

    Parameters
    ----------
    curve
        Whose kind is wanted.
    scores, positive, weights
        As for `recalibrate`.

    Raises
    ------
    UndefinedError
        As `recalibrate`.

    Examples
    --------
    >>> steps = Isotonic(at=np.array([0.2, 0.8]), probability=np.array([0.1, 0.9]))
    >>> refitted(steps, [0.1, 0.3, 0.4, 0.6], [0, 1, 0, 1])([0.2, 0.35]).round(2)
    array([0.25, 0.5 ])
    """
    values, hit, weight = _labels(scores, positive, weights)
    if isinstance(curve, Isotonic):
        return _isotonic(values, hit, weight)
    return _smooth(values, hit, weight, bent=isinstance(curve, Beta))


def columns(curve: Platt | Beta, scores: ArrayLike) -> Floats:
    """Return what a smooth curve is linear in, on the scale of log-odds: the slopes' columns, then ones.

    Examples
    --------
    >>> columns(Platt(slope=2.0, intercept=0.0, odds=True), [0.5]).tolist()
    [[0.0, 1.0]]
    """
    values = floats(scores)
    slopes = _ends(values) if isinstance(curve, Beta) else _line(values, odds=curve.odds)[:, None]
    return np.column_stack([slopes, np.ones(len(values))])


def _labels(scores: ArrayLike, positive: ArrayLike, weights: ArrayLike | None) -> tuple[Floats, Flags, Floats]:
    values = floats(scores)
    hit = flags(positive, len(values))
    if len(np.unique(hit)) < 2 or len(np.unique(values)) < 2:
        raise UndefinedError("no calibration curve: both classes and at least two different scores are needed.")
    return values, hit, weighing(weights, len(values))


def _smooth(values: Floats, hit: Flags, weight: Floats, *, bent: bool) -> Platt | Beta:
    shares = bool(values.min() >= 0 and values.max() <= 1)
    if bent and shares and len(np.unique(values)) > 3:
        (low, high), intercept = _logistic(_ends(values), hit, weight)
        if low >= 0 and high >= 0:
            return Beta(low=low, high=high, intercept=intercept)
    (slope,), intercept = _logistic(_line(values, odds=shares)[:, None], hit, weight)
    return Platt(slope=slope, intercept=intercept, odds=shares)


def _isotonic(values: Floats, hit: Flags, weight: Floats) -> Isotonic:
    from sklearn.isotonic import IsotonicRegression

    fitted = IsotonicRegression(out_of_bounds="clip").fit(values, hit, sample_weight=weight)
    return Isotonic(at=fitted.X_thresholds_, probability=fitted.y_thresholds_)


def _logistic(columns: Floats, hit: Flags, weight: Floats) -> tuple[list[float], float]:
    """Fit to Platt's targets: each label counts almost wholly for what it says, and a little for the contrary."""
    from sklearn.linear_model import LogisticRegression

    kinds = np.where(hit, hit.sum(), (~hit).sum())
    trust = (kinds + 1) / (kinds + 2)
    told = np.concatenate([weight * trust, weight * (1 - trust)]) * (len(weight) / weight.sum())
    model = LogisticRegression(C=_FREE, solver="newton-cholesky", tol=1e-8)
    model.fit(np.concatenate([columns, columns]), np.concatenate([hit, ~hit]), sample_weight=told)
    return model.coef_[0].tolist(), float(model.intercept_[0])


def _line(values: Floats, *, odds: bool) -> Floats:
    return np.asarray(logit(np.clip(values, _EDGE, 1 - _EDGE))) if odds else values


def _ends(values: Floats) -> Floats:
    inside = np.clip(values, _EDGE, 1 - _EDGE)
    return np.column_stack([np.log(inside), -np.log1p(-inside)])
