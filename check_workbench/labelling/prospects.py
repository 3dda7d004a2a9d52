"""What labels can prove at best, before anybody knows what they say."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from check_workbench.certificates.betting import capital
from check_workbench.certificates.exact import anytime_bound
from check_workbench.certificates.replanning import trusts_of
from check_workbench.certificates.tested import FIRST, LATER
from check_workbench.labelling.drawing import VERDICTS
from check_workbench.stats.certify import labels_needed, own_cut
from check_workbench.stats.intervals import percent
from check_workbench.stats.monitor import further_needed

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from check_workbench.labelling.drawing import Drawn
    from check_workbench.plans import Bound, Plan, Side

SUPPOSED = (0.25, 0.5)
"""True risks, as parts of the target, for which the chance of certifying is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prospect:
    """What the labels on one side of a check can prove, those of the sheet and those that are there."""

    verdict: str
    target: float
    sure: float
    """The confidence of the next look."""
    labels: int
    bound: float
    """The upper bound of the risk if none of the labels is an error."""
    needed: int
    """Labels with which the target is reached if none is an error."""
    chances: tuple[tuple[float, float], ...] = ()
    """True risks, and the chance that these labels certify then; for a first look."""

    def to_json(self) -> dict[str, Any]:
        """Return the prospect as plain values."""
        return {**asdict(self), "chances": [{"risk": risk, "chance": chance} for risk, chance in self.chances]}

    def words(self) -> Iterator[str]:
        """Yield the prospect in words."""
        wrong = "bad" if self.verdict == "pass" else "good"
        enough = f"the target {percent(self.target)} takes {self.needed} labels without an error"
        if not self.labels:
            yield enough
            return
        proven = f"the risk is at most {percent(self.bound)} ({percent(self.sure)} sure)"
        yield f"if none of {self.labels} labels says {wrong}, {proven}; {enough}"
        if self.chances:
            told = " and ".join(
                f"{percent(chance)} if the true risk is {percent(risk)}" for risk, chance in self.chances
            )
            yield f"the chance that they certify the target is {told}"


def prospects(
    draw: Drawn, plan: Plan, looks: pd.DataFrame, *, shown: frozenset[Side] = frozenset()
) -> tuple[Prospect, ...]:
    """Return what a draw for trust can prove with the labels that are there already, by bound of the plan.

    Parameters
    ----------
    draw
        What was drawn.
    plan
        Its bounds.
    looks
        All looks in the store: the first has most of the allowed error.
    shown
        Sides of which calls have shown labels: that was the first look at them.
    """
    mine = trusts_of(looks, draw.check, plan)
    tested = any(result.get("tested") for result in mine["result"])
    return tuple(
        _later(draw, bound, left=capital(mine, draw.check, bound.side, plan))
        if tested or bound.side in shown
        else _at_first(draw, bound)
        for bound in plan.bounds
    )


def _at_first(draw: Drawn, bound: Bound) -> Prospect:
    labels, delta = _labels(draw, bound), FIRST * bound.delta
    supposed = [round(part * bound.target, 6) for part in SUPPOSED] if labels else []
    return Prospect(
        verdict=VERDICTS[bound.side],
        target=bound.target,
        sure=1 - delta,
        labels=labels,
        bound=own_cut(0, labels, alpha=bound.target, delta=delta).bound if labels else 1.0,
        needed=labels_needed(0, 0, alpha=bound.target, delta=delta),
        chances=tuple((risk, chance(labels, risk, alpha=bound.target, delta=delta)) for risk in supposed),
    )


def _later(draw: Drawn, bound: Bound, *, left: float) -> Prospect:
    """Return what bets can prove that begin with what earlier ones left."""
    labels, delta = _labels(draw, bound), LATER * bound.delta
    return Prospect(
        verdict=VERDICTS[bound.side],
        target=bound.target,
        sure=1 - delta,
        labels=labels,
        bound=anytime_bound(np.zeros(labels, dtype=np.bool_), left * delta) if labels else 1.0,
        needed=further_needed([], alpha=bound.target, delta=left * delta),
    )


def _labels(draw: Drawn, bound: Bound) -> int:
    """Return how many labels there will be on the side of a bound."""
    verdict = VERDICTS[bound.side]
    return draw.told.get(verdict, 0) + draw.by_verdict.get(verdict, 0)


def chance(labels: int, risk: float, *, alpha: float, delta: float) -> float:
    """Return the chance that so many labels certify a fixed cut at a true risk.

    Parameters
    ----------
    labels
        How many.
    risk
        The true risk.
    alpha, delta
        Target risk, and allowed chance that the certificate is wrong.

    Examples
    --------
    >>> [round(chance(n, 0.01, alpha=0.05, delta=0.10), 2) for n in (44, 59, 150)]
    [0.0, 0.55, 0.94]
    """
    from scipy.stats import binom

    errors = np.arange(labels + 1)
    allowed = int((binom.cdf(errors, labels, alpha) <= delta).sum()) - 1
    return float(binom.cdf(allowed, labels, risk)) if allowed >= 0 else 0.0
