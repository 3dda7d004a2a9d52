from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import check_workbench as cw
from tests.certificates.processes import PROCESS, good_and_bad, load

if TYPE_CHECKING:
    from pathlib import Path

REPLACE = ("--change", "replace_approval", "--max-false-pass", "0.1")


@pytest.fixture
def team(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a process and a store with submissions of both checks, and go there."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "PROCESS.md").write_bytes(PROCESS.encode())
    units = good_and_bad(120)
    with cw.open(tmp_path / "s.duckdb") as store:
        load(store, tmp_path, [*units, *({**one, "step": "pay"} for one in units)])
    return tmp_path


def test_the_patch_of_a_replaced_approval_is_printed_and_nothing_is_written(cli: Any, team: Path) -> None:
    ran = cli("trust", "PROCESS.md#buy/screen", "--db", "s.duckdb", *REPLACE)
    assert ran.code == 0, ran.err
    assert "-  - id: sign # who pays signs\n" in ran.out
    assert "-    advisory: true # until people trust it\n" in ran.out
    assert (team / "PROCESS.md").read_text(encoding="utf-8") == PROCESS


def test_of_several_checks_the_joint_confidence_is_told(cli: Any, team: Path) -> None:
    ran = cli("trust", "PROCESS.md", "--db", "s.duckdb", *REPLACE, "--report", team / "trust.html")
    words = "all 2 ready decisions hold together with confidence at least 80.0 %"
    assert words in ran.out
    assert words in (team / "trust.html").read_text(encoding="utf-8")
    again = cli("trust", "PROCESS.md", "--db", "s.duckdb", *REPLACE, "--json")
    assert again.document["together"] == {"ready": 2, "tested": 2, "confidence": 0.8}


def test_a_patch_that_is_refused_is_told_and_the_decision_stands(cli: Any, team: Path) -> None:
    text = PROCESS.replace("    approve: Approve it.\n", "    approve: Approve it.\n    output: { limit: number }\n")
    (team / "PROCESS.md").write_text(text, encoding="utf-8")
    ran = cli("trust", "PROCESS.md", "--db", "s.duckdb", *REPLACE)
    assert ran.code == 0, ran.err
    assert (
        "no patch: PROCESS.md: the approve step sign cannot be taken away for buy/screen: it collects output" in ran.out
    )
    assert "-  - id: close\n" in ran.out, "the other check is promoted"
    assert "-  - id: sign" not in ran.out


def test_a_plan_that_wants_a_signature_decides_nothing_without_one(cli: Any, team: Path) -> None:
    assert cli("plan", *REPLACE, "-o", "plan.yaml").code == 0
    file = team / "plan.yaml"
    file.write_text(
        file.read_text(encoding="utf-8").replace("signature_required: false", "signature_required: true"), "utf-8"
    )
    ran = cli("trust", "PROCESS.md", "--db", "s.duckdb", "--plan", "plan.yaml")
    assert (ran.code, ran.out) == (3, "")
    assert "signed_by" in ran.err
    file.write_text(file.read_text(encoding="utf-8").replace("signed_by: null", "signed_by: Ana"), "utf-8")
    signed = cli("trust", "PROCESS.md", "--db", "s.duckdb", "--plan", "plan.yaml", "--report", "trust.md")
    assert signed.code == 0, signed.err
    assert "- signed_by: Ana\n" in (team / "trust.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("confidence: ninety", "confidence must be a share"),
        ("checks: many", "checks must be a whole number"),
        ("window_start: soon", "window_start must be a time"),
        ("cluster: [session_id]", "cluster must be one of"),
        ("max_false_pas: 0.1", "Did you mean 'max_false_pass'"),
        ("change: enforce", "plan.yaml:2:1"),
    ],
)
def test_a_plan_file_of_wrong_types_is_refused_before_any_look(cli: Any, team: Path, line: str, words: str) -> None:
    (team / "plan.yaml").write_text(f"change: enforce\n{line}\n", encoding="utf-8")
    ran = cli("trust", "PROCESS.md", "--db", "s.duckdb", "--plan", "plan.yaml")
    assert ran.code == 3
    assert words in ran.err
    with cw.open(team / "s.duckdb", read_only=True) as store:
        assert store.sql("select count(*) as n from looks")["n"].tolist() == [0]


def test_a_plan_that_is_edited_after_a_look_is_told(cli: Any, team: Path) -> None:
    cli("plan", *REPLACE, "-o", "plan.yaml")
    cli("trust", "PROCESS.md#buy/screen", "--db", "s.duckdb", "--plan", "plan.yaml")
    file = team / "plan.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace("max_false_pass: 0.1", "max_false_pass: 0.2"), "utf-8")
    ran = cli("trust", "PROCESS.md#buy/screen", "--db", "s.duckdb", "--plan", "plan.yaml", "--report", "trust.md")
    assert "the plan was edited after labels had been read" in ran.out
    report = (team / "trust.md").read_text(encoding="utf-8")
    assert "Earlier calls that read labels (1):" in report
    assert "| trust (replace_approval) |" in report
    assert "| ready | 8.0 % |" in report


def test_a_check_that_no_decision_names_is_told_of_those_about_the_work(cli: Any, tmp_path: Path) -> None:
    runs, work, check = (tmp_path / name for name in ("runs.jsonl", "work.csv", "loop.yaml"))
    runs.write_text('{"run_id": "a"}\n{"run_id": "b"}\n', "utf-8")
    work.write_text("run_id,decision\na,approved\nb,rejected\n", "utf-8")
    check.write_text("{id: loop, kind: rule, rule: {type: repeat}}", "utf-8")
    db = tmp_path / "s.duckdb"
    assert cli("load", runs, "--decisions", work, "--blind", "--db", db).code == 0
    told = "there are no decisions about this check yet; decisions about the work count for it only with --labels work"
    assert told in cli("trust", check, "--db", db, *REPLACE).out
    counted = cli("trust", check, "--db", db, *REPLACE, "--labels", "work").out
    assert "there are no decisions" not in counted
    assert "1 error in 2 blind labels" in counted
    assert cli("plan", *REPLACE, "--labels", "work", "-o", tmp_path / "plan.yaml").code == 0
    assert cli("trust", check, "--db", db, "--plan", tmp_path / "plan.yaml").out == counted.replace(
        "(replace_approval)", "(replace_approval), as recorded before"
    )
