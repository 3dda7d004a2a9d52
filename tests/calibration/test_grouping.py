"""Groups that differ, and pools that mislead."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import check_workbench as cw
from check_workbench.calibration.grouping import Group, differing, within
from check_workbench.calibration.points import Labelled
from tests.scenario import Scenario, uniform


@pytest.fixture
def team(tmp_path) -> Scenario:
    return Scenario(folder=tmp_path)


def group(name: str, true: int, flagged: int, **fields: Any) -> Group:
    told = {"by": "workflow", "n": 100, "positives": 50, "auc": None, **fields}
    return Group(name=name, true=true, flagged=flagged, **told)


def labelled(scores: Any, positive: Any, means: Any = "problem") -> Labelled:
    values = np.asarray(scores, dtype=float)
    return Labelled(scores=values, positive=np.asarray(positive, bool), weights=None, everything=values, means=means)


def test_only_the_group_that_differs_is_named_first():
    groups = [group("a", 30, 40), group("b", 30, 40), group("c", 4, 40)]
    [words] = differing(groups, 0.5, recall=False)
    assert words == "precision at 0.5 differs between workflows: a 30/40, b 30/40, c 4/40; look at each on its own"


def test_recall_is_compared_where_it_can_be_known():
    groups = [group("a", 45, 50), group("b", 5, 6)]
    assert [words.split()[0] for words in differing(groups, 1.0)] == ["recall"]
    assert list(differing(groups, 1.0, recall=False)) == []


def test_few_labels_and_single_groups_say_nothing():
    assert list(differing([group("a", 0, 10, n=10), group("b", 10, 10, n=10)], 1.0)) == []
    assert list(differing([group("a", 0, 40)], 1.0)) == []
    assert list(differing([], 1.0)) == []


def test_many_groups_are_listed_in_short():
    groups = [group(f"g{place:02d}", 38, 40) for place in range(30)]
    [words] = differing([*groups, group("odd", 2, 40)], 0.5, recall=False)
    assert "odd 2/40" in words
    assert "and 23 more" in words


def test_groups_alike_are_rarely_called_different():
    rng = np.random.default_rng(3)
    called = 0
    for _ in range(400):
        hits = rng.binomial(40, 0.8, size=6)
        groups = [group(str(place), int(k), 40) for place, k in enumerate(hits)]
        called += any(True for _ in differing(groups, 0.5, recall=False))
    assert called <= 10


def test_ranking_within_groups_leaves_their_levels_out():
    import pandas as pd

    names = pd.Series(["a"] * 4 + ["b"] * 4 + ["c"])
    of = labelled([0.1, 0.2, 0.1, 0.2, 0.8, 0.9, 0.8, 0.9, 0.5], [0, 0, 0, 1, 1, 1, 0, 1, 1])
    inside = within(names, of)
    assert inside is not None
    assert inside.value == pytest.approx(((2.5 + 0) / 3 * 3 + 2.5) / 6)
    turned = within(names, labelled(-of.scores, of.positive, "good"))
    assert turned == inside
    assert within(names[:4], labelled(of.scores[:4], of.positive[:4])) is None


def test_scores_that_only_follow_the_group_are_told(store, team):
    units = []
    for place, (workflow, level) in enumerate((("web", 0.2), ("phone", 0.5), ("post", 0.8))):
        drawn = uniform(150, labelled=150, risk=lambda _, chance=level: chance, seed=place, prefix=workflow)
        units += [{**unit, "p": round(0.8 * level + 0.2 * unit["p"], 6), "workflow": workflow} for unit in drawn]
    team.load(store, units)
    cal: Any = cw.calibrate(team.check, store, goal="cost 1:1")[0]
    assert cal.auc.low > 0.7
    [words] = [warning for warning in cal.warnings if "misleads" in warning]
    assert words.startswith(f"the pooled curve misleads: AUC {cal.auc.value:.3f} over all, but 0.")
    assert "within workflows (phone 0." in words
    assert [(one.name, one.n) for one in cal.groups] == [("phone", 150), ("post", 150), ("web", 150)]
    assert cal.to_dict()["groups"][0]["by"] == "workflow"


def test_scores_that_tell_work_apart_in_every_group_are_not(store, team):
    units = [
        {**unit, "workflow": f"w{place % 3}"}
        for place, unit in enumerate(uniform(300, labelled=300, risk=lambda score: score))
    ]
    team.load(store, units)
    words = " ".join(cw.calibrate(team.check, store, goal="cost 1:1")[0].warnings)
    assert "misleads" not in words
    assert "differs" not in words


def test_models_that_differ_at_the_same_cut_are_named(store, team):
    one = [{**unit, "model": "a"} for unit in uniform(150, labelled=150, risk=lambda s: float(s > 0.5))]
    two = [{**unit, "model": "b"} for unit in uniform(150, labelled=150, risk=lambda _: 0.3, seed=5, prefix="s")]
    team.load(store, [*one, *two])
    notes = " ".join(cw.calibrate(team.check, store, goal="cost 1:1").notes)
    assert "answers of reported a, reported b are calibrated apart" in notes
    assert "precision at 0.5 differs between models: reported a 80/80" in notes


def test_runs_of_one_workflow_each_are_no_groups(store, team):
    units = [{**unit, "workflow": unit["run"]} for unit in uniform(60, labelled=60, risk=lambda s: s)]
    team.load(store, units)
    cal: Any = cw.calibrate(team.check, store)[0]
    assert cal.groups == ()
    assert not any("workflow" in words for words in cal.warnings)
