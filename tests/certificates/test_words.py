"""What a reader is told: numbers that are right, the way out, and what the decision was about."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import check_workbench as cw
from check_workbench.stats.certify import labels_needed
from check_workbench.stats.monitor import further_needed, labels_for_power
from tests.scenario import uniform

if TYPE_CHECKING:
    from check_workbench.certificates import Certificates


def good(score: float) -> float:
    return 0.0 if score < 0.5 else 0.9


def said(cert: Certificates, words: str) -> str:
    found: list[str] = [reason for reason in cert.reasons if words in reason]
    assert found, cert.reasons
    return found[0]


@pytest.mark.parametrize(("target", "needed"), [(0.15, 16), (0.10, 24)])
def test_the_first_look_needs_what_its_own_part_of_the_error_asks(store, team, target, needed):
    team.load(store, uniform(200, labelled=0, risk=good))
    cert = cw.trust(team.check, store, plan=cw.plan(change="enforce", max_false_fail=target))
    assert labels_needed(0, 0, alpha=target, delta=0.08) == needed
    assert f"({needed} on failed work" in said(cert, "further blind decision")


def test_after_the_first_look_the_numbers_are_those_of_the_later_looks(store, team):
    units = [u for u in uniform(400, labelled=400, risk=lambda _: 1.0) if u["p"] >= 0.5]
    team.load(store, [*units[:15], *uniform(200, labelled=0, risk=good, seed=3, prefix="u")])
    cert = cw.trust(team.check, store, plan=cw.plan(change="enforce", max_false_fail=0.15))
    assert (cert.outcome, cert.n, cert.errors) == ("need_labels", 15, 0)
    further = further_needed([False] * 15, alpha=0.15, delta=0.02)
    assert f"({further} on failed work" in said(cert, "further blind decision")
    power = labels_for_power(0, alpha=0.15, delta=0.02)
    assert power is not None
    assert power >= 15 + further
    assert f"about {power} labels" in said(cert, "over all later looks together")
    assert not any("one look" in reason for reason in cert.reasons)


def test_a_clean_beginning_decides_nothing_once_errors_came(store, team):
    """Bets on the labels in order would have won before the errors; what they have come to now decides."""
    units = [{"run": f"r-{n:04d}", "p": 0.9, "bad": n < 45} for n in range(53)]
    team.load(store, [*units, {"run": "r-9999", "p": 0.9, "bad": None}])
    plan = cw.plan(change="enforce", max_false_fail=0.15)
    cert = cw.trust(team.check, store, plan=plan)
    assert (cert.outcome, cert.errors) == ("need_labels", 8)
    assert further_needed([n >= 45 for n in range(53)], alpha=0.15, delta=0.02) == 0
    further = further_needed([n < 8 for n in range(53)], alpha=0.15, delta=0.02)
    assert f"about {further} further blind decisions if" in said(cert, "further blind decision")
    team.decide(store, [{"run": "r-9999", "bad": True}])
    second = cw.trust(team.check, store, plan=plan)
    assert (second.outcome, second.labels_needed) == ("need_labels", further - 1)


def test_no_cut_is_proposed_where_nobody_labelled(store, team):
    """All labels lie on flagged work: they say nothing of a cut that flags more."""
    team.write(0.7)
    units = uniform(600, labelled=600, risk=lambda _: 1.0)
    team.load(store, [{**u, "bad": u["bad"] if u["p"] >= 0.7 else None} for u in units])
    cert = cw.trust(team.check, store, plan=cw.plan(change="enforce", max_false_fail=0.1))
    assert cert.outcome == "ready"
    assert not any("would hold as well" in reason for reason in cert.reasons)
    assert said(cert, "nothing can be said of a looser cut")


def test_a_handful_of_labels_beyond_the_cut_is_not_enough(store, team):
    team.write(0.7)
    units = uniform(600, labelled=600, risk=lambda _: 1.0)
    told = [{**u, "bad": u["bad"] if u["p"] >= 0.7 or place % 60 == 0 else None} for place, u in enumerate(units)]
    team.load(store, told)
    cert = cw.trust(team.check, store, plan=cw.plan(change="enforce", max_false_fail=0.1))
    assert said(cert, "nothing can be said of a looser cut")


def test_a_walk_after_calibrate_stays_where_labels_are(store, team):
    team.write(0.9)
    units = uniform(900, labelled=900, risk=lambda _: 1.0)
    team.load(store, [{**u, "bad": u["bad"] if u["p"] >= 0.7 else None} for u in units])
    cw.calibrate(team.check, store)
    team.write(0.7)
    cert = cw.trust(team.check, store, plan=cw.plan(change="enforce", max_false_fail=0.1))
    assert cert[0].details["bounds"][0]["way"] == "walk"
    assert cert.outcome == "need_labels"
    assert cert.patch() == ""
    assert said(cert, "nothing can be said of a looser cut")


def test_labels_drawn_at_random_still_support_a_looser_cut(store, team):
    team.write(0.7)
    team.load(store, uniform(600, labelled=400, risk=lambda _: 1.0))
    cert = cw.trust(team.check, store, plan=cw.plan(change="enforce", max_false_fail=0.1))
    assert said(cert, "a looser cut would hold as well")


def test_coverage_does_not_move_as_labels_are_added(store, team):
    units = uniform(200, labelled=200, risk=good)
    share = sum(u["p"] >= 0.5 for u in units) / 200
    team.load(store, [{**u, "bad": None} for u in units])
    plan = cw.plan(change="enforce", max_false_fail=0.3)
    assert cw.trust(team.check, store, plan=plan).coverage == pytest.approx(share)
    for first, last in ((0, 40), (40, 120)):
        team.decide(store, [u for u in units if u["p"] >= 0.5][first:last])
        assert cw.trust(team.check, store, plan=plan).coverage == pytest.approx(share)


def test_the_cheaper_way_counts_the_work_that_nobody_judged_blind(store, team):
    units = uniform(200, labelled=10, risk=good)
    team.load(store, units)
    cert = cw.trust(team.check, store, plan=cw.plan(change="enforce", max_false_fail=0.3))
    bound = cert[0].details["bounds"][0]
    there = sum(u["p"] >= 0.5 and u["bad"] is None for u in units)
    assert bound["unjudged"] == there
    assert f"label {bound['further']} of the {there} runs that the check failed" in said(cert, "cheaper")
    assert len(bound["to_label"]) == bound["further"]
    assert set(bound["to_label"]) <= {u["run"] for u in units if u["p"] >= 0.5 and u["bad"] is None}


def test_where_all_work_is_judged_more_must_be_recorded(store, team):
    team.load(store, uniform(60, labelled=60, risk=good))
    cert = cw.trust(team.check, store, plan=cw.plan(change="enforce", max_false_fail=0.2))
    assert cert[0].details["bounds"][0]["unjudged"] == 0
    assert said(cert, "all recorded work that the check failed is judged blind, so work must be recorded first")


def test_without_answers_it_says_so_and_no_more(store, team):
    team.load(store, [{**u, "p": None} for u in uniform(30, labelled=20, risk=good)])
    cert = cw.trust(team.check, store, plan=cw.plan(change="enforce"))
    assert (cert.outcome, cert.labels_needed) == ("need_labels", None)
    assert said(cert, "the check has no answer on any of 30 runs: load answers or give an evaluator")
    assert not any("no number of labels" in reason for reason in cert.reasons)


def test_labels_that_calibrate_read_are_named_with_the_way_out(store, team):
    team.write(0.9)
    team.load(store, uniform(900, labelled=60, risk=lambda s: 0.1 if s < 0.5 else 0.9))
    cw.calibrate(team.check, store, goal="recall>=0.9").apply()
    cert = cw.trust(team.check, store, plan=cw.plan(change="replace_approval", max_false_pass=0.10))
    assert said(cert, "these labels were read by calibrate before the file got its present numbers")
    further = further_needed([], alpha=0.10, delta=0.02)
    assert f"{further} new blind decisions on passed work" in said(cert, "to keep the numbers of the file")


def test_unusable_evidence_says_what_would_make_it_usable(store, team):
    team.load(store, [{**u, "seen": "true"} for u in uniform(300, labelled=250, risk=good)])
    cert = cw.trust(team.check, store, plan=cw.plan(change="replace_approval"))
    assert cert.outcome == "unusable"
    assert "without sight of the verdict" in said(cert, "what makes it usable")


@pytest.mark.parametrize("suffix", ["html", "md", "json"])
def test_a_report_holds_what_was_decided_about(store, team, tmp_path, suffix):
    team.write(0.7)
    team.load(store, [{**u, "decided_at": "2026-10-03T10:00:00"} for u in uniform(300, labelled=200, risk=good)])
    plan = cw.plan(change="replace_approval", max_false_pass=0.10)
    cert = cw.trust(team.check, store, plan=plan)
    texts = [cert.report(tmp_path / f"{name}.{suffix}").read_text(encoding="utf-8") for name in ("one", "two")]
    assert texts[0] == texts[1]
    check = cw.read_checks(team.check)[0]
    held = ("Did the agent fail?", "failed.check.yaml", "in memory", "neatroots", "reported judge-1", "2026-10-03")
    for words in (*held, check.asked, check.document, plan.digest, cw.__version__, "0.7"):
        assert words in texts[0], words
    assert str(tmp_path) not in texts[0]


def test_a_report_answers_in_large_and_gives_checks_without_labels_one_line(store, team, tmp_path):
    team.load(store, uniform(300, labelled=200, risk=good))
    other = tmp_path / "second.check.yaml"
    other.write_text(team.check.read_text(encoding="utf-8").replace("id: failed", "id: second"), encoding="utf-8")
    plan = cw.plan(change="replace_approval")
    one = cw.trust(team.check, store, plan=plan).report(tmp_path / "one.html").read_text(encoding="utf-8")
    assert "<h1>Yes: failed (ready)</h1>" in one
    both = cw.trust([team.check, other], store, plan=plan).report(tmp_path / "both.md").read_text(encoding="utf-8")
    assert both.startswith("# Yes: 1, Not yet: 1\n")
    assert sum("second" in line for line in both.splitlines()) == 1
    assert json.dumps("5.0 %") in json.dumps([cell.strip() for cell in both.split("|")])
