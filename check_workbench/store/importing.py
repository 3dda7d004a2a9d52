"""Stores among the files of a load: a colleague's DuckDB file, or a folder that an export wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from check_workbench.errors import InputError, StoreBusyError, StoreError
from check_workbench.sources import Rejected
from check_workbench.store import manifest
from check_workbench.store.lease import is_database
from check_workbench.store.merging import merge_from, report_of
from check_workbench.store.report import Taken

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from check_workbench.store.arrivals import Tally
    from check_workbench.store.database import Store
    from check_workbench.store.files import Found

_REST = ("checks", "looks", "measurements", "triage")


def kind_of(store: Store, path: Path) -> str | None:
    """Say why a path is another store, or None.

    Parameters
    ----------
    store
        The store that is loaded; its own file is no other one.
    path
        A file, or a folder that was found as a whole.
    """
    if path.is_dir():
        return f"its {manifest.NAME} is one of an export"
    if is_database(path) and not store.is_at(path):
        return "it is a DuckDB file"
    return None


def take(store: Store, item: Found, reason: str, tally: Tally, told: Callable[[float], None]) -> None:
    """Merge another store, and tell what came of it as of any file.

    Raises
    ------
    InputError
        If it was given by its own name and cannot be merged; found in a folder it is rejected.
    StoreError
        Likewise, or if the store is opened to read only, or the other one is in use.
    """
    path = str(item.path)
    try:
        merged = merge_from(store, item.path, told)
    except (InputError, StoreError) as error:
        if item.path == item.root or store.read_only or isinstance(error, StoreBusyError):
            raise
        tally.rejected.append(Rejected(file=path, line=0, reason=str(error)))
        return
    report = report_of(path, merged)
    tally.taken.append(Taken(path, "store", reason))
    for name in ("runs", "spans", "steps", "decisions", "answers", "already", "replaced"):
        setattr(tally, name, getattr(tally, name) + getattr(report, name))
    rest = [f"{n:,} {name if n > 1 else name.removesuffix('s')}" for name in _REST if (n := getattr(report, name))]
    tally.notes += [f"{path}: with it came {', '.join(rest)}"] if rest else []
    tally.notes += [*(f"{path}: {line.strip()}" for line in report.clash_lines()), *report.notes]
