from __future__ import annotations

import pytest

import check_workbench as cw
from tests.scenario import uniform

PLAN = cw.plan("replace_approval", max_false_pass=0.1)


def good(score: float) -> float:
    return 0.0 if score < 0.5 else 1.0


def decided(store, team, units, disagree, *, twice=80):
    first = [{**u, "decided_by": "ana"} for u in units]
    team.load(store, first)
    passed = [u for u in units if u["bad"] is not None and u["p"] < 0.5][:twice]
    team.decide(store, [{**u, "decided_by": "bo", "bad": u["bad"] ^ (n < disagree)} for n, u in enumerate(passed)])
    return cw.trust(team.check, store, plan=PLAN)


def test_a_target_below_the_human_ceiling_is_not_ready(store, team):
    cert = decided(store, team, uniform(600, labelled=400, risk=good), 24)
    (words,) = [reason for reason in cert.reasons if reason.startswith("ceiling: ")]
    assert words.startswith(
        "ceiling: people disagreed on 24 of 80 units that several decided blind, so on at least 23."
    )
    assert "the target 10.0 % is below the human ceiling" in words
    assert (cert[0].details["bounds"][0]["certified"], cert.outcome) == (True, "need_labels")
    assert cert.patch() == ""


def test_who_disagrees_with_nobody_else_or_saw_the_verdict_puts_nothing_out_of_reach(store, team):
    units = [u for u in uniform(900, labelled=900, risk=good) if u["p"] < 0.5]
    team.load(store, [{**u, "bad": None} for u in units])
    own = [{**u, "decided_by": "ana"} for u in units]
    alone = [{**u, "decided_by": "ana", "bad": True, "note": "again"} for u in units[:60]]
    seen = [{**u, "decided_by": "bo", "bad": True, "seen": "true"} for u in units[60:120]]
    team.decide(store, [*own, *alone, *seen])  # one file without times: nothing says which word of ana's is the last
    cert = cw.trust(team.check, store, plan=PLAN)
    assert cert[0].excluded["annotators_disagree"] == 120
    assert cert.outcome == "ready"


def test_what_the_majority_settled_is_disagreement_all_the_same(store, team):
    units = [u for u in uniform(900, labelled=900, risk=good) if u["p"] < 0.5]
    team.load(store, [{**u, "decided_by": "ana"} for u in units])
    team.decide(store, [{**u, "decided_by": "bo"} for u in units[:90]])
    team.decide(store, [{**u, "decided_by": "cy", "bad": True} for u in units[:90]])
    cert = cw.trust(team.check, store, plan=PLAN)
    assert "annotators_disagree" not in cert[0].excluded
    assert any(reason.startswith("ceiling: people disagreed on 60 of 90 units") for reason in cert.reasons)
    assert cert.outcome == "need_labels"


@pytest.mark.parametrize(("disagree", "twice"), [(8, 80), (20, 49)])
def test_few_disagreements_or_few_double_decisions_say_nothing(store, team, disagree, twice):
    cert = decided(store, team, uniform(600, labelled=400, risk=good), disagree, twice=twice)
    assert not any(reason.startswith("ceiling") for reason in cert.reasons)
    assert cert.outcome == "ready"


def test_workflows_are_counted_apart_and_small_ones_not_tested(store, team):
    units = uniform(400, labelled=300, risk=good)
    named = [{**u, "workflow": "mail" if n % 20 == 0 else "phone"} for n, u in enumerate(units)]
    team.load(store, named)
    cert = cw.trust(team.check, store, plan=PLAN)
    rows = {row["workflow"]: row for row in cert[0].details["segments"]}
    passed = [u for u in named if u["bad"] is not None and u["p"] < 0.5]
    assert {name: row["n"] for name, row in rows.items()} == {
        name: sum(u["workflow"] == name for u in passed) for name in ("mail", "phone")
    }
    assert (rows["mail"]["tested"], rows["phone"]["tested"]) == (False, True)
    assert {row["side"] for row in rows.values()} == {"false_pass"}


def test_of_one_workflow_there_is_no_table(store, team):
    team.load(store, uniform(200, labelled=150, risk=good))
    assert cw.trust(team.check, store, plan=PLAN)[0].details["segments"] == []


def test_errors_that_gather_in_one_half_hold_the_certificate_back(store, team):
    units = [u for u in uniform(1200, labelled=1200, risk=good) if u["p"] < 0.5][:500]
    stamped = [
        {**u, "bad": n >= 470, "decided_at": f"2026-09-{1 + n // 20:02d}T10:{n % 20:02d}:00"}
        for n, u in enumerate(units)
    ]
    team.load(store, stamped)
    cert = cw.trust(team.check, store, plan=PLAN)
    assert cert[0].details["bounds"][0]["certified"]
    assert any(reason.startswith("drift: the rate of errors changed between the halves") for reason in cert.reasons)
    assert cert.outcome == "need_labels"


@pytest.mark.parametrize(("blind", "told"), [(10, True), (40, False)])
def test_too_few_blind_decisions_are_told_against_the_plan(store, team, blind, told):
    units = uniform(200, labelled=100, risk=good)
    team.load(store, [{**u, "seen": "false" if n < blind else "true"} for n, u in enumerate(units)])
    cert = cw.trust(team.check, store, plan=PLAN)
    assert cert[0].details["blind"] == {"decided": 100, "blind": blind, "planned": 0.25}
    words = f"{blind} of 100 decisions were blind ({blind}.0 %); the plan asks for at least 25.0 %"
    assert any(reason.startswith(words) for reason in cert.reasons) is told
    assert words in cert._repr_html_()
