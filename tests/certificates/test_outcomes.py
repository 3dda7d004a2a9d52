from __future__ import annotations

import json

import numpy as np
import pytest

import check_workbench as cw
from check_workbench.certificates.certificate import PUBLIC
from check_workbench.errors import InputError
from check_workbench.stats.certify import labels_needed
from check_workbench.stats.intervals import upper_bound
from tests.scenario import uniform

REPLACE = cw.plan(change="replace_approval", max_false_pass=0.05)


def good(score: float) -> float:
    return 0.0 if score < 0.5 else 0.9


def test_the_files_own_cut_gets_one_exact_test(store, team):
    units = uniform(400, labelled=250, risk=lambda s: 0.01 if s < 0.5 else 0.9)
    team.load(store, units)
    cert = cw.trust(team.check, store, plan=REPLACE)
    passed = [u for u in units if u["bad"] is not None and u["p"] < 0.5]
    errors = sum(u["bad"] for u in passed)
    assert (cert.outcome, cert.n, cert.errors) == ("ready", len(passed), errors)
    assert cert.bound == pytest.approx(upper_bound(errors, len(passed), delta=0.08))
    assert cert.coverage == pytest.approx(np.mean([u["p"] < 0.5 for u in units]))
    assert (cert.labels_needed, cert.exit_code, cert.patch()) == (0, 0, "")


def test_the_json_has_exactly_the_fields_of_the_contract(store, team):
    team.load(store, uniform(60, labelled=40, risk=good))
    cert = cw.trust(team.check, store, plan=REPLACE)
    data = json.loads(json.dumps(cert.to_json()))
    assert list(data) == ["checks"]
    assert tuple(data["checks"][0]) == PUBLIC
    assert data["checks"][0]["plan_digest"] == REPLACE.digest


def test_a_risk_above_the_target_beyond_doubt_is_too_weak(store, team):
    team.load(store, uniform(300, labelled=200, risk=lambda s: 0.3 + 0.3 * s))
    cert = cw.trust(team.check, store, plan=REPLACE)
    assert (cert.outcome, cert.exit_code, cert.labels_needed) == ("too_weak", 11, None)
    assert any("at least" in reason for reason in cert.reasons)


def test_decisions_that_saw_the_verdict_are_unusable(store, team):
    team.load(store, [{**u, "seen": "true"} for u in uniform(300, labelled=250, risk=good)])
    cert = cw.trust(team.check, store, plan=REPLACE)
    assert (cert.outcome, cert.exit_code) == ("unusable", 12)
    assert cert.excluded == {"saw_verdict": 250}
    assert cert.labels_needed is not None
    assert "seen the verdict" in cert.reasons[0]


def test_few_labels_are_never_split_and_say_what_they_prove(store, team):
    units = [u for u in uniform(400, labelled=400, risk=good) if u["p"] < 0.5][:20]
    rest = uniform(200, labelled=0, risk=good, seed=3, prefix="u")
    team.load(store, [*units, *rest])
    cert = cw.trust(team.check, store, plan=REPLACE)
    assert (cert.outcome, cert.n, cert.errors, cert.exit_code) == ("need_labels", 20, 0, 10)
    assert cert.bound == pytest.approx(1 - 0.08 ** (1 / 20))
    assert any("0 errors in 20 blind labels" in reason and "11.9 %" in reason for reason in cert.reasons)
    assert any("chance of 80 %" in reason for reason in cert.reasons)


def test_the_promised_number_of_clean_labels_certifies(store, team):
    units = [u for u in uniform(400, labelled=400, risk=good) if u["p"] < 0.5]
    free = uniform(200, labelled=0, risk=good, seed=3, prefix="u")
    team.load(store, [*units[:20], *free])
    first = cw.trust(team.check, store, plan=REPLACE)
    further = first[0].details["bounds"][0]["further"]
    assert first.labels_needed == int(np.ceil(further / first.coverage - 1e-9))
    team.load(store, units[20 : 20 + further - 1])
    assert cw.trust(team.check, store, plan=REPLACE).outcome == "need_labels"
    team.load(store, units[20 + further - 1 : 20 + further])
    assert cw.trust(team.check, store, plan=REPLACE).outcome == "ready"


def test_without_labels_the_first_look_is_not_spent(store, team):
    team.load(store, uniform(100, labelled=0, risk=good))
    cert = cw.trust(team.check, store, plan=REPLACE)
    passed = labels_needed(0, 0, alpha=0.05, delta=0.08)
    assert (cert.outcome, cert.n, cert.bound) == ("need_labels", 0, None)
    assert cert.labels_needed == int(np.ceil(passed / cert.coverage - 1e-9))
    assert "no decisions" in cert.reasons[0]
    team.load(store, uniform(300, labelled=250, risk=good, seed=9, prefix="s"))
    assert cw.trust(team.check, store, plan=REPLACE)[0].details["look"] == 1


@pytest.mark.parametrize(
    "units",
    [
        [],
        [{"run": "a"}],
        [{"run": "a", "bad": True}],
        [{"run": "a", "p": 0.2, "bad": False}],
        [{"run": "a", "p": 0.2, "bad": False, "seen": ""}],
        [{"run": "a", "p": 0.2, "bad": False, "mode": "test"}],
    ],
)
@pytest.mark.parametrize("change", ["enforce", "replace_approval"])
def test_next_to_nothing_is_an_outcome_in_words(store, team, units, change):
    if units:
        team.load(store, units)
    cert = cw.trust(team.check, store, plan=cw.plan(change=change, max_false_pass=0.1, max_false_fail=0.2))
    assert cert.outcome in {"need_labels", "unusable"}
    assert all(cert.reasons)
    assert "need_labels" in repr(cert) or "unusable" in repr(cert)
    assert "<script" not in cert._repr_html_()


def test_enforcing_minds_good_work_that_fails(store, team):
    units = uniform(600, labelled=400, risk=lambda s: 0.02 if s < 0.5 else 0.97)
    team.load(store, units)
    cert = cw.trust(team.check, store, plan=cw.plan(change="enforce", max_false_fail=0.1))
    failed = [u for u in units if u["bad"] is not None and u["p"] >= 0.5]
    assert (cert.outcome, cert.n) == ("ready", len(failed))
    assert cert.errors == sum(not u["bad"] for u in failed)


def test_two_bounds_share_the_allowed_error(store, team):
    team.load(store, uniform(600, labelled=500, risk=lambda s: 0.0 if s < 0.5 else 1.0))
    both = cw.trust(team.check, store, plan=cw.plan(change="enforce", max_false_fail=0.1, max_false_pass=0.1))
    assert both.outcome == "ready"
    assert [b["delta"] for b in both[0].details["bounds"]] == pytest.approx([0.04, 0.04])
    assert [b["side"] for b in both[0].details["bounds"]] == ["false_fail", "false_pass"]


def test_a_bound_that_is_not_given_is_not_tested(store, team):
    team.load(store, uniform(600, labelled=500, risk=lambda s: 0.4 if s < 0.5 else 1.0))
    cert = cw.trust(team.check, store, plan=cw.plan(change="enforce", max_false_fail=0.1))
    assert cert.outcome == "ready"
    assert len(cert[0].details["bounds"]) == 1


def test_a_check_that_fails_nothing_needs_no_number_of_labels(store, team):
    team.write(0.999999)
    team.load(store, uniform(200, labelled=100, risk=good))
    cert = cw.trust(team.check, store, plan=cw.plan(change="enforce"))
    assert (cert.outcome, cert.labels_needed) == ("need_labels", None)
    assert any("nothing" in reason for reason in cert.reasons)


def test_several_checks_end_with_the_worst_exit_code(store, team, tmp_path):
    team.load(store, uniform(300, labelled=200, risk=lambda _: 0.5))
    other = tmp_path / "other.check.yaml"
    text = team.check.read_text(encoding="utf-8")
    other.write_text(text.replace("id: failed", "id: other"), encoding="utf-8")
    cert = cw.trust([team.check, other], store, plan=REPLACE)
    assert [entry.outcome for entry in cert] == ["too_weak", "need_labels"]
    assert (cert.exit_code, cert.outcome, len(cert)) == (11, "too_weak", 2)
    assert cert["other"].labels_needed is None
    with pytest.raises(InputError, match="take one by its check"):
        _ = cert.bound
    with pytest.raises(LookupError, match="Did you mean 'other'"):
        _ = cert["othre"]


def test_what_is_no_plan_is_refused_in_words(store, team):
    with pytest.raises(InputError, match="must be a Plan"):
        cw.trust(team.check, store, plan={"change": "enforce"})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="signature"):
        cw.trust(team.check, store, plan=cw.plan(change="enforce", signature_required=True))


def test_shuffled_rows_give_the_same_bytes(team, tmp_path):
    units = uniform(300, labelled=250, risk=lambda s: 0.02 if s < 0.5 else 0.9)
    for place, unit in enumerate(units):
        unit |= {"session_id": f"s{place % 60}", "decided_at": f"2026-10-{1 + place % 28:02d}T10:00:00"}
    texts = []
    for seed in (0, 1):
        order = np.random.default_rng(seed).permutation(len(units))
        folder = tmp_path / str(seed)
        folder.mkdir()
        with cw.open() as store:
            team.folder = folder
            team.load(store, [units[place] for place in order])
            cert = cw.trust(team.check, store, plan=REPLACE)
            cal = cw.calibrate(team.check, store)
            cmp = cw.compare(team.check, store)
            texts.append(json.dumps([cert.full_json(), cal.to_json(), cmp.to_json()]))
    assert texts[0] == texts[1]
