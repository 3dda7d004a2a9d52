"""The demo: the whole way, offline, in a folder of its own."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from check_workbench.cli import main
from check_workbench.cli.demo import MARKER, STAGES


@dataclass
class Toured:
    folder: Path
    text: str
    again: str
    codes: tuple[int, int]


@pytest.fixture(scope="module")
def toured(tmp_path_factory: pytest.TempPathFactory) -> Toured:
    """Run the demo twice in one folder: in words, then as JSON."""
    folder = tmp_path_factory.mktemp("toured")
    words, document = io.StringIO(), io.StringIO()
    with contextlib.chdir(folder):
        with contextlib.redirect_stdout(words):
            first = main(["demo"])
        with contextlib.redirect_stdout(document):
            second = main(["demo", "--json"])
    return Toured(folder, words.getvalue(), document.getvalue(), (first, second))


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_ends_with_a_decision_and_a_report(toured: Toured) -> None:
    assert toured.codes == (0, 0)
    said = toured.text
    assert re.search(r"May \S+/check_vendor be enforced\? Yes\. \d+ of \d+ blind decisions spoke against it", said)
    assert re.search(r"May \S+/write_terms be enforced\? Not yet\. About \d+ more blind decisions", said)
    assert re.search(r"May \S+/check_vendor replace the approval\? Not yet\. About \d+ more", said)
    assert "no security boundary" in said
    report = toured.folder / "check-workbench-demo" / "trust.html"
    assert report.read_text(encoding="utf-8").lower().lstrip().startswith("<!doctype html")
    assert "check-workbench-demo/trust.html" in said


def test_it_writes_into_its_folder_only(toured: Toured) -> None:
    assert [p.name for p in toured.folder.iterdir()] == ["check-workbench-demo"]
    assert (toured.folder / "check-workbench-demo" / MARKER).is_file()


def test_json_is_one_document_of_the_known_shapes(toured: Toured) -> None:
    document = json.loads(toured.again)
    assert list(document) == ["load", "calibrate", "trust", "report"]
    assert (document["load"]["runs"], document["load"]["decisions"]) == (500, 814)
    assert {c["check"] for c in document["calibrate"]["checks"]} == {"repeated-call", "refund-without-ownership"}
    outcomes = {(c["check"].split("/")[1], c["change"]): c["outcome"] for c in document["trust"]["checks"]}
    assert outcomes == {
        ("check_vendor", "enforce"): "ready",
        ("write_terms", "enforce"): "need_labels",
        ("check_vendor", "replace_approval"): "need_labels",
    }
    assert (toured.folder / document["report"]).is_file()


def test_the_shown_commands_can_be_repeated(toured: Toured, cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [line[2:] for line in toured.text.splitlines() if line.startswith("$ ")]
    assert lines == [stage.line for stage in STAGES]
    monkeypatch.chdir(toured.folder / "check-workbench-demo")
    ran = cli(*shlex.split(lines[-1])[1:])
    assert ran.code == 10
    assert "as recorded before" in ran.out


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


def test_a_program_that_is_not_on_the_path_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from check_workbench.cli.demo import _elsewhere

    program = tmp_path / "my venv" / "check-workbench"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setattr("sys.argv", [str(program), "demo"])
    monkeypatch.setenv("PATH", str(tmp_path))
    assert _elsewhere() == program
    monkeypatch.setenv("PATH", str(program.parent))
    assert _elsewhere() is None
