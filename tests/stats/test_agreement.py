from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from check_workbench.errors import InputError, UndefinedError
from check_workbench.stats.agreement import Agreement, agreement

PAIRS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1, max_size=60)


def _pairs(*counts: tuple[str, str, int]) -> tuple[list[str], list[str]]:
    return [a for a, _, n in counts for _ in range(n)], [b for _, b, n in counts for _ in range(n)]


@given(PAIRS)
def test_kappa_is_sklearns(pairs: list[tuple[str, str]]) -> None:
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    found = agreement(a, b)
    if len(set(a) | set(b)) == 1:
        assert (found.kappa, found.ac1, found.alpha) == (None, None, None)
    else:
        assert found.kappa == pytest.approx(cohen_kappa_score(a, b))
    assert found.raw.value == np.mean(np.array(a) == np.array(b))
    assert found.raw.low <= found.raw.value <= found.raw.high
    assert sum(found.prevalence.values()) == pytest.approx(1)


def test_the_textbook_table() -> None:
    found = agreement(*_pairs(("y", "y", 20), ("y", "n", 5), ("n", "y", 10), ("n", "n", 15)))
    assert found.kappa == pytest.approx(0.4)
    assert found.ac1 == pytest.approx(0.4059, abs=1e-4)
    assert found.raw.value == 0.7


def test_krippendorffs_alpha_of_his_example() -> None:
    """Two observers, ten units, nominal: Krippendorff (2011), example A."""
    found = agreement(list("0100000010"), list("1110010000"))
    assert found.alpha == pytest.approx(0.095, abs=5e-4)


def test_a_rare_class_pulls_kappa_down_and_ac1_up_at_equal_raw_agreement() -> None:
    even = agreement(*_pairs(("y", "y", 45), ("n", "n", 45), ("y", "n", 5), ("n", "y", 5)))
    rare = agreement(*_pairs(("y", "y", 2), ("n", "n", 88), ("y", "n", 5), ("n", "y", 5)))
    assert even.raw == rare.raw
    assert even.kappa is not None
    assert rare.kappa is not None
    assert even.ac1 is not None
    assert rare.ac1 is not None
    assert rare.kappa < even.kappa - 0.4
    assert rare.ac1 > even.ac1
    assert rare.by_class["y"] == pytest.approx(4 / 14)


@given(PAIRS)
def test_agreement_is_symmetric(pairs: list[tuple[str, str]]) -> None:
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    one, other = agreement(a, b), agreement(b, a)
    assert (one.kappa, one.ac1, one.alpha) == pytest.approx((other.kappa, other.ac1, other.alpha))


def test_nothing_judged_twice_is_undefined() -> None:
    with pytest.raises(UndefinedError, match="no unit was judged by both"):
        agreement([], [])


def test_different_units_are_refused() -> None:
    with pytest.raises(InputError, match="the same units"):
        agreement(["a"], ["a", "b"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("prevalence", "found", "spared"), [(0.5, 0.9, 0.9), (0.2, 0.8, 0.95), (0.1, 0.7, 0.95), (0.2, 0.95, 0.7)]
)
def test_the_intervals_beyond_chance_cover_about_as_often_as_they_say(
    prevalence: float, found: float, spared: float
) -> None:
    def shares(size: int) -> list[float]:
        bad, good = prevalence, 1 - prevalence
        return [size * part for part in (bad * found, bad * (1 - found), good * (1 - spared), good * spared)]

    def compared(counts: list[int]) -> Agreement:
        pairs = zip("bbgg", "bgbg", counts, strict=True)
        return agreement(*_pairs(*pairs))

    rng = np.random.default_rng(8)
    truth = compared([round(share) for share in shares(20_000)])
    drawn = [compared(counts) for counts in rng.multinomial(100, shares(1), 1000).tolist()]
    for measure in ("kappa", "ac1", "alpha"):
        value = getattr(truth, measure)
        ends = [one.intervals[measure] for one in drawn if measure in one.intervals]
        assert np.mean([low <= value <= high for low, high in ends]) >= 0.92


def test_full_agreement_has_an_interval_too() -> None:
    found = agreement(*_pairs(("y", "y", 20), ("n", "n", 20)))
    assert found.kappa == 1
    assert found.intervals["kappa"] == pytest.approx((2 * found.raw.low - 1, 1))
    assert agreement(["y"], ["y"]).intervals == {}
