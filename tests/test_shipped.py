"""Every shipped check stands beside its cases and judges them as they expect."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import check_workbench
from check_workbench import checks, rules
from check_workbench.dialects import read_checks
from check_workbench.rules.unrecovered_error import failure_words

if TYPE_CHECKING:
    from check_workbench.checks import Check
    from check_workbench.store import Store

FOLDER = Path(check_workbench.__file__).parent / "shipped"
RULES = [check for check in read_checks(FOLDER) if checks.is_rule(check.items[0].asks)]


@pytest.mark.parametrize("check", RULES, ids=str)
def test_a_shipped_rule_judges_its_cases_as_they_expect(check: Check, store: Store) -> None:
    cases = FOLDER / f"{check.id}.cases.jsonl"
    made = map(json.loads, cases.read_text("utf-8").splitlines())
    expected = {case["run_id"]: case["attributes"]["expect"] for case in made}
    report = store.load(cases)
    assert (report.runs, len(report.rejected)) == (len(expected), 0)
    rule, cut = check.items[0].asks, check.items[0].cut
    assert isinstance(rule, checks.Rule)
    assert isinstance(cut, checks.AtLeast)
    rules.measure_into(store, rule, check.asked)
    found = rules.findings(store, rule, cut.value, asked=check.asked)
    assert {run_id: "fire" if run_id in set(found["run_id"]) else "quiet" for run_id in expected} == expected
    assert set(expected.values()) == {"fire", "quiet"}
    flagged = store.sql("select run_id from measurements join runs using (run_key) where value >= ?", [cut.value])
    assert set(flagged["run_id"]) == set(found["run_id"])


def test_the_file_is_named_after_the_check() -> None:
    assert {check.id for check in RULES} >= {"repeated-tool-call", "error-streak", "unrecovered-tool-error"}
    for check in RULES:
        assert (FOLDER / f"{check.id}.yaml").is_file()
        assert check.title
        assert check.guidance


def test_failure_words_are_plain_and_none_hides_another() -> None:
    words = failure_words()
    assert len(set(words)) == len(words)
    assert all(re.fullmatch(r"[a-z]+(?:[ '][a-z]+)*", word) for word in words)
    hidden = [(word, other) for word in words for other in words if word != other and other.startswith(word)]
    assert hidden == []
