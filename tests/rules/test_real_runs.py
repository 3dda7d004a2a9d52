"""Real runs: known numbers, and queries agree with the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from check_workbench import rules
from check_workbench.checks import Count, Errors, Repeat, RequiresBefore, Rule, Selector, UnrecoveredError
from tests import reference_rules
from tests.rules.battery import TOOLS, assert_agree, every_type, rows

if TYPE_CHECKING:
    from check_workbench.store import Store

NAMES = {"airline": ("get_reservation_details", "cancel_reservation"), "dojo": ("get_balance", "send_money")}


def values(store: Store, rule: Rule) -> list[float]:
    measured = rules.measure(rule, store.table("spans"), store.table("runs"))
    return [float(value) for value in store.execute(measured)["value"]]


def at_least(store: Store, rule: Rule, cut: float) -> int:
    return sum(value >= cut for value in values(store, rule))


def tools_left_failed(store: Store) -> tuple[int, int]:
    rule = UnrecoveredError(span=TOOLS)
    left = store.execute(rules.left_failed(rule, store.table("spans")))
    with store.hold() as cursor:
        slow = sum(reference_rules.without_words_check(rule, spans) > 0 for _, spans in rows(cursor).values())
    return left["run_key"].nunique(), slow


def test_airline_numbers(airline: Store) -> None:
    unread = RequiresBefore(
        span=Selector(types=("tool",), names=("cancel_reservation",)),
        requires=Selector(types=("tool",), names=("get_reservation_details",)),
    )
    assert len(values(airline, Count())) == 150
    assert sum(values(airline, Count(span=TOOLS))) == 862
    failed = airline.sql("select count(*) as n from spans where failed and type in ('tool', 'mcp_tool')")
    assert failed["n"].tolist() == [54]
    assert at_least(airline, Repeat(span=TOOLS), 3) == 4
    assert tools_left_failed(airline) == (7, 7)
    assert at_least(airline, unread, 1) == 1


def test_dojo_numbers(dojo: Store) -> None:
    assert len(values(dojo, Count())) == 1569
    assert sum(values(dojo, Count(span=TOOLS))) == 6175
    failed = dojo.sql("select count(*) as n from spans where failed and type in ('tool', 'mcp_tool')")
    assert failed["n"].tolist() == [579]
    assert at_least(dojo, Errors(span=TOOLS), 3) == 17
    assert tools_left_failed(dojo) == (232, 232)


@pytest.mark.parametrize("name", ["airline", "dojo"])
def test_queries_and_reference_agree_on_real_runs(name: str, request: pytest.FixtureRequest) -> None:
    store: Store = request.getfixturevalue(name)
    with store.hold() as cursor:
        recorded = rows(cursor)
        required, requiring = NAMES[name]
        battery = every_type(required=required, requiring=requiring)
        assert {type(rule) for rule, _ in battery[::2]} == set(rules.TYPES)
        for rule, at in battery[::2]:
            assert_agree(cursor, rule, at, recorded)
