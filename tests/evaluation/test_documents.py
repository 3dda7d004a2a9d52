"""Whole documents: thresholds written back, questions edited, versions of a process."""

from __future__ import annotations

import dataclasses

from check_workbench.checks import thresholds
from check_workbench.dialects import patched, read_checks
from check_workbench.evaluation import evaluate
from check_workbench.evaluation.recorded import OTHER_QUESTION, OTHER_VERSION
from tests.workshop import put_runs, submission, vendor

PROCESS = """---
name: vendor
description: Screen a vendor.
steps:
  - id: screen
    agent: Screen the vendor.
    advisory: true
    check:
      - ask: It covers both lists.
        pass: 0.9
        fail: 0.5
  - id: sign
    approve: Approve.
    on_reject: screen
  - id: done
    finish: done
---

Be thorough.
"""


def statuses(results) -> list[str]:
    return list(results.verdicts["status"])


def test_a_threshold_written_into_a_process_keeps_its_recorded_verdicts(store, tmp_path):
    file = tmp_path / "PROCESS.md"
    file.write_text(PROCESS, encoding="utf-8")
    (check,) = read_checks(file)
    assert check.process is not None
    put_runs(store, vendor("a", submission(0.85, process_version=check.process.version)))
    assert statuses(evaluate(file, store)) == ["unsure"]
    lower = [dataclasses.replace(one, value=0.8) for one in thresholds(check) if one.key == "pass"]
    file.write_text(patched(check, lower), encoding="utf-8")
    (moved,) = read_checks(file)
    assert moved.process is not None
    assert moved.process.version != check.process.version
    results = evaluate(moved, store)
    assert statuses(results) == ["pass"]
    assert not [note for note in results.notes if "stale" in note]


def test_other_instructions_make_the_recorded_verdicts_of_the_old_version_stale(store, tmp_path):
    file = tmp_path / "PROCESS.md"
    file.write_text(PROCESS, encoding="utf-8")
    (check,) = read_checks(file)
    assert check.process is not None
    put_runs(store, vendor("a", submission(0.95, process_version=f"sha256:{check.process.version}")))
    assert statuses(evaluate(file, store)) == ["pass"]
    file.write_text(PROCESS.replace("Screen the vendor.", "Screen the vendor twice."), encoding="utf-8")
    results = evaluate(file, store)
    assert results.left_out == {"not_checked": {OTHER_VERSION: 1}}
    assert "1 answer made for that are stale" in results.notes[0]
    file.write_text(PROCESS, encoding="utf-8")
    assert statuses(evaluate(file, store)) == ["pass"]


def test_an_edited_question_loses_verdicts_that_name_no_version_too(store, tmp_path):
    file = tmp_path / "PROCESS.md"
    put_runs(store, vendor("a", submission(0.95)))
    file.write_text(PROCESS.replace("both lists", "every list"), encoding="utf-8")
    assert evaluate(file, store).left_out == {"not_checked": {OTHER_QUESTION: 1}}


def test_a_rule_in_a_file_keeps_its_measurements_when_its_threshold_is_written(store, tmp_path):
    file = tmp_path / "loop.check.yaml"
    file.write_text("id: loop\nkind: rule\nrule:\n  type: repeat\n  same: [tool, input]\n  at_least: 3 # chosen\n")
    put_runs(store, {"run_id": "a", "spans": [{"type": "tool", "name": "t", "input": "x"}] * 2})
    assert statuses(evaluate(file, store)) == ["pass"]
    (check,) = read_checks(file)
    file.write_text(patched(check, [dataclasses.replace(thresholds(check)[0], value=2)]))
    assert "# chosen" in file.read_text()
    store.sql("update measurements set value = value + 10")
    results = evaluate(file, store)
    assert statuses(results) == ["fail"]
    assert results.scores["score"].tolist() == [12.0]
