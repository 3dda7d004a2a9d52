"""What a number of a judge means, by how often people agree where it says .9.

The answer changes no cut: cuts stay on the judge's own scale.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from check_workbench.checks import Meaning as Side
    from check_workbench.stats.crossfit import Bin
    from check_workbench.stats.reliability import CalibrationError

SCALE = "what a score means moves no cut: cut-offs stay on the judge's own scale"
EVENT = {"problem": "find a problem", "good": "find it good"}


class Reading(NamedTuple):
    """What one score means: how often people say so, with its 95 % interval."""

    at: float
    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """A curve from what the judge says to how often people say so, or why there is none."""

    means: Side
    """What people say: that there is a problem, or that the work is good."""
    labels: int
    curve: Literal["platt", "beta", "isotonic"] | None = None
    why: str | None = None
    """Why this kind of curve."""
    readings: tuple[Reading, ...] = ()
    line: tuple[Reading, ...] = ()
    """The curve over the whole range of labelled scores."""
    bins: tuple[Bin, ...] = ()
    """What the labels say by bins of equal weight."""
    before: CalibrationError | None = None
    """How far the scores as they stand lie from what people say."""
    after: CalibrationError | None = None
    """The same with the curve, each label judged by a curve that was fitted without it and without its session."""
    reason: str | None = None
    """Why there is no curve."""

    def to_dict(self) -> dict[str, Any]:
        """Return the meaning as JSON knows it."""
        told = {name: getattr(self, name) for name in ("means", "labels", "curve", "why", "reason")}
        errors = {name: getattr(self, name) for name in ("before", "after")}
        return {
            **told,
            **{name: dataclasses.asdict(error) if error else None for name, error in errors.items()},
            "points": [reading._asdict() for reading in self.readings],
            "line": [reading._asdict() for reading in self.line],
            "bins": [one._asdict() for one in self.bins],
        }

    def lines(self) -> Iterator[str]:
        """Yield the meaning in words."""
        if self.curve is None:
            yield f"what its scores mean is unknown: {self.reason}"
            return
        first, *others = self.readings
        said = f"where the judge says {first.at:g}, people {EVENT[self.means]} in {_interval(first)}"
        yield "; ".join([said, *(f"{other.at:g}: {_interval(other)}" for other in others)])
        yield f"by {self.why}{_worth(self.before, self.after)}"


def _interval(reading: Reading) -> str:
    return f"{reading.share:.2f} [{reading.low:.2f}, {reading.high:.2f}]"


def _worth(before: CalibrationError | None, after: CalibrationError | None) -> str:
    if before is None or after is None:
        return ""
    said, seen = (f"off by {error.value:.2f}, by chance at most {error.band:.2f}" for error in (before, after))
    missed = ", so it misses as well" if after.beyond_chance else ""
    return f"; the scores are {said}; the curve, on labels that it was not fitted to, is {seen}{missed}"
