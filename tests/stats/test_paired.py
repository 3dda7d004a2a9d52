from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from check_workbench.errors import InputError, UndefinedError
from check_workbench.stats.paired import mcnemar, paired_difference

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


def test_what_has_no_value_is_refused() -> None:
    with pytest.raises(UndefinedError, match="over no units"):
        paired_difference((0, 0, 0, 0))
    with pytest.raises(InputError, match="must not be negative"):
        mcnemar(-1, 2)
    with pytest.raises(InputError, match="must not be negative"):
        paired_difference((1, 2, -3, 4))
