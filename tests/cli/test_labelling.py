"""`label-next`, from the draw to the decisions that come back."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

import pytest

import check_workbench as cw
from tests.scenario import Scenario, uniform

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def db(tmp_path: Path) -> Path:
    team = Scenario(folder=tmp_path)
    with cw.open(tmp_path / "team.duckdb") as store, store.hold():
        team.load(store, uniform(120, labelled=0, risk=lambda _: 0.0))
    return tmp_path / "team.duckdb"


def test_a_sheet_goes_out_and_comes_back(cli: Any, db: Path) -> None:
    check, sheet = db.parent / "failed.check.yaml", db.parent / "blind.csv"
    ran = cli("label-next", check, "--db", db, "-n", 12, "--sheet", sheet)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("failed: 12 of the ")
    assert "submissions that the check passes are drawn, with equal probability (seed 0)" in ran.out
    assert "the target 5.0 % takes 50 labels without an error" in ran.out
    assert "blind.csv; fill in decision, then load it with --decisions" in ran.out
    with sheet.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    with sheet.open("w", encoding="utf-8-sig", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), delimiter=";")
        writer.writeheader()
        writer.writerows({**row, "decision": "No problem"} for row in rows)
    ran = cli("load", "--db", db, "--decisions", sheet, "--json")
    assert (ran.code, ran.document["decisions"], ran.document["rejected"]) == (0, 12, [])
    ran = cli("label-next", check, "--db", db, "-n", 5, "--json")
    [told] = ran.document["checks"]
    assert (told["drawn"], told["labelled"], told["verdicts"]) == (5, {"pass": 12}, ["pass"])
    assert ran.document["file"] is None


def test_bounds_or_a_plan_name_the_side(cli: Any, db: Path) -> None:
    check, plan = db.parent / "failed.check.yaml", db.parent / "plan.yaml"
    cw.plan(change="enforce").write(plan)
    for words in (("--change", "enforce"), ("--plan", plan)):
        ran = cli("label-next", check, "--db", db, "-n", 5, *words, "--json")
        assert ran.document["checks"][0]["verdicts"] == ["fail"]
    ran = cli("label-next", check, "--db", db, "--change", "enforce", "--plan", plan)
    assert (ran.code, ran.out) == (2, "")
    assert "exclude each other" in ran.err


def test_recall_reaches_all_work_and_the_sheet_is_offered(cli: Any, db: Path) -> None:
    ran = cli("label-next", db.parent / "failed.check.yaml", "--db", db, "-n", 30, "--for", "recall")
    assert "which its label carries" in ran.out
    assert ran.out.rstrip().endswith("--sheet FILE writes them down for people to fill in")


def test_what_cannot_be_used_is_said(cli: Any, db: Path) -> None:
    check = db.parent / "failed.check.yaml"
    assert cli("label-next", check, "--db", db, "-n", 0).code == 2
    ran = cli("label-next", check, "--db", db, "--sheet", db.parent / "no" / "a.csv")
    assert (ran.code, "there is no folder" in ran.err) == (3, True)
    ran = cli("label-next", check, "--db", db, "--plan", db.parent / "no.yaml")
    assert (ran.code, "cannot be read" in ran.err) == (3, True)
    ran = cli("label-next", check, "--db", db, "--seed", -1)
    assert (ran.code, "seed must be a whole number from 0" in ran.err) == (3, True)
