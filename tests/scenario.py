"""A store with one question check, its answers and people's decisions, loaded as a user would load them."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    from check_workbench.store import Store

CHECK = """\
id: failed
kind: yes_no
title: It failed
ask: Did the agent fail?
scope: trace
flag_at: {flag_at} # a guess
"""


@dataclass(slots=True, kw_only=True)
class Scenario:
    """Files of a made-up team; `load` puts what was not loaded yet into a store."""

    folder: Path
    flag_at: float = 0.5
    loads: int = 0
    check: Path = field(init=False)

    def __post_init__(self) -> None:
        self.check = self.folder / "failed.check.yaml"
        self.write(self.flag_at)

    def write(self, flag_at: float, ask: str = "Did the agent fail?") -> None:
        text = CHECK.format(flag_at=flag_at).replace("Did the agent fail?", ask)
        self.check.write_text(text, encoding="utf-8")

    def load(self, store: Store, units: list[dict[str, Any]]) -> None:
        """Load units: `run`, `p` (None: no answer), `bad` (None: no decision), and anything a file may say."""
        self.loads += 1
        runs, answers = self._path("runs.jsonl"), self._path("answers.jsonl")
        runs.write_text("".join(json.dumps(_run(u)) + "\n" for u in units), encoding="utf-8")
        told = [_answer(u) for u in units if u.get("p") is not None]
        answers.write_text("".join(json.dumps(a) + "\n" for a in told), encoding="utf-8")
        store.load(runs)
        if told:
            store.load_answers(answers)
        self.decide(store, [u for u in units if u.get("bad") is not None])

    def decide(self, store: Store, units: list[dict[str, Any]]) -> None:
        if not units:
            return
        self.loads += 1
        path = self._path("decisions.csv")
        rows = [_decision(u) for u in units]
        names = list(dict.fromkeys(name for row in rows for name in row))
        with path.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, names)
            writer.writeheader()
            writer.writerows(rows)
        report = store.load_decisions(path)
        assert not report.rejected, report.rejected

    def _path(self, name: str) -> Path:
        return self.folder / f"{self.loads}-{name}"


def uniform(n: int, *, labelled: int, risk: Any, seed: int = 7, prefix: str = "r") -> list[dict[str, Any]]:
    """Return units with uniform scores, of which the first ones are labelled; `risk` maps a score to a chance."""
    rng = np.random.default_rng(seed)
    scores, draws = rng.random(n).round(6), rng.random(n)
    return [
        {
            "run": f"{prefix}-{place:04d}",
            "p": float(score),
            "bad": bool(draw < risk(score)) if place < labelled else None,
        }
        for place, (score, draw) in enumerate(zip(scores, draws, strict=True))
    ]


def _run(unit: dict[str, Any]) -> dict[str, Any]:
    content = unit.get("content", unit["run"])
    spans = [{"type": "tool", "name": "look", "input": {"of": content}, "output": "seen"}] * unit.get("length", 1)
    names = ("workflow", "session_id", "mode", "started_at")
    return {"run_id": unit["run"], "spans": spans, **{name: unit[name] for name in names if name in unit}}


def _answer(unit: dict[str, Any]) -> dict[str, Any]:
    names = {"model": "judge-1", "method": "reported", "ask": "Did the agent fail?"}
    told = {name: unit.get(name, default) for name, default in names.items()}
    return {"run_id": unit["run"], "check_id": "failed", "probability": unit["p"], **told}


def _decision(unit: dict[str, Any]) -> dict[str, Any]:
    names = ("check_id", "decision", "decided_at", "decided_by", "probability_sampled", "note", "attempt")
    return {
        "run_id": unit["run"],
        "check_id": "failed",
        "decision": "problem" if unit["bad"] else "no_problem",
        "verdict_seen": unit.get("seen", "false"),
        **{name: unit[name] for name in names if name in unit},
    }
