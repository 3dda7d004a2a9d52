"""What warns beside the evidence: coverage, scores, one workflow."""

from __future__ import annotations

import numpy as np
import pytest

from tests.monitoring.watched import Watched, unit


def warned(watched: Watched) -> set[str]:
    return {signal.name for signal in watched.audit().signals if signal.warns}


def test_work_like_before_warns_of_nothing(watched: Watched) -> None:
    units = [unit(f"a-{n:03d}", n + 0.5, p=0.9 if n % 3 == 0 else 0.1) for n in range(90)]
    watched.team.load(watched.store, units)
    found = watched.audit()
    assert warned(watched) == set()
    assert [signal.name for signal in found.signals] == ["coverage", "scores"]


def test_more_work_that_passes_warns_and_is_no_alarm(watched: Watched) -> None:
    watched.work(90)
    found = watched.audit()
    assert "coverage" in warned(watched)
    assert found.outcome == "unlabelled"
    assert any(
        reason.startswith("warning: passed: 66.7 % of the work before, 100.0 % since") for reason in found.reasons
    )


def test_scores_that_moved_within_a_verdict_warn(watched: Watched) -> None:
    units = [unit(f"a-{n:03d}", n + 0.5, p=0.6 if n % 3 == 0 else 0.4) for n in range(90)]
    watched.team.load(watched.store, units)
    assert warned(watched) == {"scores"}


def test_answers_that_stop_coming_warn(watched: Watched) -> None:
    units = [unit(f"a-{n:03d}", n + 0.5, p=0.9 if n % 3 == 0 else 0.1) for n in range(60)]
    lost = [{**unit(f"x-{n:03d}", n + 0.6), "p": None} for n in range(40)]
    watched.team.load(watched.store, [*units, *lost])
    assert "without a verdict" in warned(watched)


def test_one_bad_workflow_is_named(watched: Watched) -> None:
    units = [unit(f"{name}-{n:02d}", n * 7 + k, workflow=name) for n in range(30) for k, name in
             ((0.5, "mail"), (1.5, "mail"), (2.5, "phone"))]  # fmt: skip
    watched.team.load(watched.store, units)
    due = watched.audit().due
    phone = list(due[due["workflow"] == "phone"]["run_id"])
    watched.decide(list(due[due["workflow"] == "mail"]["run_id"]))
    watched.decide(phone, bad=True)
    assert "workflow phone" in warned(watched)
    assert "workflow mail" not in warned(watched)


def test_the_limit_is_shared_by_the_signals_that_could_be_tested(watched: Watched) -> None:
    watched.work(20)
    found = watched.audit()
    assert all(signal.warns == (signal.p < 0.001 / len(found.signals)) for signal in found.signals)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_chance_alone_warns_of_nothing(watched: Watched, seed: int) -> None:
    draws = np.random.default_rng(seed).random(120)
    units = [unit(f"a-{n:03d}", n + 0.5, p=0.9 if draw < 1 / 3 else 0.1) for n, draw in enumerate(draws)]
    watched.team.load(watched.store, units)
    assert warned(watched) == set()
