"""The comparison with other packages runs with and without them, and their tables are ours."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from check_workbench.stats.certify import labels_needed, own_cut
from check_workbench.stats.intervals import clopper_pearson, upper_bound
from tests.bench import compared as comparing
from tests.bench.judged import Judged, populations
from tests.bench.rivals import AUDIT, WAYS, Task, holm, mapie, naive, ours

PACKAGES = {"kunko-judge-audit": "judge_audit.metrics.selective", "mapie": "mapie.risk_control"}


def judged() -> Judged:
    rng = np.random.default_rng(1)
    scores = rng.random(2000)
    return Judged(name="made up", scores=scores, bad=rng.random(2000) < 0.35 * (1 - scores) ** 2)


def task(*, alpha: float = 0.10, n: int = 400) -> Task:
    data = judged()
    return Task(scores=data.scores[:n], bad=data.bad[:n], unlabelled=data.scores, alpha=alpha, delta=0.10)


def test_without_the_others_the_comparison_says_what_is_not_installed() -> None:
    absent = tuple(dataclasses.replace(way, package="no-such-rival") if way.package else way for way in WAYS)
    lines = comparing.compared([judged()], ways=absent, most=3)
    words = [line.line() for line in lines]
    assert sum("not installed: no-such-rival" in text for text in words) == 3
    assert not any("kunko" in text and "not installed" not in text for text in words)
    assert all(line.to_json() for line in lines)


def test_each_line_says_draws_and_an_interval() -> None:
    own = [way for way in WAYS if way.package is None]
    line = comparing.compared([judged()], ways=own, most=4)[0]
    assert isinstance(line, comparing.Compared)
    assert (line.draws, line.way, line.data) == (4, "ours", "made up")
    assert (line.low, line.high) == pytest.approx(clopper_pearson(line.violations, 4), abs=1e-4)
    assert f"{line.violations} of     4" in line.line()


def test_the_bundled_data_are_judged_by_weak_judges() -> None:
    for data in populations()[:2]:
        assert len(data.scores) == len(data.bad) > 400
        assert 0.05 < data.bad.mean() < 0.35
        assert data.truth(None) == (0, 0)
        assert data.truth(-1.0) == pytest.approx((1, data.bad.mean()))


def test_recorded_judgements_are_all_paired(realdata) -> None:
    assert realdata.is_dir()
    found = populations()[2]
    assert len(found.scores) == 4169
    assert found.bad.mean() == pytest.approx(0.215, abs=0.001)


def test_every_way_certifies_a_good_judge_and_refuses_a_bad_one() -> None:
    for certify in (ours, holm, naive):
        assert certify(task()) is not None
        assert certify(dataclasses.replace(task(), bad=np.ones(400, dtype=bool))) is None


@pytest.mark.parametrize("way", [way for way in WAYS if way.package], ids=lambda way: way.name)
def test_the_others_certify_a_good_judge_and_refuse_a_bad_one(way: Any) -> None:
    pytest.importorskip(PACKAGES[way.package])
    assert way.certify(task()) is not None
    assert way.certify(dataclasses.replace(task(), bad=np.ones(400, dtype=bool))) is None
    lines = comparing.compared([judged()], ways=[way], most=2)
    assert any(way.version in line.line() for line in lines)


def test_the_bound_and_the_fewest_labels_are_those_of_judge_audit() -> None:
    selective = pytest.importorskip(PACKAGES["kunko-judge-audit"])
    fewest = [labels_needed(0, 0, alpha=alpha, delta=0.05) for alpha in (0.10, 0.05, 0.02, 0.01)]
    assert fewest == [29, 59, 149, 299]
    assert fewest == [selective.min_rows_to_certify(alpha, 0.05) for alpha in (0.10, 0.05, 0.02, 0.01)]
    for errors in (1, 2, 5):
        needed = labels_needed(errors, errors, alpha=0.05, delta=0.10) + errors
        assert needed == selective.min_rows_to_certify(0.05, 0.10, errors)
    for errors, n in ((0, 30), (2, 124), (7, 300), (40, 45)):
        assert upper_bound(errors, n, delta=0.1) == pytest.approx(selective.risk_upper_bound(errors, n, 0.1), abs=1e-9)


def test_the_walk_of_judge_audit_stops_where_an_exact_test_fails() -> None:
    pytest.importorskip(PACKAGES["kunko-judge-audit"])
    labels = task()
    at = AUDIT.certify(labels)
    assert at is not None
    passing = labels.scores >= at
    test = own_cut(int(labels.bad[passing].sum()), int(passing.sum()), alpha=labels.alpha, delta=labels.delta)
    assert test.certified


def test_mapie_tests_its_own_hundred_thresholds() -> None:
    pytest.importorskip(PACKAGES["mapie"])
    at = mapie(task())
    assert at is not None
    assert round(100 * at) == pytest.approx(100 * at)
