from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import expit, logit

from check_workbench.errors import InputError, UndefinedError
from check_workbench.stats.bands import band
from check_workbench.stats.crossfit import cross_fitted, reliability
from check_workbench.stats.intervals import clopper_pearson, wilson
from check_workbench.stats.recalibration import Beta, Isotonic, Platt, recalibrate, refitted
from check_workbench.stats.reliability import calibration_error
from check_workbench.stats.told import Told

AT = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
DRAWS = 400


def bent(score):
    return expit(0.5 * logit(score) - 0.5)


def drawn(rng: np.random.Generator, n: int, members: int, alike: float):
    """Return scores, outcomes and clusters whose members have one score and mostly one fate."""
    several = n // members
    group = np.repeat(np.arange(several), members)
    scores = np.clip(rng.random(several), 0.005, 0.995)[group]
    luck = np.where(rng.random(n) < alike, rng.random(several)[group], rng.random(n))
    return scores, luck < bent(scores), group


def covered(n: int, *, members: int = 1, alike: float = 0.0, clusters: bool = True, seed: int = 5) -> float:
    rng = np.random.default_rng(seed)
    hits = []
    for _ in range(DRAWS):
        scores, happened, group = drawn(rng, n, members, alike)
        told = Told.of(scores, happened, clusters=group if clusters else None)
        low, high = band(recalibrate(scores, happened), told, AT)
        hits.append((low <= bent(AT)) & (bent(AT) <= high))
    return float(np.mean(hits))


@pytest.mark.slow
@pytest.mark.parametrize("n", [50, 150, 400])
def test_the_band_covers_as_often_as_it_says(n: int) -> None:
    assert 0.94 <= covered(n) <= 0.985


@pytest.mark.slow
def test_clusters_widen_the_band_as_far_as_they_are_alike() -> None:
    assert covered(300, members=6, alike=0.7) >= 0.92
    assert covered(300, members=6, alike=0.7, clusters=False) < 0.85


@pytest.mark.slow
def test_a_free_curve_is_bounded_by_its_neighbours() -> None:
    rng = np.random.default_rng(6)
    truth = np.where(AT > 0.6, 0.9, 0.1)
    hits = []
    for _ in range(60):
        scores = rng.random(1500)
        happened = rng.random(1500) < np.where(scores > 0.6, 0.9, 0.1)
        curve = recalibrate(scores, happened)
        assert isinstance(curve, Isotonic)
        low, high = band(curve, Told.of(scores, happened), AT)
        assert (low <= curve(AT)).all()
        assert (curve(AT) <= high).all()
        hits.append((low <= truth) & (truth <= high))
    assert np.mean(hits) >= 0.92


def test_labels_drawn_with_differing_probability_are_weighted_back() -> None:
    rng = np.random.default_rng(7)
    scores, other = rng.random(6000), rng.random(6000) < 0.5
    happened = rng.random(6000) < np.where(other, 0.8, 0.2)
    probability = np.where(other, 0.3, 0.03)
    taken = rng.random(6000) < probability
    given: Any = {"weights": 1 / probability[taken]}
    told = Told.of(scores[taken], happened[taken], **given)
    curve = recalibrate(scores[taken], happened[taken], **given)
    low, high = band(curve, told, [0.5])
    assert low[0] <= 0.5 <= high[0]
    assert recalibrate(scores[taken], happened[taken])([0.5])[0] > 0.65
    unseen = cross_fitted(curve, told)
    assert not calibration_error(unseen, happened[taken], **given).beyond_chance
    assert sum(one.n for one in reliability(curve, told, bins=5)) == taken.sum()
    widest = max(one.high - one.low for one in reliability(curve, told, bins=5))
    assert widest > max(
        one.high - one.low for one in reliability(curve, Told.of(scores[taken], happened[taken]), bins=5)
    )


def test_equal_weights_of_any_size_change_nothing() -> None:
    rng = np.random.default_rng(8)
    scores, happened, _ = drawn(rng, 300, 1, 0)
    for weights in (np.ones(300), np.full(300, 40.0)):
        assert recalibrate(scores, happened, weights=weights)(AT) == pytest.approx(recalibrate(scores, happened)(AT))
        given = calibration_error(scores, happened, weights=weights)
        plain = calibration_error(scores, happened)
        assert (given.value, given.band) == pytest.approx((plain.value, plain.band))
        told = Told.of(scores, happened, weights=weights)
        curve = recalibrate(scores, happened)
        assert np.array(band(curve, told, AT)) == pytest.approx(np.array(band(curve, Told.of(scores, happened), AT)))


def test_no_label_is_judged_by_a_curve_that_saw_its_cluster() -> None:
    """Two clusters say the contrary of all others at their place; a curve that saw them would follow them."""
    scores = np.repeat(np.linspace(0.05, 0.95, 30), 10)
    group = np.repeat(np.arange(30), 10)
    happened = (scores > 0.5) ^ np.isin(group, (3, 26))
    told = Told.of(scores, happened, clusters=group)
    curve = recalibrate(scores, happened)
    mine = {tuple(cross_fitted(curve, told)[group == own]) for own in range(30)}
    assert all(len(set(values)) == 1 for values in mine)
    one = np.isin(group, (3,))
    changed = Told.of(scores, np.where(one, ~happened, happened), clusters=group)
    assert cross_fitted(curve, changed)[one] == pytest.approx(cross_fitted(curve, told)[one])


def test_a_curve_that_only_repeats_its_labels_is_worth_nothing_on_others() -> None:
    rng = np.random.default_rng(9)
    scores, happened = rng.random(400), rng.random(400) < 0.5
    steps = refitted(Isotonic(at=np.zeros(1), probability=np.zeros(1)), scores, happened)
    seen = calibration_error(steps(scores), happened).value
    assert calibration_error(cross_fitted(steps, Told.of(scores, happened)), happened).value > 2 * seen


@pytest.mark.parametrize(
    "first",
    [
        Platt(slope=1, intercept=0, odds=True),
        Beta(low=1, high=1, intercept=0),
        Isotonic(at=np.zeros(1), probability=np.zeros(1)),
    ],
)
def test_refitting_keeps_the_kind(first: Platt | Beta | Isotonic) -> None:
    scores = np.linspace(0.02, 0.98, 150)
    happened = np.random.default_rng(10).random(150) < scores
    assert isinstance(refitted(first, scores, happened), type(first))


def test_the_scale_of_a_narrow_judge_does_not_flatten_its_curve() -> None:
    """Scores between .48 and .52 that part the work as clearly as any: a held-back slope would not follow them."""
    rng = np.random.default_rng(11)
    wide = rng.normal(0, 1.5, 150)
    happened = rng.random(150) < expit(wide)
    narrow = expit(wide / 100)
    fitted = recalibrate(narrow, happened)
    assert np.mean((fitted(narrow) - expit(wide)) ** 2) < 0.01


def test_scores_that_part_the_classes_have_a_finite_curve() -> None:
    scores = np.linspace(0.01, 0.99, 60)
    fitted = recalibrate(scores, scores > 0.5)
    assert isinstance(fitted, Platt)
    assert 0 < fitted([0.01])[0] < 0.5 < fitted([0.99])[0] < 1
    low, high = band(fitted, Told.of(scores, scores > 0.5), AT)
    assert np.isfinite(low).all()
    assert np.isfinite(high).all()


def test_a_curve_that_no_label_contradicts_is_no_surer_than_its_labels() -> None:
    scores = np.repeat([0.0, 0.5, 1.0], [60, 1, 39])
    happened = scores >= 0.5
    low, high = band(recalibrate(scores, happened), Told.of(scores, happened), [0.0, 1.0])
    assert high[0] >= wilson(0, 60)[1]
    assert low[1] <= wilson(39, 39)[0]


@pytest.mark.parametrize(("inner", "heavy"), [(np.linspace(0.45, 0.55, 98), 1.0), (np.linspace(0.45, 0.55, 98), 1e12)])
def test_a_steep_curve_and_a_label_of_huge_weight_have_finite_bands(inner: Any, heavy: float) -> None:
    scores = np.concatenate([[0.0], inner, [1.0]])
    happened, weights = scores > 0.5, np.where(scores == 0, heavy, 1.0)
    low, high = band(
        recalibrate(scores, happened, weights=weights), Told.of(scores, happened, weights=weights), [0, 0.5, 1]
    )
    assert ((low >= 0) & (low <= high) & (high <= 1)).all()


def test_the_order_of_equal_scores_changes_no_band() -> None:
    scores = np.repeat([0.1, 0.5, 0.9], 400)
    happened = np.random.default_rng(9).random(1200) < np.repeat([0.05, 0.5, 0.95], 400)
    curve = refitted(Isotonic(at=np.array([]), probability=np.array([])), scores, happened)
    orders = [np.arange(1200), np.lexsort((happened, scores)), np.lexsort((~happened, scores))]
    ends = [band(curve, Told.of(scores[order], happened[order]), [0.5]) for order in orders]
    assert ends == [ends[0]] * 3
    [low], [high] = ends[0]
    assert [low, high] == pytest.approx([*clopper_pearson(int(happened[400:800].sum()), 400)])


def test_labels_that_are_alike_in_their_clusters_do_not_refute_a_calibrated_judge() -> None:
    rng = np.random.default_rng(10)
    found, alone = [], []
    for _ in range(100):
        group = np.repeat(np.arange(60), 5)
        scores = rng.random(60)[group]
        happened = rng.random(60)[group] < scores
        found.append(calibration_error(scores, happened, clusters=group, draws=200).beyond_chance)
        alone.append(calibration_error(scores, happened, draws=200).beyond_chance)
    assert np.mean(found) <= 0.12
    assert np.mean(alone) > 0.5


def test_a_judge_who_is_far_off_is_refuted_in_clusters_as_well() -> None:
    group = np.repeat(np.arange(60), 5)
    scores = np.random.default_rng(11).random(60)[group]
    happened = np.random.default_rng(12).random(60)[group] < 0.1
    assert calibration_error(scores, happened, clusters=group).beyond_chance


def test_bins_hold_all_labels_and_equal_scores_stay_together() -> None:
    scores = np.array([0.1] * 40 + [0.3] * 30 + [0.9] * 30)
    happened = np.arange(100) % 3 == 0
    found = reliability(recalibrate(scores, happened), Told.of(scores, happened), bins=10)
    assert [(round(one.at, 2), one.n) for one in found] == [(0.1, 40), (0.3, 30), (0.9, 30)]
    assert (found[0].low, found[0].high) == pytest.approx(wilson(happened[:40].sum(), 40))


def test_what_has_no_band_is_refused() -> None:
    with pytest.raises(InputError, match="one key per label"):
        Told.of([0.1, 0.2], [0, 1], clusters=["a"])
    with pytest.raises(InputError, match="weights must be above 0"):
        Told.of([0.1, 0.2], [0, 1], weights=[1, 0])
    with pytest.raises(InputError, match="weights must have one value"):
        recalibrate([0.1, 0.2], [0, 1], weights=[1])
    scores, happened = np.array([0.1, 0.2, 0.3, 0.4]), np.array([1, 0, 0, 0])
    with pytest.raises(UndefinedError, match="no calibration curve"):
        cross_fitted(recalibrate(scores, happened), Told.of(scores, happened))
