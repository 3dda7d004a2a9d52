"""How sure a chosen cut is: the same choice on labels drawn again, sessions whole."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from check_workbench.calibration.points import upright
from check_workbench.errors import UndefinedError
from check_workbench.stats.cutoffs import Redraw, bootstrap_cut
from check_workbench.stats.intervals import percent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from check_workbench.calibration.points import Labelled
    from check_workbench.stats.cutoffs import Goal


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """The middle 90 % of the cuts that 200 redraws of the labels chose."""

    low: float
    high: float
    none: float
    """Share of the redraws in which no cut met the goal."""
    clusters: int
    """How many sessions, or runs without one, were drawn from."""

    def to_dict(self) -> dict[str, Any]:
        """Return the range as JSON knows it."""
        return dataclasses.asdict(self)

    def __str__(self) -> str:
        """Return the range in one line."""
        none = f"; in {percent(self.none)} of the redraws no cut meets the goal" if self.none else ""
        return f"with other labels of this kind: {self.low:g} to {self.high:g} (90 % of redraws){none}"


def redrawn(of: Labelled, clusters: NDArray[np.object_], goal: Goal) -> Range | None:
    """Choose again and again on labels drawn with replacement.

    Parameters
    ----------
    of
        The labels.
    clusters
        What each label belongs to; what belongs together is drawn together.
    goal
        What is wanted.

    Returns
    -------
    Range or None
        None where no redraw has a cut that meets the goal.
    """
    turned = of.scores if of.means == "problem" else -of.scores
    try:
        found = bootstrap_cut(turned, of.positive, goal, Redraw(clusters=clusters.astype(str), weights=of.weights))
    except UndefinedError:
        return None
    ends = upright(of, np.array([found.low, found.high]))
    ends = np.sort(np.where(np.isnan(ends), of.scores.max(), ends))
    several = len(np.unique(clusters.astype(str)))
    return Range(low=float(ends[0]), high=float(ends[1]), none=found.none, clusters=several)
