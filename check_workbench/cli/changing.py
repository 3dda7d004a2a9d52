"""`gate` and `diff`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from check_workbench.cli.screen import Outcome
from check_workbench.cli.stores import existing, may_write
from check_workbench.cli.validating import warned
from check_workbench.errors import InputError

if TYPE_CHECKING:
    import argparse


def gate(arguments: argparse.Namespace) -> Outcome:
    """Say whether checks still keep what their lock says; a failed case is exit code 1."""
    from check_workbench.changes import gate as compared_with_lock  # before the store is held

    _writable(arguments.junit)
    with existing(arguments.db, read_only=not may_write(arguments.db)) as store:
        found = compared_with_lock(arguments.paths, store, update=arguments.update)
    lines = [repr(found)]
    if arguments.junit:
        lines.append(f"wrote {found.junit(arguments.junit)}")
    return Outcome(text="\n".join(lines), data=found.to_json(), code=found.exit_code)


def diff(arguments: argparse.Namespace) -> Outcome:
    """List the runs whose verdict changed between two versions of a check."""
    import check_workbench as cw

    warned([arguments.check])
    with existing(arguments.db, read_only=not may_write(arguments.db)) as store:
        found = cw.diff(arguments.check, store, against=arguments.against)
    return Outcome(text=repr(found), data=found.to_json())


def _writable(junit: str | None) -> None:
    """Refuse a JUnit file that cannot be written before any label is read."""
    if junit is not None and (Path(junit).is_dir() or not Path(junit).parent.is_dir()):
        raise InputError(f"{junit}: cannot be written: there is no folder {Path(junit).parent} for such a file")
