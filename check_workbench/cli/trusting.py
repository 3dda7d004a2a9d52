"""`calibrate`, `plan` and `trust`."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from check_workbench.cli.grammar import Usage
from check_workbench.cli.screen import Outcome
from check_workbench.cli.stores import existing
from check_workbench.cli.validating import warned
from check_workbench.errors import InputError

if TYPE_CHECKING:
    import argparse

    from check_workbench.certificates import Certificates
    from check_workbench.plans import Plan

REPORTS = (".html", ".htm", ".md", ".json")
BOUNDS = ("change", "max_false_pass", "max_false_fail", "confidence", "labels")


def calibrate(arguments: argparse.Namespace) -> Outcome:
    """Choose thresholds against human decisions, and write them if asked to."""
    import check_workbench as cw

    warned(arguments.checks)
    given: dict[str, Any] = {"labels": arguments.labels} if arguments.labels else {}
    if arguments.goal:
        given["goal"] = _goals(arguments.goal)
    with existing(arguments.db, answers=arguments.answers) as store:
        made = cw.calibrate(arguments.checks, store, **given)
    lines = [repr(made)]
    if arguments.apply:
        written = made.apply()
        lines += [f"wrote {file}" for file in written] or ["no number moves, nothing was written"]
    elif patch := made.patch():
        lines += ["", patch.rstrip(), "", "--apply writes this change"]
    return Outcome(text="\n".join(lines), data=made.to_json())


def _goals(texts: list[str]) -> str | dict[str, str]:
    """Return the one goal for all, or one for each name that stands before a colon and a blank."""
    named = [[text] if text.strip().startswith("cost ") else text.rsplit(": ", 1) for text in texts]
    if len(texts) == 1 and len(named[0]) == 1:
        return texts[0]
    goals: dict[str, str] = {}
    for text, parts in zip(texts, named, strict=True):
        if len(parts) == 1 or parts[0].strip() in goals:
            usage = "usage: check-workbench calibrate CHECK... --db FILE --goal 'CHECK: TEXT' --goal 'CHECK KEY: TEXT'"
            raise Usage(f"of several goals each names another check or threshold, got {text!r}", usage)
        goals[parts[0].strip()] = parts[1]
    return goals


def plan(arguments: argparse.Namespace) -> Outcome:
    """Make a plan, and write it where the arguments say."""
    made = _bounds(arguments)
    data = {**made.to_dict(), "digest": made.digest, "file": arguments.out}
    if arguments.out is None:
        return Outcome(text=made.to_yaml().rstrip(), data=data)
    _keep_other_plan(Path(arguments.out), made)
    made.write(arguments.out)
    return Outcome(text=f"{made}\nwrote {arguments.out}", data=data)


def trust(arguments: argparse.Namespace) -> Outcome:
    """Decide for each check whether it may be trusted; the worst outcome is the exit code."""
    import check_workbench as cw
    from check_workbench.plans import read_plan

    if arguments.plan and any(getattr(arguments, name) is not None for name in BOUNDS):
        usage = "usage: check-workbench trust CHECK... --db FILE --plan FILE"
        raise Usage("--plan and the bounds exclude each other", usage)
    if arguments.plan and not Path(arguments.plan).exists():
        raise InputError(
            f"{arguments.plan} does not exist; a plan is made by check-workbench plan --change enforce -o FILE"
        )
    made = read_plan(arguments.plan) if arguments.plan else _bounds(arguments)
    _writable(arguments.report)
    warned(arguments.checks)
    with existing(arguments.db) as store:
        decided = cw.trust(arguments.checks, store, plan=made)
    lines = [repr(decided)]
    if patch := _without_refused(decided).patch():
        lines += ["", patch.rstrip()]
    if arguments.report:
        lines += ["", f"wrote {decided.report(arguments.report)}"]
    return Outcome(text="\n".join(lines), data=decided.to_json(), code=decided.exit_code)


def _without_refused(decided: Certificates) -> Certificates:
    """Return the decisions whose files can be patched; the reasons of the others say why theirs cannot."""
    return dataclasses.replace(decided, entries=tuple(entry for entry in decided if entry.refused is None))


def _bounds(arguments: argparse.Namespace) -> Plan:
    import check_workbench as cw

    given: dict[str, Any] = {name: value for name in BOUNDS if (value := getattr(arguments, name)) is not None}
    return cw.plan(**given)


def _writable(report: str | None) -> None:
    """Refuse a report that cannot be written before any label is read, because reading them is a look that counts."""
    if report is None:
        return
    path = Path(report)
    if path.suffix.lower() not in REPORTS:
        raise InputError(f"--report must end in {', '.join(REPORTS)}; got {report!r}")
    if path.is_dir() or not path.parent.is_dir():
        raise InputError(f"{report}: the report cannot be written: there is no folder {path.parent} for such a file")


def _keep_other_plan(path: Path, made: Plan) -> None:
    from check_workbench.plans import read_plan

    if path.is_file() and (path.stat().st_size == 0 or read_plan(path).digest != made.digest):
        raise InputError(f"{path} holds another plan. A plan is fixed before labels are read: choose another name.")
