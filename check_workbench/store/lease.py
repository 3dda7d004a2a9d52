"""Holding a DuckDB file only while a call runs, shared by the threads of one process."""

from __future__ import annotations

import contextlib
import os
import re
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from check_workbench.errors import StoreBusyError, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import duckdb

WAIT_SECONDS = 10.0
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "write_buffer_row_group_count": 1,  # five of them would wait in memory, uncompressed
}
_MAGIC = b"DUCK"
_MAGIC_AT = 8
_IN_USE = re.compile("Could not set lock on file|used by another process")
"""What DuckDB says where another process holds a file, elsewhere and on Windows."""
_FIRST_PAUSE = 0.01
_LONGEST_PAUSE = 0.25


@dataclass(slots=True)
class _Held:
    connection: duckdb.DuckDBPyConnection
    read_only: bool
    users: int


_held: dict[str, _Held] = {}
_writing: dict[str, threading.RLock] = {}
_changed = threading.Condition()


_REFUSED = ("?",) if os.name == "nt" else ("?", "\\")


def check_place(path: Path, *, read_only: bool) -> None:
    """Refuse a path at which no store can be.

    Raises
    ------
    StoreError
        If it is a folder or a file of another kind, lies in none, or has characters that DuckDB reads as more than a
        name.
    """
    refused = [c for c in _REFUSED if c in os.path.realpath(path).removeprefix(path.anchor)]
    if refused:
        raise StoreError(
            f"{str(path)!r} must be a path without {' and '.join(refused)}: DuckDB reads them as more than a name"
        )
    if path.is_dir():
        raise StoreError(f"{path} must be a file for the store, but it is a folder")
    if path.is_file() and os.access(path, os.R_OK) and path.stat().st_size and not is_database(path):
        raise StoreError(f"{path} must be the DuckDB file of a store, but is another file; name a new file for a store")
    if not path.exists() and read_only:
        raise StoreError(f"{path} does not exist, so it cannot be opened to read only")
    if not path.parent.is_dir():
        raise StoreError(f"{path} cannot be created: the folder {path.parent} does not exist")


def is_database(path: Path) -> bool:
    """Say whether a file is of DuckDB, by its first bytes."""
    try:
        with path.open("rb") as stream:
            return stream.read(_MAGIC_AT + len(_MAGIC))[_MAGIC_AT:] == _MAGIC
    except OSError:
        return False


@contextlib.contextmanager
def leased(path: Path, *, read_only: bool, wait: float | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a cursor of the calling thread on a file, which is open as long as somebody in the process uses it.

    Parameters
    ----------
    path
        The DuckDB file.
    read_only
        Open it to read only; shares an instance that already writes.
    wait
        How long to wait for another process, in seconds; None is `WAIT_SECONDS`.

    Raises
    ------
    StoreBusyError
        If another process holds the file for longer than `wait`.
    StoreError
        If the file cannot be opened.
    """
    key = os.path.realpath(path)
    cursor = _taken(key, path, read_only=read_only, until=time.monotonic() + (WAIT_SECONDS if wait is None else wait))
    try:
        yield cursor
    finally:
        cursor.close()
        _give_back(key)


def held_files() -> tuple[str, ...]:
    """Return the files that this process holds at the moment."""
    return tuple(_held)


def writing(path: Path) -> threading.RLock:
    """Return the lock of those who write to a file in this process; they take turns."""
    with _changed:
        return _writing.setdefault(os.path.realpath(path), threading.RLock())


def _taken(key: str, path: Path, *, read_only: bool, until: float) -> duckdb.DuckDBPyConnection:
    pause = _FIRST_PAUSE
    with _changed:
        while True:
            held = _held.get(key)
            if held is not None and (read_only or not held.read_only):
                held.users += 1
                return held.connection.cursor()
            if held is None:
                opened = _opened(key, path, read_only=read_only)
                if isinstance(opened, str):
                    reason = opened
                else:
                    _held[key] = _Held(opened, read_only, 1)
                    return opened.cursor()
            else:
                reason = f"PID {os.getpid()} (this process) reads it"
            if time.monotonic() >= until:
                raise StoreBusyError(f"{path} is in use: {reason}. Waited; try again when that call has ended.")
            _changed.wait(min(pause, max(0.0, until - time.monotonic())))
            pause = min(pause * 1.5, _LONGEST_PAUSE)


def _give_back(key: str) -> None:
    with _changed:
        held = _held[key]
        held.users -= 1
        if held.users == 0:
            held.connection.close()
            del _held[key]
        _changed.notify_all()


def connected(database: str, *, read_only: bool = False) -> duckdb.DuckDBPyConnection:
    """Open a database that reads times in UTC, fetches no extension, and sees no Python variable."""
    import duckdb

    connection = duckdb.connect(database, read_only=read_only, config=_CONFIG)
    connection.execute("set global python_enable_replacements = false")
    with contextlib.suppress(duckdb.Error):  # without ICU every time is UTC already
        connection.execute("set global TimeZone = 'UTC'")
    return connection


def _opened(key: str, path: Path, *, read_only: bool) -> duckdb.DuckDBPyConnection | str:
    """Return a connection, or who holds the file."""
    import duckdb

    try:
        return connected(key, read_only=read_only)
    except duckdb.Error as error:
        text = str(error)
        if not _IN_USE.search(text):
            raise StoreError(f"{path} cannot be opened as a store: {text.splitlines()[0]}") from error
        pid = re.search(r"PID (\d+)", text)
        return f"PID {pid[1]} holds it" if pid else "another process holds it"


def _forget() -> None:
    global _changed  # noqa: PLW0603 a lock that another thread held is never released in a child
    _held.clear()
    _writing.clear()
    _changed = threading.Condition()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
