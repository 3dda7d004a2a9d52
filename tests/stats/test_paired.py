from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, fisher_exact

from check_workbench.errors import InputError, UndefinedError
from check_workbench.stats.paired import mcnemar, paired_difference
from check_workbench.stats.worsening import could_worsen, worsened

SMALL = st.integers(min_value=0, max_value=60)


@given(SMALL, SMALL)
def test_mcnemar_is_the_exact_test_of_a_fair_coin(worse: int, better: int) -> None:
    p = mcnemar(worse, better)
    assert p == mcnemar(better, worse)
    if worse + better:
        assert p == pytest.approx(binomtest(worse, worse + better).pvalue)


def test_mcnemar_in_closed_form() -> None:
    assert mcnemar(0, 5) == pytest.approx(2 / 2**5)
    assert mcnemar(1, 9) == pytest.approx(2 * (1 + 10) / 2**10)
    assert mcnemar(4, 4) == 1.0


@pytest.mark.parametrize(
    ("table", "low", "high"),
    [((36, 12, 2, 0), 0.0569, 0.3404), ((1, 1, 7, 12), -0.5069, -0.0256)],
    ids=["Newcombe 1998", "Fagerland, Lydersen and Laake 2014"],
)
def test_the_interval_is_the_published_one(table: tuple[int, int, int, int], low: float, high: float) -> None:
    found = paired_difference(table)
    assert (found.low, found.high) == pytest.approx((low, high), abs=5e-5)


@given(SMALL, SMALL, SMALL, SMALL)
def test_the_interval_holds_its_value_and_turns_with_the_judges(a: int, b: int, c: int, d: int) -> None:
    if not a + b + c + d:
        return
    found, turned = paired_difference((a, b, c, d)), paired_difference((a, c, b, d))
    assert -1 <= found.low <= found.value + 1e-12
    assert found.value - 1e-12 <= found.high <= 1
    assert (turned.low, turned.high) == pytest.approx((-found.high, -found.low))


def test_the_interval_covers() -> None:
    rng = np.random.default_rng(7)
    chances = np.array([0.05, 0.08, 0.03, 0.84])
    drawn, times = np.unique(rng.multinomial(120, chances, size=2000), axis=0, return_counts=True)
    covered = [
        f.low <= 0.05 <= f.high for f in (paired_difference((int(a), int(b), int(c), int(d))) for a, b, c, d in drawn)
    ]
    assert 0.93 <= float(times[np.array(covered)].sum() / 2000) <= 0.99


@given(SMALL, SMALL, SMALL, SMALL)
def test_worsening_is_fishers_test(k0: int, rest0: int, k1: int, rest1: int) -> None:
    if not (k0 + rest0 and k1 + rest1):
        return
    expected = fisher_exact(np.array([[k1, rest1], [k0, rest0]]), alternative="greater").pvalue
    assert worsened((k0, k0 + rest0), (k1, k1 + rest1)) == pytest.approx(expected, abs=1e-9)


def test_a_false_alarm_is_as_rare_as_said() -> None:
    rng = np.random.default_rng(3)
    before, now = rng.binomial(150, 0.08, 4000), rng.binomial(60, 0.08, 4000)
    alarms = [worsened((int(a), 150), (int(b), 60)) <= 0.05 for a, b in zip(before, now, strict=True)]
    assert np.mean(alarms) <= 0.05


@given(st.integers(0, 30), st.integers(0, 30), st.integers(1, 30))
def test_whether_it_could_be_shown_looks_at_the_worst_outcome(k: int, rest: int, n: int) -> None:
    possible = k + rest > 0 and min(worsened((k, k + rest), (bad, n)) for bad in range(n + 1)) <= 0.05
    assert could_worsen((k, k + rest), n, delta=0.05) == possible


def test_the_smallest_chance_in_closed_form() -> None:
    assert worsened((0, 10), (3, 3)) == pytest.approx(1 / comb(13, 3))


def test_what_has_no_value_is_refused() -> None:
    with pytest.raises(UndefinedError, match="over no units"):
        paired_difference((0, 0, 0, 0))
    with pytest.raises(InputError, match="must not be negative"):
        mcnemar(-1, 2)
    with pytest.raises(InputError, match="must not be negative"):
        paired_difference((1, 2, -3, 4))
    with pytest.raises(UndefinedError, match="of nothing"):
        worsened((1, 2), (0, 0))
    with pytest.raises(InputError, match="between 0 and n"):
        worsened((3, 2), (0, 1))
