"""From scores to probabilities that mean what they say: the more labels there are, the freer the curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit

from check_workbench.errors import UndefinedError
from check_workbench.stats.arrays import flags, floats
from check_workbench.stats.reliability import calibration_error

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from check_workbench.stats.arrays import Flags, Floats

BETA_FROM = 200
"""Labels from which a curve with two slopes is worth its noise."""
ISOTONIC_FROM = 1000
"""Labels from which a free monotone curve is worth its noise."""
_EDGE = 1e-6


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


def recalibrate(scores: ArrayLike, positive: ArrayLike) -> Platt | Beta | Isotonic:
    """Fit a curve from score to probability.

    Below 200 labels it is Platt's; from 200 on, over shares, the beta curve where it rises; from 1,000 on the isotonic
    one, but only where the smooth curve clearly misses what happened.

    Parameters
    ----------
    scores
        Probabilities in [0, 1], or any scores.
    positive
        Whether it happened.

    Raises
    ------
    UndefinedError
        Where one class is absent, or all scores are equal.

    Notes
    -----
    Sources: Platt (1999), Advances in Large Margin Classifiers; Kull, Silva Filho and Flach (2017), AISTATS, beta
    calibration; Zadrozny and Elkan (2002), KDD.

    Examples
    --------
    >>> recalibrate([0.1, 0.3, 0.4, 0.6, 0.7, 0.9], [0, 0, 1, 0, 1, 1])([0.1, 0.9]).round(2)
    array([0.15, 0.85])
    """
    values = floats(scores)
    hit = flags(positive, len(values))
    if len(np.unique(hit)) < 2 or len(np.unique(values)) < 2:
        raise UndefinedError("no calibration curve: both classes and at least two different scores are needed.")
    smooth = _smooth(values, hit)
    if len(values) < ISOTONIC_FROM or not calibration_error(smooth(values), hit).beyond_chance:
        return smooth
    from sklearn.isotonic import IsotonicRegression

    fitted = IsotonicRegression(out_of_bounds="clip").fit(values, hit)
    return Isotonic(at=fitted.X_thresholds_, probability=fitted.y_thresholds_)


def _smooth(values: Floats, hit: Flags) -> Platt | Beta:
    shares = bool(values.min() >= 0 and values.max() <= 1)
    if shares and len(values) >= BETA_FROM:
        (low, high), intercept = _logistic(_ends(values), hit)
        if low >= 0 and high >= 0:
            return Beta(low=low, high=high, intercept=intercept)
    (slope,), intercept = _logistic(_line(values, odds=shares)[:, None], hit)
    return Platt(slope=slope, intercept=intercept, odds=shares)


def _logistic(columns: Floats, hit: Flags) -> tuple[list[float], float]:
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression().fit(columns, hit)
    return model.coef_[0].tolist(), float(model.intercept_[0])


def _line(values: Floats, *, odds: bool) -> Floats:
    return np.asarray(logit(np.clip(values, _EDGE, 1 - _EDGE))) if odds else values


def _ends(values: Floats) -> Floats:
    inside = np.clip(values, _EDGE, 1 - _EDGE)
    return np.column_stack([np.log(inside), -np.log1p(-inside)])
