"""`audit`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from check_workbench.cli.screen import Outcome
from check_workbench.cli.stores import existing, may_write
from check_workbench.cli.validating import warned

if TYPE_CHECKING:
    import argparse


def audit(arguments: argparse.Namespace) -> Outcome:
    """Audit a trusted check; an alarm or a void certificate is exit code 1."""
    import check_workbench as cw

    warned([arguments.check])
    with existing(arguments.db, read_only=not may_write(arguments.db)) as store:
        made = cw.audit(arguments.check, store, sheet=arguments.sheet)
    lines = [repr(made), *([f"wrote {arguments.sheet}"] if arguments.sheet else [])]
    return Outcome(text="\n".join(lines), data=made.to_json(), code=made.exit_code)
