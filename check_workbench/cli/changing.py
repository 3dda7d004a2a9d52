"""`diff`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from check_workbench.cli.screen import Outcome
from check_workbench.cli.stores import existing
from check_workbench.cli.validating import warned

if TYPE_CHECKING:
    import argparse


def diff(arguments: argparse.Namespace) -> Outcome:
    """List the runs whose verdict changed between two versions of a check."""
    import check_workbench as cw

    warned([arguments.check])
    with existing(arguments.db) as store:
        found = cw.diff(arguments.check, store, against=arguments.against)
    return Outcome(text=repr(found), data=found.to_json())
