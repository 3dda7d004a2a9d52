"""Write a whole store as a folder of Parquet files, which appears whole or not at all."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from check_workbench.errors import InputError, StoreError
from check_workbench.store import manifest, parquet
from check_workbench.store.portable import LINES, portable
from check_workbench.store.progress import Progress
from check_workbench.store.schema import TABLES, VERSION
from check_workbench.store.sorting import in_order
from check_workbench.store.tables import number
from check_workbench.store.transfers import ExportReport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import duckdb
    import pyarrow as pa

    from check_workbench.store.held import Held


def export(store: Held, folder: str | Path, *, progress: Callable[[str, float], None] | None = None) -> ExportReport:
    """Export a store; see `Store.export`."""
    import duckdb

    target = Path(os.path.realpath(folder))
    _check_target(target)
    unfinished = _beside(target, "unfinished")
    try:
        unfinished.mkdir()
        with store.hold() as cursor:
            cursor.execute("begin transaction read only")
            written = _write_tables(cursor, unfinished, progress or Progress("exporting"))
            cursor.rollback()
        _sync(unfinished)
        _check_target(target)
        _put(unfinished, target)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or error}") from error
    except duckdb.Error as error:
        raise StoreError(f"{folder} cannot be written: {str(error).splitlines()[0]}") from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return ExportReport(folder=str(folder), rows=written.rows)


def _write_tables(
    cursor: duckdb.DuckDBPyConnection,
    folder: Path,
    say: Callable[[str, float], None],
) -> manifest.Manifest:
    counts = {name: number(cursor, f"select count(*) from {name}") for name in TABLES}
    total = sum(counts.values())
    rows: dict[str, int] = {}
    for name in TABLES:

        def told(count: int, name: str = name, before: int = sum(rows.values())) -> None:
            say(name, (before + count) / total)

        rows[name] = _write_table(cursor, folder, name, told)
    digests = {name: manifest.digest_of(manifest.file_of(folder, name)) for name in TABLES}
    written = manifest.Manifest(schema_version=VERSION, rows=rows, digests=digests)
    with (folder / manifest.NAME).open("w", encoding="utf-8", newline="\n") as stream:
        stream.write(json.dumps(written.to_json(), indent=2) + "\n")
        stream.flush()
        os.fsync(stream.fileno())
    return written


def _write_table(
    cursor: duckdb.DuckDBPyConnection,
    folder: Path,
    name: str,
    told: Callable[[int], None],
) -> int:
    rows: Iterable[pa.RecordBatch] = cursor.sql(portable(name)).to_arrow_reader(parquet.ROWS_A_PIECE)
    if name in LINES:
        rows = in_order(rows, parquet.schema_of(name), folder)
    return parquet.write(manifest.file_of(folder, name), name, rows, told=told)


def _check_target(target: Path) -> None:
    """Refuse a place that is neither free nor taken by an earlier export alone."""
    if not target.parent.is_dir():
        raise InputError(f"{target} cannot be created: the folder {target.parent} does not exist")
    if not target.exists():
        return
    if not target.is_dir():
        raise InputError(f"{target} must be a folder for the export, but it is a file; name a new folder")
    held = {entry.name for entry in target.iterdir()}
    ours = {manifest.NAME, *(f"{name}.parquet" for name in TABLES)}
    others = sorted(held - ours) if manifest.is_export(target) else sorted(held)
    if others:
        named = ", ".join(map(repr, others[:3])) + (", \N{HORIZONTAL ELLIPSIS}" if len(others) > 3 else "")
        raise InputError(
            f"{target} holds what no export wrote ({named}); an export replaces only a folder that an export made. "
            "Name a new folder."
        )


def _put(made: Path, target: Path) -> None:
    """Move the finished folder to its place; an earlier export goes only when the new one is complete."""
    if not target.exists():
        made.rename(target)
        return
    former = _beside(target, "former")
    target.rename(former)
    try:
        made.rename(target)
    except OSError:
        former.rename(target)
        raise
    shutil.rmtree(former)


def _beside(target: Path, what: str) -> Path:
    return target.with_name(f".{target.name}.{secrets.token_hex(4)}.{what}")


def _sync(folder: Path) -> None:
    """Make sure that the names of the files are on the disk, where the system can be asked to."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
