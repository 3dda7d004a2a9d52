"""How far labels speak: only over work that they are a sample of, and what work is left to label."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from check_workbench.calibration.cautions import SUSPICIOUS
from check_workbench.calibration.units import KEY, name_of, records

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from check_workbench.certificates.hygiene import Sample
    from check_workbench.certificates.sides import Region
    from check_workbench.stats.certify import Cuts, Walk

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]


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
