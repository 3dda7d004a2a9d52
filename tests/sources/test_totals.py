"""Amounts of the parts of a trace, each counted once."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from check_workbench.sources.totals import Amount, total

IDS = st.sampled_from([None, "a", "b", "c", "d", "e"])


def plainly(amounts: list[Amount]) -> float | None:
    """Add what lies inside of no other amount, one walk up for each part."""
    parents = {one.id: one for one in amounts if one.id is not None}
    found = []
    for one in amounts:
        seen, above = {one.id}, parents.get(one.parent or "")
        while above is not None and above.id not in seen and above.value is None:
            seen.add(above.id)
            above = parents.get(above.parent or "")
        if one.value is not None and (above is None or above.id in seen):
            found.append(one.value)
    return sum(found) if found else None


@given(
    st.lists(
        st.builds(Amount, IDS, IDS, st.none() | st.integers(1, 9)),
        max_size=7,
        unique_by=lambda one: one.id or object(),
    )
)
def test_totals_are_those_of_one_walk_up_for_each_part(amounts: list[Amount]) -> None:
    assert total(amounts) == plainly(amounts)


def test_many_parts_far_down_take_one_walk() -> None:
    chain = [Amount(f"c{n}", f"c{n - 1}", None) for n in range(20_000)]
    leaves = [Amount(f"l{n}", "c19999", 1) for n in range(20_000)]
    began = time.process_time()
    assert total([*chain, *leaves]) == 20_000
    assert time.process_time() - began < 5
