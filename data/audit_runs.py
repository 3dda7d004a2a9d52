"""The vendor screening after its check replaced the approval: submissions, and what two auditors say when asked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from drawing import Draws, squash
from refund_runs import stamp
from vendor_runs import LISTS, MODEL, NOTES, PLACES, SCREENING, TRADES, WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator

RUNS = 360
START = datetime(2026, 3, 9, 9, tzinfo=UTC)
PLEASES_AGAIN, PLEASES = 90, 190
"""From which run on the agent writes what the check wants to read: in resubmissions first, then at once."""
AUDITORS = ("auditor-noor", "auditor-sam")
CHECK = "vendor-check/check_vendor"


def screenings(seed: int) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Yield each run with what an auditor says of each submission that passed, were it drawn."""
    at = START
    for number in range(1, RUNS + 1):
        draws = Draws(seed, "audit", number)
        at += timedelta(minutes=draws.whole(60, 600))
        yield _screening(f"w-{number:03d}", number, at, draws)


def _screening(run_id: str, number: int, at: datetime, draws: Draws) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    given = {
        "vendor": f"{draws.pick(WORDS)} {draws.pick(WORDS)} {draws.pick(TRADES)}",
        "country": draws.pick(PLACES),
        "amount": draws.whole(4, 900) * 500,
    }
    started, steps, said = at, [], []
    good = not draws.chance(0.32)
    for attempt in (1, 2):
        at += timedelta(minutes=draws.whole(20, 200))
        pleases = number >= (PLEASES if attempt == 1 else PLEASES_AGAIN)
        probability = _believed(draws, good=good, pleases=pleases)
        step = _submitted(run_id, attempt, stamp(at), probability, LISTS[good or pleases])
        steps.append(step)
        if step["check"]["verdict"] == "pass":
            said.append(_audited(run_id, attempt, at, draws, good=good))
            break
        if draws.chance(0.1):
            break
        good = good or draws.chance(0.6 if number < PLEASES_AGAIN else 0.35)
    run = {
        "run_id": run_id,
        "workflow": "vendor-check",
        "mode": "live",
        "status": "ok",
        "started_at": stamp(started),
        "ended_at": stamp(at + timedelta(minutes=2)),
        "input": given,
        "final_output": "onboarded" if said else "declined",
        "steps": steps,
    }
    return run, said


def _believed(draws: Draws, *, good: bool, pleases: bool) -> float:
    """Answer as before the change; poor work that is worded for the check looks like good work two times in three."""
    fooled = pleases and draws.chance(0.66)
    if draws.chance(0.004 if good else 0.03):
        believed = -2.0 if good else 3.0
    else:
        believed = (3.4 if good or fooled else -2.2) + 1.3 * draws.normal()
    return round(min(0.99, squash(believed)), 2)


def _submitted(name: str, attempt: int, at: str, probability: float, shown: str) -> dict[str, Any]:
    result = "pass" if probability >= 0.9 else "fail" if probability < 0.5 else "unsure"
    asked = {"ask": SCREENING, "kind": "yes_no", "answer": probability, "result": result}
    return {
        "step_id": "check_vendor",
        "attempt": attempt,
        "kind": "agent",
        "output": {"cleared": True, "summary": shown},
        "summary": "Screening done.",
        "evidence": [{"kind": "file", "ref": f"{name}-check_vendor-{attempt}.pdf"}],
        "accepted": True,
        "by": "agent:procurement",
        "at": at,
        "check": {"verdict": result, "advisory": False, "model": MODEL, "questions": [asked], "at": at},
    }


def _audited(run_id: str, attempt: int, at: datetime, draws: Draws, *, good: bool) -> dict[str, Any]:
    says = good != draws.chance(0.01)
    return {
        "run_id": run_id,
        "check_id": CHECK,
        "step_id": "check_vendor",
        "attempt": attempt,
        "decision": "no_problem" if says else "problem",
        "decided_by": draws.pick(AUDITORS),
        "decided_at": stamp(at + timedelta(days=draws.whole(7, 10), minutes=draws.whole(0, 500))),
        "verdict_seen": "false",
        "provenance": "blind",
        "note": "" if says else draws.pick(NOTES),
    }
