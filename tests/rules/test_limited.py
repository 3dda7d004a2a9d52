"""Patterns in the worker process: the same answers, a limit on time, and no process left behind."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from check_workbench import rules
from check_workbench.checks import Match
from check_workbench.rules import limited
from check_workbench.rules.limited import Searcher

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from check_workbench.store import Store

FREEZES = r"(?=(a|aa)+$)x|(?=(a|aa)+c)"
LONG = "a" * 40 + "b"


def test_words_are_found_as_python_finds_them() -> None:
    with Searcher(r"(?<!un)PAID\b", ignore_case=True) as searcher:
        spans = [["unpaid"], ["", "Paid \u00e9"], [], ["\ud800 paid"], ["not", "here"]]
        assert searcher.search(spans) == [False, "Paid", False, "paid", False]
        assert searcher.search([["paid"]] * 600) == ["paid"] * 600


def test_digits_are_plain_unless_the_pattern_is_not() -> None:
    with Searcher(r"(?=\d)\d", ignore_case=False) as plain, Searcher("(?=\\d)\\d|\u00e9", ignore_case=True) as wide:
        assert (plain.search([["\u0663"]]), wide.search([["\u0663"], ["\u00c9"]])) == ([False], ["\u0663", "\u00c9"])


def test_time_runs_out_on_one_span_only() -> None:
    with Searcher(FREEZES, ignore_case=False) as searcher:
        assert searcher.search([["aac"], [LONG], ["b"], ["aac"]]) == ["", None, False, ""]
        assert searcher.out_of_time == 1


def test_a_pattern_that_is_always_slow_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limited, "PATIENCE", 3)
    monkeypatch.setattr(limited, "BATCH", 2)
    with Searcher(FREEZES, ignore_case=False) as searcher:
        assert searcher.search([[LONG]] * 4 + [["aac"]] * 9) == [None] * 13


def test_a_worker_that_dies_is_replaced() -> None:
    with Searcher("(?=a)a", ignore_case=False) as searcher:
        assert searcher.search([["a"]]) == ["a"]
        searcher._process.kill()  # type: ignore[union-attr]  # noqa: SLF001
        assert searcher.search([["a"]]) == [None]
        assert searcher.search([["a"]]) == ["a"]


def test_no_process_stays() -> None:
    with Searcher("(?=a)a", ignore_case=False) as searcher:
        searcher.search([["a"]])
        process = searcher._process  # noqa: SLF001
    assert process is not None
    assert process.poll() is not None


def test_time_running_out_is_stored_and_counts_as_not_checked(store: Store, tmp_path: Path) -> None:
    def run(run_id: str, *outputs: str) -> str:
        return json.dumps({"run_id": run_id, "spans": [{"type": "tool", "output": text} for text in outputs]})

    (tmp_path / "runs.jsonl").write_text("\n".join([run("slow", LONG), run("both", LONG, "aac"), run("none", "b")]))
    store.load(tmp_path / "runs.jsonl")
    rule = Match(pattern=FREEZES)
    assert rules.measure_into(store, rule, "a") == 3
    stored = store.sql("select run_id, value, reason from measurements join runs using (run_key) order by run_id")
    assert stored["run_id"].tolist() == ["both", "none", "slow"]
    assert stored["value"].fillna(-1).tolist() == [1.0, 0.0, -1.0]
    assert stored["reason"].fillna("").tolist() == ["", "", "the pattern took longer than 50 ms on a span"]
    assert rules.findings(store, rule, 1, asked="a")["spans"].tolist() == [["#2"]]
