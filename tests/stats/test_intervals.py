from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from check_workbench.errors import InputError, UndefinedError
from check_workbench.stats.intervals import (
    clopper_pearson,
    lower_bound,
    lower_bounds,
    newcombe,
    upper_bound,
    upper_bounds,
    wilson,
)

COUNTS = st.integers(1, 3000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(COUNTS, st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_exact_and_wilson_intervals_are_scipys(pair: tuple[int, int], confidence: float) -> None:
    k, n = pair
    exact = binomtest(k, n).proportion_ci(confidence, method="exact")
    score = binomtest(k, n).proportion_ci(confidence, method="wilson")
    assert clopper_pearson(k, n, confidence=confidence) == pytest.approx((exact.low, exact.high), abs=1e-9)
    assert wilson(k, n, confidence=confidence) == pytest.approx((score.low, score.high), abs=1e-9)


@given(COUNTS, st.sampled_from([0.01, 0.05, 0.1]))
def test_bounds_invert_the_binomial_distribution(pair: tuple[int, int], delta: float) -> None:
    k, n = pair
    high, low = upper_bound(k, n, delta=delta), lower_bound(k, n, delta=delta)
    assert low <= k / n <= high
    assert high == 1 if k == n else binom.cdf(k, n, high) == pytest.approx(delta, abs=1e-9)
    assert low == 0 if k == 0 else binom.sf(k - 1, n, low) == pytest.approx(delta, abs=1e-9)


@pytest.mark.parametrize("n", [1, 20, 59, 299, 100_000])
def test_bounds_without_errors_have_a_closed_form(n: int) -> None:
    assert upper_bound(0, n, delta=0.05) == pytest.approx(1 - 0.05 ** (1 / n), rel=1e-9)
    assert lower_bound(n, n, delta=0.05) == pytest.approx(0.05 ** (1 / n), rel=1e-9)
    assert clopper_pearson(0, n).low == 0
    assert clopper_pearson(n, n).high == 1


def test_the_published_bounds_of_zero_errors() -> None:
    shown = [
        (20, 0.109, 0.139),
        (30, 0.074, 0.095),
        (50, 0.045, 0.058),
        (59, 0.038, 0.0495),
        (100, 0.023, 0.0295),
        (150, 0.015, 0.020),
        (299, 0.0077, 0.0100),
        (1000, 0.0023, 0.0030),
    ]
    for n, ninety, ninety_five in shown:
        assert upper_bound(0, n, delta=0.10) == pytest.approx(ninety, abs=6e-4)
        assert upper_bound(0, n, delta=0.05) == pytest.approx(ninety_five, abs=6e-4)


def test_arrays_and_numbers_agree_and_nothing_of_nothing_is_nan() -> None:
    k, n = np.array([0, 3, 7, 0]), np.array([10, 10, 7, 0])
    ups, lows = upper_bounds(k, n, delta=0.1), lower_bounds(k, n, delta=0.1)
    assert ups[:3].tolist() == [upper_bound(a, b, delta=0.1) for a, b in zip(k[:3], n[:3], strict=True)]
    assert lows[:3].tolist() == [lower_bound(a, b, delta=0.1) for a, b in zip(k[:3], n[:3], strict=True)]
    assert np.isnan(ups[3])
    assert np.isnan(lows[3])


def test_effective_counts_may_be_fractions() -> None:
    assert upper_bound(1, 10, delta=0.1) < upper_bound(1.5, 10, delta=0.1) < upper_bound(2, 10, delta=0.1)


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [((56, 70), (48, 80), 0.0524, 0.3339), ((9, 10), (3, 10), 0.1705, 0.8090), ((10, 10), (0, 10), 0.6075, 1.0)],
)
def test_newcombe_gives_the_published_intervals(
    first: tuple[int, int], second: tuple[int, int], low: float, high: float
) -> None:
    found = newcombe(first, second)
    assert (found.low, found.high) == pytest.approx((low, high), abs=6e-5)


@given(COUNTS, COUNTS)
def test_newcombe_is_antisymmetric_and_holds_its_value(a: tuple[int, int], b: tuple[int, int]) -> None:
    one, other = newcombe(a, b), newcombe(b, a)
    assert -1 <= one.low <= one.value <= one.high <= 1
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low), abs=1e-12)


@pytest.mark.parametrize("interval", [clopper_pearson, wilson])
def test_a_share_of_nothing_is_refused_in_words(interval) -> None:
    with pytest.raises(UndefinedError, match="n is 0"):
        interval(0, 0)


@pytest.mark.parametrize(("k", "n"), [(-1, 5), (6, 5), (float("nan"), 5), (0, -1)])
def test_impossible_counts_are_refused(k: float, n: float) -> None:
    with pytest.raises(InputError, match="between 0 and n"):
        clopper_pearson(k, n)


@pytest.mark.parametrize("confidence", [0, 1, 95, -0.1, float("nan")])
def test_impossible_confidences_are_refused(confidence: float) -> None:
    with pytest.raises(InputError, match="confidence must lie between 0 and 1"):
        clopper_pearson(1, 2, confidence=confidence)
