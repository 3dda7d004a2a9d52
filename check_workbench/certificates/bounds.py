"""Test one bound of a plan: the check's own cut, a walk over cuts, or evidence gathered over several looks.

Which way is taken depends on counts and on the ledger alone, never on what the labels say.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from check_workbench.calibration.units import unequal
from check_workbench.certificates.apart import apart
from check_workbench.certificates.exact import anytime_bound, exact, lower
from check_workbench.certificates.reach import furthest, in_two_draws
from check_workbench.certificates.showing import SHOWN, peeked
from check_workbench.certificates.tested import FIRST, LATER, Tested
from check_workbench.results import DECIDED
from check_workbench.stats.certify import counted, labels_needed, own_cut, walk
from check_workbench.stats.clusters import equal_clusters, one_per_cluster
from check_workbench.stats.intervals import lower_bounds, upper_bound, upper_bounds
from check_workbench.stats.monitor import certifying, further_needed, labels_for_power

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from check_workbench.certificates.hygiene import Sample
    from check_workbench.certificates.sides import Region
    from check_workbench.certificates.tested import Look, Way
    from check_workbench.plans import Bound

FEWEST_CLUSTERS = 20
NOT_BEYOND = (
    "people labelled (nearly) only work that the check puts on this side, so nothing can be said of a looser cut: "
    "for that, label work drawn at random from all"
)


def tested(region: Region, bound: Bound, sample: Sample, look: Look) -> Tested:
    """Test one bound.

    Parameters
    ----------
    region
        The side of the check that the bound speaks of.
    bound
        Target and allowed error.
    sample
        The labels.
    look
        Whether this is the first look, and where a walk begins.
    """
    sample = in_two_draws(region, sample)
    usable = sample.usable
    fresh = usable[usable["fresh"].to_numpy(dtype=bool) & region.inside(usable)]
    way = _way(region, bound, sample, look)
    seen = way != "sequential" and peeked(fresh if way == "own" else usable)
    if seen:
        look, way = dataclasses.replace(look, first=False), "sequential"
    delta = bound.delta * (FIRST if look.first else LATER)
    if way == "walk":
        found = _walked(region, bound, sample, look)
    elif way == "own":
        found = _own(region, bound, fresh, delta)
        found = _looser(region, found, sample, look)
    else:
        found = _sequential(region, bound, fresh, delta * look.capital.get(bound.side, 1.0))
        found = dataclasses.replace(found, notes=(*found.notes, *([SHOWN] if seen else [])))
    own = usable[region.inside(usable)]
    coverage = _mean(region.inside(sample.population))
    found = dataclasses.replace(
        found,
        lower=lower(region.wrong(own), own, delta),
        own_coverage=coverage,
        coverage=found.coverage if way == "walk" and found.certified else coverage,
        further=_further(region, bound, fresh, look=look, seen=not look.first or found.n > 0),
        power=_power(found, bound, look),
    )
    if found.further == 0 and not found.certified:
        # The labels that are there decide at the next look, and only a new one opens it.
        found = dataclasses.replace(found, further=1)
    if found.too_few_clusters is not None:
        more = max(found.further or 0, FEWEST_CLUSTERS - found.too_few_clusters)
        found = dataclasses.replace(found, certified=False, changes=(), proposal=(), further=more)
    decides = _with_taken(region, found, sample, coverage)
    return dataclasses.replace(found, decides_with_taken=decides, path=_path(region, found, sample))


def _way(region: Region, bound: Bound, sample: Sample, look: Look) -> Way:
    """Choose by counts: the own cut on labels that nothing read before, else a walk, while there is one."""
    if not look.first:
        return "sequential"
    usable = sample.usable
    fresh = usable["fresh"].to_numpy(dtype=bool)
    if fresh.all():
        return "own"
    enough = labels_needed(0, 0, alpha=bound.target, delta=FIRST * bound.delta)
    unread = int((fresh & region.inside(usable)).sum())
    return "walk" if unread < enough and region.walkable and not unequal(usable) else "own"


def _own(region: Region, bound: Bound, rows: pd.DataFrame, delta: float) -> Tested:
    wrong = region.wrong(rows)
    few = _too_few(rows)
    base = Tested(bound=bound, way="own", delta=delta, labels=rows, wrong=rows[wrong], too_few_clusters=few)
    if rows.empty:
        return base
    test, notes = exact(wrong, rows, alpha=bound.target, delta=delta)
    return dataclasses.replace(
        base,
        n=len(rows),
        errors=int(wrong.sum()),
        upper=test.bound,
        certified=test.certified,
        notes=tuple(notes),
    )


def _looser(region: Region, found: Tested, sample: Sample, look: Look) -> Tested:
    """Go on from a certified own cut to looser ones: a proposal, which nothing is decided on."""
    usable = sample.usable
    coarse = usable["cluster"].duplicated().any()
    if not found.certified or coarse or not usable["fresh"].all() or not region.walkable or unequal(usable):
        return found
    path = region.cuts(start=look.start)
    inside = float(np.mean(region.inside(region.scored(region.reference))))
    first = int(np.searchsorted(path.coverage, inside + 1e-9))
    if first == len(path.at):
        return found
    rows = region.scored(usable)
    beyond = dataclasses.replace(path, first=first)
    step = walk(region.scores(usable), region.wrong(rows), beyond, alpha=found.bound.target, delta=found.delta)
    place = furthest(region, sample, beyond, step)
    if place is None:
        return found if step.at is None else dataclasses.replace(found, notes=(*found.notes, NOT_BEYOND))
    values = path.at
    cut = float(values[place])
    return dataclasses.replace(found, proposal=region.changes(cut), proposal_coverage=_covered(region, sample, cut))


def _walked(region: Region, bound: Bound, sample: Sample, look: Look) -> Tested:
    """Walk over cuts of unlabelled scores on all labels, one of each cluster where they share any."""
    delta = bound.delta * FIRST
    every = region.scored(sample.usable)
    rows = every.iloc[one_per_cluster(every["cluster"].to_numpy())] if every["cluster"].duplicated().any() else every
    scores, wrong = region.scores(rows), region.wrong(rows)
    path = region.cuts(start=look.start)
    step = walk(scores, wrong, path, alpha=bound.target, delta=delta)
    reached = furthest(region, sample, path, step)
    place = reached if reached is not None else min(path.start, len(path.at) - 1)
    if place < 0:
        return Tested(bound=bound, way="walk", delta=delta, labels=rows.iloc[:0])
    values = path.at
    cut = float(values[place])
    inside = scores >= cut
    n, errors = int(step.n[place]), int(step.errors[place])
    return Tested(
        bound=bound,
        way="walk",
        delta=delta,
        n=n,
        errors=errors,
        upper=upper_bound(errors, n, delta=float(step.level[place]) or delta) if n else 1.0,
        certified=reached is not None,
        coverage=_covered(region, sample, cut),
        changes=region.changes(cut) if reached is not None else (),
        notes=() if reached is not None or step.certified is None else (NOT_BEYOND,),
        wrong=rows[inside & wrong],
        labels=rows[inside],
        too_few_clusters=_too_few(every[region.scores(every) >= cut]),
    )


def _path(region: Region, found: Tested, sample: Sample) -> tuple[dict[str, float], ...]:
    """Return what each cut would do, for a picture; nothing is decided on it."""
    if region.side != "false_pass" or sample.usable.empty or not region.walkable:
        return ()
    rows = region.scored(sample.usable)
    cuts = region.cuts(start=0.4)
    errors, labels = counted(region.scores(rows), region.wrong(rows), cuts)
    upper = upper_bounds(errors, labels, delta=found.delta)
    return tuple(
        {"coverage": float(c), "risk": float(e / n), "bound": float(u)}
        for c, e, n, u in zip(cuts.coverage, errors, labels, upper, strict=True)
        if n
    )


def _sequential(region: Region, bound: Bound, rows: pd.DataFrame, delta: float) -> Tested:
    """Bet on a low risk, so that any number of later looks is covered together.

    What the bets have come to now decides, not what they had come to before some label: people decide easy work first,
    and reject later than they approve, so the best moment in the order of time would be no chance.
    """
    counted_now = apart(rows)
    wrong = region.wrong(counted_now)
    share = LATER * bound.delta
    base = Tested(
        bound=bound,
        way="sequential",
        delta=share,
        labels=counted_now,
        wrong=counted_now[wrong],
        wealth=delta / share,
        too_few_clusters=_too_few(rows),
    )
    if unequal(rows):
        return dataclasses.replace(base, notes=("later looks need labels drawn with equal probability",))
    if counted_now.empty:
        return base
    bets = certifying(_worst_first(wrong), alpha=bound.target, delta=delta)
    return dataclasses.replace(
        base,
        n=len(counted_now),
        errors=int(wrong.sum()),
        upper=anytime_bound(_worst_first(wrong), delta),
        certified=bets.reached is not None,
        wealth=delta / share * float(bets.wealth[-1]),
    )


def _further(region: Region, bound: Bound, fresh: pd.DataFrame, *, look: Look, seen: bool) -> int | None:
    """Return how many error-free decisions on this side certify at the next look; None where it cannot be told."""
    if unequal(fresh):
        return None
    if not seen:
        return labels_needed(0, 0, alpha=bound.target, delta=FIRST * bound.delta)
    wrong = region.wrong(apart(fresh))
    return further_needed(_worst_first(wrong), alpha=bound.target, delta=_left(bound, look))


def _power(found: Tested, bound: Bound, look: Look) -> int | None:
    if not found.n:
        return None
    return labels_for_power(found.errors / found.n, alpha=bound.target, delta=_left(bound, look))


def _left(bound: Bound, look: Look) -> float:
    """Return the allowed error of the bets at the next look."""
    return LATER * bound.delta * look.capital.get(bound.side, 1.0)


def _worst_first(wrong: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Order errors before all else, so that the bets are never better off before the last label than after it."""
    return np.sort(wrong)[::-1]


def _too_few(rows: pd.DataFrame) -> int | None:
    """Return how many equal clusters all labels on a side make, where they are too few, else None."""
    several = int(equal_clusters(rows["cluster"].to_numpy()) + 1e-9)
    return several if several < min(FEWEST_CLUSTERS, len(rows)) else None


def _covered(region: Region, sample: Sample, cut: float) -> float:
    return float((region.scores(region.scored(sample.population)) >= cut).sum() / max(1, len(sample.population)))


def _mean(flags: NDArray[np.bool_]) -> float:
    return float(flags.mean()) if len(flags) else 0.0


def _with_taken(region: Region, found: Tested, sample: Sample, coverage: float) -> bool:
    """Say whether the labels that hygiene took would decide, were they allowed to."""
    if sample.taken.empty and not sample.taken_unseen and found.too_few_clusters is None:
        return False
    usable, taken = sample.usable, sample.taken
    unknown = int((~taken["verdict"].isin(DECIDED)).sum()) + sample.taken_unseen
    inside, more = usable[region.inside(usable)], taken[region.inside(taken)]
    covered = coverage if len(sample.population) else _mean(region.inside(region.everything))
    n = len(inside) + len(more) + round(unknown * covered)
    errors = int(region.wrong(inside).sum()) + int(region.wrong(more).sum())
    if not n:
        return False
    delta, target = FIRST * found.bound.delta, found.bound.target
    low = float(lower_bounds(errors, n, delta=delta))
    return own_cut(errors, n, alpha=target, delta=delta).certified or low > target
