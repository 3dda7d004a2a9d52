"""`validate`, and the warnings that other commands tell before they use a check."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from check_workbench.cli.screen import Outcome, announce, counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

SHOWN = 5
"""How many warnings of a file are told before it is used."""


def validate(arguments: argparse.Namespace) -> Outcome:
    """Read check documents and list every problem; an error anywhere is exit code 1."""
    from check_workbench.dialects import file_json, survey

    surveyed = survey(arguments.paths)
    files = [file_json(reading) for reading in surveyed.readings]
    counts = Counter(problem["severity"] for file in files for problem in file["problems"])
    lines = [line for file in files for line in _lines(file)]
    checks = sum(len(file["checks"]) for file in files)
    told = [counted(len(files), "check file"), counted(checks, "check"), counted(counts["error"], "error")]
    told += [counted(counts["warning"], "warning")] if counts["warning"] else []
    told += [counted(surveyed.others, "other file")] if surveyed.others else []
    lines.append(", ".join(told))
    return Outcome(text="\n".join(lines), data={"files": files}, code=1 if counts["error"] else 0)


def warned(paths: Iterable[str]) -> None:
    """Write the warnings of check documents to stderr, once a file, before the checks are used."""
    from check_workbench.dialects import validate_json

    for file in validate_json(paths)["files"]:
        found = [problem for problem in file["problems"] if problem["severity"] == "warning"]
        for problem in found[:SHOWN]:
            announce(_line(file["file"], problem))
        if len(found) > SHOWN:
            rest = counted(len(found) - SHOWN, "more warning")
            announce(f"{file['file']}: {rest}; check-workbench validate lists them")


def _lines(file: dict[str, Any]) -> Iterator[str]:
    if all(problem["severity"] == "note" for problem in file["problems"]):
        yield f"{file['file']}: {file['dialect']}, {', '.join(file['checks'])}: fine"
    yield from (_line(file["file"], problem) for problem in file["problems"])


def _line(file: str, problem: dict[str, Any]) -> str:
    place = f"{file}:{problem['line']}:{problem['column']}"
    hint = f"\n    {problem['hint']}" if problem["hint"] else ""
    return f"{place}: {problem['severity']}: {problem['message']} [{problem['code']}]{hint}"
