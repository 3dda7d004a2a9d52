"""Which work is drawn, and with which probability."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import check_workbench as cw
from check_workbench.calibration.looks import ledger
from check_workbench.certificates.exact import anytime_bound
from check_workbench.errors import InputError, UnknownNameError
from check_workbench.labelling.pool import order
from check_workbench.stats.certify import own_cut
from check_workbench.stats.monitor import further_needed
from check_workbench.store import open_store
from tests.scenario import Scenario, uniform
from tests.workshop import loop, put_runs, question, run, screening, submission, vendor

if TYPE_CHECKING:
    from pathlib import Path

    from check_workbench.store import Store
    from tests.labelling.conftest import Desk

ENFORCE = cw.plan(change="enforce")
BOTH = cw.plan(change="enforce", max_false_pass=0.1)


def never(_: float) -> float:
    return 0.0


def names(made: Any) -> set[str]:
    return set(made.units["run_id"])


def test_a_draw_for_trust_takes_only_what_would_pass_with_one_probability(store: Store, team: Scenario) -> None:
    units = uniform(300, labelled=0, risk=never)
    team.load(store, units)
    made = cw.label_next(team.check, store, n=50)
    passed = {u["run"] for u in units if u["p"] < 0.5}
    assert names(made) <= passed
    assert len(made.units) == made.readings == 50
    assert made.units["probability"].unique().tolist() == [50 / len(passed)]


def test_the_side_is_the_one_that_the_plan_bounds(store: Store, team: Scenario) -> None:
    units = uniform(200, labelled=0, risk=never)
    team.load(store, units)
    flagged = {u["run"] for u in units if u["p"] >= 0.5}
    assert names(cw.label_next(team.check, store, n=30, plan=ENFORCE)) <= flagged
    both = names(cw.label_next(team.check, store, n=60, plan=BOTH))
    assert both & flagged
    assert both - flagged


def test_without_a_plan_the_last_trust_names_the_side(store: Store, team: Scenario) -> None:
    units = uniform(200, labelled=20, risk=never)
    team.load(store, units)
    cw.trust(team.check, store, plan=ENFORCE)
    [draw] = cw.label_next(team.check, store, n=10).draws
    assert draw.verdicts == ("fail",)


def test_the_same_call_draws_the_same_and_a_larger_one_the_same_and_more(store: Store, team: Scenario) -> None:
    team.load(store, uniform(200, labelled=0, risk=never))
    first, again = (cw.label_next(team.check, store, n=20) for _ in range(2))
    assert first.to_json() == again.to_json()
    assert names(first) < names(cw.label_next(team.check, store, n=40))
    assert names(first) != names(cw.label_next(team.check, store, n=20, seed=1))


def test_the_order_of_loading_changes_nothing(team: Scenario) -> None:
    units = uniform(120, labelled=0, risk=never)
    drawn = []
    for listed in (units, units[::-1]):
        with open_store() as store:
            team.load(store, listed)
            drawn.append(cw.label_next(team.check, store, n=20).to_json())
    assert drawn[0] == drawn[1]


def test_what_is_labelled_blind_is_not_drawn_again_and_what_was_shown_is(store: Store, team: Scenario) -> None:
    units = [u | {"p": 0.1} for u in uniform(40, labelled=0, risk=never)]
    for place, unit in enumerate(units[:30]):
        unit |= {"bad": False, "seen": "false" if place < 20 else "true"}
    team.load(store, units)
    made = cw.label_next(team.check, store, n=100)
    assert names(made) == {u["run"] for u in units[20:]}
    [draw] = made.draws
    assert (draw.told, draw.free, draw.region) == ({"pass": 20}, 20, 40)
    assert made.notes == ("failed: 100 labels were asked for, and 20 is all that is left",)


def test_what_nobody_could_tell_blind_is_not_drawn_again(store: Store, team: Scenario) -> None:
    team.load(store, [u | {"p": 0.1} for u in uniform(10, labelled=0, risk=never)])
    team.decide(store, [{"run": "r-0003", "bad": None, "decision": "unclear"}])
    assert names(cw.label_next(team.check, store, n=10)) == {f"r-{i:04d}" for i in range(10)} - {"r-0003"}


def test_previewed_runs_test_runs_and_twins_are_not_drawn(store: Store, team: Scenario) -> None:
    units = [u | {"p": 0.1} for u in uniform(20, labelled=0, risk=never)]
    units[0]["mode"] = "test"
    units[1]["content"] = units[2]["content"] = "the same"
    units[5] |= {"content": "told", "bad": False}
    units[6]["content"] = "told"
    team.load(store, units)
    cw.preview(team.check, store, problem=["r-0003"], clean=["r-0004"])
    drawn = names(cw.label_next(team.check, store, n=50))
    assert not drawn & {"r-0000", "r-0003", "r-0004", "r-0005", "r-0006"}
    assert len(drawn & {"r-0001", "r-0002"}) == 1
    assert len(drawn) == 14


def test_each_unit_comes_first_equally_often() -> None:
    units = pd.DataFrame({"run_id": [f"r-{i}" for i in range(20)], "step_id": "", "attempt": 1})
    drawn = np.concatenate([np.argsort(order(units, seed))[:5] for seed in range(600)])
    counts = np.bincount(drawn, minlength=20)
    assert ((counts - 150) ** 2 / 150).sum() < 43.8  # chi-squared, 19 degrees of freedom, p = .001


def test_a_side_that_is_just_too_bad_is_rarely_proven() -> None:
    """One order, read as far as 60: a risk of 1.025 times the target is certified in at most 10 % of all orders."""
    units = pd.DataFrame({"run_id": [f"r-{i}" for i in range(400)], "step_id": "", "attempt": 1})
    bad = np.arange(400) < 41
    errors = [int(bad[np.argsort(order(units, seed))[:60]].sum()) for seed in range(500)]
    wrong = np.mean([own_cut(count, 60, alpha=0.1, delta=0.1).certified for count in errors])
    assert wrong <= 0.1 + 3 * np.sqrt(0.09 / 500)
    assert np.mean(errors) == pytest.approx(60 * 41 / 400, rel=0.05)


def test_sheets_read_on_and_carry_one_probability(store: Store, team: Scenario, desk: Desk, tmp_path: Path) -> None:
    team.load(store, uniform(300, labelled=0, risk=never))
    whole = names(cw.label_next(team.check, store, n=60))
    first = cw.label_next(team.check, store, n=20, sheet=tmp_path / "a.csv")
    store.load_decisions(desk.fill(tmp_path / "a.csv", lambda _: "no_problem"))
    second = cw.label_next(team.check, store, n=40, sheet=tmp_path / "b.csv")
    store.load_decisions(desk.fill(tmp_path / "b.csv", lambda _: "no_problem"))
    assert names(first) | names(second) == whole
    assert store.sql("select count(distinct probability_sampled) as n from decisions")["n"].tolist() == [1]
    [cert] = cw.trust(team.check, store, plan=cw.plan(change="replace_approval"))
    assert (cert.outcome, cert.n, cert.errors) == ("ready", 60, 0)
    assert cert.excluded == {}
    assert not any("looser cut" in words and "would hold" in words for words in cert.reasons)


def test_runs_that_come_later_find_their_place_in_the_order(
    store: Store, team: Scenario, desk: Desk, tmp_path: Path
) -> None:
    """All sheets together are the first ones of one random order over the work as it is then."""
    units = [u | {"p": 0.1} for u in uniform(100, labelled=0, risk=never)]
    team.load(store, units[:50])
    cw.label_next(team.check, store, n=20, sheet=tmp_path / "a.csv")
    store.load_decisions(desk.fill(tmp_path / "a.csv", lambda _: "no_problem"))
    labelled = set(store.sql("select run_id from decisions")["run_id"])
    team.load(store, units[50:])
    then = labelled | names(cw.label_next(team.check, store, n=30))
    with open_store() as fresh:
        team.load(fresh, units)
        assert names(cw.label_next(team.check, fresh, n=50)) == then


def test_work_that_a_moved_number_adds_must_have_had_its_chance(
    store: Store, team: Scenario, desk: Desk, tmp_path: Path
) -> None:
    units = uniform(400, labelled=0, risk=never)
    team.load(store, units)
    first = cw.label_next(team.check, store, n=80, sheet=tmp_path / "a.csv")
    store.load_decisions(desk.fill(tmp_path / "a.csv", lambda _: "no_problem"))
    team.write(0.8)
    few = cw.label_next(team.check, store, n=10)
    [draw] = few.draws
    assert draw.behind > 10
    assert any(f"only with n={draw.behind} or more do all labels together" in note for note in few.notes)
    enough = cw.label_next(team.check, store, n=draw.behind)
    assert enough.notes == ()
    with open_store() as fresh:
        team.load(fresh, units)
        together = names(first) | names(enough)
        assert names(cw.label_next(team.check, fresh, n=len(together))) == together
    assert cw.label_next(team.check, store, n=10, seed=1).notes == ()


def test_a_draw_for_recall_reaches_all_work_and_says_how_likely(store: Store, team: Scenario) -> None:
    team.load(store, [u | {"workflow": f"w{i % 3}"} for i, u in enumerate(uniform(600, labelled=0, risk=never))])
    made = cw.label_next(team.check, store, n=120, purpose="recall")
    [draw] = made.draws
    assert len(made.units) == 120
    assert set(draw.by_verdict) == {"fail", "pass"}
    fail, passed = (draw.units.loc[draw.units["verdict"] == name, "probability"] for name in ("fail", "pass"))
    assert passed.min() > 0
    assert fail.min() == fail.max() == passed.min() == pytest.approx(passed.max() / 2)
    assert (1 / draw.units["probability"]).sum() == pytest.approx(600, rel=0.05)
    shares = store.sql("select run_id, workflow from runs").set_index("run_id")["workflow"]
    assert draw.units["run_id"].map(shares).value_counts().between(36, 44).all()


def test_what_trust_sampled_is_not_drawn_again_for_recall(
    store: Store, team: Scenario, desk: Desk, tmp_path: Path
) -> None:
    units = uniform(400, labelled=0, risk=never)
    team.load(store, units)
    trust = cw.label_next(team.check, store, n=50, sheet=tmp_path / "a.csv")
    store.load_decisions(desk.fill(tmp_path / "a.csv", lambda _: "no_problem"))
    recall = cw.label_next(team.check, store, n=60, purpose="recall", sheet=tmp_path / "b.csv")
    assert recall.draws[0].by_verdict == {"fail": 60}
    drawn = [made.draws[0].units for made in (trust, recall)]
    passed = sum(u["p"] < 0.5 for u in units)
    assert f"nothing is drawn of {passed} units that sheets for trust could draw" in recall.notes[0]
    assert [float((1 / d["probability"]).sum()) for d in drawn] == pytest.approx([passed, 400 - passed])


def test_work_that_came_after_a_sheet_for_trust_or_that_its_cut_left_out_is_drawn_for_recall(
    store: Store, team: Scenario, desk: Desk, tmp_path: Path
) -> None:
    units = uniform(400, labelled=0, risk=never)
    team.load(store, units[:300])
    cw.label_next(team.check, store, n=50, sheet=tmp_path / "a.csv")
    store.load_decisions(desk.fill(tmp_path / "a.csv", lambda _: "no_problem"))
    team.load(store, units[300:])
    team.write(0.7)
    recall = cw.label_next(team.check, store, n=1000, purpose="recall")
    covered = {u["run"] for u in units[:300] if u["p"] < 0.5}
    assert names(recall) == {u["run"] for u in units} - covered
    assert recall.draws[0].covered == len(covered)


def test_the_ledger_keeps_what_a_sheet_treated_alike(store: Store, team: Scenario, tmp_path: Path) -> None:
    units = uniform(300, labelled=0, risk=never)
    units[0]["content"] = units[1]["content"] = "the same"
    team.load(store, units)
    passed = {u["run"] for u in units if u["p"] < 0.5}
    for purpose in ("trust", "recall"):
        cw.label_next(team.check, store, n=60, purpose=purpose, sheet=tmp_path / f"{purpose}.csv")
    trust, recall = (result["strata"] for result in ledger(store)["result"])
    for strata in (trust, recall):
        listed = [unit for stratum in strata for unit in stratum["units"]]
        assert len(listed) == len(set(listed)) == 299
        assert sum(stratum["chance"] * len(stratum["units"]) for stratum in strata) == pytest.approx(60)
    side = passed & {u for stratum in trust for u in stratum["units"]}
    assert [(stratum["chance"], set(stratum["units"]) <= passed) for stratum in trust] == [
        (60 / len(side), True),
        (0, False),
    ]
    low, near, high = sorted(recall, key=lambda stratum: (stratum["chance"], stratum["units"]))
    assert near["chance"] == low["chance"] == pytest.approx(high["chance"] / 2)
    assert len(high["units"]) == pytest.approx(0.3 * len(side), abs=1)


def test_labels_without_a_probability_are_told_of_before_a_draw_for_recall(store: Store, team: Scenario) -> None:
    team.load(store, uniform(100, labelled=10, risk=never))
    made = cw.label_next(team.check, store, n=20, purpose="recall")
    assert any("10 labels that are there do not say" in note for note in made.notes)


def test_a_draw_for_trust_after_one_for_recall_says_what_that_costs(
    store: Store, team: Scenario, desk: Desk, tmp_path: Path
) -> None:
    team.load(store, uniform(300, labelled=0, risk=never))
    cw.label_next(team.check, store, n=60, purpose="recall", sheet=tmp_path / "a.csv")
    store.load_decisions(desk.fill(tmp_path / "a.csv", lambda _: "no_problem"))
    [note] = cw.label_next(team.check, store, n=20).notes
    assert "differing probabilities" in note
    assert "twice" not in note


def test_submissions_of_a_step_are_drawn_first_attempts_only(store: Store) -> None:
    steps = (submission(0.95, attempt=1), submission(0.97, attempt=2))
    put_runs(store, *(vendor(f"v-{i}", *steps, input=f"vendor {i}") for i in range(5)))
    made = cw.label_next(screening(), store, n=20)
    assert sorted(made.units[["run_id", "step_id", "attempt"]].itertuples(index=False, name=None)) == [
        (f"v-{i}", "screen", 1) for i in range(5)
    ]


def test_rules_are_drawn_from_as_questions_are(store: Store) -> None:
    put_runs(store, *(run(f"r-{i}", 1 + i % 5, input=f"task {i}") for i in range(40)))
    found = cw.label_next(loop(), store, n=5, plan=ENFORCE)
    assert found.draws[0].region == 24


def test_nothing_can_be_drawn_where_nothing_is_answered_or_loaded(store: Store) -> None:
    assert "no verdict on any run" in cw.label_next(loop(), store, n=5).notes[0]
    put_runs(store, run("r-1"))
    made = cw.label_next(question(), store, n=5)
    assert (made.readings, made.draws[0].silent) == (0, 1)
    assert "no verdict on any run" in made.notes[0]
    made = cw.label_next(loop(), store, n=5, plan=ENFORCE)
    assert made.notes == ("loop: there is no work that the check fails",)


def test_what_the_labels_can_prove_is_told_without_reading_them(store: Store, team: Scenario) -> None:
    units = uniform(400, labelled=30, risk=lambda _: 1.0)
    team.load(store, units)
    made = cw.label_next(team.check, store, n=40)
    [prospect] = made.prospects["failed"]
    told = sum(u["p"] < 0.5 for u in units[:30])
    assert (prospect.labels, prospect.needed) == (40 + told, 50)
    assert prospect.sure == pytest.approx(0.92)
    assert prospect.bound == pytest.approx(1 - 0.08 ** (1 / (40 + told)))
    assert [risk for risk, _ in prospect.chances] == [0.0125, 0.025]
    cw.trust(team.check, store, plan=cw.plan(change="replace_approval"))
    [later] = cw.label_next(team.check, store, n=40).prospects["failed"]
    assert later.sure == pytest.approx(0.98)
    assert later.chances == ()
    assert later.needed == further_needed([], alpha=0.05, delta=0.02)
    assert later.bound == anytime_bound(np.zeros(later.labels, dtype=np.bool_), 0.02)
    assert later.bound > own_cut(0, later.labels, alpha=0.05, delta=0.02).bound


def test_bets_that_lost_leave_less_for_a_moved_number(store: Store, team: Scenario) -> None:
    units = uniform(400, labelled=30, risk=lambda _: 1.0)
    team.load(store, units[:20])
    cw.trust(team.check, store, plan=cw.plan(change="replace_approval"))
    team.load(store, units[20:])
    cert = cw.trust(team.check, store, plan=cw.plan(change="replace_approval"))
    wealth = cert[0].details["bounds"][0]["wealth"]
    assert wealth < 0.1
    team.write(0.6)
    [later] = cw.label_next(team.check, store, n=40).prospects["failed"]
    assert later.needed == further_needed([], alpha=0.05, delta=0.02 * wealth)


@pytest.mark.parametrize("n", [0, -1, 2.5, True, "20", None])
def test_n_must_be_a_whole_number_from_1(store: Store, n: Any) -> None:
    with pytest.raises(InputError, match="n must be a whole number from 1"):
        cw.label_next(loop(), store, n=n)


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"purpose": "fun"}, "purpose must be one of trust, recall"),
        ({"seed": -1}, "seed must"),
        ({"plan": "x"}, "plan"),
    ],
)
def test_options_that_are_not_possible(store: Store, choices: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        cw.label_next(loop(), store, **choices)
    with pytest.raises(UnknownNameError, match="Did you mean 'purpose'"):
        cw.label_next(loop(), store, purposes="trust")  # type: ignore[call-arg]
