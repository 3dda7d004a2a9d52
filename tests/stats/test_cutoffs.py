from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from check_workbench.errors import InputError, UndefinedError
from check_workbench.stats.cutoffs import Goal, Redraw, bootstrap_cut, choose, curve, meets

LABELS = st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=1, max_size=60)


def _drawn(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    scores = rng.random(n)
    return scores, rng.random(n) < scores


@pytest.mark.parametrize(
    ("text", "kind", "value", "other"),
    [
        ("precision>=0.9", "precision", 0.9, None),
        (" Precision >= .9 ", "precision", 0.9, None),
        ("recall>=0.95", "recall", 0.95, None),
        ("recall>=1", "recall", 1.0, None),
        ("cost 1:5", "cost", 1.0, 5.0),
        ("cost 0.5 : 2", "cost", 0.5, 2.0),
        ("risk<=0.05@0.9", "risk", 0.05, 0.9),
    ],
)
def test_goals_are_read_and_written(text: str, kind: str, value: float, other: float | None) -> None:
    goal = Goal.parse(text)
    assert (goal.kind, goal.value, goal.other) == (kind, value, other)
    assert Goal.parse(str(goal)) == goal


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("accuracy>=0.9", "is no goal. Write 'precision>=0.9'"),
        ("precision>0.9", "is no goal"),
        ("precision>=0.9; drop table", "is no goal"),
        ("", "is no goal"),
        (None, "is no goal"),
        ("precision>=90", "Write 90 % as 0.9"),
        ("recall>=0", "between 0 and 1"),
        ("risk<=0.05@1", "confidence must lie between 0 and 1"),
        ("risk<=1@0.9", "between 0 and 1"),
        ("cost 0:5", "costs must be above 0"),
        ("cost 1:0", "costs must be above 0"),
        ("precision>=nan", "is no goal"),
        ("precision>=-1", "is no goal"),
    ],
)
def test_what_is_no_goal_is_refused_with_what_would_work(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Goal.parse(text)


@given(LABELS, st.sampled_from([0.3, 0.5, 0.8, 1.0]))
def test_the_precision_goal_keeps_the_most_recall(rows: list[tuple[int, bool]], floor: float) -> None:
    found = curve([a for a, _ in rows], [b for _, b in rows])
    place = choose(found, Goal.parse(f"precision>={floor}"))
    meets = found.precision >= floor - 1e-12
    if not meets.any():
        assert place is None
        return
    assert place is not None
    assert meets[place]
    assert found.tp[place] == found.tp[meets].max()
    assert (found.tp[meets & (np.arange(len(meets)) > place)] < found.tp[place]).all()


@given(LABELS.filter(lambda rows: any(b for _, b in rows)), st.sampled_from([0.3, 0.5, 0.95, 1.0]))
def test_the_recall_goal_keeps_the_most_precision(rows: list[tuple[int, bool]], floor: float) -> None:
    found = curve([a for a, _ in rows], [b for _, b in rows])
    place = choose(found, Goal.parse(f"recall>={floor}"))
    assert place is not None
    meets = found.recall >= floor - 1e-12
    assert meets[place]
    assert found.precision[place] == found.precision[meets].max()


@given(LABELS, st.sampled_from([(1, 5), (5, 1), (1, 1)]))
def test_the_cost_goal_costs_least_or_flags_nothing(rows: list[tuple[int, bool]], costs: tuple[int, int]) -> None:
    found = curve([a for a, _ in rows], [b for _, b in rows])
    cost = costs[0] * found.fp + costs[1] * found.fn
    nothing = costs[1] * found.positives
    place = choose(found, Goal.parse(f"cost {costs[0]}:{costs[1]}"))
    if place is None:
        assert nothing < cost.min()
    else:
        assert cost[place] == cost.min() <= nothing


def test_recall_without_positives_is_refused() -> None:
    with pytest.raises(UndefinedError, match="no label is positive"):
        choose(curve([0.1, 0.2], [False, False]), Goal.parse("recall>=0.9"))


def test_a_bounded_risk_with_unequal_weights_is_refused() -> None:
    found = curve([0.1, 0.2], [False, True], weights=[1.0, 2.0])
    with pytest.raises(UndefinedError, match="equal probability"):
        choose(found, Goal.parse("risk<=0.05@0.9"))


def test_the_risk_goal_is_certified_at_its_cut() -> None:
    rng = np.random.default_rng(5)
    scores = rng.random(400)
    found = curve(scores, rng.random(400) < 0.35 * scores**3)
    place = choose(found, Goal.parse("risk<=0.1@0.9"))
    assert place is not None
    assert binom.cdf(found.fn[place], found.fn[place] + found.tn[place], 0.1) <= 0.1
    assert (found.fn + found.tn)[place] >= 0.4 * 400


def test_the_risk_goal_is_wrong_as_seldom_as_it_says() -> None:
    rng = np.random.default_rng(6)
    goal = Goal.parse("risk<=0.1@0.9")
    chosen = [choose(curve(rng.random(200), rng.random(200) < 0.102), goal) for _ in range(1000)]
    assert np.mean([place is not None for place in chosen]) <= 0.128


def test_few_labels_meet_no_bounded_risk() -> None:
    assert choose(curve(np.arange(20) / 20, np.arange(20) >= 18), Goal.parse("risk<=0.05@0.9")) is None


def test_the_bootstrap_is_seeded_and_holds_the_chosen_cut() -> None:
    scores, positive = _drawn(300, 7)
    goal = Goal.parse("cost 1:1")
    once = bootstrap_cut(scores, positive, goal, Redraw(seed=1))
    assert once == bootstrap_cut(scores, positive, goal, Redraw(seed=1))
    found = curve(scores, positive)
    place = choose(found, goal)
    assert place is not None
    assert once.low <= found.at[place] <= once.high
    assert np.isin([once.low, once.high], scores).all()


def test_clusters_are_drawn_whole_and_widen_the_range() -> None:
    scores, positive = _drawn(60, 8)
    goal = Goal.parse("precision>=0.7")
    twice, both = np.repeat(scores, 10), np.repeat(positive, 10)
    alone = bootstrap_cut(twice, both, goal, Redraw(seed=1))
    whole = bootstrap_cut(twice, both, goal, Redraw(clusters=np.repeat(np.arange(60), 10), seed=1))
    assert whole.high - whole.low > alone.high - alone.low


def test_weights_go_along_when_labels_are_drawn_again() -> None:
    scores, positive = _drawn(200, 9)
    goal = Goal.parse("precision>=0.7")
    plain = bootstrap_cut(scores, positive, goal, Redraw(seed=1))
    assert bootstrap_cut(scores, positive, goal, Redraw(seed=1, weights=np.full(200, 3.0))) == plain
    heavy = bootstrap_cut(scores, positive, goal, Redraw(seed=1, weights=np.where(positive, 1.0, 5.0)))
    assert heavy.low > plain.low


def test_the_share_of_draws_without_a_cut_is_told() -> None:
    found = bootstrap_cut([0.1, 0.2, 0.3, 0.4], [0, 0, 0, 1], Goal.parse("precision>=0.9"), Redraw(seed=2))
    assert 0.1 < found.none < 0.6


def test_a_goal_that_no_draw_meets_is_refused() -> None:
    with pytest.raises(UndefinedError, match="no redrawn sample"):
        bootstrap_cut([0.1, 0.2], [False, False], Goal.parse("precision>=0.9"))


@given(LABELS, st.sampled_from(["precision>=0.6", "recall>=0.7", "cost 1:5", "cost 3:1", "risk<=0.4@0.6"]))
def test_a_chosen_cut_meets_its_goal(labels: list[tuple[int, bool]], text: str) -> None:
    scores, positive = np.array([score for score, _ in labels]), np.array([bad for _, bad in labels])
    found, goal = curve(scores, positive), Goal.parse(text)
    place = choose(found, goal) if positive.any() else None
    if place is not None:
        assert meets(found, goal, flagged=found.flagged[place], true=found.tp[place])


def test_a_given_cut_meets_a_goal_or_misses_it() -> None:
    found = curve(np.arange(100) / 100, np.arange(100) >= 80)

    def met(text: str, flagged: float, true: float) -> bool:
        return meets(found, Goal.parse(text), flagged=flagged, true=true)

    assert (met("precision>=0.8", 25, 20), met("precision>=0.81", 25, 20), met("precision>=0.1", 0, 0)) == (
        True, False, False,
    )  # fmt: skip
    assert (met("recall>=0.5", 10, 10), met("recall>=0.51", 10, 10)) == (True, False)
    assert (met("cost 1:5", 20, 20), met("cost 1:5", 21, 20)) == (True, False)
    assert (met("risk<=0.05@0.9", 20, 20), met("risk<=0.05@0.9", 10, 10), met("risk<=0.5@0.5", 100, 20)) == (
        True, False, False,
    )  # fmt: skip


def test_nothing_flagged_may_be_the_least_cost() -> None:
    found = curve([0.1, 0.2, 0.9], [True, False, False])
    assert choose(found, Goal.parse("cost 5:1")) is None
    assert meets(found, Goal.parse("cost 5:1"), flagged=0, true=0)


def test_a_bounded_risk_of_weighted_labels_is_undefined() -> None:
    found = curve([0.1, 0.9], [False, True], weights=[1.0, 2.0])
    with pytest.raises(UndefinedError, match="equal probability"):
        meets(found, Goal.parse("risk<=0.1@0.9"), flagged=2, true=2)
