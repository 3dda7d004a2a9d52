"""A positive decision is wrong at most as often as the plan allows, also where the naive way breaks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from check_workbench.certificates import bounds
from check_workbench.certificates.hygiene import Sample
from check_workbench.certificates.sides import Region
from check_workbench.checks import Check, FlagAt, Item, YesNo
from check_workbench.plans import Bound
from check_workbench.stats.certify import own_cut

pytestmark = pytest.mark.slow

DRAWS = 150
ALPHA, DELTA = 0.10, 0.10
ALLOWED = DELTA + 3 * (DELTA * (1 - DELTA) / DRAWS) ** 0.5
BOUND = Bound(side="false_pass", target=ALPHA, delta=DELTA)
CHECK = Check(id="c", dialect="neatroots", items=(Item(asks=YesNo(ask="Did it fail?"), cut=FlagAt(value=0.5)),))


def rows(scores: Any, bad: Any, *, cut: float, **columns: Any) -> pd.DataFrame:
    scores = np.asarray(scores)
    defaults = {
        "run_id": [f"r{place:04d}" for place in range(len(scores))],
        "step_id": "",
        "attempt": 1,
        "cluster": np.arange(len(scores)),
        "fresh": True,
        "probability_sampled": np.nan,
        "workflow": "w",
        "decided_at": pd.NaT,
        "labelled": True,
    }
    verdict = np.where(scores < cut, "pass", "fail")
    return pd.DataFrame(
        {"s0": scores, "positive": np.asarray(bad, dtype=bool), "verdict": verdict, **defaults, **columns}
    )


def decide(usable: pd.DataFrame, reference: pd.DataFrame, *, first: bool = True) -> Any:
    sample = Sample(usable=usable, taken=usable.iloc[:0], population=reference, excluded={})
    region = Region(check=CHECK, side="false_pass", reference=reference, everything=reference)
    return bounds.tested(region, BOUND, sample, bounds.Look(first=first, start=0.4))


def unlabelled(rng: np.random.Generator, cut: float) -> pd.DataFrame:
    found = rows(rng.random(400), np.zeros(400), cut=cut)
    return found.assign(labelled=False, run_id="u" + found["run_id"])


def lucky(scores: Any, bad: Any) -> float:
    """Return the cut at which the labels look best: what a person in a hurry would choose."""
    order = np.argsort(scores)
    errors, n = np.cumsum(np.asarray(bad)[order]), np.arange(1, len(order) + 1)
    tests = [own_cut(int(e), int(k), alpha=ALPHA, delta=DELTA).p for e, k in zip(errors[23:], n[23:], strict=True)]
    place = int(np.argmin(tests)) + 23
    return float(np.asarray(scores)[order][place]) + 1e-9


def test_a_cut_chosen_on_the_labels_that_certify_it():
    rng = np.random.default_rng(4)
    naive = ours = 0
    for _ in range(DRAWS):
        scores, bad = rng.random(200), rng.random(200) < 1.02 * ALPHA
        cut = lucky(scores, bad)
        inside = scores < cut
        naive += own_cut(int(bad[inside].sum()), int(inside.sum()), alpha=ALPHA, delta=DELTA).certified
        found = decide(rows(scores, bad, cut=cut, fresh=False), unlabelled(rng, cut))
        assert found.way == "walk"
        ours += found.certified
    assert naive / DRAWS > ALLOWED
    assert ours / DRAWS <= ALLOWED


def test_looks_that_are_repeated():
    rng = np.random.default_rng(5)
    naive = ours = 0
    for _ in range(DRAWS):
        bad = rng.random(400) < ALPHA
        labels = rows(np.full(400, 0.1), bad, cut=0.5)
        looks = [25, 60, 120, 200, 300, 400]
        naive += any(own_cut(int(bad[:n].sum()), n, alpha=ALPHA, delta=DELTA).certified for n in looks)
        ours += any(decide(labels.iloc[:n], labels, first=n == 25).certified for n in looks)
    assert naive / DRAWS > ALLOWED
    assert ours / DRAWS <= ALLOWED


def test_labels_drawn_toward_what_passes_most_easily():
    rng = np.random.default_rng(6)
    naive = ours = 0
    for _ in range(DRAWS):
        scores = rng.random(1200) / 2
        bad = rng.random(1200) < np.where(scores < 0.25, 0.04, 0.17)
        chance = np.where(scores < 0.25, 0.3, 0.1)
        drawn = rng.random(1200) < chance
        labels = rows(scores[drawn], bad[drawn], cut=0.5, probability_sampled=chance[drawn])
        naive += own_cut(int(bad[drawn].sum()), int(drawn.sum()), alpha=ALPHA, delta=DELTA).certified
        ours += decide(labels, labels).certified
    assert naive / DRAWS > ALLOWED
    assert ours / DRAWS <= ALLOWED


def test_runs_of_one_session_that_go_wrong_together():
    rng = np.random.default_rng(7)
    naive = ours = 0
    for _ in range(DRAWS):
        shape = ALPHA * (1 / 0.3 - 1), (1 - ALPHA) * (1 / 0.3 - 1)
        risk = np.repeat(rng.beta(*shape, 40), 10)
        bad = rng.random(400) < risk
        labels = rows(np.full(400, 0.1), bad, cut=0.5, cluster=np.repeat(np.arange(40), 10))
        naive += own_cut(int(bad.sum()), 400, alpha=ALPHA, delta=DELTA).certified
        ours += decide(labels, labels).certified
    assert naive / DRAWS > ALLOWED
    assert ours / DRAWS <= ALLOWED
