"""Had we switched six weeks ago: which decisions are counted, and what is linked."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

import check_workbench as cw
from tests.scenario import Scenario


@pytest.fixture
def team(tmp_path) -> Scenario:
    return Scenario(folder=tmp_path)


def unit(name: str, day: str | None, *, p: float = 0.1, bad: bool = False, **more: Any) -> dict[str, Any]:
    return {"run": name, "p": p, "bad": bad, **({"decided_at": f"{day}T10:00:00"} if day else {}), **more}


UNITS = [
    unit("old-pass", "2026-01-01"),
    unit("old-bad", "2026-01-02", bad=True),
    unit("edge", "2026-02-02", bad=True),  # six weeks before the latest, to the second
    unit("good-failed", "2026-02-20", p=0.9),
    unit("bad-failed", "2026-03-01", p=0.9, bad=True),
    unit("latest", "2026-03-16"),
    unit("undated", None, bad=True),
]


def keyed(found: Any) -> dict[tuple[bool, str], dict[str, Any]]:
    return {(row["since"] is not None, row["change"]): row for row in found.switched}


def test_six_weeks_before_the_latest_decision_and_everything(store, team):
    team.load(store, UNITS)
    rows = keyed(cw.compare(team.check, store))
    assert list(rows) == [(recent, change) for recent in (True, False) for change in ("enforce", "replace_approval")]
    lately, ever = rows[True, "replace_approval"], rows[False, "replace_approval"]
    assert (lately["since"], lately["until"]) == ("2026-02-02T10:00:00", "2026-03-16T10:00:00")
    assert (lately["of"], lately["unattended"]["k"]) == (4, 2)
    assert (lately["bad_passed"]["k"], lately["bad_passed"]["n"], lately["bad_passed"]["units"]) == (1, 2, ["edge"])
    assert (lately["good_bounced"]["k"], lately["good_bounced"]["units"]) == (1, ["good-failed"])
    assert (ever["of"], ever["bad_passed"]["units"]) == (7, ["edge", "old-bad", "undated"])
    assert lately["bad_passed"]["low"] < 0.5 < lately["bad_passed"]["high"]


def test_an_enforced_check_leaves_what_passes_to_the_approver(store, team):
    team.load(store, UNITS)
    enforce = keyed(cw.compare(team.check, store))[False, "enforce"]
    assert (enforce["unattended"]["k"], enforce["unattended"]["n"]) == (2, 7)
    assert (enforce["bad_passed"]["k"], enforce["bad_passed"]["n"], enforce["bad_passed"]["units"]) == (0, 0, [])
    assert enforce["good_bounced"]["units"] == ["good-failed"]


@pytest.mark.parametrize(
    "since",
    ["2026-03-01", date(2026, 3, 1), datetime(2026, 3, 1, tzinfo=UTC), "2026-03-01T02:00:00+02:00"],
)
def test_another_date(store, team, since):
    team.load(store, UNITS)
    rows = keyed(cw.compare(team.check, store, since=since))
    assert (rows[True, "enforce"]["since"], rows[True, "enforce"]["of"]) == ("2026-03-01T00:00:00", 2)
    assert rows[False, "enforce"]["of"] == 7


def test_a_date_after_all_decisions_counts_nothing(store, team):
    team.load(store, UNITS)
    row = keyed(cw.compare(team.check, store, since="2027-01-01"))[True, "replace_approval"]
    assert (row["of"], row["until"], row["bad_passed"]["share"]) == (0, None, None)


def test_without_times_there_is_only_everything(store, team):
    team.load(store, [unit("a", None), unit("b", None, bad=True)])
    found = cw.compare(team.check, store)
    assert [(row["since"], row["of"]) for row in found.switched] == [(None, 2), (None, 2)]
    assert "had we switched from the first, over all 2 blind first submissions:" in repr(found)


def test_blind_decisions_alone_count_where_there_are_any_else_it_says_what_the_others_do(store, team):
    seen = [{**one, "seen": "true"} for one in UNITS]
    team.load(store, seen)
    found = cw.compare(team.check, store)
    assert {row["blind"] for row in found.switched} == {False}
    assert "such decisions flatter the check" in repr(found)
    assert "such decisions flatter the check" in found._repr_html_()
    team.load(store, [unit("blind", "2026-03-10")])
    found = cw.compare(team.check, store)
    assert [(row["blind"], row["of"]) for row in found.switched] == [(True, 1)] * 4
    assert "flatter" not in repr(found)


def test_everything_is_not_told_twice_where_all_of_it_is_recent(store, team):
    team.load(store, UNITS[3:6])
    found = cw.compare(team.check, store)
    assert len(found.switched) == 4
    assert repr(found).count("had we switched") == 1


def test_each_bad_one_is_linked_to_its_disagreement(store, team):
    team.load(store, UNITS)
    page = cw.compare(team.check, store)._repr_html_()
    for name in ("edge", "old-bad", "undated", "good-failed"):
        anchor = page.split(f'">{name}</a>')[0].rsplit('<a href="#', 1)[1]
        place = page.index(f'<div id="{anchor}" ')
        assert f"<dt>run</dt><dd>{name}</dd>" in page[place : place + 200]
