from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from check_workbench.errors import InputError, UndefinedError
from check_workbench.stats.agreement import agreement
from check_workbench.stats.raters import agreement_among

# Fleiss (1971), as the textbooks work it out: 14 raters, 10 subjects, 5 classes.
FLEISS = [
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
]  # fmt: skip
# Krippendorff (2011), example C: four observers, twelve units, missing values; alpha for named classes is .743.
KRIPPENDORFF = [
    [3, 0, 0, 0, 0], [0, 3, 1, 0, 0], [0, 0, 4, 0, 0], [0, 0, 4, 0, 0], [0, 4, 0, 0, 0], [1, 1, 1, 1, 0],
    [0, 0, 0, 4, 0], [3, 1, 0, 0, 0], [0, 4, 0, 0, 0], [0, 0, 0, 0, 3], [2, 0, 0, 0, 0],
]  # fmt: skip


def test_kappa_of_the_textbook():
    found = agreement_among(FLEISS, list("abcde"))
    assert found.raw.value == pytest.approx(0.378, abs=5e-4)
    assert found.kappa == pytest.approx(0.210, abs=5e-4)
    assert found.prevalence["a"] == pytest.approx(0.143, abs=5e-4)


def test_alpha_of_the_textbook():
    assert agreement_among(KRIPPENDORFF, list("12345")).alpha == pytest.approx(0.743, abs=5e-4)


@given(st.lists(st.tuples(st.sampled_from("gb"), st.sampled_from("gb")), min_size=1, max_size=60))
def test_two_people_agree_as_two_sources_do(pairs):
    table = [[(a == name) + (b == name) for name in "gb"] for a, b in pairs]
    found, other = agreement_among(table, ["g", "b"]), agreement([a for a, _ in pairs], [b for _, b in pairs])
    assert found.raw == pytest.approx(other.raw)
    assert found.by_class == pytest.approx(other.by_class)
    assert found.prevalence == pytest.approx(other.prevalence)
    for name in ("ac1", "alpha"):
        mine, theirs = getattr(found, name), getattr(other, name)
        assert (mine is None) == (theirs is None)
        assert mine is None or mine == pytest.approx(theirs)


def test_a_unit_weighs_the_same_however_many_judged_it():
    assert agreement_among([[1, 1], [9, 0]], "gb").raw.value == 0.5
    assert agreement_among([[9, 0], [1, 1]], "gb").raw.value == 0.5


def test_the_interval_covers_for_more_than_two_people():
    rng = np.random.default_rng(5)
    hits = 0
    for _ in range(300):
        bad = rng.binomial(3, 0.2, 60)
        low, high = agreement_among(np.stack([3 - bad, bad], axis=1), "gb").raw[1:]
        hits += low <= 0.68 <= high
    assert hits / 300 >= 0.95


def test_one_class_has_no_agreement_beyond_chance():
    found = agreement_among([[2, 0], [3, 0]], "gb")
    assert (found.raw.value, found.kappa, found.ac1, found.alpha) == (1.0, None, None, None)
    assert dict(found.by_class) == {"g": 1.0}


@pytest.mark.parametrize(
    ("counts", "error", "words"),
    [
        ([], UndefinedError, "no unit"),
        ([[1, 0]], InputError, "two people"),
        ([[2, -1]], InputError, "whole numbers"),
        ([[2, 0.5]], InputError, "whole numbers"),
        ([[2, float("nan")]], InputError, "whole numbers"),
        ([[2, 0, 0]], InputError, "one column per class"),
        ([2, 0], InputError, "one column per class"),
    ],
)
def test_what_cannot_be_counted_is_refused(counts, error, words):
    with pytest.raises(error, match=words):
        agreement_among(counts, "gb")
