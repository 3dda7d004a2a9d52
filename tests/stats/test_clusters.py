from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from check_workbench.errors import InputError, UndefinedError
from check_workbench.stats.clusters import clustered_test, design_effect, effective_test, icc, one_per_cluster


def test_the_correlation_is_the_textbook_analysis_of_variance() -> None:
    """Six targets, four judges: Shrout and Fleiss (1979), ICC(1,1) = .17."""
    ratings = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]])
    assert icc(ratings.ravel(), np.repeat(np.arange(6), 4)) == pytest.approx(0.166, abs=1e-3)


@pytest.mark.parametrize("truth", [0.0, 0.1, 0.3, 0.6])
def test_the_correlation_is_found_again(truth: float) -> None:
    rng = np.random.default_rng(1)
    keys = np.repeat(np.arange(3000), 5)
    values = np.sqrt(truth) * rng.normal(size=3000)[keys] + np.sqrt(1 - truth) * rng.normal(size=15_000)
    assert icc(values, keys) == pytest.approx(truth, abs=0.03)


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=50))
def test_the_correlation_lies_between_none_and_all(rows: list[tuple[int, bool]]) -> None:
    keys, values = [a for a, _ in rows], [float(b) for _, b in rows]
    if len(set(keys)) < 2 or len(set(keys)) == len(keys):
        with pytest.raises(UndefinedError, match="two clusters"):
            icc(values, keys)
    else:
        assert 0 <= icc(values, keys) <= 1
        assert design_effect(values, keys) >= 1


def test_copies_count_once() -> None:
    rng = np.random.default_rng(2)
    alone = rng.random(100) < 0.3
    keys = np.repeat(np.arange(100), 4)
    assert design_effect(np.repeat(alone, 4), keys) == pytest.approx(4)
    assert design_effect(alone, np.arange(100)) == 1


def test_one_of_each_cluster_is_drawn_evenly() -> None:
    keys = ["b", "a", "b", "a", "b", "a"]
    drawn = np.array([one_per_cluster(keys, seed=seed) for seed in range(3000)])
    assert {tuple(np.array(keys)[row]) for row in drawn} == {("a", "b")}
    assert [(drawn == place).any(axis=1).mean() for place in range(6)] == pytest.approx([1 / 3] * 6, abs=0.03)


def test_small_clusters_are_kept_in_proportion_to_their_size() -> None:
    """Sizes 3, 2 and 1: a random member sees 14 / 6 on average, so the small ones are kept with 6 / 7 and 3 / 7."""
    keys = np.array(["b", "a", "b", "a", "b", "c"])
    drawn = [one_per_cluster(keys, seed=seed) for seed in range(3000)]
    for key, share in {"b": 1.0, "a": 6 / 7, "c": 3 / 7}.items():
        assert np.mean([(keys[row] == key).any() for row in drawn]) == pytest.approx(share, abs=0.03)
    assert all(len(set(keys[row])) == len(row) for row in drawn)


@given(st.integers(0, 20), st.integers(0, 300))
def test_without_a_design_effect_the_test_is_the_binomial_one(errors: int, more: int) -> None:
    found = effective_test(errors, errors + more, 1.0, alpha=0.1, delta=0.1)
    assert found.p == pytest.approx(binom.cdf(errors, errors + more, 0.1), abs=1e-9)


def test_the_weaker_of_both_tests_decides() -> None:
    keys = np.repeat(np.arange(30), 10)
    found = clustered_test(np.zeros(300), keys, alpha=0.05, delta=0.10)
    assert found.scaled.certified
    assert not found.single.certified
    assert not found.certified
    assert found.bound == found.single.bound > found.scaled.bound
    assert found.clusters == 30


def test_one_cluster_is_refused() -> None:
    with pytest.raises(UndefinedError, match="two clusters"):
        clustered_test([0, 1, 0], ["a", "a", "a"], alpha=0.1, delta=0.1)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InputError, match="one key per value"):
        icc([0, 1], ["a"])
    with pytest.raises(InputError, match="at least 1"):
        effective_test(0, 10, 0.5, alpha=0.1, delta=0.1)
