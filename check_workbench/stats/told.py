"""Labels that a curve was fitted to, and for how much they count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from check_workbench.errors import InputError
from check_workbench.stats.arrays import flags, floats, weighing
from check_workbench.stats.clusters import design_effect

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from check_workbench.stats.arrays import Flags, Floats, Ints
    from check_workbench.stats.recalibration import Recalibrated


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

    def effect(self, curve: Recalibrated) -> float:
        """Return by which factor clusters make labels count for less, in what a curve leaves unexplained."""
        return max(1.0, design_effect(self.positive - curve(self.scores), self.group))


def counted(hit: Flags | Floats, weights: Floats, effect: float) -> tuple[float, float]:
    """Return positives and labels as effective numbers (Kish), divided by a design effect.

    Examples
    --------
    >>> counted(np.array([True, False]), np.array([1.0, 1.0]), 1.0)
    (1.0, 2.0)
    """
    if not len(hit):
        return 0.0, 0.0
    n = float(weights.sum() ** 2 / (weights**2).sum()) / effect
    return float(np.average(hit, weights=weights)) * n, n
