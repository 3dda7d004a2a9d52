"""`load --blind`: of decisions in files of their own, and of those that come with runs."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

import check_workbench as cw
from check_workbench.cli import main
from check_workbench.samples import sample_data
from check_workbench.stats.intervals import upper_bound

if TYPE_CHECKING:
    from pathlib import Path

REFUNDS = sample_data() / "refunds"
TICKETS = sample_data() / "tickets"
JUDGES = ("webjudge_7B", "webjudge_gpt4o", "webjudge_o4_mini")
FAILED = [(38, 369), (25, 351), (50, 385)]
"""By judge, good runs among those that it fails, of the recorded ones; 5 are copies of another."""
PASSED = [(17, 82), (22, 100), (13, 66)]
CHECK = """\
id: {judge}
kind: choice
ask: What does {judge} say, did the agent complete the task?
options: {{ success: It did., failure: It did not. }}
flag_on: [failure]
"""


def test_decisions_that_a_mapping_makes(cli: Any, tmp_path: Path) -> None:
    words = ("load", TICKETS, "--mapping", TICKETS / "mapping.yaml", "--db", tmp_path / "s.duckdb", "--blind")
    told = (
        "1 of 60 decisions that came with the runs were asserted to be blind by the caller; the others say themselves "
        "how they were made"
    )
    dry = cli(*words, "--dry-run")
    assert (dry.code, told in dry.out, [*tmp_path.iterdir()]) == (0, True, [])
    assert told in cli(*words).out
    again = cli(*words)
    assert told in again.out
    assert again.out.startswith("Loaded nothing new.")
    assert "49 of 60 decisions blind (82 %), 11 made in sight of the verdict\n" in again.out
    assert "counted as blind only because the caller asserted it: 1 decision" in again.out


def test_runs_without_decisions_are_loaded_and_it_is_said(cli: Any, tmp_path: Path) -> None:
    told = "there are no decisions that came with the runs, so none was asserted to be blind"
    ran = cli("load", REFUNDS / "runs.jsonl", "--db", tmp_path / "s.duckdb", "--blind")
    assert (ran.code, told in ran.out) == (0, True)
    labels = tmp_path / "labels.csv"
    labels.write_text("run_id,check_id,decision\nr-001,repeated-call,problem\n", "utf-8")
    ran = cli("load", REFUNDS / "runs.jsonl", "--db", tmp_path / "s.duckdb", "--decisions", labels, "--blind")
    assert f"{labels}: 1 of 1 decisions were asserted to be blind by the caller" in ran.out


def test_the_json_keeps_its_form(cli: Any, tmp_path: Path) -> None:
    words = ("load", TICKETS, "--mapping", TICKETS / "mapping.yaml", "--json", "--db")
    plain = cli(*words, tmp_path / "a.duckdb").document
    assert cli(*words, tmp_path / "b.duckdb", "--blind").document == plain


def test_answers_alone_hold_nothing_to_assert(cli: Any, tmp_path: Path) -> None:
    ran = cli("load", "--answers", REFUNDS / "answers.jsonl", "--db", tmp_path / "s.duckdb", "--blind")
    assert (ran.code, [*tmp_path.iterdir()]) == (2, [])
    assert "--blind speaks of decisions: it needs --decisions, or a PATH whose files bring some" in ran.err


@pytest.fixture(scope="module")
def judged(realdata: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Load the judged runs with the shipped mapping, and with the word that nobody saw a judge."""
    folder = tmp_path_factory.mktemp("judged")
    (folder / "checks").mkdir()
    for judge in JUDGES:
        (folder / "checks" / f"{judge}.check.yaml").write_text(CHECK.format(judge=judge), "utf-8")
    words = ["load", str(realdata / "online_mind2web_webjudge"), "--mapping", "online_mind2web_webjudge", "--blind"]
    assert main([*words, "--db", str(folder / "judged.duckdb")]) == 0
    return folder


def test_all_of_the_judged_runs_labels_are_asserted(judged: Path) -> None:
    with cw.open(judged / "judged.duckdb", read_only=True) as store:
        found = store.sql("select count(*) as n, count(*) filter (asserted_blind) as asserted from decisions")
        assert found.to_dict("records") == [{"n": 3705, "asserted": 3705}]
        both = store.sql(
            "select count(distinct run_id) as n from runs semi join answers using (run_id) "
            "semi join (from decisions where check_id is null) using (run_id)"
        )
        assert both["n"].tolist() == [456]


@pytest.mark.parametrize(
    ("bounds", "outcomes", "counts"),
    [
        (("enforce", "--max-false-fail", "0.1"), ["need_labels", "ready", "too_weak"], FAILED),
        (("replace_approval", "--max-false-pass", "0.3"), ["ready"] * 3, PASSED),
    ],
)
def test_three_judges_on_the_command_line(
    cli: Any, judged: Path, bounds: tuple[str, ...], outcomes: list[str], counts: list[tuple[int, int]]
) -> None:
    db = shutil.copy(judged / "judged.duckdb", judged / "copy.duckdb")
    ran = cli("trust", judged / "checks", "--db", db, "--change", *bounds, "--labels", "work", "--json")
    assert ran.code == max({"ready": 0, "need_labels": 10, "too_weak": 11}[outcome] for outcome in outcomes)
    found = ran.document["checks"]
    assert [one["outcome"] for one in found] == outcomes
    assert [(one["errors"], one["n"]) for one in found] == counts
    for one in found:
        assert one["bound"] == pytest.approx(upper_bound(one["errors"], one["n"], delta=0.08))
        assert any("asserted when loading" in reason for reason in one["reasons"])
        assert one["excluded"] == {"completed": 17, "duplicate": 5, "not_checked": 1357, "unknown_run": 321}


def test_both_sides_are_all_judged_runs_but_the_copies() -> None:
    assert [failed + passed for (_, failed), (_, passed) in zip(FAILED, PASSED, strict=True)] == [456 - 5] * 3
