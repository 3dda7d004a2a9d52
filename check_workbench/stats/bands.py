"""How sure a recalibrated curve is, what it is worth on labels that it did not see, and what the labels say by bins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import expit, stdtrit

from check_workbench.errors import InputError
from check_workbench.stats.arrays import flags, floats, share, weighing
from check_workbench.stats.clusters import design_effect
from check_workbench.stats.intervals import lower_bounds, upper_bounds, wilson
from check_workbench.stats.recalibration import Isotonic, columns, refitted
from check_workbench.stats.reliability import binned

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from check_workbench.stats.arrays import Flags, Floats, Ints
    from check_workbench.stats.recalibration import Recalibrated

FOLDS = 5
NEAR = 100
"""Labels on each side of a place that bound a free rising curve there."""


class Bin(NamedTuple):
    """Labels with neighbouring probabilities."""

    at: float
    """Their mean probability."""
    share: float
    """How often it happened."""
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Labels that a curve was fitted to."""

    scores: Floats
    positive: Flags
    weights: Floats
    group: Ints
    """What each label belongs to, as a number."""

    @classmethod
    def of(
        cls,
        scores: ArrayLike,
        positive: ArrayLike,
        *,
        weights: ArrayLike | None = None,
        clusters: ArrayLike | None = None,
    ) -> Told:
        """Check labels and number their clusters.

        Parameters
        ----------
        scores, positive, weights
            As for `recalibrate`.
        clusters
            One key per label; None where each stands alone.

        Raises
        ------
        InputError
            Where lengths differ.
        """
        values = floats(scores)
        keys = np.arange(len(values)) if clusters is None else np.asarray(clusters)
        if keys.shape != values.shape:
            raise InputError(f"clusters must have one key per label: {len(values)} labels, got shape {keys.shape}.")
        return cls(
            scores=values,
            positive=flags(positive, len(values)),
            weights=weighing(weights, len(values)),
            group=np.unique(keys, return_inverse=True)[1],
        )

    @property
    def clusters(self) -> int:
        """How many clusters there are."""
        return len(np.unique(self.group))


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
    effect = _effect(curve, told)
    ends = []
    for place in places:
        below = slice(max(0, (end := int(np.searchsorted(scores, place, "right"))) - NEAR), end)
        above = slice(start := int(np.searchsorted(scores, place, "left")), start + NEAR)
        low, high = (_counted(hit[side], weights[side], effect) for side in (below, above))
        ends.append((lower_bounds(*low, delta=tail), upper_bounds(*high, delta=tail)))
    now = curve(places)
    return np.fmin(now, np.array([low for low, _ in ends])), np.fmax(now, np.array([high for _, high in ends]))


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
    >>> scores, happened = np.linspace(0.02, 0.98, 97), np.arange(97) % 4 > 1
    >>> [one.n for one in reliability(recalibrate(scores, happened), Told.of(scores, happened), bins=4)]
    [24, 24, 25, 24]
    """
    p, y, w, group = binned(told.scores, told.positive, bins, told.weights)
    effect = _effect(curve, told)
    found = []
    for own in np.unique(group):
        mine = group == own
        k, n = _counted(y[mine], w[mine], effect)
        low, high = wilson(k, n)
        found.append(Bin(float(np.average(p[mine], weights=w[mine])), k / n, low, high, int(mine.sum())))
    return tuple(found)


def _effect(curve: Recalibrated, told: Told) -> float:
    return max(1.0, design_effect(told.positive - curve(told.scores), told.group))


def _counted(hit: Flags | Floats, weights: Floats, effect: float) -> tuple[float, float]:
    """Return positives and labels as effective numbers (Kish), divided by a design effect."""
    if not len(hit):
        return 0.0, 0.0
    n = float(weights.sum() ** 2 / (weights**2).sum()) / effect
    return float(np.average(hit, weights=weights)) * n, n
