"""Rows of one table of a SQLite file, which is only read: no SQL of a mapping, no views, no journal."""

from __future__ import annotations

import contextlib
import sqlite3
import types
from typing import TYPE_CHECKING
from urllib.parse import quote

from check_workbench.decisions.rows import Row
from check_workbench.errors import InputError, hint
from check_workbench.sources.format import Note, Rejected

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAGIC = b"SQLite format 3\0"
_TABLES = "select name from sqlite_master where type = 'table' and sql not like 'create virtual%' order by name"


def rows(path: Path, table: str | None, file: str) -> Iterator[Row | Rejected | Note]:
    """Yield the rows of a table, numbered from 1.

    Parameters
    ----------
    path
        The file.
    table
        The table's name; it may be left out where there is only one.
    file
        The file's name in reports.

    Raises
    ------
    InputError
        If there is no such table.
    """
    if path.with_name(path.name + "-wal").exists():
        yield Note(file=file, text="what its write-ahead log holds was not read: close the program that writes to it")
    line, binary = 0, set[str]()
    try:
        with contextlib.closing(_opened(path)) as base:
            name = _table(base, table)
            cursor = base.execute(f"select * from {_quoted(name)}")
            names = [column[0] for column in cursor.description]
            for line, cells in enumerate(cursor, start=1):
                binary.update(name for name, cell in zip(names, cells, strict=True) if isinstance(cell, bytes))
                yield Row(
                    line, {n: c for n, c in zip(names, cells, strict=True) if not isinstance(c, bytes | types.NoneType)}
                )
    except sqlite3.Error as error:
        yield Rejected(file=file, line=line + 1, reason=f"the SQLite file cannot be read from here on: {error}")
    if binary:
        yield Note(file=file, text=f"bytes in the column {', '.join(sorted(binary))} were not read")


def _opened(path: Path) -> sqlite3.Connection:
    base = sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro&immutable=1", uri=True)
    base.execute("pragma trusted_schema = off")
    base.text_factory = lambda data: data.decode("utf-8", errors="replace")
    return base


def _table(base: sqlite3.Connection, table: str | None) -> str:
    known = [name for (name,) in base.execute(_TABLES) if not name.startswith("sqlite_")]
    if table is None and len(known) == 1:
        return str(known[0])
    if table is None or table not in known:
        named = "table must name one of its tables" if table is None else f"it has no table {table[:80]!r}"
        raise InputError(f"{named}.{hint(table or '', known)}")
    return table


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
