from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from check_workbench.stats.nested import CHECKS, FINENESS, limits


@given(
    st.integers(1, 400),
    st.integers(1, 400),
    st.sampled_from([0.01, 0.05, 0.1, 0.2, 0.6]),
    st.sampled_from([0.02, 0.1, 0.3]),
)
def test_limits_are_the_most_errors_at_their_level(labels: int, fewest: int, alpha: float, delta: float) -> None:
    found = limits(labels, fewest, alpha=alpha, delta=delta)
    assert len(found.labels) <= CHECKS
    assert (found.labels >= fewest).all()
    assert found.labels.tolist()[-1:] == ([labels] if fewest <= labels else [])
    assert np.all(binom.cdf(found.errors, found.labels, alpha) <= found.level + 1e-9)
    assert np.all(binom.cdf(found.errors + 1, found.labels, alpha) > found.level - 1e-9)
    assert delta / CHECKS <= found.level <= delta


@pytest.mark.parametrize(
    ("labels", "fewest", "alpha", "delta"),
    [(60, 40, 0.05, 0.1), (100, 10, 0.2, 0.1), (400, 80, 0.05, 0.1), (300, 1, 0.6, 0.3), (3000, 500, 0.1, 0.08)],
)
def test_limits_are_kept_as_seldom_as_promised(labels: int, fewest: int, alpha: float, delta: float) -> None:
    found = limits(labels, fewest, alpha=alpha, delta=delta)
    bad = np.random.default_rng(1).random((4000, labels)) < alpha
    kept = (bad.cumsum(axis=1)[:, found.labels - 1] <= found.errors).any(axis=1).mean()
    spread = 3 * np.sqrt(delta * (1 - delta) / 4000)
    assert 0.8 * delta - spread <= kept <= delta + spread


def test_the_chance_to_keep_limits_is_exact() -> None:
    """All sequences of ten labels, one by one."""
    found = limits(10, 3, alpha=0.6, delta=0.3)
    bad = (np.arange(1024)[:, None] >> np.arange(10)) & 1
    weight = 0.6 ** bad.sum(axis=1) * 0.4 ** (10 - bad.sum(axis=1))
    kept = (bad.cumsum(axis=1)[:, found.labels - 1] <= found.errors).any(axis=1)
    assert 0 < weight @ kept <= 0.3
    higher = found.level / FINENESS
    errors = np.arange(-1, 11)
    wider = errors[np.sum(binom.cdf(errors, found.labels[:, None], 0.6) <= higher, axis=1) - 1]
    assert weight @ (bad.cumsum(axis=1)[:, found.labels - 1] <= wider).any(axis=1) > 0.3


def test_a_single_number_of_labels_has_all_of_delta() -> None:
    assert limits(45, 45, alpha=0.05, delta=0.1).errors.tolist() == [0]
    assert limits(44, 44, alpha=0.05, delta=0.1).errors.tolist() == [-1]


def test_fewer_checks_have_a_higher_level() -> None:
    levels = [limits(300, fewest, alpha=0.1, delta=0.1).level for fewest in range(1, 301, 13)]
    assert (np.diff(levels) >= 0).all()


def test_no_check_no_limit() -> None:
    found = limits(10, 11, alpha=0.1, delta=0.1)
    assert not found.hold(np.zeros(2, dtype=int), np.full(2, 10), np.ones(2, dtype=int)).any()
