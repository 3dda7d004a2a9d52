from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from check_workbench.errors import InputError, UndefinedError
from check_workbench.stats.sampling import draw, inclusion, stratified, systematic


@given(st.integers(1, 200), st.integers(1, 300), st.integers(0, 1000))
def test_an_equal_draw_takes_each_unit_once(size: int, take: int, seed: int) -> None:
    found = draw(size, take, seed=seed)
    assert len(set(found.rows.tolist())) == len(found.rows) == min(size, take)
    assert found.rows.min() >= 0
    assert found.rows.max() < size
    assert (found.probability == min(size, take) / size).all()
    assert found.rows.tolist() == draw(size, take, seed=seed).rows.tolist()


@given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=120), st.integers(1, 150), st.integers(0, 1000))
def test_a_stratified_draw_takes_from_each_and_says_how_probably(keys: list[str], take: int, seed: int) -> None:
    found = stratified(keys, take, seed=seed)
    taken = np.array(keys)[found.rows]
    assert len(set(found.rows.tolist())) == len(found.rows) == min(len(keys), take)
    if take >= len(set(keys)):
        assert set(taken) == set(keys)
    for key, probability in zip(taken, found.probability, strict=True):
        assert probability == pytest.approx((taken == key).sum() / keys.count(key))


def test_inclusion_probabilities_are_true_and_undo_the_strata() -> None:
    keys = np.array(["rare"] * 20 + ["common"] * 180)
    value = np.where(keys == "rare", 1.0, 0.1)
    hits, estimates = np.zeros(200), []
    for seed in range(500):
        found = stratified(keys, 20, spread={"rare": 5, "common": 1}, seed=seed)
        hits[found.rows] += 1
        estimates.append((value[found.rows] / found.probability).sum() / 200)
    chance = stratified(keys, 20, spread={"rare": 5, "common": 1})
    by_row = dict(zip(keys[chance.rows], chance.probability, strict=True))
    assert hits[:20].mean() / 500 == pytest.approx(by_row["rare"], abs=1e-9)
    assert hits / 500 == pytest.approx(np.array([by_row[key] for key in keys]), abs=0.1)
    assert np.mean(estimates) == pytest.approx(value.mean(), rel=1e-9)


def test_the_allocation_is_neymans() -> None:
    keys = ["a"] * 600 + ["b"] * 400
    found = stratified(keys, 100, spread={"a": 0.1, "b": 0.3})
    assert (np.array(keys)[found.rows] == "b").sum() == pytest.approx(100 * 120 / 180, abs=1)


def test_a_stratum_without_spread_gives_one() -> None:
    keys = ["a"] * 50 + ["b"] * 50
    found = stratified(keys, 30, spread={"a": 0.0, "b": 1.0})
    assert (np.array(keys)[found.rows] == "a").sum() == 1


@pytest.mark.parametrize("nothing", [lambda: draw(0, 5), lambda: draw(5, 0), lambda: stratified([], 5)])
def test_nothing_to_draw_is_refused(nothing) -> None:
    with pytest.raises(UndefinedError, match="nothing can be drawn"):
        nothing()


def test_missing_and_impossible_weights_are_refused() -> None:
    with pytest.raises(InputError, match="no weight for 'b'"):
        stratified(["a", "b"], 1, spread={"a": 1})
    with pytest.raises(InputError, match="at least 0"):
        stratified(["a"], 1, spread={"a": float("nan")})


def test_inclusion_is_proportional_and_at_most_one() -> None:
    found = inclusion([100, 4, 4, 2], 3)
    assert found.tolist() == [1.0, 0.8, 0.8, 0.4]
    assert inclusion([1, 2], 5).tolist() == [1.0, 1.0]
    with pytest.raises(InputError, match="above 0"):
        inclusion([1, 0], 1)


def test_a_systematic_draw_takes_each_unit_as_often_as_it_should() -> None:
    wanted = inclusion(np.repeat([1.0, 0.5, 0.25], [10, 20, 70]), 30)
    draws = [systematic(wanted, seed=seed) for seed in range(2000)]
    assert {len(one) for one in draws} == {30}
    share = np.bincount(np.concatenate(draws), minlength=100) / 2000
    assert np.abs(share - wanted).max() < 4.5 * 0.5 / np.sqrt(2000)


def test_neighbours_share_a_systematic_draw() -> None:
    for seed in range(20):
        per_group = np.bincount(systematic(np.full(100, 0.2), seed=seed) // 25, minlength=4)
        assert per_group.tolist() == [5, 5, 5, 5]
