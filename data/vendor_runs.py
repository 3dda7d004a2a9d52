"""The vendor screening: submissions, the advisory verdicts beside them, and what two approvers decided."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from drawing import Draws, squash
from refund_runs import stamp

if TYPE_CHECKING:
    from collections.abc import Iterator

RUNS = 300
TESTS = 12
START = datetime(2026, 1, 12, 9, tzinfo=UTC)
SCREENING = (
    "The cleared verdict follows from what the summary reports, and the summary covers the OFAC and the EU list."
)
TERMS = "How well do the terms fit the vendor's risk?"
PLACES = ("Austria", "Chile", "Estonia", "Ghana", "India", "Kenya", "Malta", "Panama", "Serbia", "Vietnam")
WORDS = ("Alder", "Birch", "Cedar", "Dune", "Ember", "Fjord", "Grove", "Harbor", "Iris", "Juniper", "Krill", "Larch")
TRADES = ("Logistics", "Metals", "Textiles", "Foods", "Software", "Energy")
APPROVERS = ("approver-kim", "approver-lee")
MODEL = "example-evaluator-1"
HIT = "One name on the list is close to the vendor's; it was not followed up."
LISTS = {True: "Searched the OFAC and the EU list by name, owners and address: no match.", False: HIT}
NOTES = ("The near match must be explained.", "Only one list was searched.", "The owners were not searched.")


@dataclass(frozen=True)
class Work:
    """One submission: which step and attempt, and whether it is good work."""

    step: str
    attempt: int
    good: bool


@dataclass
class Story:
    """What is recorded of one vendor."""

    run_id: str
    mode: str
    draws: Draws
    at: datetime
    steps: list[dict[str, Any]]
    decisions: list[dict[str, Any]]

    def later(self, low: int, high: int) -> str:
        """Let some minutes pass and return the time."""
        self.at += timedelta(minutes=self.draws.whole(low, high))
        return stamp(self.at)


def screenings(seed: int) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Yield each run with the approvers' decisions on it."""
    at = START
    for number in range(1, RUNS + 1):
        draws = Draws(seed, "vendor", number)
        at += timedelta(minutes=draws.whole(60, 420))
        story = Story(f"v-{number:03d}", "test" if number <= TESTS else "live", draws, at, [], [])
        yield _screening(story), story.decisions


def _screening(story: Story) -> dict[str, Any]:
    draws = story.draws
    given: dict[str, Any] = {
        "vendor": f"{draws.pick(WORDS)} {draws.pick(WORDS)} {draws.pick(TRADES)}",
        "country": draws.pick(PLACES),
        "amount": draws.whole(4, 900) * 500,
    }
    started = stamp(story.at)
    approved = _round(story, "check_vendor", "approve_vendor", good=not draws.chance(0.32))
    if approved and given["amount"] < 300_000:
        _submit(story, Work("write_terms", 1, good=not draws.chance(0.2)), story.later(20, 200))
    elif approved:
        approved = _round(story, "write_terms", "approve_terms", good=not draws.chance(0.25))
    return {
        "run_id": story.run_id,
        "workflow": "vendor-check",
        "mode": story.mode,
        "status": "ok",
        "started_at": started,
        "ended_at": story.later(1, 5),
        "input": given,
        "final_output": "onboarded" if approved else "declined",
        "steps": story.steps,
    }


def _round(story: Story, step: str, approval: str, *, good: bool) -> bool:
    for attempt in (1, 2):
        work = Work(step, attempt, good or (attempt == 2 and story.draws.chance(0.85)))
        verdict = _submit(story, work, story.later(20, 200))
        if _decide(story, work, approval, verdict):
            return True
        if story.draws.chance(0.15):
            return False
    return False


def _submit(story: Story, work: Work, at: str) -> str:
    check = _screening_verdict(work, story.draws) if work.step == "check_vendor" else _terms_verdict(work, story.draws)
    story.steps.append(
        {
            "step_id": work.step,
            "attempt": work.attempt,
            "kind": "agent",
            "output": _output(work, story.draws),
            "summary": "Screening done." if work.step == "check_vendor" else "Terms drafted.",
            "evidence": [{"kind": "file", "ref": f"{story.run_id}-{work.step}-{work.attempt}.pdf"}],
            "accepted": True,
            "by": "agent:procurement",
            "at": at,
            "check": {"verdict": check["result"], "advisory": True, "model": MODEL, "questions": [check], "at": at},
        },
    )
    return str(check["result"])


def _output(work: Work, draws: Draws) -> dict[str, Any]:
    if work.step == "check_vendor":
        return {"cleared": True, "summary": LISTS[work.good]}
    return {"payment_days": draws.pick((14, 30)) if work.good else 90, "audit_clause": work.good}


def _screening_verdict(work: Work, draws: Draws) -> dict[str, Any]:
    """Answer overconfidently: good work mostly from .9 up, bad work mostly under .5, a few on the wrong side."""
    if draws.chance(0.004 if work.good else 0.03):
        believed = -2.0 if work.good else 3.0
    else:
        believed = (3.4 if work.good else -2.2) + 1.3 * draws.normal()
    probability = round(min(0.99, squash(believed)), 2)
    result = "pass" if probability >= 0.9 else "fail" if probability < 0.5 else "unsure"
    return {"ask": SCREENING, "kind": "yes_no", "answer": probability, "result": result}


def _terms_verdict(work: Work, draws: Draws) -> dict[str, Any]:
    level = draws.pick((2,) * 24 + (1,)) if work.good else draws.pick((0, 0, 1, 1, 1, 2))
    confidence = round(0.62 + 0.37 * draws.unit(), 2)
    result = "unsure" if confidence < 0.7 else "pass" if level >= 2 else "fail"
    return {"ask": TERMS, "kind": "rubric", "answer": level, "confidence": confidence, "result": result}


def _decide(story: Story, work: Work, approval: str, verdict: str) -> bool:
    draws = story.draws
    blind = draws.chance(0.75)
    people = APPROVERS if blind and draws.chance(0.13) else (draws.pick(APPROVERS),)
    seen = None if blind else verdict
    said = [_says(work, seen, slip=0.01 if len(people) == 1 else 0.07, draws=draws) for _ in people]
    approved = all(said)
    note = "" if approved else draws.pick(NOTES)
    for person, yes in zip(people, said, strict=True):
        story.decisions.append(
            {
                "run_id": story.run_id,
                "step_id": approval,
                "attempt": work.attempt,
                "decision": "approved" if yes else "rejected",
                "decided_by": person,
                "decided_at": story.later(30, 900),
                "verdict_seen": str(not blind).lower(),
                "provenance": "blind" if blind else "saw_verdict",
                "note": "" if yes else note,
            },
        )
    last = story.decisions[-1]
    outcome = {"decision": "approved" if approved else "rejected", "note": note}
    step = {"step_id": approval, "attempt": work.attempt, "kind": "approve", "metadata": outcome}
    story.steps.append({**step, "by": last["decided_by"], "at": last["decided_at"]})
    return approved


def _says(work: Work, seen: str | None, *, slip: float, draws: Draws) -> bool:
    """Decide as the work deserves, with slips; one who saw a clear verdict leans towards it."""
    yes = work.good != draws.chance(slip)
    if seen in {"pass", "fail"} and draws.chance(0.35):
        return seen == "pass"
    return yes
