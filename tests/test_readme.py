"""The README does what it says: its cell, its output, its commands, its links."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from check_workbench.cli import arguments
from tests.notebooks.__main__ import block, shown_by

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
if not README.is_file():
    pytest.skip("the README is not installed with the package", allow_module_level=True)
TEXT = README.read_text(encoding="utf-8")
COMMANDS = re.findall(r"^    (check-workbench .*)$", TEXT, re.MULTILINE)
STARTS = re.findall(r"^    (python3 -m venv .*)$", TEXT, re.MULTILINE)


def test_the_cell_gives_the_output_that_is_shown() -> None:
    assert shown_by(block(TEXT, "python").group()) == block(TEXT, "text").group().rstrip("\n")


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_parse(line: str) -> None:
    words = shlex.split(line)[1:]
    assert arguments.parser().parse_args(words).command == words[0]


def test_there_are_exactly_two_commands_to_start() -> None:
    demo, tests = STARTS
    assert demo.endswith(".venv/bin/check-workbench demo")
    assert tests.endswith("-m pytest")


def test_every_command_and_exit_code_is_named() -> None:
    for command in ("demo", "formats", "load", "validate", "evaluate", "preview", "calibrate", "plan", "trust"):
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
