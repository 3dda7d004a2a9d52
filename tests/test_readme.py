"""The README does what it says: its cell, its output, its commands, its links."""

from __future__ import annotations

import ast
import re
import shlex
from pathlib import Path

import pytest

import check_workbench as cw
from check_workbench.cli import arguments
from check_workbench.dialects import neatroots
from check_workbench.dialects.reference import tables
from check_workbench.dialects.selectors import SPAN_TYPES
from check_workbench.rules.threshold import DERIVED
from tests.notebooks.__main__ import between, block, formats, mapped_fields, shown_by

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
if not README.is_file():
    pytest.skip("the README is not installed with the package", allow_module_level=True)
TEXT = README.read_text(encoding="utf-8")
COMMANDS = re.findall(r"^    (check-workbench .*)$", TEXT, re.MULTILINE)
STARTS = re.findall(r"^    (python3 -m venv .*)$", TEXT, re.MULTILINE)


def test_the_cell_gives_the_output_that_is_shown() -> None:
    assert shown_by(block(TEXT, "python").group()) == block(TEXT, "text").group().rstrip("\n")


def test_the_keys_of_check_files_are_those_that_are_read() -> None:
    assert between(TEXT, "keys").group() == tables()
    section = TEXT.split("<!-- end of keys -->")[1].split("\n## ")[0]
    words = (*DERIVED, *neatroots.SCOPES, *neatroots.WHENS, "type", "name", "status", "tool", "llm")
    assert {"tool", "llm"} <= set(SPAN_TYPES)
    assert [word for word in words if f"`{word}`" not in section] == []


def test_the_formats_are_those_that_are_read() -> None:
    assert between(TEXT, "formats").group() == formats()


def test_the_fields_of_mappings_are_those_that_are_read() -> None:
    assert between(TEXT, "fields").group() == mapped_fields()
    assert "**`decision`**" in mapped_fields()
    assert "`verdict_seen`" in mapped_fields()


def test_the_reference_says_right_values() -> None:
    said = tables()
    assert "`same` (tool, input), `span` (every span), `at_least` (3) |" in said
    assert "| `yes_no` | `flag_at` (0.8) |" in said
    assert "| yes/no | `pass` (0.9), `fail` (none) |" in said
    assert "| `one_of` | `one_of` (required), `pass` (required), `unsure` (none), `confidence` (0.8) |" in said
    assert "| `levels` | `levels` (required), `pass` (required), `confidence` (0.8) |" in said
    assert "| `last` | none |" in said


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_parse(line: str) -> None:
    words = shlex.split(line)[1:]
    assert arguments.parser().parse_args(words).command == words[0]


def test_the_disagreements_that_are_triaged_are_those_of_the_samples() -> None:
    refunds = ROOT / "data" / "refunds"
    with cw.open() as store:
        store.load(refunds / "runs.jsonl")
        store.load_decisions(refunds / "labels.csv")
        found = cw.compare(refunds / "checks" / "repeated-call.check.yaml", store)
        (said,) = re.findall(r"^    found = found\.triage\((.*), by=", TEXT, re.MULTILINE)
        causes = ast.literal_eval(said)
        told = found.triage(causes, by="kim")
    assert {one["unit"]: one["triage"]["cause"] for one in told.disagreements if one["triage"]} == causes


def test_there_are_exactly_two_commands_to_start() -> None:
    demo, tests = STARTS
    assert demo.endswith(".venv/bin/check-workbench demo")
    assert tests.endswith("-m pytest")


def test_every_command_and_exit_code_is_named() -> None:
    for command in (
        "demo",
        "formats",
        "load",
        "validate",
        "evaluate",
        "preview",
        "calibrate",
        "plan",
        "trust",
        "audit",
    ):
        assert f"check-workbench {command}" in TEXT
    assert re.findall(r"^\| ([\d, ]+) \|", TEXT, re.MULTILINE) == ["0", "1", "2", "3", "4", "10, 11, 12", "70", "130"]


def test_links_lead_somewhere() -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", TEXT)
    assert len(targets) >= 5
    assert [t for t in targets if not t.startswith("http") and not (ROOT / t).is_file()] == []


def test_the_numbers_under_the_picture_are_those_of_the_picture() -> None:
    svg = (ROOT / "data" / "picture.svg").read_text(encoding="utf-8")
    counts = [(int(a), int(r)) for a, r in re.findall(r"● (\d+)\s+✕ (\d+)", svg)]
    (failed_good, failed_bad), _, (passed_good, passed_bad) = counts
    said = [int(n) for n in re.findall(r"\b(\d+)\b", TEXT.split("*Of the ")[1].split("*")[0])]
    assert said == [failed_good + failed_bad, failed_good, passed_good + passed_bad, passed_bad]
