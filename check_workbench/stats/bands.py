"""How sure a recalibrated curve is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, stdtrit

from check_workbench.stats.arrays import floats, share
from check_workbench.stats.intervals import lower_bounds, upper_bounds
from check_workbench.stats.recalibration import Isotonic, columns
from check_workbench.stats.told import counted

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from check_workbench.stats.arrays import Floats
    from check_workbench.stats.recalibration import Recalibrated
    from check_workbench.stats.told import Told

NEAR = 100
"""Labels on each side of a place that bound a free rising curve there."""


def band(curve: Recalibrated, told: Told, at: ArrayLike, *, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """Return the ends of the interval of a curve at some places.

    Of a smooth curve by the sandwich variance of its coefficients, clusters whole, which speaks of the best curve of
    its kind. Of a free rising one by the labels next to the place on each side: where the truth rises, what lies below
    cannot be more frequent, and what lies above not less.

    Parameters
    ----------
    curve
        Fitted to these labels.
    told
        The labels.
    at
        Places between the labels' smallest and largest score.
    confidence
        Chance, on average, that the interval at one place covers the truth.

    Notes
    -----
    Source: Liang and Zeger (1986), Biometrika 73, the variance of clustered labels; Student's quantile.

    Examples
    --------
    >>> from check_workbench.stats.recalibration import recalibrate
    >>> from check_workbench.stats.told import Told
    >>> scores, happened = np.linspace(0.02, 0.98, 97), np.arange(97) % 4 > 1
    >>> low, high = band(recalibrate(scores, happened), Told.of(scores, happened), [0.5])
    >>> low.round(2), high.round(2)
    (array([0.39]), array([0.6]))
    """
    places = floats(at, "places")
    tail = (1 - share(confidence, "confidence")) / 2
    if isinstance(curve, Isotonic):
        return _between_neighbours(curve, told, places, tail)
    own, line = columns(curve, told.scores), columns(curve, places)
    chance = curve(told.scores)
    inverse = np.linalg.pinv(own.T @ (own * (told.weights * chance * (1 - chance))[:, None]))
    pull = own * (told.weights * (told.positive - chance))[:, None]
    summed = np.stack([np.bincount(told.group, weights=part) for part in pull.T], axis=1)
    several = max(told.clusters, own.shape[1] + 1)
    covariance = inverse @ (summed.T @ summed) @ inverse * several / (several - own.shape[1])
    spread = np.sqrt(np.einsum("ij,jk,ik->i", line, covariance, line))
    half = float(stdtrit(several - own.shape[1], 1 - tail)) * spread
    middle = np.log(curve(places) / (1 - curve(places)))
    return np.asarray(expit(middle - half)), np.asarray(expit(middle + half))


def _between_neighbours(curve: Isotonic, told: Told, places: Floats, tail: float) -> tuple[Floats, Floats]:
    order = np.argsort(told.scores, kind="stable")
    scores, hit, weights = told.scores[order], told.positive[order], told.weights[order]
    effect = told.effect(curve)
    ends = []
    for place in places:
        below = slice(max(0, (end := int(np.searchsorted(scores, place, "right"))) - NEAR), end)
        above = slice(start := int(np.searchsorted(scores, place, "left")), start + NEAR)
        low, high = (counted(hit[side], weights[side], effect) for side in (below, above))
        ends.append((lower_bounds(*low, delta=tail), upper_bounds(*high, delta=tail)))
    now = curve(places)
    return np.fmin(now, np.array([low for low, _ in ends])), np.fmax(now, np.array([high for _, high in ends]))
