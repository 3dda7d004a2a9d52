"""`formats` and `load`."""

from __future__ import annotations

import functools
import operator
from pathlib import Path
from typing import TYPE_CHECKING

from check_workbench.cli.arguments import Usage
from check_workbench.cli.screen import Outcome, table
from check_workbench.errors import InputError

if TYPE_CHECKING:
    import argparse


def formats(arguments: argparse.Namespace) -> Outcome:
    """List the formats that can be loaded."""
    del arguments
    from check_workbench.decisions import FORMATS
    from check_workbench.sources import READERS
    from check_workbench.sources.mapping import shipped

    runs = [{"of": "runs", "name": one.name, "summary": one.summary} for one in READERS.values()]
    mappings = [{"of": "mapping", "name": one.name, "summary": one.summary} for one in shipped()]
    rows = [
        *runs,
        *mappings,
        *({"of": "decisions", "name": one.name, "summary": one.summary} for one in FORMATS.values()),
    ]
    return Outcome(text=table(rows, ["of", "name", "summary"]), data={"formats": rows})


def load(arguments: argparse.Namespace) -> Outcome:
    """Load what the arguments name: runs first, so that decisions and answers find them."""
    if not (arguments.paths or arguments.decisions or arguments.answers):
        usage = "usage: check-workbench load PATH... --db FILE [--decisions FILE]... [--answers FILE]..."
        raise Usage("load needs a PATH, --decisions or --answers", usage)
    if arguments.blind and not arguments.decisions:
        usage = "usage: check-workbench load --db FILE --blind --decisions FILE"
        raise Usage("--blind speaks of --decisions, of which there are none", usage)
    if arguments.mapping and (arguments.format or not arguments.paths):
        usage = "usage: check-workbench load PATH... --db FILE --mapping FILE"
        raise Usage("--mapping says how every PATH is read: it needs a PATH, and no --format", usage)
    import check_workbench as cw

    _present([*arguments.paths, *arguments.decisions, *arguments.answers])
    with cw.open(arguments.db) as store, store.hold():
        reports = (
            [store.load(arguments.paths, format=arguments.format, mapping=arguments.mapping)] if arguments.paths else []
        )
        reports += [store.load_decisions(path, blind=arguments.blind) for path in arguments.decisions]
        reports += [store.load_answers(path) for path in arguments.answers]
    report = functools.reduce(operator.add, reports)
    return Outcome(text=repr(report), data=report.to_json())


def _present(paths: list[str]) -> None:
    """Refuse before anything is written, so that a mistyped name leaves no half-filled store behind."""
    missing = [path for path in paths if not Path(path).exists()]
    if missing:
        raise InputError(f"there is no file or folder {', '.join(map(repr, missing))}; nothing was loaded")
