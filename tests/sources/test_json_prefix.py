"""The start of a JSON text, cut off anywhere."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from check_workbench.sources.json_prefix import first_records

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("text", "records"),
    [
        ('{"a": 1}\n{"b": [1, {"c": "d', [{"a": 1}, {"b": [1, {"c": "d"}]}]),
        ('{"a": 1, "b"', [{"a": 1}]),
        ('{"a": 1, "b":', [{"a": 1}]),
        ('{"a": 1, "b": tru', [{"a": 1}]),
        ('{"a": 12', [{}]),
        ('{"a": "x\\', [{"a": "x"}]),
        ("[[1], [2, 3", [[1], [2]]),
        ("", []),
        ("17", []),
        ('{"a": nonsense, "b": 2}', []),
    ],
)
def test_what_is_seen(text: str, records: list[Any]) -> None:
    assert first_records(text, 20) == records


def test_no_more_records_than_asked_for() -> None:
    assert first_records('{"a": 1}\n' * 50, 3) == [{"a": 1}] * 3


def test_bottomless_nesting_is_no_crash() -> None:
    assert first_records('{"a": ' + "[" * 200_000, 20) == []


@given(st.dictionaries(st.text(), VALUES, min_size=1, max_size=5), st.data())
def test_a_cut_record_holds_nothing_that_the_whole_one_does_not(record: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(record)
    cut = data.draw(st.integers(1, len(text)))
    found = first_records(text[:cut], 1)
    assert len(found) == 1
    assert set(found[0]) <= set(record)
