from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import check_workbench as cw
from check_workbench.calibration.outcome import MIME
from check_workbench.checks import PassBand
from check_workbench.errors import InputError
from check_workbench.samples import sample_data
from tests import web_agent_runs
from tests.scenario import Scenario, uniform
from tests.workshop import loop, put_decisions, put_runs, run, screening, submission, vendor


@pytest.fixture
def team(tmp_path) -> Scenario:
    return Scenario(folder=tmp_path)


def first(*args: Any, **settings: Any) -> Any:
    return cw.calibrate(*args, **settings)[0]


def steep(score: float) -> float:
    return 0.05 if score < 0.7 else 0.95


def test_real_people_against_the_repeat_rule(store, realdata, tmp_path):
    runs, labels = web_agent_runs.write(realdata, tmp_path, check_id="loop")
    store.load(runs)
    store.load_decisions(labels)
    cal = first(loop(), store, goal="cost 1:1")
    points = {point.at: point for point in cal.curve}
    assert cal.n == 456
    assert (round(points[3].precision, 3), round(points[3].recall, 3)) == (0.893, 0.992)
    assert (round(points[5].precision, 3), round(points[5].recall, 3)) == (0.927, 0.927)
    assert (round(cal.auc.value, 2), round(cal.baseline_auc.value, 3)) == (0.96, 0.932)
    assert cal.present == points[3]
    text = repr(cw.calibrate(loop(), store))
    assert "precision 0.893" in text
    assert "AUC 0.963" in text
    assert "length of the run alone 0.932" in text


def test_flags_start_at_the_cut_and_counts_add_up(store, team):
    units = uniform(300, labelled=200, risk=steep)
    team.load(store, units)
    cal = first(team.check, store)
    scores = np.array([u["p"] for u in units[:200]])
    bad = np.array([u["bad"] for u in units[:200]])
    assert (cal.n, cal.positives, cal.scored, len(cal.curve)) == (200, bad.sum(), 300, 200)
    for point in cal.curve[::37]:
        flagged = scores >= point.at
        assert (point.flagged, point.true, point.missed) == (
            flagged.sum(),
            (flagged & bad).sum(),
            (~flagged & bad).sum(),
        )
        assert point.recall == pytest.approx((flagged & bad).sum() / bad.sum())
        assert point.precision_low <= point.precision <= point.precision_high
        assert point.load == pytest.approx(np.mean([u["p"] >= point.at for u in units]))
    assert cal.chosen.precision >= 0.9
    assert cal.chosen.recall == max(p.recall for p in cal.curve if p.precision >= 0.9)


def test_a_claim_is_flagged_below_the_cut(store):
    from check_workbench.checks import Check, Item, PassBand, YesNo
    from tests.workshop import put_answers

    claim = Check(id="q", dialect="check-1", items=(Item(asks=YesNo(ask="It holds."), cut=PassBand(pass_at=0.6)),))
    scores = np.round(np.linspace(0.05, 0.95, 60), 3)
    put_runs(store, *(run(f"r-{place:02d}") for place in range(60)))
    put_answers(store, *({"run_id": f"r-{p:02d}", "check_id": "q", "probability": s} for p, s in enumerate(scores)))
    marked = [("problem" if s < 0.5 else "no_problem", p) for p, s in enumerate(scores)]
    put_decisions(
        store, *({"run_id": f"r-{p:02d}", "check_id": "q", "decision": d, "verdict_seen": False} for d, p in marked)
    )
    cal = cw.calibrate(claim, store)
    assert [entry.threshold.key for entry in cal] == ["pass", "fail"]
    passing: Any = cal[0]
    assert (passing.auc.value, passing.chosen.recall, passing.chosen.precision) == (1.0, 1.0, 1.0)
    assert passing.chosen.at == min(s for s in scores if s >= 0.5)
    assert [p.at for p in passing.curve[:2]] == [0.05, scores[1]]
    assert (passing.curve[0].flagged, passing.curve[0].precision) == (0, None)
    for point in passing.curve:
        assert point.flagged == (scores < point.at).sum()
    assert cal[1].changes == ()


def test_the_chosen_number_is_written_and_nothing_else(store, team):
    team.load(store, uniform(300, labelled=200, risk=steep))
    before = team.check.read_bytes()
    cal: Any = cw.calibrate(team.check, store)
    chosen = cal[0].chosen.at
    diff = cal.patch()
    assert diff.startswith(f"--- a/{team.check}")
    assert team.check.read_bytes() == before
    assert cal.apply() == (str(team.check),)
    assert team.check.read_bytes() == before.replace(b"flag_at: 0.5 ", f"flag_at: {chosen} ".encode())
    again: Any = cw.calibrate(team.check, store)
    assert (again[0].n, again[0].chosen.at, again.patch()) == (200, chosen, "")


def test_labels_on_flagged_work_alone_leave_recall_unknown(store, team):
    units = uniform(300, labelled=300, risk=steep)
    team.load(store, [u if u["p"] >= 0.5 else {**u, "bad": None} for u in units])
    cal = first(team.check, store, goal="recall>=0.9")
    assert {point.recall for point in cal.curve} == {None}
    assert (cal.present.recall, cal.chosen) == (None, None)
    assert "recall is unknown" in cal.warnings[0]
    assert "not flagged" in cal.reason
    precise = first(team.check, store)
    assert precise.chosen.recall is None
    assert json.loads(json.dumps(precise.to_dict()))["chosen"]["recall"] is None


def test_one_label_beyond_the_flagged_ones_does_not_make_recall_known(store, team):
    units = uniform(300, labelled=300, risk=steep)
    spared = next(u["run"] for u in units if u["p"] < 0.5)
    team.load(store, [u if u["p"] >= 0.5 or u["run"] == spared else {**u, "bad": None} for u in units])
    assert first(team.check, store).present.recall is None


def test_sides_that_were_labelled_at_different_rates_are_weighted(store, team):
    units = uniform(900, labelled=900, risk=lambda s: 0.3 if s < 0.5 else 0.9)
    kept = [u if u["p"] >= 0.5 or place % 5 == 0 else {**u, "bad": None} for place, u in enumerate(units)]
    team.load(store, kept)
    present = first(team.check, store).present
    truth = sum(u["bad"] for u in units if u["p"] >= 0.5) / sum(u["bad"] for u in units)
    plain = sum(u["bad"] for u in units if u["p"] >= 0.5) / sum(bool(u["bad"]) for u in kept)
    assert present.recall == pytest.approx(truth, abs=0.06)
    assert abs(present.recall - truth) < abs(plain - truth)


def test_without_labels_the_load_is_shown_and_work_is_proposed(store, team):
    team.load(store, uniform(200, labelled=0, risk=steep))
    cal = cw.calibrate(team.check, store)
    one = cal[0]
    assert (one.n, one.auc, one.chosen, len(one.proposed)) == (0, None, None, 30)
    assert one.load[0] == (one.load[0][0], 1.0)
    text = repr(cal)
    assert "flags of all work" in text
    assert "label next" in text
    assert cal.plot().axes[0].get_ylabel().startswith("share of all work")
    assert cal.patch() == ""


def test_nothing_at_all_is_no_exception(store, team):
    cal = cw.calibrate(team.check, store)
    assert "0 labels" in repr(cal)
    assert "text/html" in cal._repr_mimebundle_()
    with pytest.raises(InputError, match="nothing was scored"):
        cal.plot()


@pytest.mark.parametrize("bad", [True, False])
def test_labels_of_one_kind_choose_nothing(store, team, bad):
    team.load(store, [{**u, "bad": bad} for u in uniform(40, labelled=40, risk=steep)])
    cal = first(team.check, store)
    assert (cal.auc, cal.chosen) == (None, None)
    assert (
        cal.reason
        == f"all 40 labels say {'a problem' if bad else 'no problem'}: no cut can be judged without the other kind"
    )


def test_models_are_calibrated_apart_and_never_mixed_into_one_number(store, team):
    first = [{**u, "model": "a"} for u in uniform(150, labelled=150, risk=steep)]
    second = [
        {**u, "model": "b"} for u in uniform(150, labelled=150, risk=lambda s: float(s > 0.4), seed=5, prefix="s")
    ]
    team.load(store, [*first, *second])
    cal = cw.calibrate(team.check, store)
    assert [(entry.model, entry.n) for entry in cal] == [("a", 150), ("b", 150)]
    assert cal.patch() == ""
    with pytest.raises(InputError, match="does not carry over"):
        cal.apply()
    assert cal.only(model="b").patch().count("\n+flag_at:") == 1
    assert any("calibrated apart" in note for note in cal.notes)


def test_a_pile_up_is_named(store, team):
    units = [{**u, "p": min(u["p"], 0.6)} for u in uniform(200, labelled=150, risk=steep)]
    team.load(store, units)
    assert any("exactly 0.6" in words for words in first(team.check, store).warnings)


def test_groups_that_differ_are_named(store, team):
    web = [{**u, "workflow": "web"} for u in uniform(200, labelled=200, risk=lambda s: float(s > 0.5))]
    phone = [{**u, "workflow": "phone"} for u in uniform(200, labelled=200, risk=lambda _: 0.4, seed=3, prefix="s")]
    team.load(store, [*web, *phone])
    words = " ".join(first(team.check, store).warnings)
    assert "differs between workflows" in words
    assert "phone" in words


def test_what_is_left_out_is_counted(store, team):
    team.load(store, [*uniform(80, labelled=60, risk=steep), {"run": "x", "p": None, "bad": True}])
    cal = cw.calibrate(team.check, store)
    assert cal[0].left_out == {"not_checked": 1}
    assert cal.to_json()["checks"][0]["left_out"] == {"not_checked": 1}


def test_looks_are_recorded_once(store, team):
    team.load(store, uniform(80, labelled=60, risk=steep))
    cw.calibrate(team.check, store)
    cw.calibrate(team.check, store)
    looks = store.sql("select call, labels from looks")
    assert looks["call"].tolist() == ["calibrate"]
    assert len(json.loads(looks["labels"][0])) == 60


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"goal": "accuracy"}, "is no goal"),
        ({"goal": "precision>=90"}, "Write 90 % as 0.9"),
        ({"labels": "all"}, "labels must be 'check' or 'work'"),
    ],
)
def test_what_cannot_be_asked_is_refused(store, team, settings, words):
    with pytest.raises(InputError, match=words):
        cw.calibrate(team.check, store, **settings)


def test_many_values_make_at_most_500_points_that_are_observed(store, team):
    units = uniform(1200, labelled=1200, risk=steep)
    team.load(store, units)
    curve = first(team.check, store).curve
    assert len(curve) == 500
    assert {point.at for point in curve} <= {u["p"] for u in units}


def test_a_band_that_would_close_is_told(store):
    check = screening(band=PassBand(pass_at=0.9, fail_below=0.5))
    scores = [place / 100 for place in range(100)]
    runs = [vendor(f"v-{place:02d}", submission(score, output={"of": place})) for place, score in enumerate(scores)]
    put_runs(store, *runs)
    said = ["rejected" if score < 0.6 else "approved" for score in scores]
    rows = [{"run_id": f"v-{p:02d}", "decision": word, "step_id": "sign"} for p, word in enumerate(said)]
    put_decisions(store, *rows)
    notes = cw.calibrate(check, store, goal="precision>=0.9").notes
    assert any("nothing is left unsure" in note for note in notes)


@pytest.fixture(scope="module")
def refunds():
    folder = sample_data() / "refunds"
    with cw.open() as store:
        store.load(folder / "runs.jsonl")
        store.load_decisions(folder / "labels.csv")
        yield folder / "checks", store


class TestEverythingFlagged:
    """A goal that only a cut through all work meets is met by a check that says nothing."""

    WORDS = "is met only by flagging everything: at 1 all work is flagged, so the check says nothing"

    def test_text_html_and_json_say_it(self, refunds):
        checks, store = refunds
        made = cw.calibrate(checks, store, goal="recall>=0.9")["repeated-call"]
        assert (made.chosen and made.chosen.load) == 1
        assert made.warnings[0] == f"recall>=0.9 {self.WORDS}"
        bundle = cw.calibrate(checks, store, goal="recall>=0.9")._repr_mimebundle_()
        assert all(self.WORDS in bundle[kind] for kind in ("text/plain", "text/html"))
        assert any(self.WORDS in words for entry in bundle[MIME]["checks"] for words in entry["warnings"])

    def test_a_cut_that_parts_work_is_not_told_so(self, refunds):
        made = cw.calibrate(*refunds, goal="recall>=0.7")["repeated-call"]
        assert made.chosen is not None
        assert made.chosen.load < 1
        assert not any("everything" in words for words in made.warnings)

    def test_where_other_cuts_meet_the_goal_it_does_not_say_only(self, store):
        put_runs(store, *(run(f"r-{n}", 1 + n % 2) for n in range(40)))
        put_decisions(
            store, *({"run_id": f"r-{n}", "check_id": "loop", "decision": "problem"} for n in range(39)),
            {"run_id": "r-39", "check_id": "loop", "decision": "no_problem"},
        )  # fmt: skip
        (made,) = cw.calibrate(loop(), store, goal="precision>=0.9")
        assert made.warnings[0].startswith("precision>=0.9 is met by flagging everything: at 1 ")
