"""A check-1 process in which a check judges a step and people approve it, recorded as a server would."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from check_workbench.store import Store

PROCESS = """\
---
name: buy # ours
description: Buy something.
steps:
  - id: screen
    agent: Screen it.
    advisory: true # until people trust it
    check:
      - ask: It is screened.
        pass: 0.8 # a guess
        fail: 0.4
  - id: sign # who pays signs
    person: boss
    approve: Approve it.
    on_reject: screen
  - id: pay
    agent: Pay it. Mind steps.screen.check.
    advisory: true
    check: [{ ask: It is paid., pass: 0.8, fail: 0.4 }]
  - id: close
    person: boss
    approve: Close it.
    on_reject: pay
    next: done
  - id: done
    finish: bought
---
Buy with care.
"""
ASKS = {"screen": "It is screened.", "pay": "It is paid."}
APPROVALS = {"screen": "sign", "pay": "close"}


def unit(place: int, *, answer: float, bad: bool | None, step: str = "screen", **more: Any) -> dict[str, Any]:
    """Return one submission: what the check answered, and what the approver said (None: nothing)."""
    return {"run": f"r-{place:04d}", "step": step, "answer": answer, "bad": bad, **more}


def good_and_bad(count: int, *, step: str = "screen", errors: int = 0, **more: Any) -> list[dict[str, Any]]:
    """Return submissions of which every second passes and is good, the others fail and are bad, but for some errors."""
    return [
        unit(place, answer=0.95 if place % 2 else 0.05, bad=place % 2 == 0 or place // 2 < errors, step=step, **more)
        for place in range(count)
    ]


def load(store: Store, folder: Path, units: Iterable[dict[str, Any]]) -> None:
    """Load submissions with their recorded verdicts, and the decisions about them."""
    runs: dict[str, dict[str, Any]] = {}
    rows = []
    for one in units:
        run = runs.setdefault(one["run"], {"run_id": one["run"], "workflow": "buy", "mode": "live", "steps": []})
        run["steps"].append(_submitted(one))
        if one["bad"] is not None:
            seen = one.get("seen", "false")
            decision = "rejected" if one["bad"] else "approved"
            rows.append([one["run"], APPROVALS[one["step"]], decision, one.get("by", "ana"), seen])
    (folder / "runs.jsonl").write_text("".join(json.dumps(run) + "\n" for run in runs.values()), encoding="utf-8")
    with (folder / "decisions.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["run_id", "step_id", "decision", "decided_by", "verdict_seen"])
        writer.writerows(rows)
    assert not store.load(folder / "runs.jsonl").rejected
    assert not store.load_decisions(folder / "decisions.csv").rejected


def _submitted(one: dict[str, Any]) -> dict[str, Any]:
    verdict = "pass" if one["answer"] >= 0.8 else "fail"
    question = {"ask": ASKS[one["step"]], "kind": "yes_no", "answer": one["answer"], "result": verdict}
    record = {
        "verdict": verdict,
        "advisory": True,
        "model": "m-1",
        "questions": [question],
        "at": "2026-09-01T08:00:00Z",
    }
    return {
        "step_id": one["step"],
        "kind": "agent",
        "output": one["run"] + one["step"],
        "accepted": True,
        "check": record,
    }
