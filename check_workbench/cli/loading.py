"""`formats` and `load`."""

from __future__ import annotations

import contextlib
import functools
import operator
from pathlib import Path
from typing import TYPE_CHECKING

from check_workbench.cli.grammar import Usage
from check_workbench.cli.screen import Outcome, table
from check_workbench.errors import InputError, UnknownNameError
from check_workbench.store import open_store
from check_workbench.store.lease import check_place
from check_workbench.store.rehearsing import Rehearsal

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from check_workbench.store import LoadReport, Store


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
    if arguments.blind and not (arguments.paths or arguments.decisions):
        usage = "usage: check-workbench load [PATH...] --db FILE --blind [--decisions FILE]..."
        raise Usage("--blind speaks of decisions: it needs --decisions, or a PATH whose files bring some", usage)
    if arguments.mapping and (arguments.format or not arguments.paths):
        usage = "usage: check-workbench load PATH... --db FILE --mapping FILE"
        raise Usage("--mapping says how every PATH is read: it needs a PATH, and no --format", usage)
    if arguments.sample and not arguments.paths:
        raise Usage(
            "--sample speaks of PATHs, of which there are none", "usage: check-workbench load PATH... --sample N"
        )
    _present([*arguments.paths, *arguments.decisions, *arguments.answers])
    _known(arguments.format, arguments.mapping)
    with _rehearsed(arguments.db) if arguments.dry_run else _held(arguments.db) as store:
        report = functools.reduce(operator.add, _reports(store, arguments))
        if isinstance(store, Rehearsal):
            report = store.told(report)
    return Outcome(text=repr(report), data=report.to_json())


def _reports(store: Store, arguments: argparse.Namespace) -> Iterator[LoadReport]:
    if arguments.paths:
        given = {name: getattr(arguments, name) for name in ("format", "mapping", "sample", "blind")}
        yield store.load(arguments.paths, **given)
    yield from (store.load_decisions(path, blind=arguments.blind) for path in arguments.decisions)
    yield from (store.load_answers(path) for path in arguments.answers)


@contextlib.contextmanager
def _held(path: str) -> Iterator[Store]:
    with open_store(path) as store, store.hold():
        yield store


@contextlib.contextmanager
def _rehearsed(path: str) -> Iterator[Store]:
    """Open a rehearsal of what the file holds, or would hold where there is none yet."""
    check_place(Path(path), read_only=False)
    held = open_store(path, read_only=True) if Path(path).exists() else open_store()
    with held, held.hold(), Rehearsal(held) as store:
        yield store


def _known(format_name: str | None, mapping: str | None) -> None:
    """Refuse a format or a mapping with which nothing can be loaded before there is a store."""
    from check_workbench.sources import READERS
    from check_workbench.sources.mapping import read_mapping

    if format_name is not None and format_name not in READERS:
        raise UnknownNameError.of("format", format_name, READERS)
    if mapping is not None:
        read_mapping(mapping)


def _present(paths: list[str]) -> None:
    """Refuse before anything is written, so that a mistyped name leaves no half-filled store behind."""
    missing = [path for path in paths if not Path(path).exists()]
    if missing:
        raise InputError(f"there is no file or folder {', '.join(map(repr, missing))}; nothing was loaded")
