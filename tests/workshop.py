"""Small recorded work for tests: runs, decisions, answers and checks."""

from __future__ import annotations

import json
import tempfile
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from check_workbench.checks import (
    AtLeast,
    Check,
    FlagAt,
    Item,
    PassBand,
    Process,
    ProcessStep,
    Repeat,
    YesNo,
)

if TYPE_CHECKING:
    from check_workbench.store import Store

_keys = count(1)


def call(name="search", **fields: Any) -> dict[str, Any]:
    return {"type": "tool", "name": name, "input": {"q": 1}, "output": "found", **fields}


def run(run_id: str, calls: int = 1, **fields: Any) -> dict[str, Any]:
    return {"run_id": run_id, "spans": [call() for _ in range(calls)], **fields}


def put_runs(store: Store, *runs: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in runs), encoding="utf-8")
        report = store.load(path)
    assert not report.rejected, report


def put_decisions(store: Store, *rows: dict[str, Any]) -> list[int]:
    keys = [next(_keys) for _ in rows]
    filled = [{"decision_key": key, "asserted_blind": False, **row} for key, row in zip(keys, rows, strict=True)]
    store.insert("decisions", _table(filled))
    return keys


def put_answers(store: Store, *rows: dict[str, Any]) -> None:
    own = {"source_key": 1, "stale": False, "item": 0}
    store.insert("answers", _table([{"answer_key": next(_keys), **own, **row} for row in rows]))


def moment(text: str) -> datetime:
    at = datetime.fromisoformat(text)
    return at if at.tzinfo is None else at.astimezone(UTC).replace(tzinfo=None)


def _table(rows: list[dict[str, Any]]) -> pd.DataFrame:
    names = list(dict.fromkeys(name for row in rows for name in row))
    return pd.DataFrame({name: pd.Series([_time(name, row.get(name)) for row in rows], dtype=object) for name in names})


def _time(name: str, value: Any) -> Any:
    return moment(value) if name in {"at", "decided_at"} and isinstance(value, str) else value


def loop(at_least: float = 3, **fields: Any) -> Check:
    item = Item(asks=Repeat(), cut=AtLeast(value=at_least))
    return Check(**{"id": "loop", "dialect": "neatroots", "items": (item,), "title": "A loop", **fields})


def question(ask: str = "Did it fail?", *, flag_at: float = 0.8, **fields: Any) -> Check:
    item = Item(asks=YesNo(ask=ask), cut=FlagAt(value=flag_at))
    return Check(**{"id": "q", "dialect": "neatroots", "items": (item,), **fields})


def screening(*asks: str, band: PassBand | None = None, **fields: Any) -> Check:
    """Return the check of the first of two checked steps, each followed by an approval."""
    cut = band or PassBand(pass_at=0.9, fail_below=0.5)
    items = tuple(Item(asks=YesNo(ask=ask), cut=cut, scope="step") for ask in asks or ("It covers both lists.",))
    steps = (
        ProcessStep(id="screen", kind="agent", next=("sign",), checked=True),
        ProcessStep(id="sign", kind="approve", next=("terms",), on_reject="screen"),
        ProcessStep(id="terms", kind="agent", next=("sign_terms",), checked=True),
        ProcessStep(id="sign_terms", kind="approve", next=("done",), on_reject="terms"),
        ProcessStep(id="done", kind="finish"),
    )
    named = {"id": "vendor/screen", "dialect": "check-1", "items": items, "workflow": "vendor", "step_id": "screen"}
    process = Process(name="vendor", version="v1", steps=steps)
    told = {"process": process, "instructions": "Screen the vendor.", "body": "Be thorough.", "advisory": True}
    return Check(**{**named, **told, **fields})


def submission(probability: float | None, *, ask: str = "It covers both lists.", **fields: Any) -> dict[str, Any]:
    """Return a submission of the step `screen`, with a recorded verdict unless the probability is None."""
    step: dict[str, Any] = {"step_id": "screen", "kind": "agent", "output": {"cleared": True}}
    if probability is not None:
        told = {"ask": ask, "kind": "yes_no", "answer": probability, "result": "pass"}
        step["check"] = {
            "verdict": "pass", "advisory": True, "model": "judge-1", "questions": [told], "at": "2026-10-06T09:00:00Z",
        }  # fmt: skip
    return {**step, **fields}


def vendor(run_id: str, *steps: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"run_id": run_id, "workflow": "vendor", "spans": [], "steps": list(steps), **fields}
