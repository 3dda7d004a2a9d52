"""What counts as fixed beforehand, also when checks are renamed, reworded, or changed back and forth."""

from __future__ import annotations

import json
import os
import time

import check_workbench as cw
from tests.scenario import uniform

PLAN = cw.plan(change="replace_approval", max_false_pass=0.10, labels="work")


def good(score: float) -> float:
    return 0.01 if score < 0.6 else 0.9


def work(units):
    """Let every decision be about the work, not about a check."""
    return [{**unit, "check_id": "", "decision": "rejected" if unit["bad"] else "approved"} for unit in units]


def written_before(path, seconds=60.0) -> None:
    moment = time.time() - seconds
    os.utime(path, (moment, moment))


def answered(team, store, units, check: str) -> None:
    path = team.folder / f"{check}.answers.jsonl"
    told = [{"run_id": u["run"], "check_id": check, "probability": u["p"], "model": "judge-1"} for u in units]
    path.write_text("".join(json.dumps(one) + "\n" for one in told), encoding="utf-8")
    store.load_answers(path)


def test_a_cut_that_comes_back_after_labels_were_read_at_another_was_chosen(store, team):
    team.load(store, uniform(400, labelled=200, risk=good))
    cw.evaluate(team.check, store)
    team.write(0.7)
    cw.calibrate(team.check, store)
    team.write(0.5)
    cert = cw.trust(team.check, store, plan=cw.plan(change="replace_approval", max_false_pass=0.10))
    assert cert[0].details["bounds"][0]["way"] == "walk"


def test_a_question_that_comes_back_after_labels_were_read_at_another_is_fit_to_them(store, team):
    team.load(store, uniform(400, labelled=200, risk=good))
    cw.evaluate(team.check, store)
    team.write(0.5, ask="Did the agent fail badly?")
    cw.compare(team.check, store)
    team.write(0.5)
    cert = cw.trust(team.check, store, plan=cw.plan(change="replace_approval", max_false_pass=0.10))
    assert (cert.outcome, cert.excluded) == ("need_labels", {"fit": 200})


def test_a_renamed_check_keeps_its_looks(store, team):
    units = work(uniform(300, labelled=200, risk=good))
    team.load(store, units)
    cw.trust(team.check, store, plan=PLAN)
    renamed = team.folder / "renamed.check.yaml"
    renamed.write_text(team.check.read_text(encoding="utf-8").replace("id: failed", "id: other"), encoding="utf-8")
    assert cw.trust(renamed, store, plan=PLAN)[0].details["look"] == 2


def test_labels_that_another_check_read_are_fit_for_a_question_written_later(store, team):
    units = work(uniform(300, labelled=200, risk=good))
    team.load(store, units)
    answered(team, store, units, "second")
    cw.compare(team.check, store, labels="work")
    reworded = team.folder / "reworded.check.yaml"
    text = team.check.read_text(encoding="utf-8").replace("id: failed", "id: second")
    reworded.write_text(text.replace("Did the agent fail?", "Did it go wrong?"), encoding="utf-8")
    assert cw.trust(reworded, store, plan=PLAN).excluded["fit"] == 200


def test_a_file_that_was_written_before_other_checks_read_the_labels_is_fixed(store, team):
    units = work(uniform(300, labelled=200, risk=good))
    team.load(store, units)
    answered(team, store, units, "second")
    second = team.folder / "second.check.yaml"
    second.write_text(team.check.read_text(encoding="utf-8").replace("id: failed", "id: second"), encoding="utf-8")
    written_before(second)
    cw.compare(team.check, store, labels="work")
    cert = cw.trust(second, store, plan=PLAN)
    assert (cert.outcome, cert.excluded) == ("ready", {})
    assert any("stand in for" in reason for reason in cert.reasons)


def test_all_work_labelled_still_gives_cuts(store, team):
    """Approvers decide on everything: then all scores make the cuts, and a label at a cut does not count there."""
    team.load(store, uniform(400, labelled=400, risk=good))
    cw.calibrate(team.check, store)
    team.write(0.55)
    cert = cw.trust(team.check, store, plan=cw.plan(change="replace_approval", max_false_pass=0.10))
    assert cert[0].details["bounds"][0]["way"] == "walk"
    assert cert.outcome == "ready"


def test_two_bounds_that_need_different_numbers_are_not_ready(store, team):
    team.load(store, uniform(900, labelled=500, risk=lambda s: 0.02 if s < 0.5 else 0.98))
    cw.calibrate(team.check, store)
    team.write(0.52)
    both = cw.plan(change="enforce", max_false_fail=0.20, max_false_pass=0.20)
    cert = cw.trust(team.check, store, plan=both)
    assert {b["way"] for b in cert[0].details["bounds"]} == {"walk"}
    assert all(b["certified"] for b in cert[0].details["bounds"])
    assert (cert.outcome, cert.labels_needed, cert.patch()) == ("need_labels", None, "")
    assert any("a file can have only one" in reason for reason in cert.reasons)


def test_bets_begin_with_what_the_bets_on_another_cut_left(store, team):
    plan = cw.plan(change="replace_approval", max_false_pass=0.10)
    always = uniform(900, labelled=900, risk=lambda _: 0.3, seed=1)
    team.load(store, always[:30])
    cw.trust(team.check, store, plan=plan)
    team.load(store, always[30:120])
    second = cw.trust(team.check, store, plan=plan)[0].details["bounds"][0]
    assert 0 < second["wealth"] < 1
    team.write(0.6)
    cw.evaluate(team.check, store)
    team.load(store, uniform(60, labelled=60, risk=lambda _: 0.0, prefix="clean"))
    third = cw.trust(team.check, store, plan=plan)[0].details["bounds"][0]
    clean = third["wealth"] / second["wealth"]
    assert clean > 1
    assert (third["errors"], third["certified"]) == (0, False)


def test_only_test_runs_are_unusable_not_too_few(store, team):
    team.load(store, [{**unit, "mode": "test"} for unit in uniform(300, labelled=300, risk=good)])
    cert = cw.trust(team.check, store, plan=cw.plan(change="replace_approval", max_false_pass=0.10))
    assert (cert.outcome, cert.excluded) == ("unusable", {"test_run": 300})
    assert "on a test run" in cert.reasons[0]


def test_words_stand_beside_every_reason(store, team):
    team.load(store, [{**u, "seen": "true"} for u in uniform(60, labelled=30, risk=good)])
    cert = cw.trust(team.check, store, plan=cw.plan(change="replace_approval", max_false_pass=0.10))
    assert "30 left out: the person had seen the verdict (saw_verdict)" in cert.reasons


def test_bounds_that_do_not_hold_are_no_clash(store, team):
    team.load(store, uniform(900, labelled=500, risk=lambda s: 0.02 if s < 0.5 else 0.5))
    cw.calibrate(team.check, store)
    team.write(0.52)
    cert = cw.trust(team.check, store, plan=cw.plan(change="enforce", max_false_fail=0.1, max_false_pass=0.2))
    assert cert.outcome == "too_weak"
    assert not any("a file can have only one" in reason for reason in cert.reasons)
