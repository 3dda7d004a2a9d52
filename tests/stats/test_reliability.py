from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss

from check_workbench.errors import InputError, UndefinedError
from check_workbench.stats.recalibration import Beta, Isotonic, Platt, recalibrate
from check_workbench.stats.reliability import brier, calibration_error

ROWS = st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=1, max_size=80)


@given(ROWS, st.integers(1, 30))
def test_the_brier_parts_sum_to_the_score(rows: list[tuple[int, bool]], bins: int) -> None:
    p, y = [a / 20 for a, _ in rows], [b for _, b in rows]
    found = brier(p, y, bins=bins)
    assert found.score == pytest.approx(float(np.mean((np.array(p) - np.array(y)) ** 2)))
    parts = found.reliability - found.resolution + found.uncertainty + found.within
    assert parts == pytest.approx(found.score)
    assert min(found.reliability, found.resolution, found.uncertainty) >= 0
    if len(set(y)) == 2:
        assert found.score == pytest.approx(brier_score_loss(y, p))


def test_one_probability_per_bin_hides_nothing() -> None:
    rng = np.random.default_rng(1)
    p = rng.choice([0.1, 0.5, 0.9], 300)
    assert brier(p, rng.random(300) < p, bins=10).within == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("n", [200, 500, 2000])
def test_the_error_of_a_perfect_judge_is_what_normal_noise_makes_of_it(n: int) -> None:
    p = (np.arange(n) + 0.5) / n
    expected = np.sqrt(2 / np.pi) * np.mean(np.sqrt(p * (1 - p))) / np.sqrt(n / 10)
    found = calibration_error(p, p > 0.5)
    assert found.by_chance == pytest.approx(expected, rel=0.05)
    assert found.by_chance < found.band < 2 * found.by_chance


@pytest.mark.slow
@pytest.mark.parametrize("n", [50, 200, 1000])
def test_a_perfect_judge_stays_inside_the_band(n: int) -> None:
    rng = np.random.default_rng(3)
    inside = 0
    for _ in range(1000):
        p = rng.random(n)
        inside += not calibration_error(p, rng.random(n) < p, draws=500).beyond_chance
    assert 0.93 <= inside / 1000 <= 0.97


def test_an_overconfident_judge_leaves_the_band() -> None:
    rng = np.random.default_rng(4)
    p = rng.random(500)
    assert calibration_error(p, rng.random(500) < 0.5 + 0.4 * (p - 0.5)).beyond_chance


@given(ROWS, st.randoms())
def test_the_order_of_rows_changes_nothing(rows: list[tuple[int, bool]], random) -> None:
    mixed = rows.copy()
    random.shuffle(mixed)
    one, other = (([a / 20 for a, _ in some], [b for _, b in some]) for some in (rows, mixed))
    assert brier(*one) == brier(*other)
    assert calibration_error(*one, draws=20) == calibration_error(*other, draws=20)


def test_many_labels_are_drawn_in_blocks() -> None:
    p = np.full(500_000, 0.5)
    assert calibration_error(p, np.arange(500_000) % 2, draws=10).by_chance == pytest.approx(0.00056, abs=4e-4)


@pytest.mark.parametrize("statistic", [brier, calibration_error])
def test_what_has_no_calibration_is_refused(statistic) -> None:
    with pytest.raises(UndefinedError, match="no labels"):
        statistic([], [])
    with pytest.raises(InputError, match=r"\[0, 1\]"):
        statistic([1.5], [True])


def test_platt_recovers_a_distorted_probability_from_few_labels() -> None:
    rng = np.random.default_rng(5)
    truth = rng.random(150)
    said = 1 / (1 + np.exp(-2.0 * np.log(truth / (1 - truth)) + 0.5))
    fitted = recalibrate(said, rng.random(150) < truth)
    assert isinstance(fitted, Platt)
    assert np.mean((fitted(said) - truth) ** 2) < 0.4 * np.mean((said - truth) ** 2)


def _said(n: int, seed: int, bent: float = 1.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what a judge says, the true probabilities, and what happened; `bent` parts the slopes at both ends."""
    rng = np.random.default_rng(seed)
    said = rng.random(n)
    truth = 1 / (1 + np.exp(0.5 - 0.4 * np.log(said) + 0.4 * bent * np.log1p(-said)))
    return said, truth, rng.random(n) < truth


@pytest.mark.parametrize(("n", "kind"), [(60, Platt), (199, Platt), (200, Beta), (999, Beta), (1500, Beta)])
def test_the_more_labels_the_freer_the_curve(n: int, kind: type) -> None:
    said, truth, happened = _said(n, seed=2)
    fitted = recalibrate(said, happened)
    assert isinstance(fitted, kind)
    assert np.mean((fitted(said) - truth) ** 2) < np.mean((said - truth) ** 2)


def test_two_slopes_follow_a_judge_who_errs_at_one_end() -> None:
    said, truth, happened = _said(600, seed=3, bent=4)
    shares, scores = recalibrate(said, happened), recalibrate(2 * said, happened)
    assert isinstance(scores, Platt)
    assert np.mean((shares(said) - truth) ** 2) < 0.5 * np.mean((scores(2 * said) - truth) ** 2)
    assert (np.diff(shares(np.linspace(0, 1, 101))) >= 0).all()


def test_a_judge_who_means_the_opposite_gets_a_falling_curve() -> None:
    said, _, happened = _said(600, seed=4)
    fitted = recalibrate(1 - said, happened)
    assert isinstance(fitted, Platt)
    assert fitted.slope < 0


def test_isotonic_follows_any_rising_shape_given_many_labels() -> None:
    rng = np.random.default_rng(6)
    said = rng.random(4000)
    truth = np.where(said > 0.6, 0.9, 0.1)
    fitted = recalibrate(said, rng.random(4000) < truth)
    assert isinstance(fitted, Isotonic)
    assert np.mean((fitted(said) - truth) ** 2) < 0.003
    assert (np.diff(fitted(np.linspace(-1, 2, 50))) >= 0).all()


def test_scores_beyond_shares_are_fitted_as_they_are() -> None:
    fitted = recalibrate(np.arange(60.0), np.arange(60) >= 30)
    assert isinstance(fitted, Platt)
    assert not fitted.odds
    assert fitted([0.0, 59.0]) == pytest.approx([0, 1], abs=0.05)


@pytest.mark.parametrize(("scores", "positive"), [([0.1, 0.2], [1, 1]), ([0.5, 0.5], [0, 1]), ([], [])])
def test_no_curve_without_both_classes_and_two_scores(scores, positive) -> None:
    with pytest.raises(UndefinedError, match="no calibration curve"):
        recalibrate(scores, positive)
