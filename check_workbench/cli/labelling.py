"""`label-next`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.cli.grammar import Usage
from check_workbench.cli.screen import Outcome
from check_workbench.cli.stores import existing
from check_workbench.cli.trusting import BOUNDS
from check_workbench.cli.validating import warned

if TYPE_CHECKING:
    import argparse

    from check_workbench.plans import Plan


def label_next(arguments: argparse.Namespace) -> Outcome:
    """Choose what people should judge next, and write the sheet if asked to."""
    import check_workbench as cw

    plan = _plan(arguments)
    warned(arguments.checks)
    with existing(arguments.db) as store:
        made = cw.label_next(
            arguments.checks,
            store,
            n=arguments.n,
            sheet=arguments.sheet,
            purpose=arguments.purpose,
            plan=plan,
            seed=arguments.seed,
        )
    lines = [repr(made)]
    if made.file is None and made.readings:
        lines.append("--sheet FILE writes them down for people to fill in")
    return Outcome(text="\n".join(lines), data=made.to_json())


def _plan(arguments: argparse.Namespace) -> Plan | None:
    """Return the plan whose bounds are to be proven; None where the arguments name none."""
    import check_workbench as cw
    from check_workbench.plans import read_plan

    given: dict[str, Any] = {name: value for name in BOUNDS if (value := getattr(arguments, name)) is not None}
    if arguments.plan and given:
        usage = "usage: check-workbench label-next CHECK --db FILE -n N --plan FILE"
        raise Usage("--plan and the bounds exclude each other", usage)
    if arguments.plan:
        return read_plan(arguments.plan)
    return cw.plan(**given) if given else None
