from __future__ import annotations

import dataclasses

import pytest

from check_workbench.errors import UnknownNameError, hint
from check_workbench.records import DECISIONS, Decision, Run, Span, Step, columns, is_problem


@pytest.mark.parametrize("record", [Run, Span, Step, Decision])
def test_the_one_field_list_is_the_dataclass(record) -> None:
    listed = columns(record)
    parts = {"spans", "steps"}
    assert [c.name for c in listed] == [f.name for f in dataclasses.fields(record) if f.name not in parts]
    assert all(c.doc for c in listed)
    assert len({c.name.lower() for c in listed}) == len(listed)


def test_required_fields_are_those_of_the_contract() -> None:
    assert {r.__name__: [c.name for c in columns(r) if c.required] for r in (Run, Span, Step, Decision)} == {
        "Run": ["run_id"],
        "Span": ["type"],
        "Step": ["step_id"],
        "Decision": ["run_id", "decision"],
    }


def test_every_decision_has_a_polarity_or_is_left_out() -> None:
    polarity = {decision: is_problem(decision) for decision in DECISIONS}
    assert [d for d, p in polarity.items() if p is None] == ["completed", "unclear"]
    assert [d for d, p in polarity.items() if p is False] == ["approved", "no_problem", "dismissed"]


def test_records_are_values() -> None:
    assert Span(type="tool", name="x") == Span(type="tool", name="x")
    with pytest.raises(dataclasses.FrozenInstanceError):
        Span(type="tool").type = "llm"  # type: ignore[misc]


def test_a_wrong_name_is_answered_with_the_near_ones() -> None:
    assert (
        str(UnknownNameError.of("table", "span", ["spans", "runs"]))
        == "no table is named 'span'. Did you mean 'spans'?"
    )
    assert hint("zzz", [f"name{i:02}" for i in range(20)]).endswith("'name11', ….")
    assert hint("zzz", []) == ""
