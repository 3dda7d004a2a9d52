"""From scores to probabilities that mean what they say: Platt's curve for few labels, isotonic for many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit

from check_workbench.errors import UndefinedError
from check_workbench.stats.arrays import flags, floats

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from check_workbench.stats.arrays import Floats

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
class Isotonic:
    """A rising curve through its knots."""

    at: Floats
    probability: Floats

    def __call__(self, scores: ArrayLike) -> Floats:
        """Return the probabilities of scores."""
        return np.interp(floats(scores), self.at, self.probability)


def recalibrate(scores: ArrayLike, positive: ArrayLike) -> Platt | Isotonic:
    """Fit a curve from score to probability: Platt's below 1,000 labels, isotonic from there.

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
    Sources: Platt (1999), Advances in Large Margin Classifiers; Zadrozny and Elkan (2002), KDD.

    Examples
    --------
    >>> recalibrate([0.1, 0.3, 0.4, 0.6, 0.7, 0.9], [0, 0, 1, 0, 1, 1])([0.1, 0.9]).round(2)
    array([0.15, 0.85])
    """
    from sklearn.isotonic import IsotonicRegression
    from sklearn.linear_model import LogisticRegression

    values = floats(scores)
    hit = flags(positive, len(values))
    if len(np.unique(hit)) < 2 or len(np.unique(values)) < 2:
        raise UndefinedError("no calibration curve: both classes and at least two different scores are needed.")
    if len(values) >= ISOTONIC_FROM:
        fitted = IsotonicRegression(out_of_bounds="clip").fit(values, hit)
        return Isotonic(at=fitted.X_thresholds_, probability=fitted.y_thresholds_)
    odds = bool(values.min() >= 0 and values.max() <= 1)
    model = LogisticRegression().fit(_line(values, odds=odds)[:, None], hit)
    return Platt(slope=float(model.coef_[0, 0]), intercept=float(model.intercept_[0]), odds=odds)


def _line(values: Floats, *, odds: bool) -> Floats:
    return np.asarray(logit(np.clip(values, _EDGE, 1 - _EDGE))) if odds else values
