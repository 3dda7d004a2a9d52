"""`validate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.cli.screen import Outcome

if TYPE_CHECKING:
    import argparse


def validate(arguments: argparse.Namespace) -> Outcome:
    """Read check documents and list every problem; an error anywhere is exit code 1."""
    from check_workbench.dialects import validate_json

    files = validate_json(arguments.paths)["files"]
    problems = [problem for file in files for problem in file["problems"]]
    errors = sum(problem["severity"] == "error" for problem in problems)
    lines = [line for file in files for line in _lines(file)]
    checks = sum(len(file["checks"]) for file in files)
    lines.append(f"{_many(len(files), 'check file')}, {_many(checks, 'check')}, {_many(errors, 'error')}")
    return Outcome(text="\n".join(lines), data={"files": files}, code=1 if errors else 0)


def _lines(file: dict[str, Any]) -> list[str]:
    if not file["problems"]:
        return [f"{file['file']}: {file['dialect']}, {', '.join(file['checks'])}: fine"]
    return [
        f"{file['file']}:{p['line']}:{p['column']}: {p['severity']}: {p['message']} [{p['code']}]"
        + (f"\n    {p['hint']}" if p["hint"] else "")
        for p in file["problems"]
    ]


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
