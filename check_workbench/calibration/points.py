"""What each cut of a threshold would flag, in the document's own direction.

A score that means *problem* is flagged at or above the cut, one that means *good* below it.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from check_workbench.stats.curves import curve
from check_workbench.stats.intervals import clopper_pearson, percent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from check_workbench.checks import Meaning
    from check_workbench.stats.curves import Curve

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One cut: what it flags among the labels, with 95 % intervals; None is what cannot be known."""

    at: float
    precision: float | None
    precision_low: float | None
    precision_high: float | None
    recall: float | None
    recall_low: float | None
    recall_high: float | None
    flagged: float
    """Labels that are flagged; a sum of weights where labels were drawn with differing probability."""
    true: float
    """Flagged labels that are problems."""
    missed: float | None
    """Problems that are not flagged."""
    load: float
    """Share of everything scored, labelled or not, that is flagged."""

    def without_recall(self) -> Point:
        """Return the point with everything taken back that depends on what was not flagged."""
        return dataclasses.replace(self, recall=None, recall_low=None, recall_high=None, missed=None)

    def to_dict(self) -> dict[str, Any]:
        """Return the point as JSON knows it."""
        return dataclasses.asdict(self)

    def __str__(self) -> str:
        """Return the point in one line."""
        recall = "recall unknown" if self.recall is None else f"recall {_interval(self, 'recall')}"
        return f"at {self.at:g}: precision {_interval(self, 'precision')}, {recall}, flags {percent(self.load)} of all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """Scores with their labels, weights (or None), and all scores whether labelled or not."""

    scores: Floats
    positive: NDArray[np.bool_]
    weights: Floats | None
    everything: Floats
    means: Meaning


def sweep(of: Labelled) -> tuple[Curve, list[Point | None]]:
    """Return the curve over the labels and the point of each of its cuts.

    A cut that no number of the document could express has no point.

    Parameters
    ----------
    of
        At least one label.

    Examples
    --------
    >>> scores = np.array([0.2, 0.4, 0.9])
    >>> labelled = Labelled(
    ...     scores=scores, positive=np.array([True, False, False]), weights=None, everything=scores, means="good"
    ... )
    >>> [point and point.at for point in sweep(labelled)[1]]
    [1.0, 0.9, 0.4]
    """
    turned = of.scores if of.means == "problem" else -of.scores
    found = curve(turned, of.positive, weights=of.weights)
    at = found.at if of.means == "problem" else _above(of.scores, -found.at)
    load = flagged_share(of.everything, at, of.means)
    columns = {
        name: getattr(found, name)
        for name in ("precision", "precision_low", "precision_high", "recall", "recall_low", "recall_high")
    }
    return found, [
        None
        if math.isnan(at[i])
        else Point(
            at=float(at[i]),
            **{name: _known(values[i]) for name, values in columns.items()},
            flagged=float(found.flagged[i]),
            true=float(found.tp[i]),
            missed=float(found.fn[i]),
            load=float(load[i]),
        )
        for i in range(len(at))
    ]


def point_at(of: Labelled, at: float) -> Point:
    """Return the point of a cut that need not be an observed value."""
    hit = of.scores >= at if of.means == "problem" else of.scores < at
    weight = np.ones(len(of.scores)) if of.weights is None else of.weights
    flagged, true = float(weight[hit].sum()), float(weight[hit & of.positive].sum())
    positives = float(weight[of.positive].sum())
    precision = _exact(true, flagged, weight[hit])
    recall = _exact(true, positives, weight[of.positive])
    return Point(
        at=at,
        precision=precision[0],
        precision_low=precision[1],
        precision_high=precision[2],
        recall=recall[0],
        recall_low=recall[1],
        recall_high=recall[2],
        flagged=flagged,
        true=true,
        missed=positives - true,
        load=float(flagged_share(of.everything, np.array([at]), of.means)[0]),
    )


def flagged_share(scores: Floats, at: Floats, means: Meaning) -> Floats:
    """Return the share of scores that each cut flags."""
    if not len(scores):
        return np.zeros(len(at))
    below = np.searchsorted(np.sort(scores), at, side="left") / len(scores)
    return below if means == "good" else 1 - below


def _above(scores: Floats, values: Floats) -> Floats:
    """Return the smallest observed score above each value; 1 where a probability has none, else NaN."""
    distinct = np.unique(scores)
    place = np.searchsorted(distinct, values, side="right")
    top = 1.0 if distinct[-1] < 1 else math.nan
    return np.append(distinct, top)[place]


def _exact(k: float, n: float, weight: Floats) -> tuple[float | None, float | None, float | None]:
    if n <= 0:
        return None, None, None
    rate, effective = k / n, float(weight.sum() ** 2 / (weight**2).sum())
    low, high = clopper_pearson(min(rate, 1.0) * effective, effective)
    return rate, low, high


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _interval(point: Point, name: str) -> str:
    value = getattr(point, name)
    if value is None:
        return "unknown"
    low, high = getattr(point, f"{name}_low"), getattr(point, f"{name}_high")
    return f"{value:.3f} [{low:.3f}, {high:.3f}]"
