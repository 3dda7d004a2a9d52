"""What a score of a judge means: a curve where labels carry one, words where they do not."""

from __future__ import annotations

import json
from typing import Any, get_args

import numpy as np
import pytest

import check_workbench as cw
from check_workbench.calibration.meaning import SCALE
from check_workbench.checks import Check, Cutoffs, FlagAt, FlagLevel, FlagOn, Item, Levels, PassBand, YesNo
from check_workbench.stats.recalibration import recalibrate
from tests.scenario import Scenario, uniform
from tests.workshop import loop, put_answers, put_decisions, put_runs, run


@pytest.fixture
def team(tmp_path) -> Scenario:
    return Scenario(folder=tmp_path)


def first(*args: Any, **settings: Any) -> Any:
    return cw.calibrate(*args, **settings)[0]


def half(score: float) -> float:
    return 0.2 + 0.5 * score


def judged(store, scores: Any, bad: Any, check: Check) -> Any:
    names = [f"r-{place:04d}" for place in range(len(scores))]
    put_runs(store, *map(run, names))
    told = {"check_id": check.id}
    put_answers(store, *({**told, "run_id": n, "probability": float(p)} for n, p in zip(names, scores, strict=True)))
    said = ["problem" if one else "no_problem" for one in bad]
    put_decisions(store, *({**told, "run_id": n, "decision": d} for n, d in zip(names, said, strict=True)))
    return cw.calibrate(check, store)


def test_the_curve_is_that_of_the_labels_and_is_told_in_words(store, team):
    units = uniform(400, labelled=150, risk=half)
    team.load(store, units)
    cal: Any = cw.calibrate(team.check, store)
    meaning = cal[0].meaning
    scores, bad = np.array([u["p"] for u in units[:150]]), np.array([u["bad"] for u in units[:150]], dtype=bool)
    assert [reading.at for reading in meaning.readings] == [0.1, 0.3, 0.5, 0.7, 0.9]
    assert [reading.share for reading in meaning.readings] == pytest.approx(
        recalibrate(scores, bad)([0.1, 0.3, 0.5, 0.7, 0.9])
    )
    assert all(0 <= reading.low <= reading.share <= reading.high <= 1 for reading in meaning.line)
    assert (meaning.curve, meaning.labels, len(meaning.bins), sum(one.n for one in meaning.bins)) == (
        "platt",
        150,
        10,
        150,
    )
    assert meaning.before == cal[0].calibration_error
    assert meaning.after.value < meaning.before.value
    text = repr(cal)
    [last] = meaning.readings[-1:]
    assert "where the judge says 0.1, people find a problem in 0." in text
    assert f"0.9: {last.share:.2f} [{last.low:.2f}, {last.high:.2f}]" in text
    assert "by Platt's curve (150 labels, fewer than 200); the scores are off by 0." in text
    assert text.count(SCALE) == 1
    assert "where the judge says 0.1" in cal._repr_html_()


def test_the_json_holds_the_curve_its_kind_and_its_worth(store, team):
    team.load(store, uniform(400, labelled=250, risk=half))
    told = json.loads(json.dumps(cw.calibrate(team.check, store).to_json()))["checks"][0]["meaning"]
    assert (told["means"], told["labels"], told["reason"]) == ("problem", 250, None)
    assert told["curve"] in {"beta", "platt"}
    assert list(told["points"][0]) == ["at", "share", "low", "high"]
    assert list(told["bins"][0]) == ["at", "share", "low", "high", "n"]
    assert set(told["before"]) == set(told["after"]) == {"value", "by_chance", "band"}
    assert len(told["line"]) == 41


def test_no_cut_moves(store, team):
    team.load(store, uniform(300, labelled=200, risk=half))
    cal = first(team.check, store, goal="recall>=0.9")
    assert cal.chosen.at in {unit["p"] for unit in uniform(300, labelled=200, risk=half)}
    assert cal.threshold.value == 0.5


@pytest.mark.parametrize(
    ("n", "problems", "words"),
    [
        (49, 20, "too few labels (49, 20 of the rarer kind): a curve needs 50, with 10 of each kind"),
        (80, 9, "too few labels (80, 9 of the rarer kind)"),
        (80, 80, "too few labels (80, 0 of the rarer kind)"),
    ],
)
def test_few_labels_get_words_instead(store, team, n, problems, words):
    units = uniform(n, labelled=n, risk=half)
    team.load(store, [{**unit, "bad": place < problems} for place, unit in enumerate(units)])
    cal: Any = cw.calibrate(team.check, store)
    assert cal[0].meaning.curve is None
    assert cal[0].meaning.reason.startswith(words)
    assert f"what its scores mean is unknown: {words}" in repr(cal)
    assert SCALE not in repr(cal)
    assert cal.to_json()["checks"][0]["meaning"]["points"] == []
    assert len(cal.plot().axes) == 1


def test_one_score_and_one_session_get_words(store, team, tmp_path):
    units = uniform(100, labelled=100, risk=half)
    team.load(store, [{**unit, "p": 0.7} for unit in units])
    assert first(team.check, store).meaning.reason == "all labelled scores are 0.7"
    (tmp_path / "own").mkdir()
    other = Scenario(folder=tmp_path / "own")
    with cw.open() as own:
        other.load(own, [{**unit, "session_id": f"s-{place % 8}"} for place, unit in enumerate(units)])
        assert first(other.check, own).meaning.reason == "the 100 labels come from 8 sessions only"


def test_sessions_widen_the_band(store, team, tmp_path):
    units = sorted(uniform(300, labelled=300, risk=half), key=lambda unit: (unit["bad"], unit["p"]))
    team.load(store, units)
    alone = first(team.check, store).meaning.readings[2]
    (tmp_path / "own").mkdir()
    other = Scenario(folder=tmp_path / "own")
    with cw.open() as own:
        other.load(own, [{**unit, "session_id": f"s-{place // 10}"} for place, unit in enumerate(units)])
        together = first(other.check, own).meaning.readings[2]
    assert together.share == pytest.approx(alone.share)
    assert together.high - together.low > 1.5 * (alone.high - alone.low)


def test_labels_of_differing_probability_are_weighted_back(store, team):
    """The drawn half of the problems tells too much of them unless each label counts for what it stands for."""
    rng = np.random.default_rng(3)
    units = uniform(3000, labelled=3000, risk=lambda _: 0.3)
    kept = []
    for unit in units:
        chance = 0.4 if unit["bad"] else 0.1
        kept.append({**unit, "probability_sampled": chance} if rng.random() < chance else {**unit, "bad": None})
    team.load(store, kept)
    cal = first(team.check, store)
    reading = cal.meaning.readings[2]
    assert cal.weighted
    assert reading.low <= 0.3 <= reading.high
    assert np.mean([unit["bad"] for unit in kept if unit["bad"] is not None]) > 0.55


def test_labels_of_which_one_stands_for_nearly_all_have_no_curve(store, team):
    units = uniform(200, labelled=150, risk=half)
    drawn = [{**unit, "probability_sampled": 1e-6 if place == 0 else 1.0} for place, unit in enumerate(units[:150])]
    team.load(store, [*drawn, *units[150:]])
    meaning = first(team.check, store).meaning
    assert meaning.curve is None
    assert "the 150 labels stand for so differing amounts of work that they tell no more than 1 equal" in meaning.reason


def test_a_claim_means_that_the_work_is_good(store):
    claim = Check(id="q", dialect="check-1", items=(Item(asks=YesNo(ask="It holds."), cut=PassBand(pass_at=0.6)),))
    rng = np.random.default_rng(4)
    scores = rng.random(300).round(3)
    cal = judged(store, scores, rng.random(300) > scores, claim)
    assert [entry.threshold.key for entry in cal] == ["pass", "fail"]
    meaning = cal[0].meaning
    assert (meaning.means, meaning.readings[-1].share > 0.75, meaning.readings[0].share < 0.25) == ("good", True, True)
    assert cal[1].meaning == meaning
    assert repr(cal).count("people find it good in") == repr(cal).count("problems in all evaluated work") == 1
    assert cal.plot().axes[1].get_ylabel() == "people find it good"


def test_a_judge_who_means_the_opposite_has_a_falling_curve(store, team):
    team.load(store, uniform(200, labelled=180, risk=lambda score: 0.9 - 0.8 * score))
    shares = [reading.share for reading in first(team.check, store).meaning.readings]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 0.6


def test_close_scores_are_read_at_their_quantiles(store, team):
    units = [{**unit, "p": round(0.4 + unit["p"] / 10, 4)} for unit in uniform(200, labelled=200, risk=half)]
    team.load(store, units)
    at = [reading.at for reading in first(team.check, store).meaning.readings]
    assert at == sorted(set(at))
    assert all(0.4 <= place <= 0.5 and place == round(place, 2) for place in at)


def test_a_free_curve_where_many_labels_refute_a_smooth_one(store, team):
    team.load(store, uniform(1200, labelled=1200, risk=lambda score: 0.05 if score < 0.7 else 0.95))
    meaning = first(team.check, store).meaning
    assert (meaning.curve, meaning.why) == (
        "isotonic",
        "the isotonic curve (1200 labels, 1000 or more, and a smooth curve misses)",
    )
    assert [reading.share for reading in meaning.readings[::4]] == pytest.approx([0.05, 0.95], abs=0.05)


def test_a_curve_that_misses_says_so(store, team):
    team.load(store, uniform(900, labelled=900, risk=lambda score: 0.9 if 0.3 < score < 0.6 else 0.1))
    assert "so it misses as well" in repr(cw.calibrate(team.check, store))


def test_rules_levels_and_composites_have_no_meaning(store):
    put_runs(store, *(run(f"r-{place:03d}", calls=1 + place % 5) for place in range(100)))
    put_decisions(store, *({"run_id": f"r-{p:03d}", "check_id": "loop", "decision": "problem"} for p in range(60)))
    assert first(loop(), store).meaning is None
    assert cw.calibrate(loop(), store).to_json()["checks"][0]["meaning"] is None
    levels = Levels(ask="How bad?", levels=("none", "some", "all"))
    asked = Check(id="deep", dialect="neatroots", items=(Item(asks=levels, cut=FlagLevel(value=1.5)),))
    put_answers(store, *({"run_id": f"r-{p:03d}", "check_id": "deep", "level": p % 3} for p in range(100)))
    put_decisions(
        store,
        *({"run_id": f"r-{p:03d}", "check_id": "deep", "decision": "problem"} for p in range(30)),
        *({"run_id": f"r-{p:03d}", "check_id": "deep", "decision": "no_problem"} for p in range(30, 60)),
    )
    assert first(asked, store).meaning is None


def test_the_picture_has_a_second_panel_over_the_same_scores(store, team):
    team.load(store, uniform(300, labelled=200, risk=half))
    figure = first(team.check, store).plot()
    above, below = figure.axes
    assert above.get_xlim() == below.get_xlim()
    assert (below.get_xlabel(), below.get_ylabel()) == ("what the judge says", "people find a problem")
    [legend] = figure.legends
    assert [text.get_text() for text in legend.get_texts()][-3:] == [
        "as the judge says", "fitted curve", "labels in bins",
    ]  # fmt: skip


def test_the_same_store_gives_the_same_bytes(store, team):
    team.load(store, uniform(300, labelled=200, risk=half))
    one, other = (cw.calibrate(team.check, store) for _ in range(2))
    assert (repr(one), one._repr_html_()) == (repr(other), other._repr_html_())
    assert json.dumps(one.to_json()) == json.dumps(other.to_json())


@pytest.mark.parametrize("cut", get_args(Cutoffs))
def test_every_cut_says_whether_it_is_over_probabilities(cut):
    assert cut.probable is (cut in {FlagAt, FlagOn, PassBand})
