"""Gather the parts of a trace that lie anywhere in a file, in bounded memory.

Parts are held in memory until some more of the file has been read than fits there; then they move to a temporary
SQLite file, which goes away with the generator, however that ends.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

Other = TypeVar("Other")
HELD = 1 << 27
"""So many bytes of a file are held as parts in memory."""
_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode


class Part(NamedTuple):
    """One part of a group."""

    key: str
    value: Any
    """Any JSON value; a tuple may come back as a list."""


class Group(NamedTuple):
    """All parts that share a key, in file order."""

    key: str
    values: list[Any]


def gather(
    records: Iterable[Part | Other], position: Callable[[], int], *, held: int = HELD
) -> Generator[Group | Other]:
    """Gather parts by key; groups come last, in the order of their first parts.

    Parameters
    ----------
    records
        Parts in file order; everything else among them is passed on at once.
    position
        How many bytes of the file have been read.
    held
        How many bytes of the file may be in memory as parts.

    Examples
    --------
    >>> parts = [Part("a", 1), Part("b", 2), "a note", Part("a", 3)]
    >>> list(gather(parts, lambda: 0))
    ['a note', Group(key='a', values=[1, 3]), Group(key='b', values=[2])]
    """
    groups: dict[str, list[Any]] = {}
    with contextlib.ExitStack() as stack:
        moved: sqlite3.Connection | None = None
        limit = position() + held
        for record in records:
            if not isinstance(record, Part):
                yield record
                continue
            known = groups.get(record.key)
            if known is None:
                groups[record.key] = [record.value]
            else:
                known.append(record.value)
            if position() > limit:
                moved = moved or _file(stack)
                _move(moved, groups)
                limit = position() + held
        if moved is None:
            for key in list(groups):
                yield Group(key, groups.pop(key))
            return
        _move(moved, groups)
        yield from _groups(moved)


def _file(stack: contextlib.ExitStack) -> sqlite3.Connection:
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="check-workbench-"))
    database = sqlite3.connect(Path(folder) / "parts.sqlite", isolation_level=None)
    stack.callback(database.close)
    database.executescript(
        "pragma journal_mode = off; pragma synchronous = off; create table parts (key text, told text)"
    )
    return database


def _move(database: sqlite3.Connection, groups: dict[str, list[Any]]) -> None:
    rows = ((key, _ENCODE(groups.pop(key))) for key in list(groups))
    database.execute("begin")
    database.executemany("insert into parts values (?, ?)", rows)
    database.execute("commit")


def _groups(database: sqlite3.Connection) -> Iterator[Group]:
    database.execute("create index by_key on parts (key)")
    keys = database.execute("select key from parts group by key order by min(rowid)")
    for (key,) in keys:
        rows = database.execute("select told from parts where key = ? order by rowid", [key])
        yield Group(key, [value for (told,) in rows for value in json.loads(told)])
