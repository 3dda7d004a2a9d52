"""Times in every unit, and what is none."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from check_workbench.sources.times import when

MOMENT = datetime(2026, 8, 6, 21, 31, 28, 270252, tzinfo=UTC)


@pytest.mark.parametrize(
    "value",
    [
        "2026-08-06T21:31:28.270252Z",
        "2026-08-06T23:31:28.270252+02:00",
        "2026-08-06T21:31:28.270252114",
        " 2026-08-06 21:31:28.270252 ",
        1786051888.270252,
        "1786051888.270252",
        1786051888270252,
        "1786051888270252",
        1786051888270252114,
        "1786051888270252114",
    ],
)
def test_every_spelling_is_the_same_moment(value: Any) -> None:
    assert when(value) == MOMENT


def test_milliseconds_and_whole_seconds() -> None:
    assert when(1786051888270) == MOMENT.replace(microsecond=270000)
    assert when("1786051888") == MOMENT.replace(microsecond=0)


@pytest.mark.parametrize("value", [None, "", 0, "0", 0.0])
def test_no_time(value: Any) -> None:
    assert when(value) is None


@pytest.mark.parametrize(
    "value", ["yesterday", "12:30", True, [], {}, float("nan"), float("inf"), 10**25, 10**400, "9" * 30, "1e9999"]
)
def test_what_is_no_time_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="time"):
        when(value)


@given(st.integers(1, 4_102_444_799), st.sampled_from([1, 10**3, 10**6, 10**9]))
def test_a_number_means_the_same_in_every_unit(seconds: int, unit: int) -> None:
    if seconds * unit >= {1: 0, 10**3: 10**11, 10**6: 10**14, 10**9: 10**17}[unit]:
        assert when(seconds * unit) == datetime.fromtimestamp(seconds, UTC)
