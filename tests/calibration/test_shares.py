"""How much of all work has the problem: said where the sampling supports it, and nowhere else."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import check_workbench as cw
from check_workbench.stats.intervals import wilson
from check_workbench.stats.ppi import population_share
from tests.scenario import Scenario, uniform
from tests.workshop import loop, put_answers, put_decisions, put_runs, question, run

JUDGES, RUNS, LABELS = 200, 300, 110


@pytest.fixture
def team(tmp_path) -> Scenario:
    return Scenario(folder=tmp_path)


def first(*args: Any, **settings: Any) -> Any:
    return cw.calibrate(*args, **settings)[0]


def risk(score: float) -> float:
    return 0.05 + 0.6 * score


def meant(score: Any) -> Any:
    """Return how often there is a problem where a judge of the simulation says so."""
    return 1 / (1 + np.exp(0.8 - 1.2 * np.log(score / (1 - score))))


def unknown(store, team) -> str:
    share: Any = first(team.check, store).share
    assert share.value is None
    assert share.labels_alone is None
    text = repr(cw.calibrate(team.check, store))
    assert f"problems in all evaluated work: unknown, because {share.reason}" in text
    return str(share.reason)


def test_labels_and_scores_together_say_the_share(store, team):
    units = uniform(600, labelled=200, risk=risk)
    team.load(store, units)
    cal: Any = cw.calibrate(team.check, store)
    scores, bad = np.array([u["p"] for u in units]), np.array([u["bad"] for u in units[:200]], dtype=bool)
    wanted = population_share(scores[:200], bad, scores[200:])
    share = cal[0].share
    assert (share.value, share.labels_alone) == (pytest.approx(wanted.share), wanted.labels_alone)
    assert (share.method, share.weight, share.assumed) == ("ppi++", pytest.approx(wanted.weight), True)
    told = json.loads(json.dumps(cal.to_json()))["checks"][0]["share"]
    assert told["value"] == pytest.approx(wanted.share.value)
    assert told["interval"] == pytest.approx([wanted.share.low, wanted.share.high])
    assert (told["reason"], told["undecided"]) == (None, 0)
    line = f"problems in all evaluated work: {wanted.share.value:.3f} ["
    assert line in repr(cal)
    assert "; the labels are assumed to be a random draw" in repr(cal)
    assert line in cal._repr_html_()


def test_few_labels_stand_alone(store, team):
    units = uniform(300, labelled=60, risk=risk)
    team.load(store, units)
    share = first(team.check, store).share
    k = sum(u["bad"] for u in units[:60])
    assert share.value == (k / 60, *wilson(k, 60))
    assert share.method == "wilson"
    assert "by the labels alone (Wilson)" in str(share)


def test_a_rule_counts_as_well(store):
    put_runs(store, *(run(f"r-{place:03d}", calls=1 + place % 5) for place in range(100)))
    said = ("problem" if place % 5 > 2 else "no_problem" for place in range(50))
    put_decisions(store, *({"run_id": f"r-{p:03d}", "check_id": "loop", "decision": d} for p, d in enumerate(said)))
    cal = first(loop(), store)
    assert cal.meaning is None
    assert cal.share.value == (0.4, *wilson(20, 50))


def test_a_recorded_equal_probability_is_not_assumed(store, team):
    units = uniform(300, labelled=100, risk=risk)
    team.load(store, [{**u, "probability_sampled": 0.333} if u["bad"] is not None else u for u in units])
    share = first(team.check, store).share
    assert share.value is not None
    assert not share.assumed
    assert "assumed" not in str(share)


def test_differing_probabilities_leave_it_unknown(store, team):
    units = uniform(300, labelled=100, risk=risk)
    drawn = [{**u, "probability_sampled": 0.5 if u["p"] > 0.5 else 0.1} for u in units]
    team.load(store, drawn)
    assert unknown(store, team) == "labels were drawn with differing probability"


def test_some_probabilities_leave_it_unknown(store, team):
    units = uniform(300, labelled=100, risk=risk)
    team.load(store, [{**u, "probability_sampled": 0.3} if place < 40 else u for place, u in enumerate(units)])
    assert unknown(store, team) == "only some labels say with which probability they were drawn"


def test_labels_of_flagged_work_alone_leave_it_unknown(store, team):
    units = uniform(300, labelled=300, risk=risk)
    team.load(store, [u if u["p"] >= 0.5 else {**u, "bad": None} for u in units])
    assert "units with verdict pass has a label" in unknown(store, team)


@pytest.mark.parametrize("probability", [None, 0.5])
def test_labels_of_what_passes_alone_leave_it_unknown(store, team, probability):
    """A sheet for trust draws what passes with one probability; that says nothing of the rest."""
    units = uniform(300, labelled=300, risk=risk)
    kept = [u if u["p"] < 0.5 and place % 2 else {**u, "bad": None} for place, u in enumerate(units)]
    team.load(store, kept if probability is None else [{**u, "probability_sampled": probability} for u in kept])
    assert "units with verdict fail has a label" in unknown(store, team)


def test_labels_chosen_in_sight_of_flags_leave_it_unknown(store, team):
    units = uniform(900, labelled=900, risk=risk)
    team.load(store, [u if u["p"] >= 0.5 or place % 5 == 0 else {**u, "bad": None} for place, u in enumerate(units)])
    reason = unknown(store, team)
    assert reason.startswith("labels are no equal draw of all work: 100.0 % of the flagged and ")


def test_few_sessions_leave_it_unknown_and_more_widen_it(store, team, tmp_path):
    units = uniform(300, labelled=300, risk=risk)
    team.load(store, [{**u, "session_id": f"s-{place % 12}"} for place, u in enumerate(units)])
    assert unknown(store, team) == "the share has no interval: the 300 labels come from 12 sessions only"
    (tmp_path / "more").mkdir()
    other = Scenario(folder=tmp_path / "more")
    alike = [{**u, "session_id": f"s-{place // 5}"} for place, u in enumerate(sorted(units, key=lambda u: -u["bad"]))]
    with cw.open() as own:
        other.load(own, alike)
        share = first(other.check, own).share
    k = sum(u["bad"] for u in units)
    assert share.value.high - share.value.low > 2 * (wilson(k, 300).high - wilson(k, 300).low)


def test_what_people_cannot_decide_is_told_and_much_of_it_silences_the_scores(store, team):
    units = uniform(600, labelled=200, risk=risk)
    team.load(store, units)
    team.decide(store, [{**u, "bad": False, "decision": "unclear"} for u in units[200:205]])
    some = first(team.check, store).share
    assert (some.method, some.undecided) == ("ppi++", 5)
    assert "in all evaluated work that people can decide (5 undecided):" in str(some)
    team.decide(store, [{**u, "bad": False, "decision": "unclear"} for u in units[205:240]])
    many = first(team.check, store).share
    assert (many.method, many.undecided, many.value) == ("wilson", 40, many.labels_alone)


def test_what_was_not_evaluated_and_what_has_a_label_is_not_undecided(store, team):
    """Another person's 'unclear' takes no label away, and a run that the check never saw is no evaluated work."""
    units = uniform(600, labelled=200, risk=risk)
    team.load(store, units)
    team.decide(store, [{**u, "bad": False, "decision": "unclear", "decided_by": "ben"} for u in units[:60]])
    put_runs(store, *(run(f"bare-{n}") for n in range(40)))
    team.decide(store, [{"run": f"bare-{n}", "bad": False, "decision": "unclear"} for n in range(40)])
    share = first(team.check, store).share
    assert (share.method, share.undecided) == ("ppi++", 0)


def test_no_labels_have_no_share_and_no_line(store, team):
    team.load(store, uniform(50, labelled=0, risk=risk))
    cal: Any = cw.calibrate(team.check, store)
    assert cal[0].share.reason == "there are no labels"
    assert "all evaluated work" not in repr(cal)


@pytest.mark.slow
def test_the_printed_numbers_cover_the_truth_as_often_as_they_say(store):
    """Two hundred judges answer one question, each about runs of its own, and have labels of its own."""
    rng = np.random.default_rng(21)
    scores = rng.random((JUDGES, RUNS)).clip(0.005, 0.995).round(4)
    bad = rng.random((JUDGES, RUNS)) < meant(scores)
    names = [[f"r-{judge:03d}-{place:03d}" for place in range(RUNS)] for judge in range(JUDGES)]
    flat = [(name, judge, place) for judge, row in enumerate(names) for place, name in enumerate(row)]
    put_runs(store, *({"run_id": name} for name, _, _ in flat))
    told = {"check_id": "q", "method": "reported"}
    put_answers(
        store,
        *({**told, "run_id": name, "model": f"m{j:03d}", "probability": float(scores[j, p])} for name, j, p in flat),
    )
    said = {True: "problem", False: "no_problem"}
    put_decisions(
        store,
        *({"run_id": n, "check_id": "q", "decision": said[bool(bad[j, p])]} for n, j, p in flat if p < LABELS),
    )
    found: Any = cw.calibrate(question(), store, goal="risk<=0.001@0.999")
    assert [(one.n, one.scored) for one in found] == [(LABELS, RUNS)] * JUDGES
    truth = float(meant(np.linspace(0.0005, 0.9995, 1000).clip(0.005, 0.995)).mean())
    shares, alone = [one.share.value for one in found], [one.share.labels_alone for one in found]
    assert {one.share.method for one in found} == {"ppi++"}
    assert 0.92 <= np.mean([share.low <= truth <= share.high for share in shares]) <= 0.98
    assert np.mean([s.high - s.low for s in shares]) < 0.97 * np.mean([s.high - s.low for s in alone])
    readings = [reading for one in found for reading in one.meaning.readings]
    assert len(readings) >= 4.95 * JUDGES
    assert 0.92 <= np.mean([one.low <= meant(one.at) <= one.high for one in readings]) <= 0.98
