"""How far labels speak: only over work that they are a sample of, and what work is left to label."""

from __future__ import annotations

import dataclasses
import hashlib
from typing import TYPE_CHECKING

import numpy as np

from check_workbench.calibration.cautions import SUSPICIOUS
from check_workbench.calibration.units import KEY, name_of, records
from check_workbench.store.returning import DRAW

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from check_workbench.certificates.hygiene import Sample
    from check_workbench.certificates.sides import Region
    from check_workbench.checks import Check
    from check_workbench.stats.certify import Cuts, Walk

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]


def drawn_last(check: Check, looks: pd.DataFrame) -> frozenset[tuple[str, str, int]]:
    """Return the work of the last sheets, where earlier ones were drawn for recall; else nothing.

    Sheets are drawn from what has no label yet, so those after one for recall speak of the rest alone. Sheets for trust
    that follow one another are one draw.

    Parameters
    ----------
    check
        The check.
    looks
        All looks in the store, among them the draws.
    """
    mine = looks[(looks["call"] == DRAW) & (looks["check_id"] == check.id) & (looks["asked"] == check.asked)]
    draws = mine["result"].tolist()
    first = next((place for place, draw in enumerate(draws) if draw["purpose"] == "recall"), len(draws))
    later = draws[first + 1 :]
    last = [draw for draw in later if draw["purpose"] == "trust"] or later[-1:]
    return frozenset((run, step or "", attempt or 1) for draw in last for _, run, step, attempt, _ in draw["rows"])


def in_two_draws(region: Region, sample: Sample) -> Sample:
    """Let labels speak for what they were drawn from: the last draw for all work without labels, others for themselves.

    Parameters
    ----------
    region
        The side that is tested.
    sample
        The labels and the work.
    """
    usable, inside = sample.usable, region.inside(sample.usable)
    last = usable.set_index(KEY).index.isin(sample.drawn_last) & inside
    before = inside & ~last
    if not last.any() or not before.any():
        return sample
    rest = max(int(region.inside(sample.population).sum() - before.sum()), 1)
    drawn = usable["probability_sampled"].astype(float)
    for_the_rest = (drawn * (1 / drawn[last]).sum() / rest).clip(upper=1.0)
    told = drawn.mask(before, 1.0).mask(last, for_the_rest)
    return dataclasses.replace(sample, usable=usable.assign(probability_sampled=told))


def furthest(region: Region, sample: Sample, cuts: Cuts, step: Walk) -> int | None:
    """Return the place of the loosest certified cut that the labels can speak of.

    A test of a cut holds if the labels are drawn with equal probability from all work that passes it. People label
    what a check flags, so a cut that lets in more work needs labels there, at a rate that chance can explain.

    Parameters
    ----------
    region
        The side that is tested.
    sample
        The labels and the work.
    cuts
        The path that was walked.
    step
        How far the tests came.
    """
    if step.certified is None:
        return None
    path = cuts.at
    told = region.scored(sample.usable)
    silent = region.scored(_without(sample.population, told))
    scores = (region.scores(told), region.scores(silent))
    own = (region.inside(told), region.inside(silent))
    passed = np.flatnonzero(step.passed)[::-1].tolist()
    return next((place for place in passed if _speak(scores, own, float(path[place]))), None)


def _without(rows: pd.DataFrame, told: pd.DataFrame) -> pd.DataFrame:
    return rows[~rows.set_index(KEY).index.isin(told.set_index(KEY).index)]


def _speak(scores: tuple[Floats, Floats], own: tuple[Flags, Flags], at: float) -> bool:
    """Say whether labels may be an equal-probability sample of the work at or above a cut.

    Parameters
    ----------
    scores
        Of the work with labels, and of the work without.
    own
        Which of it the check's own cut lets in.
    at
        The cut.
    """
    from scipy.stats import fisher_exact, mannwhitneyu

    told, silent = (values[values >= at] for values in scores)
    mine, added = (
        [int((part[values >= at] == kind).sum()) for part, values in zip(own, scores, strict=True)]
        for kind in (True, False)
    )
    if not len(told) or (added[1] and not added[0]):
        return False
    even = fisher_exact(np.array([mine, added])).pvalue >= SUSPICIOUS
    return bool(even and (not len(silent) or mannwhitneyu(told, silent).pvalue >= SUSPICIOUS))


def unjudged(region: Region, sample: Sample) -> tuple[str, ...]:
    """Name the work on this side that nobody has judged blind, in an order that depends on nothing that anyone said.

    Parameters
    ----------
    region
        The side.
    sample
        The labels and the work.
    """
    inside = sample.population[region.inside(sample.population)]
    names = [name_of(row) for row in records(_without(inside, sample.usable))]
    return tuple(sorted(names, key=lambda name: hashlib.sha256(name.encode()).digest()))
