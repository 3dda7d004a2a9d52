from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import check_workbench as cw
from check_workbench.calibration import looks
from check_workbench.certificates.exact import exact
from check_workbench.evaluation import read
from check_workbench.stats.intervals import upper_bound
from tests.scenario import uniform

REPLACE = cw.plan(change="replace_approval", max_false_pass=0.05)


def clean(n, prefix="r", **fields):
    """Return labelled units that the check passes and people approved."""
    return [{"run": f"{prefix}-{place:03d}", "p": 0.1 + place / 1e4, "bad": False, **fields} for place in range(n)]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"seen": "true"}, "saw_verdict"),
        ({"seen": ""}, "verdict_seen_unknown"),
        ({"mode": "test"}, "test_run"),
        ({"ask": "Did it crash?"}, "other_version"),
        ({"p": None}, "not_checked"),
        ({"workflow": "elsewhere"}, None),
    ],
)
def test_each_label_that_may_not_certify_has_its_reason(store, team, fields, reason):
    team.load(store, [*clean(70), *clean(5, "x", **fields)])
    cert = cw.trust(team.check, store, plan=REPLACE)
    assert cert.excluded == ({reason: 5} if reason else {})
    assert cert.n == (70 if reason else 75)
    assert cert.outcome == "ready"


def test_answers_of_the_newest_model_count_and_the_others_are_named(store, team):
    team.load(store, [*clean(70), *clean(9, "x", model="judge-0")])
    cert = cw.trust(team.check, store, plan=REPLACE)
    assert (cert.n, cert.excluded) == (70, {"other_method": 9})
    assert cert[0].details["model"] == "judge-1"


def test_hygiene_that_leaves_too_few_makes_the_evidence_unusable(store, team):
    team.load(store, [*clean(10), *clean(80, "x", model="judge-0"), *clean(90, "y", bad=None)])
    cert = cw.trust(team.check, store, plan=REPLACE)
    assert (cert.outcome, cert.excluded) == ("unusable", {"other_method": 80})
    assert "other method" in cert.reasons[0]


def test_test_runs_alone_are_unusable(store, team):
    team.load(store, [*clean(90, mode="test"), *clean(50, "u", bad=None)])
    cert = cw.trust(team.check, store, plan=REPLACE)
    assert (cert.outcome, cert.excluded) == ("unusable", {"test_run": 90})


def test_people_who_disagree_give_no_label(store, team):
    team.load(store, [{**u, "decided_by": "ana"} for u in clean(70)])
    team.decide(store, [{**u, "decided_by": "ben", "bad": True} for u in clean(4)])
    cert = cw.trust(team.check, store, plan=REPLACE)
    assert cert.n == 66
    assert cert.excluded["annotators_disagree"] == 8


def test_runs_with_the_same_content_count_once(store, team):
    team.load(store, [*clean(70), *clean(6, "x", content="the same")])
    cert = cw.trust(team.check, store, plan=REPLACE)
    assert (cert.n, cert.excluded) == (71, {"duplicate": 5})


def test_decisions_outside_the_window_are_left_out(store, team):
    early = clean(8, "x", decided_at="2026-01-31T23:59:59")
    team.load(store, [*clean(70, decided_at="2026-02-01T00:00:00"), *early])
    plan = cw.plan(change="replace_approval", window_start="2026-02-01", window_end="2026-03-01")
    cert = cw.trust(team.check, store, plan=plan)
    assert (cert.n, cert.excluded) == (70, {"outside_window": 8})


def test_labels_of_previewed_runs_are_fit(store, team):
    team.load(store, clean(80))
    check = read(team.check)[0]
    looks.record(store, check, looks.Look(call="preview", labels=[], runs=["r-000", "r-001", "r-002"]))
    cert = cw.trust(team.check, store, plan=REPLACE)
    assert (cert.n, cert.excluded) == (77, {"fit": 3})


def test_labels_read_before_the_question_was_edited_are_fit(store, team):
    team.load(store, clean(30, ask=None))
    cw.calibrate(team.check, store)
    team.write(0.5, ask="Did the agent fail badly?")
    team.load(store, clean(70, "x", ask=None))
    cert = cw.trust(team.check, store, plan=REPLACE)
    assert (cert.n, cert.excluded) == (70, {"fit": 30})


def test_fewer_than_twenty_clusters_never_certify(store, team):
    units = [{**u, "session_id": f"s{place % 15}"} for place, u in enumerate(clean(150))]
    team.load(store, units)
    cert = cw.trust(team.check, store, plan=REPLACE)
    assert cert.outcome == "unusable"
    assert any("15 clusters" in reason for reason in cert.reasons)
    alone = cw.plan(change="replace_approval", max_false_pass=0.05, cluster="run_id")
    assert cw.trust(team.check, store, plan=alone)[0].details["look"] == 2


def test_labels_that_share_clusters_count_for_less(store, team):
    units = [{**u, "session_id": f"s{place % 40}"} for place, u in enumerate(clean(200))]
    team.load(store, units)
    cert = cw.trust(team.check, store, plan=REPLACE)
    assert (cert.outcome, cert.n) == ("need_labels", 200)
    assert cert.bound == pytest.approx(1 - 0.08 ** (1 / 40))
    assert any("40 clusters" in reason for reason in cert.reasons)


def test_labels_drawn_with_differing_probability_are_bounded_by_stratum(store, team):
    low = [{**u, "probability_sampled": 0.9} for u in clean(150)]
    high = [{**u, "probability_sampled": 0.3} for u in clean(150, "x")]
    team.load(store, [*low, *high, *clean(5, "y")])
    cert = cw.trust(team.check, store, plan=REPLACE)
    assert (cert.n, cert.excluded, cert.outcome) == (300, {"probability_unknown": 5}, "ready")
    assert cert.bound == pytest.approx(1 - 0.04 ** (1 / 150))
    assert "drawn with equal" not in json.dumps(cert.full_json())


def test_equal_probability_is_assumed_in_words(store, team):
    team.load(store, clean(80))
    assert "equal probability" in json.dumps(cw.trust(team.check, store, plan=REPLACE).full_json())


def test_rework_counts_only_once(store):
    from tests.workshop import put_decisions, put_runs, screening, submission, vendor

    put_runs(
        store,
        *(vendor(f"v-{i:02d}", submission(0.95, output={"n": i}, attempt=1), input=f"vendor {i}") for i in range(60)),
        vendor("w", submission(0.2, attempt=1), submission(0.95, attempt=2)),
    )
    common = {"step_id": "screen", "decision": "approved", "verdict_seen": False}
    put_decisions(store, *({"run_id": f"v-{i:02d}", **common} for i in range(60)))
    put_decisions(store, {"run_id": "w", "attempt": 2, **common})
    cert = cw.trust(screening(), store, plan=REPLACE)
    assert (cert.n, cert.excluded, cert.outcome) == (60, {"rework": 1}, "ready")


def test_a_workflow_that_errs_more_holds_the_certificate_back(store, team):
    fine = [{**u, "workflow": "web"} for u in clean(900)]
    worse = [{**u, "workflow": "phone", "bad": place < 20} for place, u in enumerate(clean(60, "x"))]
    team.load(store, [*fine, *worse])
    cert = cw.trust(team.check, store, plan=REPLACE)
    assert (cert.outcome, cert.errors) == ("need_labels", 20)
    assert any(reason.startswith("segment: workflow phone errs in 20 of 60") for reason in cert.reasons)


def test_scores_that_drift_hold_the_certificate_back(store, team):
    units = uniform(400, labelled=400, risk=lambda _: 0.0)
    units = [{**u, "p": u["p"] / 2 + (place >= 200) * 0.2} for place, u in enumerate(units)]
    units = [
        {**u, "started_at": f"2026-0{1 + place // 200}-03T00:00:{place % 60:02d}"} for place, u in enumerate(units)
    ]
    team.load(store, units)
    team.write(0.9)
    cert = cw.trust(team.check, store, plan=REPLACE)
    assert cert.outcome == "need_labels"
    assert any(reason.startswith("drift: the scores") for reason in cert.reasons)


def test_every_count_adds_up(store, team):
    rng = np.random.default_rng(3)
    kinds: list[dict[str, object]] = [{}, {"seen": "true"}, {"seen": ""}, {"mode": "test"}, {"p": None}, {}]
    units = [{**unit, **kinds[rng.integers(0, 6)]} for unit in uniform(300, labelled=300, risk=lambda s: s / 3)]
    team.load(store, units)
    cert = cw.trust(team.check, store, plan=REPLACE)
    assert cert[0].details["usable"] + sum(cert.excluded.values()) == 300


def test_labels_of_many_probabilities_are_thinned_to_one(store, team):
    """One stratum a label would prove nothing; thinned to the smallest probability the labels are exact again."""
    rng = np.random.default_rng(1)
    units = uniform(900, labelled=500, risk=lambda s: 0.005 if s < 0.5 else 0.9)
    drawn = rng.uniform(0.3, 0.9, len(units)).round(4)
    team.load(store, [{**u, "probability_sampled": float(p)} for u, p in zip(units, drawn, strict=True)])
    cert = cw.trust(team.check, store, plan=cw.plan(change="replace_approval", max_false_pass=0.1))
    inside = [u["p"] < 0.5 for u in units[:500]]
    assert (cert.outcome, cert.n) == ("ready", sum(inside))
    kept = next(int(r.split(": ")[1].split()[0]) for r in cert.reasons if "thinned" in r)
    expected = (drawn[:500][inside].min() / drawn[:500][inside]).sum()
    assert abs(kept - expected) < 4 * sum(inside) ** 0.5 / 2
    assert cert.bound is not None
    assert cert.bound >= upper_bound(cert.errors, cert.n, delta=0.08)


def test_thinned_labels_never_certify_a_bad_judge_too_often():
    rng = np.random.default_rng(2)
    ready = 0
    for _ in range(300):
        scores = rng.random(1000)
        drawn = np.where(scores < 0.5, 0.6, 0.2) + rng.uniform(0, 0.01, 1000).round(3)
        told = rng.random(1000) < drawn
        wrong = rng.random(1000) < np.where(scores < 0.5, 0.02, 0.184)
        rows = pd.DataFrame({"cluster": np.arange(told.sum()), "probability_sampled": drawn[told]})
        test, _ = exact(wrong[told], rows, alpha=0.1, delta=0.1)
        ready += test.certified
    assert ready / 300 <= 0.1 + 3 * (0.09 / 300) ** 0.5


def test_coverage_is_not_read_off_work_that_nobody_chose_to_label(store, team):
    units = uniform(300, labelled=300, risk=lambda s: 0.01 if s < 0.5 else 0.9)
    team.load(store, [{**u, "bad": u["bad"] if u["p"] >= 0.5 else None} for u in units])
    cert = cw.trust(team.check, store, plan=cw.plan(change="replace_approval", max_false_pass=0.1))
    assert cert.coverage == pytest.approx(np.mean([u["p"] < 0.5 for u in units]))


def test_work_that_the_check_decides_only_where_it_is_labelled_counts(store, team):
    units = uniform(300, labelled=60, risk=lambda s: 0.0 if s < 0.5 else 1.0)
    team.load(store, [{**u, "p": 0.9 if place == 0 else 0.1} for place, u in enumerate(units)])
    cert = cw.trust(team.check, store, plan=cw.plan(change="enforce", max_false_fail=0.2))
    assert cert.labels_needed is not None
    assert not any("nothing" in reason for reason in cert.reasons)


def test_labels_without_a_probability_beside_labels_of_one_are_assumed_to_have_it_in_words(store, team):
    units = [{**unit, "probability_sampled": 0.2} if n < 60 else unit for n, unit in enumerate(clean(100))]
    team.load(store, units)
    (words,) = cw.trust(team.check, store, plan=REPLACE)[0].details["assumed"]
    assert words.startswith("40 of 100 labels do not say how they were drawn")
