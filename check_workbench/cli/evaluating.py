"""`evaluate` and `preview`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.cli.screen import Outcome, table
from check_workbench.cli.stores import existing
from check_workbench.cli.validating import warned

if TYPE_CHECKING:
    import argparse

    from check_workbench.evaluation import Results

SHOWN = 10


def evaluate(arguments: argparse.Namespace) -> Outcome:
    """Evaluate checks over all runs of the store."""
    import check_workbench as cw

    checks = cw.read_checks(arguments.checks)
    warned(arguments.checks)
    with existing(arguments.db, answers=arguments.answers, evaluator=arguments.evaluator) as store:
        results = cw.evaluate(checks, store, evaluator=arguments.evaluator)
    return Outcome(text=_text(results), data=results.to_json())


def preview(arguments: argparse.Namespace) -> Outcome:
    """Try one check on runs with and without the problem."""
    import check_workbench as cw

    with existing(arguments.db, answers=arguments.answers, evaluator=arguments.evaluator) as store:
        shown = {"problem": arguments.problem, "clean": arguments.clean}
        draft = cw.preview(arguments.check, store, **shown, evaluator=arguments.evaluator)
    return Outcome(text=repr(draft), data=draft.to_json())


def _text(results: Results) -> str:
    findings: list[dict[str, Any]] = results.to_json()["findings"]
    lines = [repr(results)]
    if findings:
        first = findings[:SHOWN]
        lines += ["", table(first, ["check", "run", "step", "value", "status", "message"])]
    if len(findings) > SHOWN:
        lines.append(f"… and {len(findings) - SHOWN} more findings; --json lists them all")
    return "\n".join(lines)
