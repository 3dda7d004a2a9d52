"""Many cuts tested together: an exact level for tests of which each counts the errors of all stricter ones again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import bdtr, ndtri
from scipy.stats import binom

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from check_workbench.stats.arrays import Floats, Ints

CHECKS = 100
"""Numbers of labels, at equal steps, at which errors are limited."""
FINENESS = 0.95
"""Ratio of neighbouring levels that are tried."""
TRIED = 64
"""Levels that are tried, the allowed error itself first; below them its even share among the checks holds."""
LIKELY, NEAR = 22, 4
"""Where the search for the level begins, and its longest step; they change its cost alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How many errors are allowed among how many labels, so that all cuts together are seldom wrong."""

    level: float
    """P-value that every cut within the limits has at most."""
    labels: Ints
    errors: Ints
    """Most errors among the first so many labels in the order of their scores; -1 where none are few enough."""

    def hold(self, errors: Ints, good: Ints, fewest: Ints) -> NDArray[np.bool_]:
        """Say which cuts are within the limits.

        Parameters
        ----------
        errors, good
            Bad and good work among the labels that pass, per cut.
        fewest
            Fewest labels of a limit that may speak for the cut.
        """
        enough = good[:, None] >= self.labels - self.errors
        within = (errors[:, None] <= self.errors) & enough & (self.labels >= fewest[:, None])
        return np.asarray(within.any(axis=1))


@lru_cache(maxsize=512)
def limits(labels: int, fewest: int, *, alpha: float, delta: float) -> Limits:
    """Return the widest limits that work with a risk of alpha keeps with a chance of delta at most.

    Parameters
    ----------
    labels
        Labels in all.
    fewest
        Labels at which limits begin.
    alpha
        Target risk.
    delta
        Allowed chance that the limits hold anywhere if the risk is alpha everywhere.

    Notes
    -----
    The chance is computed exactly, label by label, as for repeated significance tests: Armitage, McPherson and Rowe
    (1969), Journal of the Royal Statistical Society A 132.

    Examples
    --------
    >>> few, many = limits(60, 40, alpha=0.05, delta=0.10), limits(400, 80, alpha=0.05, delta=0.10)
    >>> int(few.errors[-1]), int(many.errors[-1]), round(few.level, 3), round(many.level, 3)
    (0, 11, 0.1, 0.031)
    """
    step = -(-labels // CHECKS)
    sizes = np.arange(labels, max(fewest, 1) - 1, -step)[::-1]
    if not len(sizes):
        return Limits(level=delta, labels=sizes, errors=sizes)
    path = _likely(int(sizes[0]), alpha), _likely(step, alpha), _far(sizes, alpha).tolist()
    wide, narrow, tried = 0, TRIED, LIKELY
    while wide < narrow:
        if _seldom(_most(sizes, alpha, delta * FINENESS**tried), *path, delta=delta):
            narrow = tried
            tried = max((wide + narrow) // 2, narrow - NEAR)
        else:
            wide = tried + 1
            tried = min((wide + narrow) // 2, wide + NEAR)
    level = delta * FINENESS**narrow if narrow < TRIED else delta / max(len(sizes), 1 / FINENESS**TRIED)
    return Limits(level=level, labels=sizes, errors=_most(sizes, alpha, level))


def _most(sizes: Ints, alpha: float, level: float) -> Ints:
    """Return the most errors, per number of labels, whose p-value is at most a level; -1 where none are."""
    spread = ndtri(level) * np.sqrt(sizes * alpha * (1 - alpha))
    most: Ints = np.maximum(np.floor(alpha * sizes + spread), -1).astype(np.int64)
    while (more := bdtr(most + 1, sizes, alpha) <= level).any():
        most += more
    while (less := (most >= 0) & (bdtr(np.maximum(most, 0), sizes, alpha) > level)).any():
        most -= less
    return most


def _seldom(errors: Ints, alive: Floats, more: Floats, far: list[int], *, delta: float) -> bool:
    """Say whether independent errors are ever at most so many with a chance of delta at most.

    Parameters
    ----------
    errors
        Most errors at each check.
    alive
        Chances of 0, 1, 2, … errors at the first check.
    more
        Chances of so many errors between two checks.
    far
        Errors, at each check, that are too many to matter; what gets there counts as if it came back.
    delta
        Allowed chance.
    """
    crossed, gone = 1.0 - float(alive.sum()), 0
    for most, beyond in zip(errors.tolist(), far, strict=True):
        new = max(most + 1 - gone, 0)
        crossed += float(np.add.reduce(alive[:new]) + np.add.reduce(alive[beyond - gone :]))
        alive, gone = alive[new : beyond - gone], gone + new
        if crossed > delta or not len(alive):
            break
        alive = np.convolve(alive, more)
    return crossed <= delta


def _likely(labels: int, alpha: float) -> Floats:
    """Return the chances of 0, 1, 2, … errors, as far as they matter."""
    most = min(labels, int(_far(labels, alpha)))
    return np.asarray(binom.pmf(np.arange(most + 1), labels, alpha))


def _far(labels: int | Ints, alpha: float) -> Ints:
    return np.asarray(alpha * labels + 7 * np.sqrt(alpha * labels) + 8, dtype=np.int64)
