"""Tests of one fixed cut on labels that share clusters, or were drawn with differing probabilities."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from check_workbench.calibration.units import unequal
from check_workbench.stats.certify import CutTest, own_cut
from check_workbench.stats.clusters import clustered_test, design_effect, one_per_cluster
from check_workbench.stats.intervals import lower_bounds
from check_workbench.stats.monitor import certifying
from check_workbench.stats.stratified import strata

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

MOST_STRATA = 5
"""With more probabilities than these, strata are too small to be bounded one by one."""


def exact(wrong: NDArray[np.bool_], rows: pd.DataFrame, *, alpha: float, delta: float) -> tuple[CutTest, list[str]]:
    """Test a fixed cut; where labels share clusters, the weaker of two readings decides."""
    clusters = rows["cluster"].to_numpy()
    coarse = len(set(clusters)) < len(rows)
    if unequal(rows):
        test = _stratified(wrong, rows, alpha=alpha, delta=delta)
        if coarse:
            one = one_per_cluster(clusters)
            single = _stratified(wrong[one], rows.iloc[one], alpha=alpha, delta=delta)
            test = max(test, single, key=lambda t: t.bound)
        return test, [_how(rows)]
    if not coarse or len(set(clusters)) < 2:
        return own_cut(int(wrong.sum()), len(rows), alpha=alpha, delta=delta), []
    both = clustered_test(wrong, clusters, alpha=alpha, delta=delta)
    weaker = max(both.scaled, both.single, key=lambda t: t.bound)
    words = (
        f"{len(rows)} labels in {both.clusters} clusters (design effect {both.design_effect:.2f}): "
        "the weaker of the scaled test and of one label per cluster decides"
    )
    return dataclasses.replace(weaker, certified=both.certified), [words]


def _stratified(wrong: NDArray[np.bool_], rows: pd.DataFrame, *, alpha: float, delta: float) -> CutTest:
    drawn = rows["probability_sampled"].to_numpy(dtype=np.float64)
    values, stratum = np.unique(drawn, return_inverse=True)
    if len(values) > MOST_STRATA:
        kept = _thinned(drawn)
        return own_cut(int(wrong[kept].sum()), int(kept.sum()), alpha=alpha, delta=delta)
    n = np.bincount(stratum)
    errors = np.bincount(stratum, weights=wrong)
    weight = n / values
    return strata(errors, n, weight / weight.sum(), alpha=alpha, delta=delta)


def _thinned(drawn: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Keep labels at random so that all were drawn with one probability, the smallest."""
    return np.asarray(np.random.default_rng(0).random(len(drawn)) * drawn < drawn.min())


def _how(rows: pd.DataFrame) -> str:
    drawn = rows["probability_sampled"].to_numpy(dtype=np.float64)
    if len(np.unique(drawn)) <= MOST_STRATA:
        return "labels were drawn with differing probabilities: each stratum is bounded on its own"
    kept = int(_thinned(drawn).sum())
    return f"labels were drawn with many probabilities: {kept} of them, thinned at random to the smallest, are tested"


def lower(wrong: NDArray[np.bool_], rows: pd.DataFrame, delta: float) -> float | None:
    """Return the lower bound of the risk at the own cut, over all usable labels there."""
    if rows.empty:
        return None
    clusters = rows["cluster"].to_numpy()
    several = len(set(clusters))
    effect = design_effect(wrong, clusters) if 1 < several < len(rows) else 1.0
    drawn = rows["probability_sampled"].to_numpy(dtype=np.float64)
    if len(set(drawn.tolist())) > MOST_STRATA and unequal(rows):
        kept = _thinned(drawn)
        return float(lower_bounds(wrong[kept].sum() / effect, kept.sum() / effect, delta=delta)) if kept.any() else None
    if unequal(rows):
        values, stratum = np.unique(drawn, return_inverse=True)
        n, errors = np.bincount(stratum) / effect, np.bincount(stratum, weights=wrong) / effect
        weight = n / values
        return float(weight / weight.sum() @ lower_bounds(errors, n, delta=delta / len(values)))
    return float(lower_bounds(wrong.sum() / effect, len(rows) / effect, delta=delta))


def anytime_bound(wrong: NDArray[np.bool_], delta: float) -> float:
    """Return the smallest target that the bets so far would certify, to four digits."""
    low, high = 0, 10_000
    while high - low > 1:
        middle = (low + high) // 2
        reached = certifying(wrong, alpha=middle / 10_000, delta=delta).reached
        low, high = (low, middle) if reached is not None else (middle, high)
    return high / 10_000
