from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from check_workbench.errors import InputError, UndefinedError
from check_workbench.stats.curves import auc, curve, pile_up
from check_workbench.stats.intervals import clopper_pearson

LABELS = st.lists(st.tuples(st.integers(0, 12), st.booleans()), min_size=1, max_size=80)


@given(LABELS)
def test_every_point_is_what_counting_gives(rows: list[tuple[int, bool]]) -> None:
    scores, positive = np.array([a for a, _ in rows]) / 12, np.array([b for _, b in rows])
    found = curve(scores, positive)
    assert found.at.tolist() == sorted(set(scores.tolist()))
    for i, at in enumerate(found.at):
        flagged = scores >= at
        hit = int((flagged & positive).sum())
        assert (found.tp[i], found.fp[i]) == (hit, (flagged & ~positive).sum())
        assert (found.fn[i], found.tn[i]) == ((~flagged & positive).sum(), (~flagged & ~positive).sum())
        assert found.flagged[i] == flagged.sum()
        assert found.precision[i] == pytest.approx(hit / flagged.sum())
        exact = clopper_pearson(hit, int(flagged.sum()))
        assert (found.precision_low[i], found.precision_high[i]) == pytest.approx(exact, abs=1e-9)
        if positive.any():
            exact = clopper_pearson(hit, int(positive.sum()))
            assert found.recall[i] == pytest.approx(hit / positive.sum())
            assert (found.recall_low[i], found.recall_high[i]) == pytest.approx(exact, abs=1e-9)


def test_recall_without_positives_is_undefined_and_never_one() -> None:
    found = curve([0.1, 0.9], [False, False])
    assert np.isnan(found.recall).all()
    assert np.isnan(found.recall_low).all()
    assert np.isnan(found.recall_high).all()
    assert found.precision.tolist() == [0, 0]


@given(LABELS, st.randoms())
def test_the_order_of_rows_changes_nothing(rows: list[tuple[int, bool]], random) -> None:
    mixed = rows.copy()
    random.shuffle(mixed)
    one, other = (curve([a for a, _ in some], [b for _, b in some]) for some in (rows, mixed))
    for name in ("at", "tp", "fp", "precision_low", "recall_high"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize(("size", "points"), [(500, 500), (501, 500), (5000, 500), (3, 3), (40, 10)])
def test_at_most_so_many_points_and_all_of_them_observed(size: int, points: int) -> None:
    scores = np.random.default_rng(1).random(size)
    found = curve(scores, scores > 0.5, points=points)
    assert len(found.at) == min(size, points)
    assert np.isin(found.at, scores).all()
    assert (found.at[0], found.at[-1]) == (scores.min(), scores.max())
    assert (np.diff(found.at) > 0).all()
    assert found.flagged.tolist() == [(scores >= at).sum() for at in found.at]


def test_equal_weights_change_no_rate_and_no_interval() -> None:
    rng = np.random.default_rng(2)
    scores, positive = rng.random(60), rng.random(60) < 0.4
    plain, weighted = curve(scores, positive), curve(scores, positive, weights=np.full(60, 4.0))
    assert not weighted.weighted
    for name in ("precision", "recall", "precision_low", "precision_high", "recall_low", "recall_high"):
        np.testing.assert_allclose(getattr(plain, name), getattr(weighted, name))


def test_weights_undo_unequal_sampling() -> None:
    rng = np.random.default_rng(3)
    scores = rng.random(40_000)
    positive = rng.random(40_000) < scores**2
    chance = np.where(scores > 0.7, 0.5, 0.05)
    taken = rng.random(40_000) < chance
    whole = curve(scores, positive)
    part = curve(scores[taken], positive[taken], weights=1 / chance[taken])
    naive = curve(scores[taken], positive[taken])

    def recall(found) -> float:
        return float(np.interp(0.7, found.at, found.recall))

    assert recall(part) == pytest.approx(recall(whole), abs=0.03)
    assert recall(naive) > recall(whole) + 0.15
    assert part.weighted
    assert (part.effective <= taken.sum()).all()


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"weights": [1.0, 0.0]}, "numbers above 0"),
        ({"weights": [1.0]}, "one per score"),
        ({"weights": [1.0, np.nan]}, "weights must be finite"),
        ({"points": 1}, "at least 2"),
    ],
)
def test_what_cannot_be_drawn_is_refused(how, words: str) -> None:
    with pytest.raises(InputError, match=words):
        curve([0.1, 0.2], [True, False], **how)


def test_no_labels_no_curve() -> None:
    with pytest.raises(UndefinedError, match="no labelled scores"):
        curve([], [])


@given(LABELS.filter(lambda rows: len({b for _, b in rows}) == 2))
def test_the_auc_is_sklearns_and_inside_its_interval(rows: list[tuple[int, bool]]) -> None:
    scores, positive = [a for a, _ in rows], [b for _, b in rows]
    found = auc(scores, positive)
    assert found.value == pytest.approx(roc_auc_score(positive, scores))
    assert 0 <= found.low <= found.value <= found.high <= 1
    turned = auc([-a for a in scores], positive)
    assert (turned.value, turned.low, turned.high) == pytest.approx((1 - found.value, 1 - found.high, 1 - found.low))


@pytest.mark.parametrize("shift", [0.0, 1.0, 2.0])
def test_the_interval_of_the_auc_covers(shift: float) -> None:
    from scipy.special import ndtr

    rng = np.random.default_rng(4)
    truth, covered = float(ndtr(shift / np.sqrt(2))), 0
    positive = np.arange(80) < 30
    for _ in range(400):
        found = auc(rng.normal(size=80) + shift * positive, positive)
        covered += found.low <= truth <= found.high
    assert covered / 400 >= 0.92


def test_a_perfect_ranking_of_few_proves_little() -> None:
    assert auc([1, 2, 3, 4], [0, 0, 1, 1]).low < 0.5
    assert auc(np.arange(400), np.arange(400) >= 200).low > 0.97


@pytest.mark.parametrize(("positive", "absent"), [([0, 0], "positive"), ([1, 1], "negative"), ([], "positive")])
def test_one_class_has_no_auc(positive: list[int], absent: str) -> None:
    with pytest.raises(UndefinedError, match=f"no label is {absent}"):
        auc(np.arange(len(positive)), positive)


def test_a_pile_up_is_named_with_its_share() -> None:
    assert pile_up([0.9] * 3 + [0.1, 0.2, 0.3, 0.4]) == (0.9, 3 / 7)
    assert pile_up([0.9, 0.9, *range(8)]) is None
    assert pile_up([]) is None
