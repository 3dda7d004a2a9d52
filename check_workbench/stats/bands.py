"""How sure a recalibrated curve is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit, stdtrit

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
"""Labels on each side of a place that bound a free rising curve there, or more where scores are equal."""
_EDGE = 1e-15
"""So near to 0 or 1 a curve has a finite band."""


def band(curve: Recalibrated, told: Told, at: ArrayLike, *, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """Return the ends of the interval of a curve at some places.

    Of a smooth curve by the sandwich variance of its coefficients, clusters whole, which speaks of the best curve of
    its kind; where hardly a label contradicts the curve that variance vanishes, so the one that the curve itself
    implies counts where it is larger. Of a free rising one by the labels next to the place on each side: where the
    truth rises, what lies below cannot be more frequent, and what lies above not less.

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
    spent = told.weights * chance * (1 - chance)
    inverse = np.linalg.pinv(own.T @ (own * spent[:, None]))
    pull = own * (told.weights * (told.positive - chance))[:, None]
    summed = np.stack([np.bincount(told.group, weights=part) for part in pull.T], axis=1)
    several = max(told.clusters, own.shape[1] + 1)
    seen = summed.T @ summed * several / (several - own.shape[1])
    implied = own.T @ (own * (told.weights * spent)[:, None])
    toward = line @ inverse
    squares = [np.einsum("ij,jk,ik->i", toward, one, toward) for one in (seen, implied)]
    spread = np.sqrt(np.max(squares, axis=0, initial=0.0))
    half = float(stdtrit(several - own.shape[1], 1 - tail)) * spread
    middle = logit(np.clip(curve(places), _EDGE, 1 - _EDGE))
    return np.asarray(expit(middle - half)), np.asarray(expit(middle + half))


def _between_neighbours(curve: Isotonic, told: Told, places: Floats, tail: float) -> tuple[Floats, Floats]:
    order = np.argsort(told.scores, kind="stable")
    scores, hit, weights = told.scores[order], told.positive[order], told.weights[order]
    effect = told.effect(curve)
    ends = []
    for place in places:
        end, start = np.searchsorted(scores, place, "right"), np.searchsorted(scores, place, "left")
        first, last = scores[max(0, end - NEAR)], scores[min(len(scores), start + NEAR) - 1]
        below = (scores >= first) & (scores <= place)
        above = (scores >= place) & (scores <= last)
        low, high = (counted(hit[side], weights[side], effect) for side in (below, above))
        ends.append((lower_bounds(*low, delta=tail), upper_bounds(*high, delta=tail)))
    now = curve(places)
    return np.fmin(now, np.array([low for low, _ in ends])), np.fmax(now, np.array([high for _, high in ends]))
