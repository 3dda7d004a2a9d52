"""Simulations: what is promised holds in seeded draws, and what is warned of goes wrong in them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from check_workbench.stats.certify import coverage_cuts, p_value, walk
from check_workbench.stats.clusters import clustered_test
from check_workbench.stats.monitor import alarming_wealth, certifying_wealth

DRAWS = 1000
DELTA = 0.10
ALLOWED = DELTA + 3 * np.sqrt(DELTA * (1 - DELTA) / DRAWS)
CUTS = coverage_cuts(np.linspace(0, 1, 20_001)[:-1])


def test_choosing_the_loosest_cut_that_looks_good_is_no_guarantee() -> None:
    rng = np.random.default_rng(1)
    violations = 0
    for _ in range(DRAWS):
        found = walk(rng.random(300), rng.random(300) < 0.102, CUTS, alpha=0.10, delta=DELTA)
        violations += bool((found.errors[found.n > 0] <= 0.10 * found.n[found.n > 0]).any())
    assert violations / DRAWS > 0.5


def test_clusters_break_the_naive_test_and_hold_ours() -> None:
    rng = np.random.default_rng(2)
    alpha, size, groups, icc = 0.05, 10, 30, 0.3
    keys = np.repeat(np.arange(groups), size)
    strength = 1 / icc - 1
    naive, ours = 0, 0
    for seed in range(DRAWS):
        rate = rng.beta(alpha * strength, (1 - alpha) * strength, groups)
        bad = rng.random(groups * size) < rate[keys]
        naive += float(p_value(bad.sum(), len(bad), alpha)) <= DELTA
        ours += clustered_test(bad, keys, alpha=alpha, delta=DELTA, seed=seed).certified
    assert naive / DRAWS > 0.15
    assert ours / DRAWS <= ALLOWED


def test_looking_after_every_label_breaks_the_fixed_bound_and_holds_the_e_process() -> None:
    rng = np.random.default_rng(3)
    bad = rng.random((DRAWS, 1000)) < 0.05
    fixed = p_value(bad.cumsum(axis=1)[:, 9:], np.arange(10, 1001), 0.05)
    assert (fixed <= DELTA).any(axis=1).mean() > 0.30
    assert (certifying_wealth(bad, alpha=0.05).max(axis=1) >= 1 / DELTA).mean() <= ALLOWED


@pytest.mark.parametrize("alpha", [0.05, 0.10, 0.15, 0.20])
def test_a_risk_at_the_target_or_above_is_seldom_certified_ever(alpha: float) -> None:
    """The chance is counted, not drawn: errors are followed label by label until enough is won."""
    length = 1500
    wealth = certifying_wealth(np.arange(length) < np.arange(length)[:, None], alpha=alpha)
    for delta, risk in ((0.02, alpha), (0.10, alpha), (0.10, 1.05 * alpha)):
        chance, certified = np.zeros(length + 1), 0.0
        chance[0] = 1
        for n in range(1, length + 1):
            chance[1:] = risk * chance[:-1] + (1 - risk) * chance[1:]
            chance[0] *= 1 - risk
            won = int((wealth[:n, n - 1] >= 1 / delta).sum())
            certified += chance[:won].sum()
            chance[:won] = 0
        assert delta / 3 < certified <= delta if risk == alpha else certified <= delta


def test_the_certifying_process_reaches_its_end_in_the_published_time() -> None:
    bad = np.random.default_rng(4).random((DRAWS, 1500)) < 0.02
    there = certifying_wealth(bad, alpha=0.05) >= 1 / DELTA
    assert there.any(axis=1).mean() > 0.99
    assert 150 <= np.median(np.argmax(there, axis=1) + 1) <= 190


@pytest.mark.parametrize("alpha", [0.05, 0.10, 0.20, 0.60])
def test_the_alarm_is_seldom_false(alpha: float) -> None:
    bad = np.random.default_rng(5).random((DRAWS, 2000)) < alpha
    wealth = alarming_wealth(bad, alpha=alpha)
    assert (wealth >= 0).all()
    assert (wealth.max(axis=1) >= 20).mean() <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / DRAWS)


@pytest.mark.parametrize(("alpha", "risk", "most"), [(0.05, 0.10, 200), (0.05, 0.15, 60), (0.10, 0.30, 30)])
def test_the_alarm_comes_soon(alpha: float, risk: float, most: int) -> None:
    bad = np.random.default_rng(6).random((DRAWS, 2000)) < risk
    there = alarming_wealth(bad, alpha=alpha) >= 20
    assert there.any(axis=1).all()
    assert np.median(np.argmax(there, axis=1) + 1) <= most


def test_nine_of_ten_in_thirty_is_no_proof() -> None:
    assert binom.sf(26, 30, 0.85) == pytest.approx(0.32, abs=0.005)
