"""Look at the start of a file: what kind it is, how its JSON is laid out, what its first records hold."""

from __future__ import annotations

import sqlite3
import struct
import zipfile
from typing import TYPE_CHECKING

from check_workbench.sources.format import Head, Rejected
from check_workbench.sources.json_items import BROKEN_GZIP, opened, shape_of
from check_workbench.sources.json_prefix import TOKEN, first_records
from check_workbench.sources.sqlite_files import MAGIC, name_of, opened_database

if TYPE_CHECKING:
    from pathlib import Path

BROKEN_ZIP = (zipfile.BadZipFile, struct.error, NotImplementedError, OSError, ValueError)
"""What opening a damaged ZIP file raises."""
HEAD_BYTES = 1 << 18
RECORDS = 20
_ZIP = b"PK\x03\x04"


def look(path: Path) -> Head | Rejected:
    """Describe the start of a file.

    Parameters
    ----------
    path
        The file; gzip is seen through.

    Returns
    -------
    Head or Rejected
        `Rejected` where the file is damaged, or neither ZIP, SQLite nor JSON in UTF-8.
    """
    try:
        with opened(path) as stream:
            data = stream.read(HEAD_BYTES)
    except BROKEN_GZIP as error:
        return Rejected(file=str(path), line=1, reason=f"the compressed file is broken: {error}")
    if data.startswith(_ZIP):
        return _zip(path)
    if data.startswith(MAGIC):
        return _sqlite(path)
    if reason := _unusable(data):
        return Rejected(file=str(path), line=1, reason=reason)
    text = data.decode("utf-8", errors="ignore").removeprefix("\ufeff")
    shape = shape_of(text)
    return Head(shape=shape, keys=first_keys(text), records=tuple(first_records(text, RECORDS)))


def first_keys(text: str) -> dict[str, str]:
    """List the keys of the first object in a text that may end anywhere, each with its value's first character.

    Examples
    --------
    >>> first_keys('[{"a": {"b": 1}, "c": [2, ')
    {'a': '{', 'c': '['}
    """
    found: dict[str, str] = {}
    depth, last, key = 0, "", None
    inside = text.lstrip().startswith("[")
    for piece in (match[0] for match in TOKEN.finditer(text)):
        if key is not None:
            found[key], key = piece[0], None
        elif piece == ":" and depth == 1 + inside:
            key = last[1:-1]
        depth += (piece in "{[") - (piece in "}]")
        if depth <= inside and piece == "}":
            break
        last = piece
    return found


def _zip(path: Path) -> Head | Rejected:
    try:
        with zipfile.ZipFile(path) as archive:
            return Head(kind="zip", names=frozenset(archive.namelist()))
    except BROKEN_ZIP as error:
        return Rejected(file=str(path), line=1, reason=f"the ZIP file is damaged: {error}")


def _sqlite(path: Path) -> Head | Rejected:
    try:
        with opened_database(path) as database:
            rows = database.execute("select name from sqlite_master where type in ('table', 'view')").fetchall()
    except sqlite3.Error as error:
        return Rejected(file=str(path), line=1, reason=f"the SQLite file is damaged: {error}")
    return Head(kind="sqlite", names=frozenset(name_of(name) for (name,) in rows))


def _unusable(data: bytes) -> str | None:
    if not data.strip(b"\xef\xbb\xbf \t\r\n"):
        return "the file is empty"
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\x00" in data[:4]:
        return "the file must be UTF-8, but is UTF-16 or UTF-32; save it as UTF-8"
    if data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in (b"{", b"["):
        return "the file must hold JSON: it starts neither with { nor with ["
    return None
