"""One path of cuts through the numbers of several questions, and back to each question's own number.

The score of a unit is its smallest percentile over the questions, among work whose scores fix the path, because all
questions must pass. So one cut stands for one number per question, and one search covers them all.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from check_workbench.checks import PassLevel, PassNames, thresholds
from check_workbench.results import DECIDED

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from check_workbench.checks import Check, Item, Threshold

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

NEVER = -1.0
"""Stands for an answer that no confidence would let pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Composite:
    """The path of one verdict of one check; with a single question the score is its own."""

    check: Check
    verdict: Literal["pass", "fail"]
    """What a unit is the more surely, the higher its score."""
    ordered: tuple[Floats, ...]
    """Per question the scores that fix the path, sorted."""
    observed: tuple[Floats, ...]
    """Per question the scores of all work, so that a number parts the same units as the cut."""

    @classmethod
    def of(
        cls, check: Check, verdict: Literal["pass", "fail"], *, reference: pd.DataFrame, everything: pd.DataFrame
    ) -> Composite:
        """Fix a path.

        Parameters
        ----------
        check
            The check.
        verdict
            What high scores mean.
        reference
            Work whose scores fix the path.
        everything
            All work.
        """
        known = _scored(check, verdict, reference)
        places = range(len(check.items))
        return cls(
            check=check,
            verdict=verdict,
            ordered=tuple(np.sort(_turned(check.items[place], verdict, known, place)) for place in places),
            observed=tuple(everything[f"s{place}"].to_numpy(dtype=np.float64) for place in places),
        )

    def scored(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the rows that have a verdict and all scores."""
        return _scored(self.check, self.verdict, rows)

    def scores(self, rows: pd.DataFrame) -> Floats:
        """Return one number per row of `scored`."""
        known = self.scored(rows)
        parts = [_turned(item, self.verdict, known, place) for place, item in enumerate(self.check.items)]
        if len(parts) > 1:
            parts = [percentile(part, own) for part, own in zip(parts, self.ordered, strict=True)]
        lowest: Floats = np.min(parts, axis=0)
        return lowest

    @property
    def strict(self) -> bool:
        """Whether what lies exactly at the number of the document is outside, so that the number lies above it."""
        return any(not _upright(item, self.verdict) for item in self.check.items)

    def expressible(self, at: float) -> bool:
        """Say whether numbers of the document can say a cut: no confidence lets an answer pass that names a fail."""
        named = [place for place, item in enumerate(self.check.items) if isinstance(item.cut, PassNames | PassLevel)]
        return not any(self._value(place, at) == NEVER for place in named)

    def changes(self, at: float) -> tuple[Threshold, ...]:
        """Return the numbers of the document that make a cut its own."""
        changed: list[Threshold] = []
        for place, item in enumerate(self.check.items):
            number = self._value(place, at)
            if not _upright(item, self.verdict):
                number = just_above(-number, self.observed[place])
            changed += self._written(place, number)
        return tuple(changed)

    def _value(self, place: int, at: float) -> float:
        return at if len(self.check.items) == 1 else _value_at(self.ordered[place], at)

    def _written(self, place: int, number: float) -> list[Threshold]:
        mine = {t.key: t for t in thresholds(self.check) if t.item == place}
        if not mine:
            return []
        if "pass" not in mine:
            return [dataclasses.replace(next(iter(mine.values())), value=number)]
        written = [dataclasses.replace(mine[self.verdict], value=number)]
        fail, passing = mine["fail"].value, mine["pass"].value
        if self.verdict == "pass" and fail is not None and fail > number:
            written.append(dataclasses.replace(mine["fail"], value=number))
        if self.verdict == "fail" and passing is not None and passing < number:
            written.append(dataclasses.replace(mine["pass"], value=number))
        return written


def percentile(values: Floats, ordered: Floats) -> Floats:
    """Return the share of sorted reference scores at or below each value; NaN where there are none.

    Examples
    --------
    >>> percentile(np.array([0.2, 0.9]), np.array([0.1, 0.2, 0.3, 0.4]))
    array([0.5, 1. ])
    """
    if not len(ordered):
        return np.full(len(values), np.nan)
    return np.searchsorted(ordered, values, side="right") / len(ordered)


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


def _scored(check: Check, verdict: str, rows: pd.DataFrame) -> pd.DataFrame:
    finite = [np.isfinite(_turned(item, verdict, rows, place)) for place, item in enumerate(check.items)]
    known: Flags = np.all(finite, axis=0) & rows["verdict"].isin(DECIDED).to_numpy(dtype=bool)
    return rows.loc[known]


def _turned(item: Item, verdict: str, rows: pd.DataFrame, place: int) -> Floats:
    values = rows[f"s{place}"].to_numpy(dtype=np.float64)
    if isinstance(item.cut, PassNames | PassLevel):
        values = np.where(values <= 0, NEVER, values)
    return values if _upright(item, verdict) else -values


def _upright(item: Item, verdict: str) -> bool:
    return (item.means == "good") == (verdict == "pass")


def _value_at(ordered: Floats, share: float) -> float:
    """Return the smallest reference value whose percentile reaches a share."""
    if not len(ordered):
        return NEVER
    return float(ordered[min(len(ordered) - 1, max(0, math.ceil(share * len(ordered) - 1e-9) - 1))])
