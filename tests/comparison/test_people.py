"""The human ceiling: how far people agree who decided the same unit."""

from __future__ import annotations

from typing import Any

import pytest

import check_workbench as cw
from tests.scenario import Scenario


@pytest.fixture
def team(tmp_path) -> Scenario:
    return Scenario(folder=tmp_path)


def decided(team, store, said, *, seen="false"):
    """Load units on which people said `b` (bad) or `g`, one letter a person: ana, ben, cy."""
    team.load(store, [{"run": run, "p": 0.9 if run.startswith("f") else 0.1} for run in said])
    for place, by in enumerate(("ana", "ben", "cy")):
        rows = [
            {"run": run, "bad": letters[place] == "b", "decided_by": by, "seen": seen}
            for run, letters in said.items()
            if len(letters) > place
        ]
        team.decide(store, rows)


SAID = {"p-1": "gg", "p-2": "gg", "p-3": "gb", "p-4": "gg", "f-1": "bb", "f-2": "bb", "f-3": "bg", "f-4": "b"}


def test_units_that_several_decided_blind(store, team):
    decided(team, store, SAID)
    ceiling: Any = cw.compare(team.check, store).ceiling
    assert (ceiling.n, ceiling.people, ceiling.blind, ceiling.unnamed) == (7, 2, True, 0)
    assert ceiling.agreement.raw.value == pytest.approx(5 / 7)
    assert ceiling.agreement.by_class == pytest.approx({"good": 6 / 8, "bad": 4 / 6})
    value, low, high = ceiling.disagreement
    assert value == pytest.approx(2 / 7)
    assert low < 2 / 7 < high
    assert {name: one.n for name, one in ceiling.by_verdict.items()} == {"pass": 4, "fail": 3}
    assert ceiling.by_verdict["pass"].raw.value == 0.75


def test_the_words_say_what_no_check_can_reach(store, team):
    decided(team, store, SAID)
    found = cw.compare(team.check, store)
    for text in (repr(found), found._repr_html_().replace("\N{NO-BREAK SPACE}", " ")):
        assert "disagree in 28.6 % [3.7 %, 71.0 %]" in text
        assert "below half of it, 14.3 %, cannot be reached even by a perfect check" in text
    document = found.to_json()["ceiling"]
    assert (document["n"], document["disagreement"]) == (7, pytest.approx(2 / 7))
    assert document["by_verdict"]["fail"]["n"] == 3


def test_three_people_are_compared_in_pairs(store, team):
    decided(team, store, {"p-1": "ggb", "p-2": "ggg"})
    ceiling: Any = cw.compare(team.check, store).ceiling
    assert (ceiling.n, ceiling.people) == (2, 3)
    assert ceiling.agreement.raw.value == pytest.approx((1 / 3 + 1) / 2)


def test_decisions_in_sight_of_the_verdict_count_only_where_none_is_blind(store, team):
    decided(team, store, SAID, seen="true")
    found = cw.compare(team.check, store)
    assert (found.ceiling.n, found.ceiling.blind) == (7, False)
    assert "they may agree too well" in repr(found)
    decided(team, store, {"p-9": "gg"})
    assert (cw.compare(team.check, store).ceiling.n, cw.compare(team.check, store).ceiling.blind) == (1, True)


def test_one_person_who_decides_twice_is_no_second_person(store, team):
    team.load(store, [{"run": "a", "p": 0.1, "bad": False, "decided_by": "ana", "decided_at": "2026-01-01T00:00:00"}])
    team.decide(store, [{"run": "a", "bad": True, "decided_by": "ana", "decided_at": "2026-01-02T00:00:00"}])
    ceiling: Any = cw.compare(team.check, store).ceiling
    assert (ceiling.n, ceiling.unnamed, ceiling.agreement) == (0, 0, None)


def test_people_without_names_cannot_be_told_apart(store, team):
    team.load(store, [{"run": "a", "p": 0.1, "bad": False, "note": "one"}])
    team.decide(store, [{"run": "a", "bad": True, "note": "two"}])
    found = cw.compare(team.check, store)
    assert (found.ceiling.n, found.ceiling.unnamed) == (0, 1)
    assert "do not tell people apart: 1" in repr(found)


def test_people_who_never_disagree_put_nothing_out_of_reach(store, team):
    decided(team, store, {"p-1": "gg", "f-1": "bb"})
    assert "no two people disagree; in truth up to 84.2 % may" in repr(cw.compare(team.check, store))
