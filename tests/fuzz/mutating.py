"""Damage to files of a known format, so small that a reader still takes them for what they were."""

from __future__ import annotations

import io
import json
import random
import sqlite3
import tempfile
import zipfile
import zlib
from pathlib import Path
from typing import Any

HOSTILE: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    10**30,
    1e308,
    "",
    "\x00",
    "'; drop table runs; --",
    "9" * 400,
    "\ud83d",
    [],
    {},
    [[[[]]]],
    {"": {"": None}},
    "2026-13-45T99:99:99Z",
    float("nan"),
)
"""Values that a field does not expect."""


def damaged(data: bytes, seed: int) -> bytes:
    """Damage a file in one of many ways, the same for the same seed.

    Parameters
    ----------
    data
        The file; JSON, JSON lines, ZIP or SQLite.
    seed
        Chooses the damage.
    """
    rng = random.Random(seed)  # noqa: S311 - it chooses damage, not secrets
    if data.startswith(b"PK\x03\x04") and rng.random() < 0.8:
        try:
            return _zip(data, rng)
        except (zipfile.BadZipFile, zlib.error, OSError, ValueError, NotImplementedError, RuntimeError, EOFError):
            return _bytes(data, rng)
    if data.startswith(b"SQLite format 3\x00") and rng.random() < 0.8:
        return _sqlite(data, rng)
    way = rng.choice((_values, _values, _values, _bytes, _cut, _splice))
    return way(data, rng)


def _bytes(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randint(1, 8)):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _cut(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(1, len(data) + 1)]


def _splice(data: bytes, rng: random.Random) -> bytes:
    start, end = sorted(rng.randrange(len(data)) for _ in range(2))
    piece = data[start : min(end, start + 4096)]
    at = rng.randrange(len(data))
    return data[:at] + piece * rng.randint(1, 3) + data[at:]


def _values(data: bytes, rng: random.Random) -> bytes:
    """Change values inside the JSON of a file, whole or line by line."""
    try:
        return json.dumps(_changed(json.loads(data), rng)).encode()
    except (ValueError, RecursionError):
        lines = data.split(b"\n")
        at = rng.randrange(len(lines))
        try:
            lines[at] = json.dumps(_changed(json.loads(lines[at]), rng)).encode()
        except (ValueError, RecursionError):
            return _bytes(data, rng)
        return b"\n".join(lines)


def _changed(value: Any, rng: random.Random) -> Any:
    places: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        node = waiting.pop()
        pairs = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        for key, child in pairs:
            places.append((node, key))
            waiting.append(child)
    for node, key in rng.sample(places, min(len(places), rng.randint(1, 4))):
        if isinstance(node, dict) and rng.random() < 0.3:
            node.pop(key, None)
        else:
            node[key] = rng.choice(HOSTILE)
    return value


def _zip(data: bytes, rng: random.Random) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new:
        names = old.namelist()
        victim = rng.choice(names)
        for name in names:
            content = old.read(name)
            if name == victim and content:
                if rng.random() < 0.2:
                    continue
                content = rng.choice((_values, _values, _bytes, _cut))(content, rng)
            new.writestr(name, content)
    return packed.getvalue()


def _sqlite(data: bytes, rng: random.Random) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.db")
        path.write_bytes(data)
        database = sqlite3.connect(path)
        try:
            tables = database.execute("select name from sqlite_master where type = 'table'").fetchall()
            name = rng.choice(tables)[0]
            columns = [row[1] for row in database.execute(f'pragma table_info("{name}")')]
            column = rng.choice(columns)
            values = [v for v in HOSTILE if v is None or isinstance(v, float | str)]
            written: Any = rng.choice(values)
            written = written.encode("utf-8", "replace") if isinstance(written, str) else written
            some = f'select rowid from "{name}" limit 3 offset {rng.randint(0, 20)}'
            database.execute(f'update "{name}" set "{column}" = ? where rowid in ({some})', [written])
            database.commit()
        except sqlite3.Error:
            return _bytes(data, rng)
        finally:
            database.close()
        return path.read_bytes()
