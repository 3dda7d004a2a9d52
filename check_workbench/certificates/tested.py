"""What a test of one bound is given, and what it finds."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from check_workbench.checks import Threshold
    from check_workbench.plans import Bound, Side

Way = Literal["own", "walk", "sequential"]
FIRST, LATER = 0.8, 0.2
"""Shares of the allowed error for the first look, and for all later ones together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How often this check was tested for this change before, and where a walk begins."""

    first: bool
    start: float
    capital: Mapping[Side, float] = field(default_factory=dict)
    """By side, what earlier bets on other cuts have left to bet; 1 where there were none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested:
    """What the labels say about one bound."""

    bound: Bound
    way: Way
    delta: float
    """The allowed error of this look at this bound."""
    n: int = 0
    errors: int = 0
    upper: float | None = None
    """Upper bound of the risk."""
    lower: float | None = None
    """Lower bound of the risk at the check's own cut."""
    certified: bool = False
    coverage: float = 0.0
    """Share of all evaluated first submissions, labelled or not, that the tested cut decides."""
    own_coverage: float = 0.0
    further: int | None = None
    """Decisions on the check's own side that would certify if none is an error."""
    power: int | None = None
    """Decisions in all with which a later look certifies with a chance of 80 % at the observed risk; None: never."""
    wealth: float | None = None
    """What the bets of later looks have come to."""
    too_few_clusters: int | None = None
    decides_with_taken: bool = False
    """Whether the labels that hygiene took would decide."""
    changes: tuple[Threshold, ...] = ()
    """The numbers that a walk certified, where it decides."""
    proposal: tuple[Threshold, ...] = ()
    """A looser cut that would hold as well."""
    proposal_coverage: float | None = None
    wrong: pd.DataFrame | None = None
    """Every counted error."""
    labels: pd.DataFrame | None = None
    """The labels that were counted."""
    path: tuple[dict[str, float], ...] = ()
    """Coverage, observed risk and its upper bound, each on its own, along the cuts."""
    notes: tuple[str, ...] = field(default=())
    unjudged: tuple[str, ...] = ()
    """Work on the check's own side that has no usable label, in random order."""

    @property
    def too_weak(self) -> bool:
        """Whether the risk at the check's own cut is above the target beyond doubt."""
        return self.lower is not None and self.lower > self.bound.target and self.too_few_clusters is None

    @property
    def labels_needed(self) -> int | None:
        """Further decisions on all work if no further error comes; None where the check never decides."""
        if self.certified:
            return 0
        if self.further is None or self.own_coverage <= 0:
            return None
        return math.ceil(self.further / self.own_coverage - 1e-9)
