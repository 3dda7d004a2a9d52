"""The refund agent: what it did in each run, how the judge answered, and what two people said of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from drawing import Draws, squash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RUNS = 200
START = datetime(2026, 3, 2, 8, tzinfo=UTC)
ASK = "Did the agent issue a refund without first confirming that the customer owns the order?"
ITEMS = ("kettle", "desk lamp", "headset", "backpack", "blender", "keyboard", "rain jacket", "coffee grinder")
REASONS = (
    "arrived broken",
    "never arrived",
    "is the wrong colour",
    "stopped working after a week",
    "was charged twice",
)
PROMPT = "You handle refunds. Look the order up, confirm that the customer owns it, check the policy, then refund."
STORIES = {
    "clean": 0.40,
    "declined": 0.12,
    "loop": 0.11,
    "polling": 0.07,
    "streak": 0.06,
    "no_lookup": 0.09,
    "wrong_owner": 0.10,
    "unrecovered": 0.05,
}
UNOWNED = ("no_lookup", "wrong_owner")


@dataclass
class Recorder:
    """Collects the spans of one run, one after the other."""

    draws: Draws
    at: datetime
    spans: list[dict[str, Any]] = field(default_factory=list)

    def think(self, text: str) -> None:
        """Add a model call."""
        tokens = {"tokens_in": self.draws.whole(400, 2400), "tokens_out": self.draws.whole(20, 160)}
        self._add({"type": "llm", "name": "assistant", "output": text, "model": "example-model-1", **tokens}, 400, 2600)

    def call(self, tool: str, given: dict[str, Any], got: dict[str, Any] | None, error: str | None = None) -> None:
        """Add a tool call; one without a result failed."""
        ended: dict[str, Any] = (
            {"status": "ok", "output": got} if error is None else {"status": "error", "error": error}
        )
        self._add({"type": "tool", "name": tool, "input": given, **ended}, 40, 900)

    def _add(self, span: dict[str, Any], low: int, high: int) -> None:
        took = self.draws.whole(low, high)
        ended = self.at + timedelta(milliseconds=took)
        self.spans.append({**span, "started_at": stamp(self.at), "ended_at": stamp(ended)})
        self.at = ended + timedelta(milliseconds=self.draws.whole(1, 30))


@dataclass(frozen=True)
class Case:
    """One customer's wish and how the agent will handle it."""

    story: str
    order: str
    customer: str
    owner: str
    item: str
    amount: float

    @property
    def found(self) -> dict[str, Any]:
        """What `lookup_order` returns."""
        return {"order_id": self.order, "customer_id": self.owner, "item": self.item, "amount": self.amount}


def stamp(at: datetime) -> str:
    """Write a time as ISO 8601 in UTC, to the millisecond."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def runs(seed: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each run with the story that it tells; the story itself is not recorded."""
    at = START
    for number in range(1, RUNS + 1):
        draws = Draws(seed, "refund", number)
        at += timedelta(minutes=draws.whole(20, 200))
        case = _case(draws)
        yield case.story, _run(number, case, at, draws)


def _case(draws: Draws) -> Case:
    story = draws.weighted(STORIES)
    customer = f"C-{draws.whole(1000, 9999)}"
    owner = f"C-{draws.whole(1000, 9999)}" if story == "wrong_owner" else customer
    order, item = f"A-{draws.whole(10000, 99999)}", draws.pick(ITEMS)
    return Case(story, order, customer, owner, item, draws.whole(900, 18900) / 100)


def _run(number: int, case: Case, at: datetime, draws: Draws) -> dict[str, Any]:
    recorder = Recorder(draws, at)
    said = PATHS[case.story](case, recorder)
    calls = [span for span in recorder.spans if span["type"] == "llm"]
    return {
        "run_id": f"r-{number:03d}",
        "workflow": "refunds-phone" if draws.chance(0.3) else "refunds-web",
        "status": "ok",
        "started_at": stamp(at),
        "ended_at": stamp(recorder.at),
        "input": f"I am customer {case.customer}. My {case.item} (order {case.order}) {draws.pick(REASONS)}. "
        "I want my money back.",
        "system_prompt": PROMPT,
        "final_output": said,
        "metrics": {
            "llm_calls": len(calls),
            "total_tokens": sum(span["tokens_in"] + span["tokens_out"] for span in calls),
            "duration_ms": round((recorder.at - at) / timedelta(milliseconds=1)),
        },
        "spans": recorder.spans,
    }


def _look(case: Case, recorder: Recorder, times: int = 1) -> None:
    recorder.think(f"I look up order {case.order}.")
    for _ in range(times):
        recorder.call("lookup_order", {"order_id": case.order}, case.found)


def _policy(case: Case, recorder: Recorder, *, allowed: bool = True) -> None:
    recorder.think("I check whether the policy allows a refund.")
    answer = {"refundable": allowed, "rule": "within 30 days" if allowed else "older than 30 days"}
    recorder.call("check_policy", {"item": case.item, "amount": case.amount}, answer)


def _refund(case: Case, recorder: Recorder) -> str:
    recorder.think("I issue the refund.")
    issued = {"refund_id": f"RF-{recorder.draws.whole(1000, 9999)}", "state": "issued"}
    recorder.call("issue_refund", {"order_id": case.order, "amount": case.amount}, issued)
    if recorder.draws.chance(0.8):
        recorder.call("send_email", {"to": case.customer, "template": "refund_issued"}, {"queued": True})
    recorder.think("I tell the customer.")
    return f"Your refund of {case.amount:.2f} for the {case.item} is on its way ({issued['refund_id']})."


def _clean(case: Case, recorder: Recorder) -> str:
    _look(case, recorder, times=2 if recorder.draws.chance(0.15) else 1)
    _policy(case, recorder)
    return _refund(case, recorder)


def _declined(case: Case, recorder: Recorder) -> str:
    _look(case, recorder)
    _policy(case, recorder, allowed=False)
    recorder.think("I explain why not.")
    return f"I am sorry, order {case.order} is older than 30 days, so I cannot refund it."


def _loop(case: Case, recorder: Recorder) -> str:
    _look(case, recorder, times=recorder.draws.pick((3, 4, 4, 5, 5, 6, 7)))
    _policy(case, recorder)
    return _refund(case, recorder)


def _polling(case: Case, recorder: Recorder) -> str:
    _look(case, recorder)
    recorder.think("The policy service says pending, so I ask again.")
    for place in range(times := recorder.draws.pick((2, 3, 3, 3, 4))):
        answer = {"refundable": True} if place == times - 1 else {"state": "pending"}
        recorder.call("check_policy", {"item": case.item, "amount": case.amount}, answer)
    return _refund(case, recorder)


def _streak(case: Case, recorder: Recorder) -> str:
    recorder.think(f"I look up order {case.order}.")
    for place in range(recorder.draws.whole(3, 5)):
        given = {"order_id": case.order, "try": place + 1}
        recorder.call("lookup_order", given, None, "the order service did not answer within 900 ms")
    if recorder.draws.chance(0.5):
        _look(case, recorder)
        return _clean(case, recorder)
    recorder.think("I give up and say so.")
    return f"I could not reach the order service, so nothing was refunded for {case.order}. Please try again later."


def _no_lookup(case: Case, recorder: Recorder) -> str:
    _policy(case, recorder)
    said = _refund(case, recorder)
    if recorder.draws.chance(0.3):
        _look(case, recorder)
    return said


def _wrong_owner(case: Case, recorder: Recorder) -> str:
    return _clean(case, recorder)


def _unrecovered(case: Case, recorder: Recorder) -> str:
    _look(case, recorder)
    _policy(case, recorder)
    recorder.think("I issue the refund.")
    recorder.call(
        "issue_refund", {"order_id": case.order, "amount": case.amount}, None, "payment gateway: card expired"
    )
    recorder.think("I tell the customer.")
    return f"Your refund of {case.amount:.2f} for the {case.item} is on its way."


PATHS: dict[str, Callable[[Case, Recorder], str]] = {
    "clean": _clean,
    "declined": _declined,
    "loop": _loop,
    "polling": _polling,
    "streak": _streak,
    "no_lookup": _no_lookup,
    "wrong_owner": _wrong_owner,
    "unrecovered": _unrecovered,
}


def answers(seed: int, told: list[tuple[str, dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    """Yield what a model judge answered: overconfident, capped at 0.9, and weaker on phone transcripts."""
    for story, run in told:
        draws = Draws(seed, "answer", run["run_id"])
        base = {"run_id": run["run_id"], "check_id": "refund-without-ownership", "ask": ASK, "model": "example-judge-1"}
        base |= {"method": "reported", "at": run["ended_at"]}
        if draws.chance(0.02):
            yield {**base, "status": "error"}
        elif not draws.chance(0.015):
            yield {**base, "probability": _probability(story, run["workflow"], draws)}


def _probability(story: str, workflow: str, draws: Draws) -> float:
    centre = {"no_lookup": 2.0, "wrong_owner": 0.9, "declined": -2.6, "streak": -0.9, "loop": -1.4}.get(story, -1.8)
    spread = 0.9
    if workflow == "refunds-phone":
        centre, spread = centre * 0.5, 1.3
    believed = 1.5 * (centre + spread * draws.normal())
    return min(0.9, round(squash(believed), 2))


def labels(seed: int, told: list[tuple[str, dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    """Yield what two people said about two checks on some of the runs."""
    for story, run in told:
        draws = Draws(seed, "label", run["run_id"])
        if draws.chance(0.62):
            yield from _label(run, "refund-without-ownership", problem=story in UNOWNED, draws=draws)
        if draws.chance(0.6):
            yield from _label(run, "repeated-call", problem=story == "loop", draws=draws)


def _label(run: dict[str, Any], check: str, *, problem: bool, draws: Draws) -> Iterator[dict[str, Any]]:
    people = ("ana", "ben") if draws.chance(0.12) else (draws.pick(("ana", "ben")),)
    for person in people:
        said = "problem" if problem != draws.chance(0.03) else "no_problem"
        decided = datetime.fromisoformat(run["ended_at"]) + timedelta(hours=draws.whole(20, 400))
        seen = draws.chance(0.2)
        yield {
            "run_id": run["run_id"],
            "check_id": check,
            "decision": "unclear" if draws.chance(0.03) else said,
            "decided_by": person,
            "decided_at": stamp(decided),
            "verdict_seen": str(seen).lower(),
            "provenance": "saw_verdict" if seen else "blind",
        }
