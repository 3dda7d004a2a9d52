from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from check_workbench.errors import InputError, UndefinedError
from check_workbench.stats.intervals import wilson
from check_workbench.stats.ppi import population_share

DRAWS = 1000


def _drawn(rng: np.random.Generator, size: int, prevalence: float, noise: float) -> tuple[np.ndarray, np.ndarray]:
    bad = rng.random(size) < prevalence
    return np.where(bad, 0.8, 0.2) + rng.normal(0, noise, size), bad


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "prevalence", "noise"),
    [(100, 0.5, 0.4), (100, 0.3, 0.2), (200, 0.2, 0.4), (400, 0.1, 0.2), (400, 0.5, 5.0)],
)
def test_the_interval_covers_as_often_as_it_says_and_is_never_wider(n: int, prevalence: float, noise: float) -> None:
    rng = np.random.default_rng(11)
    covered, width, alone = 0, 0.0, 0.0
    for _ in range(DRAWS):
        scores, bad = _drawn(rng, n + 2000, prevalence, noise)
        found = population_share(scores[:n], bad[:n], scores[n:])
        covered += found.share.low <= prevalence <= found.share.high
        width += found.share.high - found.share.low
        alone += found.labels_alone.high - found.labels_alone.low
    assert 0.93 <= covered / DRAWS <= 0.97
    assert width <= 1.02 * alone
    assert noise > 0.3 or width < 0.85 * alone


@pytest.mark.slow
def test_with_few_labels_the_uncorrected_interval_is_too_short_and_ours_falls_back() -> None:
    """At 50 labels of which one in twenty is bad, the normal interval covers less than it says."""
    rng = np.random.default_rng(12)
    prevalence, n, normal, ours = 0.05, 50, 0, 0
    for _ in range(DRAWS):
        scores, bad = _drawn(rng, n + 2000, prevalence, 0.2)
        y, f, u = bad[:n].astype(float), scores[:n], scores[n:]
        weight = np.cov(y, f)[0, 1] / ((1 + n / len(u)) * scores.var())
        half = 1.96 * np.sqrt((y - weight * f).var() / n + weight**2 * u.var() / len(u))
        normal += abs(y.mean() + weight * (u.mean() - f.mean()) - prevalence) <= half
        found = population_share(f, bad[:n], u)
        assert found.method == "wilson"
        ours += found.share.low <= prevalence <= found.share.high
    assert normal / DRAWS < 0.92
    assert 0.93 <= ours / DRAWS <= 0.98


@pytest.mark.parametrize(
    ("n", "bad", "method"),
    [(99, 45, "wilson"), (100, 45, "ppi++"), (400, 19, "wilson"), (400, 381, "wilson"), (400, 20, "ppi++")],
)
def test_few_labels_or_few_of_a_kind_stand_alone(n: int, bad: int, method: str) -> None:
    outcome = np.arange(n) < bad
    scores = np.linspace(1, 0, n)
    found = population_share(scores, outcome, np.linspace(1, 0, 500))
    assert found.method == method
    if method == "wilson":
        assert found.share[1:] == wilson(bad, n)
        assert found.share == found.labels_alone
        assert found.weight == 0


def test_scores_that_say_nothing_leave_the_labels_alone() -> None:
    outcome = np.arange(200) % 2
    assert population_share(np.full(200, 0.9), outcome, np.full(500, 0.9)).method == "wilson"
    assert population_share(np.linspace(0, 1, 200), outcome, []).method == "wilson"
    assert population_share(np.linspace(0, 1, 200), outcome, np.linspace(0, 1, 19)).method == "wilson"


@given(st.integers(0, 2**32 - 1), st.floats(-100, 100), st.floats(0.01, 100), st.sampled_from([-1, 1]))
def test_the_scale_of_the_scores_changes_nothing(seed: int, shift: float, scale: float, sign: int) -> None:
    scores, bad = _drawn(np.random.default_rng(seed), 400, 0.4, 0.3)
    other = shift + sign * scale * scores
    one = population_share(scores[:150], bad[:150], scores[150:])
    two = population_share(other[:150], bad[:150], other[150:])
    assert one.share == pytest.approx(two.share, abs=1e-6)
    assert 0 <= one.share.low <= one.share.value <= one.share.high <= 1


def test_what_has_no_share_is_refused() -> None:
    with pytest.raises(UndefinedError, match="no labels"):
        population_share([], [], [0.1, 0.2])
    with pytest.raises(InputError, match="unlabelled scores must be finite"):
        population_share([0.1], [1], [np.nan])
    with pytest.raises(InputError, match="one value per score"):
        population_share([0.1], [1, 0], [0.2])


@pytest.mark.slow
def test_what_belongs_together_widens_the_interval() -> None:
    """Sessions of eight, of which two are labelled: alone the interval covers too seldom, with its sessions it does."""
    rng = np.random.default_rng(13)
    sessions, prevalence, covered, alone = 150, 0.3, 0, 0
    keys = np.tile(np.arange(sessions), 8)
    for _ in range(DRAWS // 2):
        share = np.tile(rng.beta(0.6, 1.4, sessions), 8)
        bad = rng.random(len(keys)) < share
        scores = np.where(bad, 0.7, 0.3) + rng.normal(0, 0.5, len(keys))
        order = rng.permutation(len(keys))
        told, silent = order[:700], order[700:]
        data = (scores[told], bad[told], scores[silent])
        found = population_share(*data, clusters=keys[order])
        assert found.method == "ppi++"
        covered += found.share.low <= prevalence <= found.share.high
        naive = population_share(*data)
        alone += naive.share.low <= prevalence <= naive.share.high
    assert 0.92 <= covered / (DRAWS // 2) <= 0.98
    assert alone / (DRAWS // 2) < 0.85


def test_sessions_of_one_change_nothing() -> None:
    scores, bad = _drawn(np.random.default_rng(14), 600, 0.3, 0.3)
    data = (scores[:200], bad[:200], scores[200:])
    assert population_share(*data, clusters=np.arange(600)) == population_share(*data)


def test_few_sessions_have_no_share() -> None:
    scores, bad = _drawn(np.random.default_rng(15), 600, 0.3, 0.3)
    data = (scores[:200], bad[:200], scores[200:])
    with pytest.raises(UndefinedError, match="200 labels come from 19 sessions only"):
        population_share(*data, clusters=np.arange(600) % 19)
    with pytest.raises(InputError, match="one key per score"):
        population_share(*data, clusters=np.arange(200))
