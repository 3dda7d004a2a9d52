"""Open a SQLite file that somebody else owns, without changing it or the folder it lies in."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MAGIC = b"SQLite format 3\x00"
_UNFINISHED = ("-wal", "-journal")
"""Endings of the files beside a database that hold what is not yet in it."""


def is_sqlite(path: Path) -> bool:
    """Say whether a file starts like a SQLite database."""
    with path.open("rb") as stream:
        return stream.read(len(MAGIC)) == MAGIC


def name_of(value: object) -> str:
    """Return a name as text that came out of a database, in which anything may stand once it is damaged."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


@contextlib.contextmanager
def opened_database(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a SQLite file for reading; text comes as bytes.

    What a write-ahead log or journal beside it holds is read as well, from a copy of both.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    sqlite3.Error
        If it is damaged.
    """
    beside = [side for ending in _UNFINISHED if (side := Path(f"{path}{ending}")).is_file() and side.stat().st_size]
    with contextlib.ExitStack() as stack:
        uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        if beside:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            for file in (path, *beside):
                shutil.copyfile(file, folder / f"copy{file.name.removeprefix(path.name)}")
            uri = (folder / "copy").as_uri()
        database = stack.enter_context(contextlib.closing(sqlite3.connect(uri, uri=True)))
        database.text_factory = bytes
        database.execute("pragma trusted_schema = off")
        yield database
