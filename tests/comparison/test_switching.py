"""Had we switched six weeks ago: which decisions are counted, and what is linked."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pandas as pd
import pytest

import check_workbench as cw
from check_workbench.errors import InputError
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
    assert (lately["of"], lately["unattended"]["k"], lately["unsure"]["k"]) == (4, 4, 0)
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


@pytest.mark.parametrize("since", ["0001-01-01T00:00:00+02:00", "9999-12-31T23:59:59-05:00", pd.NaT])
def test_a_date_that_is_none_is_refused(store, team, since):
    with pytest.raises(InputError, match="since must be a date"):
        cw.compare(team.check, store, since=since)


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


def test_a_period_with_other_decisions_is_told_although_it_has_as_many(store, team):
    team.load(store, [unit("old", "2026-01-01"), unit("new", "2026-04-01", bad=True, seen="true")])
    found = cw.compare(team.check, store)
    assert [(row["blind"], row["of"]) for row in found.switched] == [(False, 1)] * 2 + [(True, 1)] * 2
    assert repr(found).count("had we switched") == 2


def test_work_is_as_old_as_its_run_whenever_somebody_looked_at_it(store, team):
    """A sheet of December on runs of the whole year says nothing of six weeks, but of the runs that are as young."""
    rows = [unit(f"r-{m:02d}", "2026-12-20", started_at=f"2026-{m:02d}-01T00:00:00Z") for m in range(1, 13)]
    team.load(store, rows)
    lately, _, ever, _ = cw.compare(team.check, store).switched
    assert (lately["since"], lately["of"], ever["of"]) == ("2026-10-20T00:00:00", 2, 12)
    assert (lately["until"], lately["dated_by_decision"]) == ("2026-12-01T00:00:00", 0)


def test_work_without_a_time_is_as_old_as_its_decision(store, team):
    team.load(store, [unit("a", "2026-12-20", started_at="2026-12-01T00:00:00Z"), unit("b", "2026-12-20")])
    found = cw.compare(team.check, store)
    assert [(row["of"], row["dated_by_decision"]) for row in found.switched] == [(2, 1)] * 4
    assert "up to 2026-12-20, 1 dated by the decision, since the run has no time:" in repr(found)


def test_verdicts_that_came_after_the_decision_are_counted(store, team):
    team.load(store, UNITS[:4])
    store.sql("""update answers set "at" = '2026-01-15' where run_id <> 'old-bad'""")
    row = keyed(cw.compare(team.check, store))[False, "enforce"]
    assert (row["of"], row["later"]) == (4, 1)
    assert "1 judged by the check after the decision" in repr(cw.compare(team.check, store))


def test_what_an_enforced_check_that_replaces_the_approval_leaves_to_people_is_what_it_is_unsure_of(store, team):
    team.load(store, UNITS)
    rows = keyed(cw.compare(team.check, store))
    for recent, passed in ((True, 2), (False, 5)):
        enforce, replace = rows[recent, "enforce"], rows[recent, "replace_approval"]
        assert replace["unattended"]["k"] == replace["of"] - replace["unsure"]["k"]
        assert enforce["unattended"]["k"] == replace["unattended"]["k"] - passed


def test_each_bad_one_is_linked_to_its_disagreement(store, team):
    team.load(store, UNITS)
    page = cw.compare(team.check, store)._repr_html_()
    for name in ("edge", "old-bad", "undated", "good-failed"):
        anchor = page.split(f'">{name}</a>')[0].rsplit('<a href="#', 1)[1]
        place = page.index(f'<div id="{anchor}" ')
        assert f"<dt>run</dt><dd>{name}</dd>" in page[place : place + 200]
