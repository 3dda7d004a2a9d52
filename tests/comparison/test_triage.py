"""Triage: what is recorded, what counts, what it shows before and after, and what it never changes."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pandas as pd
import pytest

import check_workbench as cw
from check_workbench.errors import InputError, StoreError, UnknownNameError
from tests.scenario import Scenario


@pytest.fixture
def team(tmp_path) -> Scenario:
    return Scenario(folder=tmp_path)


def units(n: int = 40) -> list[dict[str, Any]]:
    """Return blind units: of the passed half four are bad, of the failed half two are good."""
    found = []
    for place in range(n):
        failed = place >= n // 2
        bad = failed != (place in {0, 1, 2, 3, n - 1, n - 2})
        found.append({"run": f"r-{place:02d}", "p": 0.9 if failed else 0.1, "bad": bad, "decided_by": "ana"})
    return found


@pytest.fixture
def found(store, team):
    team.load(store, units())
    return cw.compare(team.check, store)


@pytest.fixture(scope="module")
def untouched(tmp_path_factory):
    team = Scenario(folder=tmp_path_factory.mktemp("team"))
    with cw.open() as store:
        team.load(store, units())
        yield cw.compare(team.check, store)


def history(store):
    rows = store.sql("select entry, run_id, cause, triaged_by, note from triage order by entry")
    return [tuple(None if pd.isna(v) else v for v in row) for row in rows.itertuples(index=False, name=None)]


def test_what_is_said_is_recorded_and_shown(store, found):
    after = found.triage("r-00", "check_wrong", by="kim", note="It never looked.")
    assert history(store) == [(1, "r-00", "check_wrong", "kim", "It never looked.")]
    entry = after.disagreements[0]["triage"]
    assert (entry["cause"], entry["by"], entry["note"], entry["times"]) == ("check_wrong", "kim", "It never looked.", 1)
    assert found.disagreements[0]["triage"] is None
    assert "triage of 6 disagreements: 1 check wrong, 0 person wrong, 0 evidence missing" in repr(after)
    assert "triaged: check wrong" in repr(after)
    assert "check wrong, by kim: It never looked." in after._repr_html_()


def test_agreement_before_and_after(found):
    after = found.triage(
        {"r-00": "person_wrong", "r-01": "evidence_missing", "r-02": "check_wrong", "r-38": "person_wrong"}, by="kim"
    )
    before, then = after.triaged.before.blind.agreement, after.triaged.after.blind.agreement
    assert (before.n, before.raw.value) == (40, 34 / 40)
    assert (then.n, then.raw.value) == (39, 36 / 39)
    document = after.to_json()["triage"]
    assert document["counts"] == {"check_wrong": 1, "person_wrong": 2, "evidence_missing": 1}
    first, last = document["before"]["blind"], document["after"]["blind"]
    assert (first["bad_passed"]["k"], last["bad_passed"]["k"]) == (4, 2)
    assert (first["bad_passed"]["n"], last["bad_passed"]["n"]) == (20, 19)
    assert (first["good_failed"]["k"], last["good_failed"]["k"]) == (2, 1)
    assert "blind, before: 40 units, 22 bad (55.0 %), 0 unsure, agreement 0.850" in repr(after)
    assert "AC1 0.70 [0.40, 0.89], bad among passed 4 of 20, good work failed 2 of 18" in repr(after)
    assert "triage of 6 disagreements: 1 check wrong, 2 person wrong, 1 evidence missing, 2 open" in repr(after)
    assert "Triage changes no label" in repr(after)
    assert "Triage changes no label" in after._repr_html_()


def test_several_at_once_as_names_causes_or_a_table(store, found):
    found.triage(["r-00", "r-01"], "check_wrong", by="kim", note="same")
    causes = ["person_wrong", "check_wrong"]
    found.triage(pd.DataFrame({"unit": ["r-02", "r-03"], "cause": causes, "note": ["x", None]}), by="lee")
    assert [row[1:] for row in history(store)] == [
        ("r-00", "check_wrong", "kim", "same"),
        ("r-01", "check_wrong", "kim", "same"),
        ("r-02", "person_wrong", "lee", "x"),
        ("r-03", "check_wrong", "lee", None),
    ]


def test_the_last_word_counts_and_the_history_stays(store, team, found):
    found.triage("r-00", "check_wrong", by="kim")
    found.triage("r-00", "person_wrong", by="lee")
    found.triage("r-00", "person_wrong", by="lee")
    entry = cw.compare(team.check, store).triaged.entries["r-00"]
    assert (entry.cause, entry.by, entry.times) == ("person_wrong", "lee", 2)
    assert [row[2] for row in history(store)] == ["check_wrong", "person_wrong"]


def test_what_was_said_can_be_taken_back(store, team, found):
    after = found.triage(["r-00", "r-01"], "person_wrong", by="kim").untriage("r-00", by="kim", note="mixed up")
    assert set(after.triaged.entries) == {"r-01"}
    assert set(cw.compare(team.check, store).triaged.entries) == {"r-01"}
    assert history(store)[-1] == (3, "r-00", None, "kim", "mixed up")
    assert after.untriage(["r-01"], by="kim").triaged.entries == {}


def test_it_survives_the_store(tmp_path, team):
    path = tmp_path / "s.duckdb"
    with cw.open(path) as store:
        team.load(store, units())
        cw.compare(team.check, store).triage("r-00", "person_wrong", by="kim")
    with cw.open(path, read_only=True) as store:
        again = cw.compare(team.check, store)
        assert again.triaged.entries["r-00"].by == "kim"
        with pytest.raises(StoreError, match="read only"):
            again.triage("r-01", "person_wrong", by="kim")
        store_bytes = repr(again)
    with cw.open(path, read_only=True) as store:
        assert repr(cw.compare(team.check, store)) == store_bytes
    with cw.open() as merged:
        assert merged.merge(path).triage == 1
        assert cw.compare(team.check, merged).triaged.entries["r-00"].cause == "person_wrong"


def test_another_text_of_the_check_makes_it_stale(store, team, found):
    found.triage("r-00", "person_wrong", by="kim")
    team.write(0.5, ask="Did the agent fail badly?")
    store.sql("update answers set ask = null, asked = null")
    changed = cw.compare(team.check, store)
    assert (changed.triaged.entries, changed.triaged.stale) == ({}, {"other_text": 1})
    assert "1 not counted: triaged under another text of the check" in repr(changed)
    assert "another text of the check" in changed._repr_html_()
    again = changed.triage("r-00", "check_wrong", by="kim")
    assert (again.triaged.entries["r-00"].cause, again.triaged.stale) == ("check_wrong", {})
    team.write(0.5)
    assert cw.compare(team.check, store).triaged.entries["r-00"].cause == "person_wrong"


def test_a_moved_cut_keeps_it(store, team, found):
    found.triage(["r-00", "r-39"], "person_wrong", by="kim")
    team.write(0.05)
    moved = cw.compare(team.check, store)
    assert set(moved.triaged.entries) == {"r-00", "r-39"}
    assert "r-00" not in {one["unit"] for one in moved.disagreements}
    gone = {"r-00", "r-39"} - {one["unit"] for one in moved.disagreements}
    assert moved.to_json()["triage"]["settled"] == len(gone) == 1
    assert "; 1 more that is no disagreement now" in repr(moved)
    assert "; 1 more that is no disagreement now" in moved._repr_html_()
    assert moved.untriage("r-00", by="kim").triaged.entries.keys() == {"r-39"}


def test_other_decisions_on_the_unit_make_it_stale(store, team, found):
    found.triage("r-00", "person_wrong", by="kim")
    team.decide(store, [{"run": "r-00", "bad": True, "decided_by": "ben"}])
    changed = cw.compare(team.check, store)
    assert (changed.triaged.entries, changed.triaged.stale) == ({}, {"other_decisions": 1})


def test_a_unit_that_is_not_compared_any_more(store, team, found):
    found.triage("r-00", "person_wrong", by="kim")
    store.sql("delete from answers where run_id = 'r-00'")
    assert cw.compare(team.check, store).triaged.stale == {"not_compared": 1}


def test_it_changes_no_label_that_trust_counts(store, team, found):
    plan = cw.plan(change="enforce", max_false_fail=0.2, confidence=0.9)
    before = cw.trust(team.check, store, plan=plan).to_json()
    found.triage([one["unit"] for one in found.disagreements], "person_wrong", by="kim")
    assert cw.trust(team.check, store, plan=plan).to_json() == before
    again = cw.compare(team.check, store)
    assert (again.sides.blind, again.switched, again.counts) == (found.sides.blind, found.switched, found.counts)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (("r-000", "check_wrong", "kim"), UnknownNameError, "no disagreement is named 'r-000'. Did you mean 'r-00'"),
        (("r-10", "check_wrong", "kim"), InputError, "'r-10' is no disagreement: .* pass, people say it is good"),
        (("r-00", "chek_wrong", "kim"), InputError, "got 'chek_wrong'. Did you mean 'check_wrong'"),
        (("r-00", None, "kim"), InputError, "cause must be one of"),
        (("r-00", "check_wrong", " "), InputError, "by must name who"),
        (("r-00", "check_wrong", None), InputError, "by must name who"),
        ((["r-00", "nobody"], "check_wrong", "kim"), UnknownNameError, "no disagreement is named 'nobody'"),
        (({"r-00": "check_wrong"}, "person_wrong", "kim"), InputError, "none may be given for all"),
        (({"r-00": float("nan")}, None, "kim"), InputError, "cause must be one of"),
        (([7], "check_wrong", "kim"), InputError, "unit must be text, got int"),
        ((7, "check_wrong", "kim"), InputError, "units must be names"),
        ((pd.DataFrame({"unit": ["r-00"]}), None, "kim"), InputError, "cause missing"),
        ((pd.DataFrame({"unit": ["r-00"], "cause": [None]}), None, "kim"), InputError, "cause must be one of"),
    ],
)
def test_what_cannot_be_recorded_is_refused_whole(untouched, given, error, words):
    units_, cause, by = given
    with pytest.raises(error, match=words):
        untouched.triage(units_, cause, by=by)
    assert history(untouched.store) == []


WRITE = """
import sys
import check_workbench as cw
path, check, who, *names = sys.argv[1:]
with cw.open(path) as store:
    found = cw.compare(check, store)
    for name in names:
        found = found.triage(name, "check_wrong", by=who)
"""


def test_two_processes_write_at_once(tmp_path, team):
    path = tmp_path / "s.duckdb"
    with cw.open(path) as store:
        team.load(store, units())
    given = {"kim": ["r-00", "r-01", "r-02"], "lee": ["r-03", "r-38", "r-39"]}
    children = [
        subprocess.Popen([sys.executable, "-c", WRITE, path, team.check, who, *names]) for who, names in given.items()
    ]
    assert [child.wait(timeout=120) for child in children] == [0, 0]
    with cw.open(path) as store:
        assert [row[0] for row in history(store)] == [1, 2, 3, 4, 5, 6]
        entries = cw.compare(team.check, store).triaged.entries
        assert {who: sorted(u for u, e in entries.items() if e.by == who) for who in given} == given


def test_work_that_came_again_with_more_in_it_makes_it_stale(tmp_path, store, team, found):
    found.triage(["r-00", "r-01"], "evidence_missing", by="kim")
    team.load(store, [{**units()[0], "length": 3, "p": 0.11}])
    changed = cw.compare(team.check, store)
    assert (set(changed.triaged.entries), changed.triaged.stale) == ({"r-01"}, {"other_work": 1})
    assert "1 not counted: triaged when less of the work, or other work, was recorded" in repr(changed)
    again = changed.triage("r-00", "evidence_missing", by="kim")
    assert (set(again.triaged.entries), again.triaged.stale) == ({"r-00", "r-01"}, {})
    assert len(history(store)) == 3
    store.export(tmp_path / "out")
    with cw.open() as merged:
        merged.merge(tmp_path / "out")
        assert set(cw.compare(team.check, merged).triaged.entries) == {"r-00", "r-01"}


def test_an_entry_of_an_older_store_counts_whatever_the_work_was(store, team, found):
    found.triage("r-00", "person_wrong", by="kim")
    store.sql("update triage set run_digest = null")
    assert set(cw.compare(team.check, store).triaged.entries) == {"r-00"}
