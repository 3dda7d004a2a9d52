from __future__ import annotations

import pytest

import check_workbench as cw
from check_workbench.stats.monitor import certifying
from tests.scenario import uniform

PLAN = cw.plan(change="replace_approval", max_false_pass=0.10)


def good(score: float) -> float:
    return 0.01 if score < 0.6 else 0.9


def test_the_same_call_repeats_the_recorded_result_and_is_no_look(store, team):
    team.load(store, uniform(120, labelled=60, risk=good))
    first = cw.trust(team.check, store, plan=PLAN)
    again = cw.trust(team.check, store, plan=PLAN)
    assert again.full_json() == first.full_json()
    assert (first[0].repeated, again[0].repeated) == (False, True)
    assert len(store.sql("select * from looks where call = 'trust'")) == 1


def test_later_looks_are_one_bet_whichever_plan_they_bring(store, team):
    units = [u for u in uniform(500, labelled=500, risk=lambda _: 0.0) if u["p"] < 0.5]
    stamped = [
        {**u, "decided_at": f"2026-10-01T10:{place // 60:02d}:{place % 60:02d}"} for place, u in enumerate(units)
    ]
    team.load(store, stamped[:10])
    assert cw.trust(team.check, store, plan=PLAN)[0].details["look"] == 1
    needed = certifying([False] * 200, alpha=0.12, delta=0.02).reached
    assert needed is not None
    team.load(store, stamped[10 : needed - 1])
    looser = cw.plan(change="replace_approval", max_false_pass=0.12)
    second = cw.trust(team.check, store, plan=looser)
    assert (second.outcome, second[0].details["look"]) == ("need_labels", 2)
    assert second[0].details["bounds"][0]["way"] == "sequential"
    team.load(store, stamped[needed - 1 : needed])
    third = cw.trust(team.check, store, plan=looser)
    assert (third.outcome, third[0].details["look"]) == ("ready", 3)
    assert third.bound == pytest.approx(0.12, abs=0.003)


def test_each_change_has_its_own_looks(store, team):
    team.load(store, uniform(300, labelled=200, risk=good))
    cw.trust(team.check, store, plan=PLAN)
    enforce = cw.trust(team.check, store, plan=cw.plan(change="enforce", max_false_fail=0.2))
    assert enforce[0].details["look"] == 1


def test_a_cut_chosen_on_the_labels_is_decided_by_the_walk(store, team):
    """Calibrate, apply, then trust on the same labels: the file's own cut owes its value to them."""
    team.write(0.9)
    team.load(store, uniform(900, labelled=400, risk=good))
    cal = cw.calibrate(team.check, store, goal="recall>=0.9")
    assert cal.apply() == (str(team.check),)
    cert = cw.trust(team.check, store, plan=PLAN)
    assert cert[0].details["bounds"][0]["way"] == "walk"
    assert cert.outcome == "ready"
    assert cert.coverage >= 0.4
    diff = cert.patch()
    assert diff.count("\n+flag_at:") == 1
    number = float(diff.split("\n+flag_at: ")[1].split(" #")[0])
    assert number == cert[0].changes()[0].value
    assert any("the patch writes it" in reason for reason in cert.reasons)


def test_the_patched_file_has_the_certificate(store, team):
    team.write(0.9)
    team.load(store, uniform(900, labelled=400, risk=good))
    cw.calibrate(team.check, store, goal="recall>=0.9").apply()
    cert = cw.trust(team.check, store, plan=PLAN)
    number = cert[0].changes()[0].value
    team.write(number)
    again = cw.trust(team.check, store, plan=PLAN)
    assert again[0].repeated
    assert again.to_json() == cert.to_json()
    flagged = {row.run: row.status for row in cw.evaluate(team.check, store).verdicts.itertuples()}
    share = sum(status == "pass" for status in flagged.values()) / 900
    assert share == pytest.approx(cert.coverage)


def test_a_look_at_a_cut_that_stays_leaves_it_fixed(store, team):
    team.load(store, uniform(400, labelled=200, risk=good))
    cw.calibrate(team.check, store)
    cw.compare(team.check, store)
    cert = cw.trust(team.check, store, plan=PLAN)
    assert cert[0].details["bounds"][0]["way"] == "own"
    assert cert.outcome == "ready"


def test_a_number_that_goes_away_and_comes_back_was_chosen(store, team):
    team.load(store, uniform(400, labelled=200, risk=good))
    cw.calibrate(team.check, store)
    team.write(0.7)
    cw.calibrate(team.check, store)
    team.write(0.5)
    cert = cw.trust(team.check, store, plan=PLAN)
    assert cert[0].details["bounds"][0]["way"] == "walk"


def test_a_flag_that_changes_leaves_the_cut_fixed(store, team):
    team.load(store, uniform(400, labelled=200, risk=good))
    cw.calibrate(team.check, store)
    text = team.check.read_text(encoding="utf-8")
    team.check.write_text(text + "applies_to:\n  workflow: web\n", encoding="utf-8")
    cw.calibrate(team.check, store)
    team.check.write_text(text, encoding="utf-8")
    assert cw.trust(team.check, store, plan=PLAN)[0].details["bounds"][0]["way"] == "own"


def test_labels_made_after_the_cut_was_chosen_are_fresh(store, team):
    team.load(store, uniform(300, labelled=100, risk=good))
    cw.calibrate(team.check, store)
    team.write(0.55)
    cw.calibrate(team.check, store)
    fresh = uniform(200, labelled=150, risk=good, seed=5, prefix="s")
    team.load(store, fresh)
    cert = cw.trust(team.check, store, plan=PLAN)
    inside = [u for u in fresh if u["bad"] is not None and u["p"] < 0.55]
    assert cert[0].details["bounds"][0]["way"] == "own"
    assert (cert.n, cert.errors) == (len(inside), sum(u["bad"] for u in inside))


def test_with_few_distinct_scores_only_the_own_cut_is_tested(store, team):
    units = [{**u, "p": 0.1 if u["p"] < 0.6 else 1.0} for u in uniform(400, labelled=200, risk=good)]
    team.load(store, units)
    cw.calibrate(team.check, store)
    team.write(0.8)
    cert = cw.trust(team.check, store, plan=PLAN)
    assert cert[0].details["bounds"][0]["way"] == "own"
    assert (cert.outcome, cert.n) == ("need_labels", 0)


def test_a_looser_cut_is_a_proposal_that_decides_nothing(store, team):
    team.write(0.3)
    team.load(store, uniform(900, labelled=500, risk=good))
    cert = cw.trust(team.check, store, plan=PLAN)
    assert cert.outcome == "ready"
    assert cert.patch() == ""
    assert any("looser cut" in reason for reason in cert.reasons)


def test_a_store_that_is_open_to_read_only_says_that_it_keeps_no_look(team, tmp_path):
    path = tmp_path / "s.duckdb"
    with cw.open(path) as store:
        team.load(store, uniform(60, labelled=40, risk=good))
        cw.evaluate(team.check, store)
    with cw.open(path, read_only=True) as store:
        cert = cw.trust(team.check, store, plan=PLAN)
        cal = cw.calibrate(team.check, store)
    assert "read only" in cert.reasons[-1]
    assert "read only" in cal.notes[-1]
