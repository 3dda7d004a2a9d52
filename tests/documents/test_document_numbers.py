from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from check_workbench.documents import canonical_json, decimal_text


@pytest.mark.parametrize(
    ("number", "whole", "text"),
    [
        (0.1 + 0.2, False, "0.30000000000000004"),
        (1e-7, False, "0.0000001"),
        (1e22, False, "10000000000000000000000.0"),
        (1e22, True, "10000000000000000000000"),
        (4, False, "4"),
        (4.0, True, "4"),
        (4.5, True, "4.5"),
        (1.0, False, "1.0"),
        (0.0, True, "0"),
        (-0.5, False, "-0.5"),
    ],
)
def test_the_shortest_exact_decimal(number: float, *, whole: bool, text: str) -> None:
    assert decimal_text(number, whole=whole) == text


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_without_a_decimal_is_refused(number: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        decimal_text(number)


@given(number=st.floats(allow_nan=False, allow_infinity=False), whole=st.booleans())
def test_a_written_number_reads_as_the_same_number(number: float, *, whole: bool) -> None:
    text = decimal_text(number, whole=whole)
    assert float(text) == number
    assert "e" not in text.lower()


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (333333333.33333329, "333333333.3333333"),
        (1e30, "1e+30"),
        (4.50, "4.5"),
        (2e-3, "0.002"),
        (0.000000000000000000000000001, "1e-27"),
        (1e21, "1e+21"),
        (123456789012345680000, "123456789012345680000"),
        (0.000001, "0.000001"),
        (0.0000001, "1e-7"),
        (-0.0, "0"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (9007199254740993, "9007199254740992"),
        (-1.5e-9, "-1.5e-9"),
    ],
)
def test_canonical_numbers_are_those_of_rfc_8785(number: float, text: str) -> None:
    assert canonical_json(number) == text


def test_canonical_keys_sort_by_utf_16_units_and_texts_escape_little() -> None:
    value = {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\x80": '\x0f\n"\\/é'}
    assert canonical_json(value) == (
        '{"\\r":2,"1":4,"\x80":"\\u000f\\n\\"\\\\/é","\u20ac":1,"\U0001f600":5,"\ufb33":3}'
    )


LEAVES = st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


@given(value=TREES)
def test_canonical_json_is_json_of_the_same_value(value: object) -> None:
    assert json.loads(canonical_json(value), parse_int=float) == value
