"""Intervals where labels stand for differing amounts of work: exact small cases, and coverage in draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from check_workbench.stats.curves import one_cut
from check_workbench.stats.intervals import clopper_pearson, lower_bound, upper_bound
from check_workbench.stats.weighted import Sums, effective, recalls

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def sums(weight: ArrayLike, positive: ArrayLike) -> Sums:
    return Sums.of(np.asarray(weight, float), np.asarray(positive, bool), lambda part: part.sum(keepdims=True))


def test_equal_weights_count_each_label_once() -> None:
    assert effective(sums([3.0] * 8, [1, 0, 0, 0, 1, 0, 0, 0])) == pytest.approx(8)
    assert effective(sums([3.0] * 8, [0] * 8)) == pytest.approx(8)
    assert effective(sums([], [])) == 0


def test_one_heavy_label_that_differs_is_nearly_all_that_is_known() -> None:
    """A share of 9 / 12 by one label of weight 9: its variance is that of 1.7 labels, while Kish says 1.7."""
    kish = 12**2 / (81 + 3)
    assert effective(sums([9, 1, 1, 1], [0, 0, 0, 0])) == pytest.approx(kish)
    spread = (81 * 0.25**2 + 3 * 0.75**2) / 144
    assert effective(sums([9, 1, 1, 1], [1, 0, 0, 0])) == pytest.approx(min(kish, 0.75 * 0.25 / spread))


def test_where_no_missed_problem_was_seen_only_the_found_ones_can_be_too_few() -> None:
    """Found: 30 of 40 labels of weight 2. Missed: none of 60 labels of weight 20, so at most 1200 times the bound."""
    low, high = recalls(sums([2.0] * 40, [1] * 30 + [0] * 10), sums([20.0] * 60, [0] * 60))
    found, least = 60.0, 80 * lower_bound(30, 40, delta=0.025)
    most = 1200 * upper_bound(0, 60, delta=0.025)
    odds = np.sqrt(found**2 - (found - least) ** 2) / most
    assert low == pytest.approx(odds / (1 + odds))
    assert high == 1


def test_where_only_one_side_has_labels_the_problems_alone_tell() -> None:
    """Weights 1, 2 and 2 of problems count for (1 + 2 + 2)² / (1 + 4 + 4) labels."""
    found = one_cut([True, True, True], [True] * 3, weights=[1.0, 2.0, 2.0])
    assert (found.recall_low[0], found.recall_high[0]) == pytest.approx(clopper_pearson(25 / 9, 25 / 9))
    missed = one_cut([False, False, False], [True] * 3, weights=[1.0, 2.0, 2.0])
    assert (missed.recall_low[0], missed.recall_high[0]) == pytest.approx(clopper_pearson(0, 25 / 9))


def test_a_cut_of_equal_weights_has_exact_intervals() -> None:
    hit, positive = np.arange(50) < 20, np.arange(50) % 3 == 0
    found = one_cut(hit, positive, weights=np.full(50, 7.0))
    k, flagged, positives = int((hit & positive).sum()), 20, int(positive.sum())
    for name, exact in (("precision", clopper_pearson(k, flagged)), ("recall", clopper_pearson(k, positives))):
        assert (getattr(found, f"{name}_low")[0], getattr(found, f"{name}_high")[0]) == pytest.approx(exact, abs=1e-9)


@given(
    st.lists(st.tuples(st.floats(0.01, 1e6), st.booleans(), st.booleans()), min_size=1, max_size=30).filter(
        lambda rows: any(positive for _, _, positive in rows)
    )
)
def test_intervals_hold_the_value(rows: list[tuple[float, bool, bool]]) -> None:
    weight, hit, positive = (np.array(part) for part in zip(*rows, strict=True))
    found = one_cut(hit, positive, weights=weight)
    for name in ("precision", "recall"):
        value, low, high = (getattr(found, f"{name}{end}")[0] for end in ("", "_low", "_high"))
        assert np.isnan(value) or -1e-9 <= low <= value + 1e-9 <= high + 2e-9 <= 1 + 3e-9


def drawn(rng: np.random.Generator, rare: float) -> tuple[NDArray[Any], ...]:
    """Draw 160 of 400 units that are flagged and 48 of 1600 that are not, of which few have the problem."""
    hit = np.arange(2000) < 400
    positive = rng.random(2000) < np.where(hit, 0.6, rare)
    taken = np.concatenate([rng.permutation(400)[:160], 400 + rng.permutation(1600)[:48]])
    return hit, positive, taken


@pytest.mark.parametrize("rare", [0.01, 0.05])
def test_recall_is_covered_where_missed_problems_are_rare(rare: float) -> None:
    """Kish's number over the problems alone covers too seldom here."""
    covered, by_kish = [], []
    for seed in range(400):
        hit, positive, taken = drawn(np.random.default_rng(seed), rare)
        weight = np.where(hit, 400 / 160, 1600 / 48)[taken]
        found = one_cut(hit[taken], positive[taken], weights=weight)
        truth = (hit & positive).sum() / positive.sum()
        covered.append(found.recall_low[0] <= truth <= found.recall_high[0])
        of = weight[positive[taken]]
        n = of.sum() ** 2 / (of**2).sum()
        low, high = clopper_pearson(min(found.recall[0], 1) * n, n)
        by_kish.append(low <= truth <= high)
    assert np.mean(covered) >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / 400)
    assert np.mean(by_kish) < 0.9
