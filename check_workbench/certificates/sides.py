"""The two sides of a check: what it passes, where bad work is the error, and what it fails, where good work is.

A side turns verdicts and scores into flags and one number per unit, so that every test is the same for both.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from check_workbench.checks import PassBand, PassLevel, PassNames, Threshold, thresholds
from check_workbench.results import DECIDED
from check_workbench.stats.certify import coverage_cuts, distinct

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from check_workbench.checks import Check
    from check_workbench.plans import Side
    from check_workbench.stats.certify import Cuts

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

NEVER = -1.0
"""Stands for an answer that no confidence would let pass."""
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

    @property
    def verdict(self) -> str:
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
        """Return one number per row of `scored`: the higher, the more surely inside.

        Of several questions it is the smallest percentile among unlabelled work, because all must pass.
        """
        places = range(len(self.check.items))
        parts = [self._turned(self.scored(rows), place) for place in places]
        if len(parts) > 1:
            parts = [percentile(part, self._own(place)) for part, place in zip(parts, places, strict=True)]
        lowest: Floats = np.min(parts, axis=0)
        return lowest

    def scored(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the rows that have a verdict and all scores."""
        finite = [np.isfinite(self._turned(rows, place)) for place in range(len(self.check.items))]
        known: Flags = np.all(finite, axis=0) & rows["verdict"].isin(DECIDED).to_numpy(dtype=bool)
        return rows.loc[known]

    def _turned(self, rows: pd.DataFrame, place: int) -> Floats:
        values = rows[f"s{place}"].to_numpy(dtype=np.float64)
        item = self.check.items[place]
        if isinstance(item.cut, PassNames | PassLevel):
            values = np.where(values <= 0, NEVER, values)
        return values if (item.means == "good") == (self.side == "false_pass") else -values

    def _own(self, place: int) -> Floats:
        return self._turned(self.scored(self.reference), place)

    def cuts(self, *, start: float) -> Cuts:
        """Return the path of cuts over unlabelled work, as far as a document can express them."""
        found = coverage_cuts(self.scores(self.reference), start=start)
        values, coverage = found.at, found.coverage
        possible = np.array([self._expressible(*pair) for pair in zip(values.tolist(), coverage.tolist(), strict=True)])
        labelled = bool(self.reference["labelled"].any())
        return dataclasses.replace(found, at=values[possible], coverage=coverage[possible], labelled=labelled)

    def _expressible(self, at: float, coverage: float) -> bool:
        named = [place for place, item in enumerate(self.check.items) if isinstance(item.cut, PassNames | PassLevel)]
        never = any(self._value(place, at) == NEVER for place in named)
        return not never and (coverage < 1 or not self._strict())

    def _value(self, place: int, at: float) -> float:
        return at if len(self.check.items) == 1 else _value_at(self._own(place), at)

    def _strict(self) -> bool:
        """Whether what lies exactly at the number of the document is outside, so that the number lies above it."""
        return any((item.means == "problem") == (self.side == "false_pass") for item in self.check.items)

    def changes(self, at: float) -> tuple[Threshold, ...]:
        """Return the numbers of the document that make a cut of `cuts` its own."""
        changed: list[Threshold] = []
        for place, item in enumerate(self.check.items):
            upright = (item.means == "good") == (self.side == "false_pass")
            number = self._value(place, at) if upright else -self._value(place, at)
            if (item.means == "problem") == (self.side == "false_pass"):
                number = just_above(number, self.everything[f"s{place}"].to_numpy(dtype=np.float64))
            changed += self._written(place, number)
        return tuple(changed)

    def _written(self, place: int, number: float) -> list[Threshold]:
        mine = {t.key: t for t in thresholds(self.check) if t.item == place}
        if not mine:
            return []
        if "pass" not in mine:
            return [dataclasses.replace(next(iter(mine.values())), value=number)]
        key = "pass" if self.side == "false_pass" else "fail"
        written = [dataclasses.replace(mine[key], value=number)]
        fail, passing = mine["fail"].value, mine["pass"].value
        if key == "pass" and fail is not None and fail > number:
            written.append(dataclasses.replace(mine["fail"], value=number))
        if key == "fail" and passing is not None and passing < number:
            written.append(dataclasses.replace(mine["pass"], value=number))
        return written


def percentile(values: Floats, reference: Floats) -> Floats:
    """Return the share of the reference at or below each value; NaN stays NaN.

    Examples
    --------
    >>> percentile(np.array([0.2, 0.9]), np.array([0.1, 0.2, 0.3, 0.4]))
    array([0.5, 1. ])
    """
    ordered = np.sort(reference[np.isfinite(reference)])
    if not len(ordered):
        return np.full(len(values), np.nan)
    share = np.searchsorted(ordered, values, side="right") / len(ordered)
    return np.where(np.isfinite(values), share, np.nan)


def just_above(number: float, scores: Floats) -> float:
    """Return a short number above `number` that parts it from every larger score.

    Examples
    --------
    >>> just_above(3.0, np.array([1.0, 3.0, 7.0])), just_above(0.2512, np.array([0.2512, 0.9]))
    (4.0, 0.2513)
    """
    known = scores[np.isfinite(scores)]
    larger = known[known > number]
    ceiling = float(larger.min()) if len(larger) else math.inf
    if number.is_integer() and all(float(s).is_integer() for s in known):
        return number + 1
    for digits in range(4, 17):
        rounded = round(math.floor(number * 10**digits + 1) / 10**digits, digits)
        if number < rounded <= ceiling:
            return float(rounded)
    return math.nextafter(number, math.inf)


def _value_at(reference: Floats, share: float) -> float:
    """Return the smallest reference value whose percentile reaches a share."""
    ordered = np.sort(reference[np.isfinite(reference)])
    if not len(ordered):
        return NEVER
    return float(ordered[min(len(ordered) - 1, max(0, math.ceil(share * len(ordered) - 1e-9) - 1))])
