"""Resubmissions are followed on their own; how often an audit is wrong, and how soon it is right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import check_workbench as cw
from check_workbench.monitoring.strata import FALSE_ALARM, evidence
from tests.workshop import put_decisions, put_runs, screening, submission, vendor

if TYPE_CHECKING:
    from check_workbench.monitoring import Audit
    from check_workbench.store import Store

CHECK = screening()
AUDITS, LABELS = 2000, 400


def submitted(run: str, day: int, attempt: int, probability: float) -> dict[str, Any]:
    at = np.datetime64("2026-03-02T08:00") + np.timedelta64(day, "D")
    return submission(probability, attempt=attempt, at=f"{at}:00Z", output={"of": [run, attempt]})


def said(run: str, attempt: int, *, bad: bool, day: int) -> dict[str, Any]:
    at = np.datetime64("2026-03-02T12:00") + np.timedelta64(day, "D")
    decision = "problem" if bad else "no_problem"
    told = {"run_id": run, "check_id": CHECK.id, "step_id": "screen", "attempt": attempt, "decision": decision}
    return {**told, "verdict_seen": False, "provenance": "blind", "decided_at": f"{at}:00"}


@pytest.fixture
def steps(store: Store) -> Store:
    """Certify on 60 screenings, then record 60 days of two submissions each."""
    put_runs(store, *(vendor(f"b-{n:02d}", submitted(f"b-{n}", -70 + n, 1, 0.95)) for n in range(60)))
    put_decisions(store, *(said(f"b-{n:02d}", 1, bad=False, day=-70 + n) for n in range(60)))
    made = cw.trust(CHECK, store, plan=cw.plan(change="replace_approval", max_false_pass=0.1))
    assert made.outcome == "ready"
    again = [
        vendor(f"a-{n:02d}", submitted(f"a-{n}", n, 1, 0.95), submitted(f"a-{n}", n, 2, 0.97)) for n in range(60)
    ]  # fmt: skip
    put_runs(store, *again)
    return store


def label(store: Store, attempt: int, *, bad: bool) -> Audit:
    due = cw.audit(CHECK, store).due
    runs = due[due["attempt"] == attempt]["run_id"]
    put_decisions(store, *(said(run, attempt, bad=bad, day=80) for run in runs))
    return cw.audit(CHECK, store)


def test_each_kind_of_work_is_drawn_and_counted_on_its_own(steps: Store) -> None:
    first, again = cw.audit(CHECK, steps).strata
    assert (first.name, again.name) == ("first submissions", "resubmissions")
    assert (first.work, again.work) == (60, 60)
    assert first.drawn >= 35
    assert again.drawn >= 35
    assert first.limit == again.limit == 2 / FALSE_ALARM


def test_errors_in_resubmissions_are_an_alarm_about_them_alone(steps: Store) -> None:
    label(steps, 1, bad=False)
    found = label(steps, 2, bad=True)
    first, again = found.strata
    assert (found.outcome, first.alarm, again.alarm) == ("alarm", False, True)
    assert found.reasons[0].startswith("alarm: resubmissions err more often than certified")
    assert "learns to please the check" in found.reasons[0]


def test_errors_in_first_submissions_say_nothing_of_resubmissions(steps: Store) -> None:
    found = label(steps, 1, bad=True)
    first, again = found.strata
    assert (first.alarm, again.alarm, again.labels) == (True, False, 0)
    assert "learns to please" not in found.reasons[0]


@pytest.mark.parametrize("target", [0.02, 0.05, 0.10])
def test_false_alarms_are_as_rare_as_said(target: float) -> None:
    rng = np.random.default_rng(5)
    wrong = rng.random((AUDITS, LABELS)) < target
    alarms = np.mean([evidence(row, target=target, false_alarm=0.05).reached is not None for row in wrong])
    assert alarms <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / AUDITS)


def test_two_strata_together_are_wrong_no_more_often() -> None:
    rng = np.random.default_rng(6)
    wrong = rng.random((AUDITS, 2, LABELS)) < 0.05
    half = FALSE_ALARM / 2
    alarms = [any(evidence(row, target=0.05, false_alarm=half).reached for row in pair) for pair in wrong]
    assert np.mean(alarms) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / AUDITS)


@pytest.mark.parametrize("false_alarm", [FALSE_ALARM, FALSE_ALARM / 2], ids=["one stratum", "each of two"])
def test_twice_the_risk_is_found_within_200_labels(false_alarm: float) -> None:
    rng = np.random.default_rng(7)
    wrong = rng.random((AUDITS // 4, 1000)) < 0.10
    delays = [evidence(row, target=0.05, false_alarm=false_alarm).reached or 1001 for row in wrong]
    assert np.median(delays) <= 200
