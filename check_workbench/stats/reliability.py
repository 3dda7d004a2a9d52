"""Do probabilities mean what they say? Brier parts, and the calibration error with its null band."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from check_workbench.errors import InputError, UndefinedError
from check_workbench.stats.arrays import flags, floats, weighing
from check_workbench.stats.clusters import design_effect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike

    from check_workbench.stats.arrays import Floats, Ints

BINS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Brier:
    """The mean squared error of probabilities, and its parts: reliability - resolution + uncertainty + within."""

    score: float
    reliability: float
    """How far the bins' mean probabilities lie from what happened."""
    resolution: float
    """How far what happened in the bins lies from what happened overall."""
    uncertainty: float
    """What a constant answer, the overall rate, would score."""
    within: float
    """What the bins hide: 0 where each bin has one probability."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationError:
    """The mean gap between probability and frequency, beside what chance alone makes of it."""

    value: float
    by_chance: float
    """Mean value for a perfectly calibrated judge with these probabilities."""
    band: float
    """The value that such a judge stays below in 95 of 100 cases."""

    @property
    def beyond_chance(self) -> bool:
        """Whether the gap is larger than the null band."""
        return self.value > self.band


def brier(probability: ArrayLike, outcome: ArrayLike, *, bins: int = BINS) -> Brier:
    """Return the Brier score and its parts, over bins of equal mass (equal probabilities stay together).

    Parameters
    ----------
    probability
        In [0, 1].
    outcome
        Whether it happened.
    bins
        Number of bins.

    Raises
    ------
    UndefinedError
        Where there are no labels.

    Notes
    -----
    Source: Murphy (1973), Journal of Applied Meteorology 12; Stephenson, Coelho and Jolliffe (2008) for `within`.

    Examples
    --------
    >>> found = brier([0.2, 0.2, 0.8, 0.8], [0, 0, 1, 0])
    >>> round(found.score, 2), round(found.reliability, 3), found.uncertainty
    (0.19, 0.065, 0.1875)
    """
    p, y, _, group = binned(probability, outcome, bins)
    size = np.bincount(group).astype(np.float64)
    mean_p, mean_y = np.bincount(group, weights=p) / size, np.bincount(group, weights=y) / size
    base, weight = float(y.mean()), size / len(p)
    score = float(((p - y) ** 2).mean())
    reliability = float(weight @ (mean_p - mean_y) ** 2)
    resolution = float(weight @ (mean_y - base) ** 2)
    uncertainty = base * (1 - base)
    return Brier(
        score=score,
        reliability=reliability,
        resolution=resolution,
        uncertainty=uncertainty,
        within=score - reliability + resolution - uncertainty,
    )


def calibration_error(
    probability: ArrayLike,
    outcome: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    draws: int = 1000,
) -> CalibrationError:
    """Return the expected calibration error over bins of equal mass, with its null band.

    The error of few labels is far from 0 even for a perfect judge; the band says how far.

    Parameters
    ----------
    probability, outcome
        As for `brier`.
    weights
        How much work each label stands for; bins are then of equal weight.
    clusters
        What each label belongs to: one key per label, None where each stands alone. As far as what probabilities leave
        unexplained is alike within clusters, chance alone misses by more.
    draws
        How many simulated outcomes of a perfectly calibrated judge.

    Raises
    ------
    UndefinedError
        Where there are no labels.

    Examples
    --------
    >>> p = np.linspace(0.01, 0.99, 100)
    >>> calibration_error(p, p > 0.5).beyond_chance
    True
    """
    p, y, w, group = binned(probability, outcome, BINS, weights)
    rng = np.random.default_rng(0)
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    expected, total = np.add.reduceat(w * p, starts), w.sum()
    value = float(np.abs(np.add.reduceat(w * y, starts) - expected).sum() / total)
    alike = 1.0 if clusters is None else design_effect(np.subtract(outcome, probability, dtype=np.float64), clusters)
    null = (
        np.concatenate(
            [
                np.abs(np.add.reduceat(drawn if weights is None else drawn * w, starts, 1, np.float64) - expected)
                for rows in _blocks(draws, len(p))
                for drawn in [rng.random((rows, len(p))) < p]
            ]
        ).sum(axis=1)
        * np.sqrt(max(alike, 1.0))
        / total
    )
    return CalibrationError(value=value, by_chance=float(null.mean()), band=float(np.quantile(null, 0.95)))


def binned(
    probability: ArrayLike, outcome: ArrayLike, bins: int, weights: ArrayLike | None = None
) -> tuple[Floats, Floats, Floats, Ints]:
    """Return probabilities, outcomes, weights and bin numbers, sorted: the order of the rows changes nothing.

    Bins hold equal weight, and equal probabilities stay together, so that there may be fewer bins than wanted.

    Raises
    ------
    UndefinedError
        Where there are no labels.

    Examples
    --------
    >>> binned([0.4, 0.1, 0.4, 0.9], [0, 1, 1, 1], 2)[3]
    array([0, 1, 1, 1])
    """
    p = floats(probability, "probability")
    y = flags(outcome, len(p), "outcome").astype(np.float64)
    if not len(p):
        raise UndefinedError("calibration has no value: there are no labels.")
    if p.min() < 0 or p.max() > 1:
        raise InputError(f"probabilities must lie in [0, 1], got {p.min():g} to {p.max():g}.")
    if bins < 1:
        raise InputError(f"bins must be at least 1, got {bins}.")
    w = weighing(weights, len(p))
    order = np.lexsort((w, y, p))
    p, y, w = p[order], y[order], w[order]
    _, place = np.unique(p, return_inverse=True)
    mass = np.bincount(place, weights=w)
    middle = np.floor((np.cumsum(mass) - mass / 2)[place] * bins / w.sum())
    return p, y, w, np.unique(middle, return_inverse=True)[1]


def _blocks(draws: int, length: int) -> Iterator[int]:
    """Split the draws so that no block holds more than about four million numbers."""
    most = max(1, 4_000_000 // length)
    while draws > 0:
        yield min(draws, most)
        draws -= most
