from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import fisher_exact

from check_workbench.errors import InputError, UndefinedError
from check_workbench.stats.worsening import could_worsen, worsened

SMALL = st.integers(min_value=0, max_value=60)


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
    with pytest.raises(UndefinedError, match="of nothing"):
        worsened((1, 2), (0, 0))
    with pytest.raises(InputError, match="between 0 and n"):
        worsened((3, 2), (0, 1))
