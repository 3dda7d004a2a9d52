"""What each cut of a threshold would flag, in the document's own direction.

A score that means *problem* is flagged at or above the cut, one that means *good* below it.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from check_workbench.stats.curves import curve, one_cut
from check_workbench.stats.intervals import lower_bounds, upper_bounds
from check_workbench.stats.weighted import TAIL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from check_workbench.checks import Meaning
    from check_workbench.stats.curves import Curve

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One cut: what it flags, with 95 % intervals; None is what cannot be known."""

    at: float | None
    """None where no single number says it: the present numbers of several questions."""
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
    people: float
    """Share of everything scored that is flagged or unsure, so that a person must look at it."""
    people_low: float
    people_high: float

    def without_recall(self) -> Point:
        """Return the point with everything taken back that depends on what was not flagged."""
        return dataclasses.replace(self, recall=None, recall_low=None, recall_high=None, missed=None)

    def without_precision(self) -> Point:
        """Return the point with everything taken back that depends on what is flagged."""
        return dataclasses.replace(self, precision=None, precision_low=None, precision_high=None)

    def to_dict(self) -> dict[str, Any]:
        """Return the point as JSON knows it."""
        return dataclasses.asdict(self)

    @property
    def work(self) -> str:
        """How much work of 100 the cut sends to people, with its interval."""
        unsure = f"flags {100 * self.load:.1f}, with the unsure " if self.people != self.load else "flags "
        return f"{unsure}{100 * self.people:.1f} [{100 * self.people_low:.1f}, {100 * self.people_high:.1f}] of 100"

    def __str__(self) -> str:
        """Return the point in one line."""
        recall = "recall unknown" if self.recall is None else f"recall {_interval(self, 'recall')}"
        place = "as it stands" if self.at is None else f"at {self.at:g}"
        return f"{place}: precision {_interval(self, 'precision')}, {recall}, {self.work}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """Scores with their labels, weights (or None), and all scores whether labelled or not."""

    scores: Floats
    positive: Flags
    weights: Floats | None
    everything: Floats
    means: Meaning
    unsure_below: float | None = None
    """What stands at or above the cut but below this is unsure, where the cut is the lower end of a band."""
    effect: float = 1.0
    """By which factor work that belongs together makes `everything` count for less."""

    def hit(self, at: float) -> Flags:
        """Say which labelled scores a cut flags."""
        return self.scores >= at if self.means == "problem" else self.scores < at


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
    at = upright(of, found.at)
    return found, _points(found, at, _work(of, flagged_share(of.everything, at, of.means)))


def _points(found: Curve, at: Floats, work: dict[str, Floats]) -> list[Point | None]:
    columns: dict[str, Floats] = {
        name: getattr(found, name)
        for name in ("precision", "precision_low", "precision_high", "recall", "recall_low", "recall_high")
    }
    points: list[Point | None] = []
    for i, place in enumerate(at):
        rates: dict[str, Any] = {name: _known(values[i]) for name, values in columns.items()}
        counts = {"flagged": float(found.flagged[i]), "true": float(found.tp[i]), "missed": float(found.fn[i])}
        shares = {name: float(values[i]) for name, values in work.items()}
        points.append(None if math.isnan(place) else Point(at=float(place), **rates, **counts, **shares))
    return points


def upright(of: Labelled, turned: Floats) -> Floats:
    """Return cuts over turned scores (high means problem) as numbers of the document; NaN where it has none."""
    return turned if of.means == "problem" else _above(of.scores, -turned)


def point_at(of: Labelled, at: float) -> Point:
    """Return the point of a cut that need not be an observed value."""
    return _point(of, at, of.hit(at), _work(of, flagged_share(of.everything, np.array([at]), of.means)))


def point_where(of: Labelled, hit: Flags, share: float) -> Point:
    """Return the point of a cut that is given by what it flags: which labels, and which share of everything."""
    return _point(of, None, hit, _work(of, np.array([share])))


def flagged_share(scores: Floats, at: Floats, means: Meaning) -> Floats:
    """Return the share of scores that each cut flags."""
    if not len(scores):
        return np.zeros(len(at))
    below = np.searchsorted(np.sort(scores), at, side="left") / len(scores)
    return below if means == "good" else 1 - below


def _point(of: Labelled, at: float | None, hit: Flags, work: dict[str, Floats]) -> Point:
    [point] = _points(one_cut(hit, of.positive, weights=of.weights), np.zeros(1), work)
    if point is None:
        raise AssertionError("a cut that is given has a point")
    return dataclasses.replace(point, at=at)


def _work(of: Labelled, load: Floats) -> dict[str, Floats]:
    """Return per cut the share of everything that is flagged, and what people look at, with its interval."""
    people = load
    if of.unsure_below is not None:
        people = np.fmax(load, flagged_share(of.everything, np.array([of.unsure_below]), of.means))
    n = max(len(of.everything), 1) / of.effect
    low, high = (bounds(people * n, n, delta=TAIL) for bounds in (lower_bounds, upper_bounds))
    return {"load": load, "people": people, "people_low": low, "people_high": high}


def _above(scores: Floats, values: Floats) -> Floats:
    """Return the smallest observed score above each value; 1 where a probability has none, else NaN."""
    distinct = np.unique(scores)
    place = np.searchsorted(distinct, values, side="right")
    top = 1.0 if distinct[-1] < 1 else math.nan
    return np.append(distinct, top)[place]


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _interval(point: Point, name: str) -> str:
    value = getattr(point, name)
    if value is None:
        return "unknown"
    low, high = getattr(point, f"{name}_low"), getattr(point, f"{name}_high")
    return f"{value:.3f} [{low:.3f}, {high:.3f}]"
