"""How sure a chosen cut is, and how much work it sends to people."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import check_workbench as cw
from check_workbench.checks import PassBand
from check_workbench.stats.intervals import clopper_pearson
from tests.scenario import Scenario, uniform
from tests.workshop import put_decisions, put_runs, screening, submission, vendor


@pytest.fixture
def team(tmp_path) -> Scenario:
    return Scenario(folder=tmp_path)


def steep(score: float) -> float:
    return 0.05 if score < 0.7 else 0.95


def first(*args: Any, **settings: Any) -> Any:
    return cw.calibrate(*args, **settings)[0]


@pytest.mark.parametrize("goal", ["precision>=0.9", "recall>=0.8", "cost 1:3", "risk<=0.2@0.9"])
def test_every_chosen_cut_has_its_range(store, team, goal):
    team.load(store, uniform(200, labelled=160, risk=steep))
    cal = first(team.check, store, goal=goal)
    assert cal.range.low <= cal.chosen.at <= cal.range.high
    assert {cal.range.low, cal.range.high} <= {point.at for point in cal.curve}
    assert (cal.range.clusters, 0 <= cal.range.none < 1) == (160, True)
    assert f"with other labels of this kind: {cal.range.low:g} to {cal.range.high:g}" in repr(
        cw.calibrate(team.check, store, goal=goal)
    )
    assert json.loads(json.dumps(cal.to_dict()))["range"] == cal.range.to_dict()


def test_more_labels_make_the_range_narrower(tmp_path):
    widths = []
    for labelled in (60, 900):
        (tmp_path / str(labelled)).mkdir()
        team = Scenario(folder=tmp_path / str(labelled))
        with cw.open() as own:
            team.load(own, uniform(900, labelled=labelled, risk=steep))
            found = first(team.check, own, goal="cost 1:1").range
        widths.append(found.high - found.low)
    assert widths[1] < widths[0] / 2


def test_sessions_are_drawn_whole(store, team):
    units = [
        {**unit, "session_id": f"s-{place // 10}"} for place, unit in enumerate(uniform(200, labelled=200, risk=steep))
    ]
    team.load(store, units)
    assert first(team.check, store).range.clusters == 20


def test_nothing_chosen_has_no_range(store, team):
    team.load(store, uniform(60, labelled=60, risk=lambda _: 0.3))
    cal = first(team.check, store, goal="precision>=1")
    assert (cal.chosen is None) == (cal.range is None)


def test_work_for_people_counts_all_scored_work(store, team):
    units = uniform(300, labelled=100, risk=steep)
    team.load(store, units)
    cal = first(team.check, store)
    for point in (cal.present, cal.chosen):
        k = sum(unit["p"] >= point.at for unit in units)
        assert (point.people_low, point.people_high) == pytest.approx(clopper_pearson(k, 300))
        assert point.people == pytest.approx(k / 300)
        assert f"flags {k / 3:.1f} [" in str(point)
    assert repr(cw.calibrate(team.check, store)).count(" of 100") == 2


def test_sessions_widen_the_work_for_people(store, team):
    session = np.repeat(np.linspace(0.05, 0.95, 30), 10)
    units = [
        {"run": f"r-{place:03d}", "p": float(round(score, 6)), "bad": None, "session_id": f"s-{place // 10}"}
        for place, score in enumerate(session)
    ]
    team.load(store, units)
    present = first(team.check, store).present
    assert (present.people_low, present.people_high) == pytest.approx(clopper_pearson(15, 30), abs=0.01)


def test_the_present_load_is_known_without_labels(store, team):
    units = uniform(100, labelled=0, risk=steep)
    team.load(store, units)
    present = first(team.check, store).present
    assert present.people == pytest.approx(np.mean([unit["p"] >= 0.5 for unit in units]))
    assert (present.precision, present.recall, present.flagged) == (None, None, 0)


def test_a_band_sends_the_unsure_to_people_as_well(store):
    check = screening(band=PassBand(pass_at=0.9, fail_below=0.5))
    scores = [place / 100 for place in range(100)]
    put_runs(store, *(vendor(f"v-{p:02d}", submission(s, output={"of": p})) for p, s in enumerate(scores)))
    said = ["rejected" if score < 0.6 else "approved" for score in scores]
    put_decisions(
        store, *({"run_id": f"v-{p:02d}", "decision": word, "step_id": "sign"} for p, word in enumerate(said))
    )
    cal: Any = cw.calibrate(check, store, goal="cost 1:1")
    passing, failing = cal
    assert (passing.present.load, passing.present.people) == (0.9, 0.9)
    assert (failing.present.load, failing.present.people) == (0.5, 0.9)
    assert "flags 50.0, with the unsure 90.0 [" in str(failing.present)
    assert (passing.chosen.people, failing.chosen.people) == (0.6, 0.9)


def test_the_picture_shows_the_range(store, team):
    team.load(store, uniform(200, labelled=160, risk=steep))
    cal = first(team.check, store)
    words = [text.get_text() for text in cal.plot().legends[0].get_texts()]
    assert f"chosen {cal.chosen.at:g} ({cal.range.low:g} to {cal.range.high:g})" in words
    html = cw.calibrate(team.check, store)._repr_html_()
    assert f"{cal.range.low:g} to {cal.range.high:g}" in html
    assert f"{100 * cal.chosen.people:.1f} [" in html


def test_a_check_that_does_no_better_than_counting_is_told(store, team):
    units = uniform(200, labelled=200, risk=lambda score: 0.3 + 0.4 * score)
    team.load(store, [{**unit, "length": 1 + 4 * bool(unit["bad"]) + place % 3} for place, unit in enumerate(units)])
    cal = first(team.check, store, goal="cost 1:1")
    [words] = [warning for warning in cal.warnings if "counting" in warning]
    assert words.startswith("counting would do as well: the length of the run alone ranks problems with AUC 1.000")


def test_probabilities_that_are_none_are_told_and_honest_ones_not(store, tmp_path):
    (tmp_path / "one").mkdir()
    honest = Scenario(folder=tmp_path / "one")
    honest.load(store, uniform(400, labelled=400, risk=lambda score: score))
    found = first(honest.check, store).calibration_error
    assert found.value < found.band
    with cw.open() as other:
        sure = Scenario(folder=tmp_path)
        sure.load(other, uniform(400, labelled=400, risk=lambda score: 0.2 + 0.1 * score))
        cal = first(sure.check, other, goal="cost 1:1")
    assert any("do not say how often there is a problem" in words for words in cal.warnings)
    assert cal.to_dict()["calibration_error"]["value"] == cal.calibration_error.value


def test_bare_choices_are_no_probabilities(store, team):
    team.load(store, [{**unit, "p": float(unit["p"] > 0.5)} for unit in uniform(60, labelled=60, risk=lambda s: s)])
    assert first(team.check, store).calibration_error is None


def test_an_unmet_goal_says_how_far_it_is(store, team):
    team.load(store, uniform(200, labelled=200, risk=lambda score: 0.5 * score))
    precise = first(team.check, store, goal="precision>=1")
    best = max(point.precision for point in precise.curve)
    assert (best < 1) == (f"the highest precision is {best:.3f} at " in (precise.reason or ""))
    cheap = first(team.check, store, goal="cost 9:1")
    assert cheap.reason == "flagging nothing costs less than any cut (cost 9:1)"
