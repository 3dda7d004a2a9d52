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
        assert "half of it, 14.3 % [1.8 %, 35.5 %], counts as error even of a perfect check" in text
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


def both_kinds(team, store):
    """Load units on which ana and ben spoke of the check, and cy, dee and ana of the work."""
    rows = [{"run": f"r-{i}", "p": 0.1} for i in range(4)]
    team.load(store, rows)
    work = {"check_id": "", "seen": "false"}
    for by, bad in (("ana", False), ("ben", False)):
        team.decide(store, [{"run": f"r-{i}", "bad": bad, "decided_by": by} for i in range(3)])
    for by in ("cy", "dee", "ana"):
        said = [{"run": f"r-{i}", "bad": True, "decision": "rejected", "decided_by": by, **work} for i in range(2)]
        team.decide(store, said)


def test_what_people_say_of_the_check_and_of_the_work_is_never_compared(store, team):
    both_kinds(team, store)
    found = cw.compare(team.check, store, labels="work")
    ceiling: Any = found.ceiling
    assert (ceiling.about, ceiling.n, ceiling.people, ceiling.agreement.raw.value) == ("check", 3, 2, 1.0)
    assert (ceiling.other.about, ceiling.other.n, ceiling.other.people) == ("work", 2, 3)
    assert ceiling.other.agreement.raw.value == 1.0
    assert "apart from it, since it is another question: 2 units decided on the work blind" in repr(found)
    assert found.to_json()["ceiling"]["other"]["about"] == "work"
    assert cw.compare(team.check, store).ceiling.other is None


def test_nobody_vanishes_who_called_the_work_bad_and_the_check_clean(store, team):
    both_kinds(team, store)
    found = cw.compare(team.check, store, labels="work")
    groups = {row["group"]: (row["n"], row["agreement"]["k"]) for row in found.groups if row["by"] == "approver"}
    assert groups == {
        "ana, of the check": (3, 3), "ana, of the work": (2, 0), "ben, of the check": (3, 3),
        "cy, of the work": (2, 0), "dee, of the work": (2, 0),
    }  # fmt: skip
    assert found.frame["about"].tolist() == ["check+work", "check+work", "check"]
    assert "of 3 labels people speak in 1 of the check, 2 of both, which vote together" in repr(found)


def test_names_differ_by_more_than_case_and_spaces(store, team):
    team.load(store, [{"run": "a", "p": 0.1, "bad": False, "decided_by": "Ana"}])
    work = {"check_id": "", "decision": "approved", "decided_by": " ana "}
    team.decide(store, [{"run": "a", "bad": False, **work}])
    found = cw.compare(team.check, store, labels="work")
    assert (found.ceiling.n, found.ceiling.other, found.ceiling.unnamed) == (0, None, 0)


def test_one_who_said_both_in_no_order_is_counted(store, team):
    team.load(store, [{"run": "a", "p": 0.1}])
    said = [{"run": "a", "bad": bad, "decided_by": "ana"} for bad in (True, False)]
    team.decide(store, [*said, {"run": "a", "bad": True, "decided_by": "ben"}])
    found = cw.compare(team.check, store)
    assert (found.ceiling.n, found.ceiling.torn) == (0, 1)
    assert "since one person said both good and bad, in no order: 1" in repr(found)


def test_people_who_spoke_of_different_findings_did_not_speak_of_the_same(store, team):
    team.load(store, [{"run": "a", "p": 0.9, "length": 2}])
    spans = store.sql("select span_id from spans order by seq")["span_id"]
    rows = ["run_id,check_id,decision,span_id,decided_by"]
    said = (("confirmed", 0, "ana"), ("dismissed", 1, "ben"), ("dismissed", 0, "cy"))
    rows += [f"a,failed,{decision},{spans[place]},{by}" for decision, place, by in said]
    path = team.folder / "findings.csv"
    path.write_text("\n".join(rows), encoding="utf-8")
    store.load_decisions(path)
    ceiling: Any = cw.compare(team.check, store).ceiling
    assert (ceiling.n, ceiling.people, ceiling.agreement.raw.value) == (1, 2, 0.0)


def test_people_beside_a_check_that_has_no_verdict(store, team):
    decided(team, store, SAID)
    store.sql("delete from answers")
    found = cw.compare(team.check, store)
    assert (found.n, found.ceiling.n, found.ceiling.by_verdict) == (0, 7, {})
    assert "two people disagree in 28.6 %" in repr(found)
    assert "by the check's verdict" not in repr(found)
