"""Real agent runs that people judged: certified on one half, audited on the other, and on an agent that came later."""

from __future__ import annotations

import csv
import hashlib
import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

import check_workbench as cw
from tests import web_agent_runs
from tests.workshop import loop

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from check_workbench.monitoring import Audit
    from check_workbench.plans import Plan
    from check_workbench.store import Store

CHECK = loop(3)
NEW_AGENT = "GenericAgent-anthropic_claude-3.7-sonnet"
HOURS = 40
"""Between two runs, so that every run of a week is drawn and the figures owe nothing to the draw."""


@pytest.fixture(scope="module")
def judged(realdata: Path) -> list[tuple[dict[str, Any], str]]:
    """Return each run with what a person said, in an order that no property of the run decides."""
    said = {row["run_id"]: row["decision"] for row in web_agent_runs.decisions(realdata)}
    found = [(run, said[run["run_id"]]) for run in web_agent_runs.runs(realdata)]
    return sorted(found, key=lambda pair: hashlib.sha256(pair[0]["run_id"].encode()).hexdigest())


def put(store: Store, rows: Sequence[tuple[dict[str, Any], str]], folder: Path, *, first: int) -> None:
    """Load runs at even distances in time, each with a blind label nine days later."""
    runs, labels = folder / f"{first}.jsonl", folder / f"{first}.csv"
    with runs.open("w") as lines, labels.open("w", newline="") as table:
        writer = csv.writer(table)
        writer.writerow(["run_id", "check_id", "decision", "decided_at", "verdict_seen"])
        for place, (run, decision) in enumerate(rows, start=first):
            began = datetime(2020, 1, 6) + timedelta(hours=HOURS * place)  # noqa: DTZ001 - UTC, as the file says
            lines.write(json.dumps({**run, "started_at": f"{began.isoformat()}Z"}) + "\n")
            decided = began + timedelta(days=9 if first else 0, hours=1)
            writer.writerow([run["run_id"], CHECK.id, decision, f"{decided.isoformat()}Z", "false"])
    assert not store.load(runs).rejected
    assert not store.load_decisions(labels).rejected


def audited(
    store: Store, before: Sequence[Any], after: Sequence[Any], *, plan: Plan, folder: Path
) -> Audit:  # fmt: skip
    put(store, before, folder, first=0)
    assert cw.trust(CHECK, store, plan=plan).outcome == "ready"
    put(store, after, folder, first=len(before))
    return cw.audit(CHECK, store)


HALVES = {
    "replace_approval": (cw.plan(change="replace_approval", max_false_pass=0.05), 87, 1),
    "enforce": (cw.plan(change="enforce", max_false_fail=0.15), 141, 16),
}


@pytest.mark.parametrize("change", HALVES)
def test_the_other_half_of_the_same_work_raises_no_alarm(
    judged: Any, store: Store, tmp_path: Path, change: str
) -> None:
    plan, work, errors = HALVES[change]
    found = audited(store, judged[:228], judged[228:], plan=plan, folder=tmp_path)
    (first,) = found.strata
    assert (found.outcome, first.work, first.labels, first.errors) == ("clear", work, work, errors)
    assert not any(signal.warns for signal in found.signals)
    assert first.always.low < plan.bounds[0].target


def test_an_agent_that_came_later_is_noticed(judged: Any, store: Store, tmp_path: Path) -> None:
    """The check bounces good work of the new agent three times as often as that of the others."""
    others = [pair for pair in judged if pair[0]["workflow"] != NEW_AGENT]
    later = [pair for pair in judged if pair[0]["workflow"] == NEW_AGENT]
    plan = cw.plan(change="enforce", max_false_fail=0.12)
    found = audited(store, others, later, plan=plan, folder=tmp_path)
    (first,) = found.strata
    assert (found.outcome, first.work, first.labels, first.errors) == ("alarm", 43, 43, 11)
    assert {signal.name for signal in found.signals if signal.warns} == {"scores", "coverage"}
