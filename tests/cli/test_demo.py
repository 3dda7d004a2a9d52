"""The demo: the whole way, offline, in a folder of its own."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from check_workbench.cli.demo import MARKER, STAGES


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_ends_with_a_decision_and_a_report(cli: Any, elsewhere: Path) -> None:
    ran = cli("demo")
    assert ran.code == 0
    assert "check-workbench:" not in ran.err
    folder = elsewhere / "check-workbench-demo"
    assert re.search(r"May \S+/check_vendor be enforced\? Yes\. \d+ of \d+ blind decisions spoke against it", ran.out)
    assert re.search(r"May \S+/write_terms be enforced\? Not yet\. About \d+ more blind decisions", ran.out)
    assert re.search(r"May \S+/check_vendor replace the approval\? Not yet\. About \d+ more", ran.out)
    assert "no security boundary" in ran.out
    assert (folder / "trust.html").read_text(encoding="utf-8").lower().lstrip().startswith("<!doctype html")
    assert "check-workbench-demo/trust.html" in ran.out
    assert [p.name for p in elsewhere.iterdir()] == ["check-workbench-demo"]


def test_the_shown_commands_can_be_repeated(cli: Any, elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = cli("demo", "--out", "tour").out
    lines = [line[2:] for line in out.splitlines() if line.startswith("$ ")]
    assert lines == [stage.line for stage in STAGES]
    monkeypatch.chdir(elsewhere / "tour")
    for line in lines:
        ran = cli(*shlex.split(line)[1:])
        assert ran.code in {0, 10}, ran.err


def test_json_is_one_document_of_the_known_shapes(cli: Any, elsewhere: Path) -> None:
    ran = cli("demo", "--out", "tour", "--json")
    assert ran.code == 0
    assert "check-workbench:" not in ran.err
    document = ran.document
    assert list(document) == ["load", "calibrate", "trust", "report"]
    assert document["load"]["runs"] == 500
    assert {c["check"] for c in document["calibrate"]["checks"]} >= {"repeated-call", "refund-without-ownership"}
    outcomes = {(c["check"].split("/")[1], c["change"]): c["outcome"] for c in document["trust"]["checks"]}
    assert outcomes == {
        ("check_vendor", "enforce"): "ready",
        ("write_terms", "enforce"): "need_labels",
        ("check_vendor", "replace_approval"): "need_labels",
    }
    assert (elsewhere / document["report"]).is_file()


def test_it_runs_again_in_its_own_folder_with_the_same_words(cli: Any, elsewhere: Path) -> None:
    first = cli("demo", "--out", "tour").out
    assert cli("demo", "--out", "tour").out == first
    assert (elsewhere / "tour" / MARKER).is_file()


@pytest.mark.parametrize("name", ["notes.txt", "data/refunds/labels.csv", "refunds.duckdb"])
def test_it_keeps_its_hands_off_foreign_folders(cli: Any, elsewhere: Path, name: str) -> None:
    file = elsewhere / "mine" / name
    file.parent.mkdir(parents=True)
    file.write_text("mine")
    ran = cli("demo", "--out", "mine")
    assert ran.code == 3
    assert "--out" in ran.err
    assert [p for p in (elsewhere / "mine").rglob("*") if p.is_file()] == [file]
    assert file.read_text() == "mine"


def test_it_keeps_a_file_that_was_changed_or_added_since(cli: Any, elsewhere: Path) -> None:
    from check_workbench.cli.demo import prepare

    prepare(elsewhere / "tour")
    check = elsewhere / "tour" / "data" / "refunds" / "checks" / "repeated-call.check.yaml"
    check.write_text(check.read_text().replace("at_least: 3", "at_least: 4"))
    ran = cli("demo", "--out", "tour")
    assert ran.code == 3
    assert "data/refunds/checks/repeated-call.check.yaml" in ran.err
    assert "at_least: 4" in check.read_text()


def test_out_may_not_be_a_file(cli: Any, elsewhere: Path) -> None:
    (elsewhere / "tour").write_text("mine")
    ran = cli("demo", "--out", "tour")
    assert ran.code == 3
    assert (elsewhere / "tour").read_text() == "mine"


def test_an_empty_folder_will_do(elsewhere: Path) -> None:
    from check_workbench.cli.demo import prepare

    (elsewhere / "tour").mkdir()
    prepare(Path("tour"))
    assert (elsewhere / "tour" / "data" / "vendors" / "PROCESS.md").is_file()
    assert not list((elsewhere / "tour").rglob("*.py"))
