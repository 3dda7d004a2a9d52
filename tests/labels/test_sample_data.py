"""The join on the sample data, against one written without any of the package's code."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pytest

from check_workbench.dialects import read_checks
from check_workbench.evaluation import evaluate
from check_workbench.labels import labels_for
from check_workbench.samples import sample_data
from check_workbench.store import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from check_workbench.store import Store

APPROVALS = {"check_vendor": "approve_vendor", "write_terms": "approve_terms"}


@pytest.fixture(scope="module")
def vendors() -> Iterator[Store]:
    with open_store() as store:
        store.load(sample_data() / "vendors" / "runs.jsonl")
        store.load_decisions(sample_data() / "vendors" / "decisions.csv")
        yield store


def recorded() -> tuple[dict[str, Any], list[dict[str, str]]]:
    lines = (sample_data() / "vendors" / "runs.jsonl").read_text(encoding="utf-8").splitlines()
    runs = {run["run_id"]: run for run in map(json.loads, lines)}
    with (sample_data() / "vendors" / "decisions.csv").open(encoding="utf-8", newline="") as stream:
        return runs, list(csv.DictReader(stream))


def expected_labels(step: str) -> dict[tuple[str, int], tuple[bool, bool]]:
    runs, decisions = recorded()
    rows: dict[tuple[str, int], list[tuple[bool, bool]]] = defaultdict(list)
    for row in decisions:
        if row["step_id"] == APPROVALS[step] and runs[row["run_id"]].get("mode") != "test":
            said = (row["decision"] == "rejected", row["verdict_seen"] == "false")
            rows[row["run_id"], int(row["attempt"])].append(said)
    labels = {}
    for unit, votes in rows.items():
        counted = [vote for vote in votes if vote[1]] or votes
        problems = sum(problem for problem, _ in counted)
        if 2 * problems != len(counted):
            labels[unit] = (2 * problems > len(counted), any(blind for _, blind in votes))
    return labels


@pytest.mark.parametrize("step", list(APPROVALS))
def test_approvals_label_the_submissions_before_them(vendors, step):
    (check,) = read_checks(f"{sample_data() / 'vendors' / 'PROCESS.md'}#vendor-check/{step}")
    labels = labels_for(check, vendors)
    rows = labels.to_json()["labels"]
    found = {(row["run_id"], row["attempt"]): (row["positive"], row["blind"]) for row in rows}
    assert found == expected_labels(step)
    assert len(found) > 90


@pytest.mark.parametrize("step", list(APPROVALS))
def test_recorded_verdicts_are_found_again(vendors, step):
    runs, _ = recorded()
    (check,) = read_checks(f"{sample_data() / 'vendors' / 'PROCESS.md'}#vendor-check/{step}")
    results = evaluate(check, vendors)
    found = {
        (row["run"], row["attempt"]): row["status"]
        for row in results.to_json()["verdicts"]
        if row["status"] in {"pass", "fail", "unsure"}
    }
    expected = {
        (run_id, one["attempt"]): one["check"]["verdict"]
        for run_id, run in runs.items()
        for one in run["steps"]
        if one["step_id"] == step and one.get("check", {}).get("verdict") in {"pass", "fail", "unsure"}
    }
    assert found == expected
