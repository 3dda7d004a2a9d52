"""The two sides of a check: what it passes, where bad work is the error, and what it fails, where good work is.

A side turns verdicts and scores into flags and one number per unit, so that every test is the same for both.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from check_workbench.calibration.composite import Composite
from check_workbench.checks import PassBand, thresholds
from check_workbench.stats.certify import coverage_cuts, distinct

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from check_workbench.checks import Check, Threshold
    from check_workbench.plans import Side
    from check_workbench.stats.certify import Cuts

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

FEWEST_SCORES = 10
"""With fewer distinct scores only the check's own cut is tested."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """One side of one check."""

    check: Check
    side: Side
    reference: pd.DataFrame
    """Work whose scores fix the cuts: unlabelled, where there is enough of it."""
    everything: pd.DataFrame
    """All work, so that a number of the document parts the same units as the cut."""
    path: Composite = field(init=False, repr=False, compare=False)
    """The path of cuts."""

    def __post_init__(self) -> None:
        found = Composite.of(self.check, self.verdict, reference=self.reference, everything=self.everything)
        object.__setattr__(self, "path", found)

    @property
    def verdict(self) -> Literal["pass", "fail"]:
        """The verdict whose risk is bounded."""
        return "pass" if self.side == "false_pass" else "fail"

    def inside(self, rows: pd.DataFrame) -> Flags:
        """Say which rows the check, as its file stands, passes (or fails)."""
        return (rows["verdict"] == self.verdict).to_numpy(dtype=bool)

    def wrong(self, rows: pd.DataFrame) -> Flags:
        """Say in which rows a person found the opposite."""
        positive = rows["positive"].to_numpy(dtype=bool)
        return positive if self.side == "false_pass" else ~positive

    @property
    def walkable(self) -> bool:
        """Whether the cut can move over enough distinct scores; fails of several questions cannot."""
        if not thresholds(self.check) or (self.side == "false_fail" and not self._has_fail_cut()):
            return False
        return distinct(self.scores(self.reference)) >= FEWEST_SCORES

    def _has_fail_cut(self) -> bool:
        item = self.check.items[0]
        return len(self.check.items) == 1 and (item.means == "problem" or isinstance(item.cut, PassBand))

    def scores(self, rows: pd.DataFrame) -> Floats:
        """Return one number per row of `scored`: the higher, the more surely inside."""
        return self.path.scores(rows)

    def scored(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the rows that have a verdict and all scores."""
        return self.path.scored(rows)

    def cuts(self, *, start: float) -> Cuts:
        """Return the path of cuts over unlabelled work, as far as a document can express them."""
        path = self.path
        found = coverage_cuts(self.scores(self.reference), start=start)
        values, coverage = found.at, found.coverage
        pairs = zip(values.tolist(), coverage.tolist(), strict=True)
        possible = np.array([path.expressible(at) and (share < 1 or not path.strict) for at, share in pairs])
        labelled = bool(self.reference["labelled"].any())
        return dataclasses.replace(found, at=values[possible], coverage=coverage[possible], labelled=labelled)

    def changes(self, at: float) -> tuple[Threshold, ...]:
        """Return the numbers of the document that make a cut of `cuts` its own."""
        return self.path.changes(at)
