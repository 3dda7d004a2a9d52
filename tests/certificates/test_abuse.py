"""Ways of using labels that break a naive reading of them, each beside what the same labels certify here.

In every draw the check errs a little more often than allowed, so that each certificate is a false one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import check_workbench as cw
from check_workbench.stats.certify import p_value
from check_workbench.stats.monitor import certifying_wealth, further_needed
from tests.certificates.draws import (
    ALLOWED,
    ALPHA,
    DELTA,
    DRAWS,
    PLAN,
    decide,
    naive,
    rows,
    sorted_out,
    unlabelled,
)
from tests.scenario import uniform

BAD_RISK = 1.02 * ALPHA
slow = pytest.mark.slow


def best_looking(scores: np.ndarray, bad: np.ndarray) -> float:
    """Return the cut at which the labels look best, of those that pass 24 labels or more."""
    order = np.argsort(scores)
    errors, n = np.cumsum(bad[order])[23:], np.arange(24, len(order) + 1)
    return float(scores[order][23 + np.argmin(p_value(errors, n, ALPHA))]) + 1e-9


@slow
def test_a_cut_chosen_on_the_labels_that_certify_it() -> None:
    rng = np.random.default_rng(4)
    theirs = ours = 0
    for _ in range(DRAWS):
        scores, bad = rng.random(200), rng.random(200) < BAD_RISK
        cut = best_looking(scores, bad)
        theirs += naive(bad[scores < cut])
        found = decide(rows(scores, bad, cut=cut, fresh=False), unlabelled(rng, cut=cut))
        assert found.way == "walk"
        ours += found.certified
    assert theirs / DRAWS > 0.20
    assert ours / DRAWS <= ALLOWED


@slow
def test_a_look_after_every_label_until_one_is_good() -> None:
    """The first look comes at 40 labels, and one after each label since."""
    rng = np.random.default_rng(5)
    theirs = ours = 0
    sizes = np.arange(40, 401)
    for _ in range(DRAWS):
        bad = rng.random(400) < BAD_RISK
        labels = rows(np.full(400, 0.1), bad)
        theirs += bool((p_value(bad.cumsum()[sizes - 1], sizes, ALPHA) <= DELTA).any())
        best = int(np.argmax(certifying_wealth(bad, alpha=ALPHA)[39:])) + 40
        ours += decide(labels.iloc[:40], labels).certified or decide(labels[:best], labels, first=False).certified
    assert theirs / DRAWS > 0.25
    assert ours / DRAWS <= ALLOWED


@slow
def test_labels_drawn_three_to_one_toward_what_passes_most_easily() -> None:
    rng = np.random.default_rng(6)
    theirs = ours = 0
    for _ in range(DRAWS):
        scores = rng.random(1200) / 2
        sure = scores < 0.25
        bad, chance = rng.random(1200) < np.where(sure, 0.04, 0.17), np.where(sure, 0.3, 0.1)
        drawn = rng.random(1200) < chance
        labels = rows(scores[drawn], bad[drawn], probability_sampled=chance[drawn])
        theirs += naive(bad[drawn])
        ours += decide(labels, labels).certified
    assert theirs / DRAWS > 0.50
    assert ours / DRAWS <= ALLOWED


@slow
def test_runs_of_a_preview_among_the_labels(store: Any) -> None:
    """The question was reworded until it passed no bad work among the runs that a preview showed."""
    rng = np.random.default_rng(7)
    shown = np.arange(200) < 60
    look = {"call": "preview", "runs": [f"r{place:04d}" for place in range(60)], "labels": [], "result": {}}
    kept = sorted_out(store, rows(np.full(200, 0.1), np.zeros(200)), [{**look, "at": pd.Timestamp("2026-10-01")}])
    assert kept.excluded == {"fit": 60}
    assert set(kept.usable["run_id"]) == {f"r{place:04d}" for place in np.flatnonzero(~shown)}
    theirs = ours = 0
    for _ in range(DRAWS):
        bad = (rng.random(200) < BAD_RISK) & ~shown
        labels = rows(np.full(200, 0.1), bad)
        theirs += naive(bad)
        ours += decide(labels[labels["run_id"].isin(kept.usable["run_id"])], labels).certified
    assert theirs / DRAWS > 0.40
    assert ours / DRAWS <= ALLOWED


@slow
def test_runs_of_one_session_that_go_wrong_together() -> None:
    rng = np.random.default_rng(8)
    theirs = ours = 0
    session = np.repeat(np.arange(40), 10)
    strength = 1 / 0.3 - 1
    for _ in range(DRAWS):
        bad = rng.random(400) < rng.beta(ALPHA * strength, (1 - ALPHA) * strength, 40)[session]
        labels = rows(np.full(400, 0.1), bad, cluster=session)
        theirs += naive(bad)
        ours += decide(labels, labels).certified
    assert theirs / DRAWS > 0.15
    assert ours / DRAWS <= ALLOWED


@slow
def test_people_who_follow_the_verdict_that_they_see(store: Any) -> None:
    """Three of four decide in sight of the verdict, and then say what it says half of the time."""
    rng = np.random.default_rng(9)
    seen = np.arange(400) % 4 > 0
    told = rows(
        np.full(400, 0.1),
        np.zeros(400),
        blind=~seen,
        reason_not_blind=pd.Series("saw_verdict", range(400)).where(seen, None),
    )
    kept = sorted_out(store, told, [])
    assert kept.excluded == {"saw_verdict": 300}
    assert set(kept.usable["run_id"]) == set(told["run_id"][~seen])
    theirs = ours = 0
    for _ in range(DRAWS):
        bad = (rng.random(400) < 1.2 * ALPHA) & ~(seen & (rng.random(400) < 0.5))
        labels = rows(np.full(400, 0.1), bad)
        theirs += naive(bad)
        ours += decide(labels[~seen], labels).certified
    assert theirs / DRAWS > 0.50
    assert ours / DRAWS <= ALLOWED


@slow
def test_a_window_that_begins_behind_the_errors() -> None:
    """After the first look the plan is edited so that it begins where the longest clean stretch does."""
    rng = np.random.default_rng(10)
    theirs = ours = 0
    enough = further_needed([], alpha=ALPHA, delta=0.2 * DELTA)
    for _ in range(DRAWS):
        bad = rng.random(600) < BAD_RISK
        theirs += bool(np.diff(np.flatnonzero(np.concatenate([[True], bad, [True]]))).max() > enough)
        later = rows(np.full(150, 0.1), rng.random(150) < BAD_RISK)
        ours += decide(later, later, first=False).certified
    assert theirs / DRAWS > 0.20
    assert ours / DRAWS <= ALLOWED


def test_labels_on_flags_alone_make_recall_look_perfect(store, team):
    """A check that misses three of four problems; people looked only at what it flagged."""
    units = uniform(400, labelled=400, risk=lambda s: 0.9 if s >= 0.8 else 0.6)
    flagged = [u for u in units if u["p"] >= 0.8]
    problems = sum(u["bad"] for u in units)
    team.write(0.8)
    team.load(store, [u if u["p"] >= 0.8 else {**u, "bad": None} for u in units])
    seen = sum(u["bad"] for u in flagged)
    assert seen / problems < 0.35
    found: Any = cw.calibrate(team.check, store, goal="recall>=0.9")
    assert found[0].present.precision == pytest.approx(seen / len(flagged))
    assert {(p.recall, p.recall_low, p.recall_high, p.missed) for p in found[0].curve} == {(None,) * 4}
    assert (found[0].present.recall, found[0].chosen) == (None, None)
    assert "recall is unknown" in repr(found)
    assert "recall 1" not in repr(found)
    assert all(point["recall"] is None for point in found.to_json()["checks"][0]["curve"])


@pytest.mark.parametrize("how", ["own", "walk", "sequential", "strata", "sessions"])
def test_what_the_draws_decide_on_is_what_trust_runs(store, team, how):
    units = uniform(700, labelled=300, risk=lambda s: 0.03 if s < 0.6 else 0.9)
    fields: dict[str, Any] = {}
    if how == "strata":
        fields["probability_sampled"] = [0.3 if u["p"] < 0.25 else 0.1 for u in units]
    if how == "sessions":
        fields["session_id"] = [f"s{place // 3}" for place in range(len(units))]
    team.load(store, [{**u, **{name: values[i] for name, values in fields.items()}} for i, u in enumerate(units)])
    cut = 0.5
    if how == "walk":
        cw.calibrate(team.check, store)
        team.write(cut := 0.55)
    if how == "sequential":
        cw.trust(team.check, store, plan=PLAN)
        units += uniform(30, labelled=30, risk=lambda _: 0.0, prefix="s", seed=1)
        team.load(store, units[-30:])
    told = cw.trust(team.check, store, plan=PLAN)[0].details["bounds"][0]
    if "session_id" in fields:
        fields = {"cluster": [f"session_id:{name}" for name in fields["session_id"]]}
    table = rows([u["p"] for u in units], [bool(u["bad"]) for u in units], cut=cut, fresh=how != "walk", **fields)
    table = table.assign(run_id=[u["run"] for u in units], labelled=[u["bad"] is not None for u in units])
    mine = decide(table[table["labelled"]], table, first=how != "sequential")
    assert mine.way == ({"strata": "own", "sessions": "own"}.get(how, how))
    assert (told["way"], told["n"], told["errors"], told["certified"]) == (
        mine.way,
        mine.n,
        mine.errors,
        mine.certified,
    )
    assert (told["upper"], told["coverage"], told["further"]) == (mine.upper, mine.coverage, mine.further)
    assert mine.n
