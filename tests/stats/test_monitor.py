from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from check_workbench.errors import InputError
from check_workbench.stats.monitor import (
    alarming,
    alarming_wealth,
    certifying,
    certifying_wealth,
    further_needed,
    labels_for_power,
    risk_bounds,
)

DECISIONS = st.lists(st.booleans(), max_size=60)


@given(DECISIONS, st.sampled_from([0.05, 0.2, 0.5]))
def test_the_wealth_is_what_the_stakes_have_become(bad: list[bool], alpha: float) -> None:
    def by_hand(stakes: dict[float, float]) -> list[float]:
        return [
            sum(stake * float(np.prod([1 + bet * (x - alpha) for x in bad[: i + 1]])) for bet, stake in stakes.items())
            for i in range(len(bad))
        ]

    shares = {1 / 16: 0.05, 1 / 8: 0.05, 0.25: 0.2, 0.5: 0.2, 0.75: 0.25, 0.95: 0.25}
    low = {-part / (1 - alpha): stake for part, stake in shares.items()}
    high = [min(bet, 0.95 / alpha) for bet in (0.5, 1, 2, 4, 8)]
    np.testing.assert_allclose(certifying(bad, alpha=alpha, delta=0.1).wealth, by_hand(low), rtol=1e-9)
    average = {bet: high.count(bet) / 5 for bet in high}
    np.testing.assert_allclose(alarming(bad, alpha=alpha).wealth, by_hand(average), rtol=1e-9)


@given(DECISIONS, st.sampled_from([0.05, 0.2, 0.5]))
def test_the_wealth_depends_on_the_counts_alone(bad: list[bool], alpha: float) -> None:
    orders = ([*bad, False], sorted([*bad, False]))
    now, then = (certifying(order, alpha=alpha, delta=0.1).wealth[-1] for order in orders)
    assert now == pytest.approx(then, rel=1e-12)


@given(DECISIONS, st.floats(0.01, 0.9), st.floats(0.01, 0.9))
def test_a_looser_target_never_takes_more(bad: list[bool], one: float, other: float) -> None:
    tight, loose = (certifying_wealth([*bad, False], alpha=alpha) for alpha in sorted([one, other]))
    assert (tight <= loose * (1 + 1e-12)).all()


@pytest.mark.parametrize("alpha", [0.02, 0.05, 0.2, 0.5])
@pytest.mark.parametrize("wealth", [certifying_wealth, alarming_wealth])
def test_the_bet_is_fair_at_the_target(wealth, alpha: float) -> None:
    """The expected wealth after one and after two decisions at a risk of exactly alpha is 1."""
    two = np.array([[False, False], [False, True], [True, False], [True, True]])
    chance = np.prod(np.where(two, alpha, 1 - alpha), axis=1)
    assert chance @ wealth(two, alpha=alpha) == pytest.approx([1, 1])


@given(DECISIONS, st.sampled_from([0.02, 0.2, 0.5]), st.floats(0, 1))
def test_a_risk_above_the_target_loses_on_average_whatever_came_before(bad: list[bool], alpha: float, part: float):
    risk = alpha + part * (1 - alpha)
    good, wrong = (certifying_wealth([*bad, now], alpha=alpha) for now in (False, True))
    before = good[-2] if bad else 1
    assert risk * wrong[-1] + (1 - risk) * good[-1] <= before * (1 + 1e-9)


@given(DECISIONS, st.sampled_from([0.05, 0.2]), st.sampled_from([0.02, 0.1]))
def test_further_needed_is_the_fewest(bad: list[bool], alpha: float, delta: float) -> None:
    more = further_needed(bad, alpha=alpha, delta=delta)
    if certifying(bad, alpha=alpha, delta=delta).reached is not None:
        assert more == 0
        return
    assert certifying([*bad, *[False] * more], alpha=alpha, delta=delta).reached == len(bad) + more
    assert certifying([*bad, *[False] * (more - 1)], alpha=alpha, delta=delta).reached is None


def test_what_was_reached_stays_reached() -> None:
    found = certifying([*[False] * 80, *[True] * 80], alpha=0.05, delta=0.1)
    assert found.reached == 64
    assert found.wealth[-1] < 1
    assert found.peak > 10


def test_no_decisions_no_evidence() -> None:
    found = certifying([], alpha=0.05, delta=0.1)
    assert (found.reached, found.peak, found.limit) == (None, 1.0, 10.0)


def test_a_long_record_stays_finite() -> None:
    assert np.isfinite(alarming(np.zeros(50_000), alpha=0.05).wealth).all()
    assert alarming(np.zeros(50_000), alpha=0.05).wealth[-1] == 0
    assert np.isfinite(alarming(np.ones(50_000), alpha=0.05).wealth).all()


@pytest.mark.parametrize("how", [{"alpha": 0, "delta": 0.1}, {"alpha": 0.1, "delta": 1}, {"alpha": 5, "delta": 0.1}])
def test_impossible_targets_are_refused(how) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        certifying([0, 1], **how)


def test_anything_but_truth_values_is_refused() -> None:
    with pytest.raises(InputError, match="true or false"):
        alarming([0, 0.5], alpha=0.1)


def test_the_number_of_labels_for_power_gives_that_power() -> None:
    rng = np.random.default_rng(3)
    n = labels_for_power(0.02, alpha=0.05, delta=0.02)
    assert n is not None
    draws = certifying_wealth(rng.random((2000, n)) < 0.02, alpha=0.05)[:, -1]
    assert 0.77 <= (draws >= 50).mean() <= 0.88
    assert labels_for_power(0.05, alpha=0.05, delta=0.02) is None
    near = labels_for_power(0.13, alpha=0.15, delta=0.02)
    assert near is not None
    errors = rng.binomial(near, 0.13, 40)
    there = [certifying_wealth(np.arange(near) < count, alpha=0.15)[-1] >= 50 for count in errors]
    assert near < 6500
    assert 0.6 <= np.mean(there) <= 0.99
    clean = labels_for_power(0.0, alpha=0.05, delta=0.02)
    assert clean is not None
    assert further_needed([], alpha=0.05, delta=0.02) <= clean <= 1.03 * further_needed([], alpha=0.05, delta=0.02)


def test_bounds_that_hold_at_every_look_together_miss_the_risk_rarely():
    rng = np.random.default_rng(3)
    draws = rng.random((300, 200)) < 0.05
    missed = np.mean([not low <= 0.05 <= high for low, high in map(risk_bounds, draws)])
    assert missed <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)


@given(DECISIONS, st.booleans())
def test_bounds_only_ever_tighten(bad: list[bool], one: bool) -> None:  # noqa: FBT001 - drawn by hypothesis
    now, later = risk_bounds(bad), risk_bounds([*bad, one])
    assert now.low <= later.low + 2e-6
    assert later.high <= now.high + 2e-6


def test_bounds_of_nothing_are_everything() -> None:
    assert risk_bounds([]) == (0.0, 1.0)
    low, high = risk_bounds([True] * 50)
    assert (low > 0.9, high) == (True, 1.0)
