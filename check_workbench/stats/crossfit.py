"""What a recalibrated curve is worth on labels that it did not see, and what the labels say by bins."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from check_workbench.stats.intervals import wilson
from check_workbench.stats.recalibration import refitted
from check_workbench.stats.reliability import binned
from check_workbench.stats.told import counted

if TYPE_CHECKING:
    from check_workbench.stats.arrays import Floats
    from check_workbench.stats.recalibration import Recalibrated
    from check_workbench.stats.told import Told

FOLDS = 5


class Bin(NamedTuple):
    """Labels with neighbouring probabilities."""

    at: float
    """Their mean probability."""
    share: float
    """How often it happened."""
    low: float
    high: float
    n: int


def cross_fitted(curve: Recalibrated, told: Told, *, folds: int = FOLDS, seed: int = 0) -> Floats:
    """Return each label's probability by a curve of the same kind that was fitted without it, clusters whole.

    Parameters
    ----------
    curve
        Whose kind is fitted.
    told
        The labels.
    folds
        In how many parts the clusters are dealt; each part is judged by a curve of the others.
    seed
        Of the deal.

    Raises
    ------
    UndefinedError
        Where the others have one class only, or one score.

    Examples
    --------
    >>> from check_workbench.stats.recalibration import recalibrate
    >>> from check_workbench.stats.told import Told
    >>> scores, happened = np.linspace(0.02, 0.98, 97), np.arange(97) % 4 > 1
    >>> cross_fitted(recalibrate(scores, happened), Told.of(scores, happened))[:3].round(2)
    array([0.52, 0.52, 0.34])
    """
    several = told.clusters
    fold = (np.random.default_rng(seed).permutation(several) % folds)[told.group]
    found = np.empty(len(told.scores))
    for own in np.unique(fold):
        mine, others = fold == own, fold != own
        again = refitted(curve, told.scores[others], told.positive[others], weights=told.weights[others])
        found[mine] = again(told.scores[mine])
    return found


def reliability(curve: Recalibrated, told: Told, *, bins: int) -> tuple[Bin, ...]:
    """Return what happened by bins of equal weight, equal probabilities together.

    Parameters
    ----------
    curve
        Fitted to the labels; what it leaves unexplained says how far clusters are alike.
    told
        The labels.
    bins
        How many bins.

    Examples
    --------
    >>> from check_workbench.stats.recalibration import recalibrate
    >>> from check_workbench.stats.told import Told
    >>> scores, happened = np.linspace(0.02, 0.98, 97), np.arange(97) % 4 > 1
    >>> [one.n for one in reliability(recalibrate(scores, happened), Told.of(scores, happened), bins=4)]
    [24, 24, 25, 24]
    """
    p, y, w, group = binned(told.scores, told.positive, bins, told.weights)
    effect = told.effect(curve)
    found = []
    for own in np.unique(group):
        mine = group == own
        k, n = counted(y[mine], w[mine], effect)
        low, high = wilson(k, n)
        found.append(Bin(float(np.average(p[mine], weights=w[mine])), k / n, low, high, int(mine.sum())))
    return tuple(found)
