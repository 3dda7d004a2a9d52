"""The numbers of the document that say a chosen cut, each with its range."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from check_workbench.calibration.composite import Composite
    from check_workbench.calibration.points import Point
    from check_workbench.calibration.redrawing import Range
    from check_workbench.checks import Threshold


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """One number of the document as the chosen cut would write it, and its range with other labels."""

    threshold: Threshold
    low: float | None
    high: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return the number as JSON knows it."""
        own = self.threshold
        return {"item": own.item, "key": own.key, "value": own.value, "low": self.low, "high": self.high}

    def __str__(self) -> str:
        """Return the number in words."""
        between = "" if self.low is None else f" ({self.low:g} to {self.high:g})"
        return f"question {self.threshold.item} {self.threshold.key} {self.threshold.value:g}{between}"


def numbers_of(
    threshold: Threshold, chosen: Point | None, between: Range | None, path: Composite | None
) -> tuple[Number, ...]:
    """Return the numbers that make the chosen cut the document's own.

    Parameters
    ----------
    threshold
        The threshold that was calibrated.
    chosen
        The chosen cut.
    between
        Its range.
    path
        What turns a cut into a number for every question, where the threshold stands for all of them.
    """
    if chosen is None or chosen.at is None:
        return ()

    def written(at: float) -> tuple[Threshold, ...]:
        if path is None:
            return (dataclasses.replace(threshold, value=at),)
        return path.changes(at) if path.expressible(at) else ()

    ends = [_values(written(at)) for at in (between.low, between.high)] if between else []
    found = []
    for own in written(chosen.at):
        known = sorted(of[own.item, own.key] for of in ends if (own.item, own.key) in of)
        low, high = known if len(known) == 2 else (None, None)
        found.append(Number(threshold=own, low=low, high=high))
    return tuple(found)


def _values(written: tuple[Threshold, ...]) -> dict[tuple[int, str], float]:
    return {(own.item, own.key): own.value for own in written if own.value is not None}
