from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from check_workbench.errors import InputError, UndefinedError
from check_workbench.stats.certify import (
    Cuts,
    Walk,
    coverage_cuts,
    distinct,
    labels_for_power,
    labels_needed,
    own_cut,
    p_value,
    walk,
)
from check_workbench.stats.intervals import upper_bound
from check_workbench.stats.nested import limits
from check_workbench.stats.stratified import strata

NEEDED = {
    (0.01, 0.10): (230, 388, 531, 667, 926),
    (0.01, 0.05): (299, 473, 628, 773, 1049),
    (0.02, 0.10): (114, 194, 265, 333, 462),
    (0.02, 0.05): (149, 236, 313, 386, 523),
    (0.05, 0.10): (45, 77, 105, 132, 184),
    (0.05, 0.05): (59, 93, 124, 153, 208),
    (0.10, 0.10): (22, 38, 52, 65, 91),
    (0.10, 0.05): (29, 46, 61, 76, 103),
    (0.15, 0.10): (15, 25, 34, 43, 60),
    (0.15, 0.05): (19, 30, 40, 50, 68),
    (0.20, 0.10): (11, 18, 25, 32, 45),
    (0.20, 0.05): (14, 22, 30, 37, 50),
}
GRID = np.linspace(0, 1, 5001)[:-1]


@pytest.mark.parametrize(("alpha", "delta"), NEEDED)
def test_the_published_sample_sizes_are_exact(alpha: float, delta: float) -> None:
    for errors, n in zip((0, 1, 2, 3, 5), NEEDED[alpha, delta], strict=True):
        assert errors + labels_needed(errors, errors, alpha=alpha, delta=delta) == n
        assert own_cut(errors, n, alpha=alpha, delta=delta).certified
        assert not own_cut(errors, n - 1, alpha=alpha, delta=delta).certified


@given(st.integers(0, 60), st.integers(0, 500), st.sampled_from([0.01, 0.05, 0.2, 0.5]), st.sampled_from([0.02, 0.1]))
def test_needed_labels_are_the_fewest_that_certify(errors: int, more: int, alpha: float, delta: float) -> None:
    n = errors + more
    needed = labels_needed(errors, n, alpha=alpha, delta=delta)
    assert binom.cdf(errors, n + needed, alpha) <= delta
    assert needed == 0 or binom.cdf(errors, n + needed - 1, alpha) > delta


@given(st.integers(0, 200), st.integers(0, 3000), st.floats(0.001, 0.6))
def test_the_p_value_is_the_binomial_distribution(errors: int, more: int, alpha: float) -> None:
    n = errors + more
    assert float(p_value(errors, n, alpha)) == pytest.approx(binom.cdf(errors, n, alpha), abs=1e-9)


@given(st.integers(0, 100), st.integers(0, 1000), st.sampled_from([0.05, 0.1, 0.2]), st.sampled_from([0.05, 0.1]))
def test_a_cut_is_certified_exactly_if_its_bound_is_at_most_alpha(
    errors: int, more: int, alpha: float, delta: float
) -> None:
    found = own_cut(errors, errors + more, alpha=alpha, delta=delta)
    if abs(found.bound - alpha) > 1e-9:
        assert found.certified == (found.bound <= alpha)


def test_no_decisions_prove_nothing() -> None:
    found = own_cut(0, 0, alpha=0.05, delta=0.1)
    assert (found.p, found.bound, found.certified) == (1.0, 1.0, False)


@pytest.mark.parametrize(("risk", "n"), [(0.0, 150), (0.01, 150), (0.02, 300), (0.02, 500), (0.03, 1000)])
def test_the_published_power(risk: float, n: int) -> None:
    published = {(0.0, 150): 1, (0.01, 150): 0.94, (0.02, 300): 0.92, (0.02, 500): 0.99, (0.03, 1000): 0.97}
    allowed = np.flatnonzero(p_value(np.arange(n), n, 0.05) <= 0.10).max()
    assert binom.cdf(allowed, n, risk) == pytest.approx(published[risk, n], abs=0.006)


@pytest.mark.parametrize("risk", [0.0, 0.005, 0.01, 0.02, 0.03])
def test_labels_for_power_are_the_fewest(risk: float) -> None:
    n = labels_for_power(risk, alpha=0.05, delta=0.1)
    assert n is not None
    sizes = np.arange(1, n + 1)
    allowed = np.array(
        [np.sum(p_value(np.arange(min(size, 80) + 1), size, 0.05) <= 0.1) - 1 for size in sizes.tolist()]
    )
    power = np.where(allowed >= 0, binom.cdf(allowed, sizes, risk), 0)
    assert power[-1] >= 0.8
    assert (power[:-1] < 0.8).all()


@pytest.mark.parametrize("risk", [0.05, 0.06, 1.0, 0.0499999])
def test_no_number_of_labels_certifies_a_judge_that_errs_as_often_as_allowed(risk: float) -> None:
    assert labels_for_power(risk, alpha=0.05, delta=0.1) is None


def test_strata_bound_each_and_combine_by_share() -> None:
    found = strata([0, 2], [60, 80], [0.3, 0.7], alpha=0.10, delta=0.10)
    by_hand = 0.3 * upper_bound(0, 60, delta=0.05) + 0.7 * upper_bound(2, 80, delta=0.05)
    assert found.bound == pytest.approx(by_hand)
    assert found.certified == (by_hand <= 0.10)


def test_a_stratum_without_labels_counts_as_all_bad() -> None:
    assert strata([0, 0], [500, 0], [0.5, 0.5], alpha=0.10, delta=0.10).bound > 0.5


def test_strata_shares_must_sum_to_one() -> None:
    with pytest.raises(InputError, match=r"sum to 1, got 0\.9"):
        strata([0, 0], [10, 10], [0.5, 0.4], alpha=0.1, delta=0.1)


@given(st.lists(st.integers(0, 20), min_size=1, max_size=300), st.integers(1, 60))
def test_cuts_are_distinct_observed_whole_groups_strictest_first(values: list[int], k: int) -> None:
    cuts = coverage_cuts(values, k=k)
    assert set(cuts.at) <= set(values)
    assert (np.diff(cuts.at) < 0).all()
    assert cuts.at[-1] == min(values)
    assert cuts.coverage.tolist() == [np.mean(np.asarray(values) >= at) for at in cuts.at]
    for place, coverage in ((cuts.start, 0.4), (cuts.first, 0.2)):
        assert cuts.coverage[place] >= coverage - 1e-9
        assert place == 0 or cuts.coverage[place - 1] < coverage


@given(st.integers(0, 2**32 - 1), st.integers(1, 400), st.floats(0, 0.4))
def test_the_walk_is_the_slow_walk(seed: int, n: int, risk: float) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 30, n) / 30
    bad = rng.random(n) < risk
    cuts = coverage_cuts(rng.integers(0, 30, 200) / 30, k=20)
    found = walk(scores, bad, cuts, alpha=0.15, delta=0.1)
    assert found.n.tolist() == [(scores >= at).sum() for at in cuts.at]
    assert found.errors.tolist() == [bad[scores >= at].sum() for at in cuts.at]
    passed = slowly(found, cuts, n)
    assert np.flatnonzero(found.passed).tolist() == sorted(passed)
    assert found.certified == max(passed, default=None)
    assert (found.p[found.passed] <= found.level[found.passed] + 1e-12).all()
    assert (np.diff(found.level[cuts.first :][~found.passed[cuts.first :]]) == 0).all()
    if passed:
        assert found.at == cuts.at[max(passed)]
        assert found.bound is not None
        assert found.bound <= 0.15 + 1e-9


def slowly(found: Walk, cuts: Cuts, labels: int) -> set[int]:
    """Hold cut after cut against limit after limit, from the strictest cut left, until none is within any."""
    passed: set[int] = set()
    expected = [coverage * labels for coverage in cuts.coverage]
    fewest = [
        max(1, math.floor(e - 2 * math.sqrt(e * (1 - c) + 1))) for e, c in zip(expected, cuts.coverage, strict=True)
    ]
    while True:
        left = [place for place in range(cuts.first, len(cuts.at)) if place not in passed]
        if not left:
            return passed
        allowed = limits(labels, fewest[left[0]], alpha=0.15, delta=0.1)
        now = {
            place
            for place in left
            for size, most in zip(allowed.labels, allowed.errors, strict=True)
            if size >= fewest[place]
            and found.errors[place] <= most
            and found.n[place] - found.errors[place] >= size - most
        }
        if not now:
            return passed
        passed |= now


def test_the_walk_does_not_depend_on_the_order_of_rows() -> None:
    rng = np.random.default_rng(3)
    scores, bad = rng.random(300), rng.random(300) < 0.05
    order = rng.permutation(300)
    cuts = coverage_cuts(GRID)
    one, other = (walk(scores[rows], bad[rows], cuts, alpha=0.1, delta=0.1) for rows in (slice(None), order))
    assert (one.certified, one.bound, one.p.tolist()) == (other.certified, other.bound, other.p.tolist())


def test_the_walk_without_labels_certifies_nothing() -> None:
    assert walk([], [], coverage_cuts(GRID), alpha=0.1, delta=0.1).certified is None


def test_a_few_errors_at_the_top_do_not_hide_a_loose_cut_that_holds() -> None:
    scores = np.linspace(0, 1, 400, endpoint=False)
    bad = (scores >= 0.94) & (scores < 0.999)
    found = walk(scores, bad, coverage_cuts(GRID), alpha=0.10, delta=0.1)
    assert found.coverage == 1
    assert not found.passed[:20].any()
    assert found.bound == pytest.approx(upper_bound(int(bad.sum()), 400, delta=float(found.level[-1])))


def test_each_round_tests_fewer_cuts_with_more_of_delta() -> None:
    scores = np.linspace(0, 1, 400, endpoint=False)
    found = walk(scores, scores < 0.3, coverage_cuts(GRID), alpha=0.10, delta=0.1)
    rounds = np.unique(found.level)
    assert rounds[0] == 0
    assert len(rounds) > 2
    assert (np.diff(found.level) >= 0).all()
    assert found.level[-1] <= 0.1


def test_a_single_cut_is_tested_with_all_of_delta() -> None:
    cuts = Cuts(at=np.array([0.9, 0.1]), coverage=np.array([0.1, 1.0]), start=1, first=1)
    scores = np.full(45, 0.5)
    assert walk(scores, np.zeros(45), cuts, alpha=0.05, delta=0.1).level.tolist() == pytest.approx([0, 0.1])
    assert walk(scores, np.zeros(45), cuts, alpha=0.05, delta=0.1).coverage == 1
    assert walk(scores[1:], np.zeros(44), cuts, alpha=0.05, delta=0.1).certified is None


def test_a_path_that_begins_beyond_its_end_certifies_nothing() -> None:
    cuts = Cuts(at=np.array([0.9, 0.1]), coverage=np.array([0.1, 0.9]), start=2, first=2)
    assert walk(np.full(500, 0.5), np.zeros(500), cuts, alpha=0.1, delta=0.1).certified is None


def test_a_path_without_cuts_certifies_nothing() -> None:
    cuts = Cuts(at=np.zeros(0), coverage=np.zeros(0), start=0, first=0)
    assert walk(np.full(500, 0.5), np.zeros(500), cuts, alpha=0.1, delta=0.1).certified is None


def test_a_constant_score_leaves_one_cut() -> None:
    cuts = coverage_cuts([0.9] * 100)
    assert cuts.at.tolist() == [0.9]
    assert walk([0.9] * 30, [False] * 30, cuts, alpha=0.1, delta=0.1).coverage == 1


def test_another_start_is_fixed_with_the_cuts() -> None:
    cuts = coverage_cuts(GRID, start=0.5)
    assert cuts.coverage[[cuts.start, cuts.first]] == pytest.approx([0.5, 0.26])


@pytest.mark.parametrize(
    ("scores", "bad", "words"),
    [
        ([0.1, np.nan], [0, 0], "must be finite: item 1 is nan"),
        ([0.1, 0.2], [0], "one value per score: 2 scores"),
        ([0.1, 0.2], [0, 2], "true or false"),
        ([[0.1]], [0], "one-dimensional"),
        (["a"], [0], "scores must be numbers"),
    ],
)
def test_what_does_not_fit_is_refused(scores, bad, words: str) -> None:
    with pytest.raises(InputError, match=words):
        walk(scores, bad, coverage_cuts(GRID), alpha=0.1, delta=0.1)


def test_no_unlabelled_scores_no_cuts() -> None:
    with pytest.raises(UndefinedError, match="no unlabelled scores"):
        coverage_cuts([])


def test_distinct_counts_values() -> None:
    assert distinct([0.9, 0.9, 0.9]) == 1
    assert distinct([]) == 0


def test_a_label_that_made_a_cut_does_not_count_at_it() -> None:
    scores = np.linspace(0.1, 1, 10)
    bad = scores < 0.35
    cuts = coverage_cuts(scores, k=10)
    counted = walk(scores, bad, cuts, alpha=0.3, delta=0.3)
    dropped = walk(scores, bad, dataclasses.replace(cuts, labelled=True), alpha=0.3, delta=0.3)
    assert dropped.n.tolist() == [max(n - 1, e) for n, e in zip(counted.n, counted.errors, strict=True)]
    assert dropped.errors.tolist() == counted.errors.tolist()


def test_cuts_from_labelled_scores_are_valid_for_a_bad_judge() -> None:
    """Every cut of a judge that errs 1.02 times as often as allowed is wrong to certify."""
    rng = np.random.default_rng(1)
    wrong = 0
    for _ in range(1000):
        scores = rng.random(150)
        cuts = dataclasses.replace(coverage_cuts(scores), labelled=True)
        wrong += walk(scores, rng.random(150) < 0.102, cuts, alpha=0.1, delta=0.1).at is not None
    assert wrong / 1000 <= 0.128
