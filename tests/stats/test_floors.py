"""The walk in seeded draws: wrong as seldom as promised, whatever the shape of the risk, and never idle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from check_workbench.stats.certify import coverage_cuts, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from check_workbench.stats.certify import Walk

pytestmark = pytest.mark.slow

DRAWS = 1000
DELTA = 0.10
ALLOWED = DELTA + 3 * np.sqrt(DELTA * (1 - DELTA) / DRAWS)
ALPHAS = (0.05, 0.10, 0.20)
LABELS = (100, 300, 500)
GRID = np.linspace(0, 1, 20_001)[:-1]
CUTS = coverage_cuts(GRID)
SCENARIOS: dict[str, Callable[[np.ndarray, float], np.ndarray]] = {
    "flat": lambda s, alpha: np.full_like(s, 1.02 * alpha),
    "good": lambda s, _: 0.35 * (1 - s) ** 2,
    "over": lambda s, _: 0.04 + 0.30 * (1 - s),
    "topbad": lambda s, _: np.where(s > 0.97, 0.5, 0.03),
    "step": lambda s, _: np.where(s > 0.5, 0.02, 0.30),
    "wavy": lambda s, _: 0.03 + 0.10 * np.sin(6 * s) ** 2,
}
"""By name, the error rate at a score; `flat` is just above the target everywhere."""
FLOORS = {
    ("good", 0.10, 300): 0.72,
    ("step", 0.10, 300): 0.56,
    ("topbad", 0.10, 500): 0.55,
    ("over", 0.20, 300): 0.70,
}
"""The least mean coverage, by scenario, target and number of labels."""


def walks(name: str, alpha: float, n: int, *, draws: int = DRAWS) -> Iterator[Walk]:
    rng = np.random.default_rng(20_240)
    for _ in range(draws):
        scores = rng.random(n)
        bad = rng.random(n) < SCENARIOS[name](scores, alpha)
        yield walk(scores, bad, CUTS, alpha=alpha, delta=DELTA)


def risks(name: str, alpha: float) -> np.ndarray:
    """Return the true risk at every cut."""
    passing = np.round(CUTS.coverage * len(GRID)).astype(int)
    return np.asarray(np.cumsum(SCENARIOS[name](GRID, alpha)[::-1])[passing - 1] / passing)


@pytest.mark.parametrize("name", SCENARIOS)
def test_any_cut_of_the_walk_is_wrong_as_seldom_as_promised(name: str) -> None:
    for alpha in ALPHAS:
        too_risky = risks(name, alpha) > alpha
        for n in LABELS:
            found = list(walks(name, alpha, n))
            wrong = np.mean([(each.passed & too_risky).any() for each in found])
            assert wrong <= ALLOWED, (alpha, n)
            assert np.mean([each.coverage for each in found]) >= FLOORS.get((name, alpha, n), 0), (alpha, n)


def test_the_walk_certifies_more_than_a_single_sequence_from_its_start() -> None:
    """Fixed-sequence testing, from 40 % towards looser cuts until one fails, each with all of delta."""
    cells = [(name, alpha, n) for name in SCENARIOS if name != "flat" for alpha in ALPHAS for n in (100, 300)]
    gained = []
    for cell in cells:
        found = list(walks(*cell, draws=200))
        p = np.array([each.p for each in found])[:, CUTS.start :]
        steps = np.logical_and.accumulate(p <= DELTA, axis=1).sum(axis=1)
        single = np.concatenate([[0], CUTS.coverage[CUTS.start :]])[steps]
        gained.append(np.mean([each.coverage for each in found]) - single.mean())
    assert np.mean(gained) > 0.04
    assert min(gained) > -0.08
