"""Another store, opened to be read: a DuckDB file or an exported folder, of this version or an older one."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from check_workbench.errors import InputError, StoreError
from check_workbench.store import manifest, parquet, schema
from check_workbench.store.lease import connected, is_database, leased, writing
from check_workbench.store.names import listed, quote
from check_workbench.store.tables import number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import duckdb
    import pyarrow as pa


class Other(NamedTuple):
    """The tables of another store."""

    name: str
    read: Callable[[str, Sequence[str]], pa.RecordBatchReader]
    """A table's rows in the order in which they lie there, some columns of them."""
    rows: dict[str, int]
    """Rows of each table."""


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Other]:
    """Open another store to read it as it is now; an older one is migrated in a copy.

    Parameters
    ----------
    path
        A DuckDB file or an exported folder; nothing is written to it.

    Raises
    ------
    InputError
        If there is nothing, or no whole export.
    StoreError
        If the file is no store, or is of a newer version.
    StoreBusyError
        If another process holds the file for 10 seconds.
    """
    if not path.exists():
        raise InputError(f"{path} does not exist; it must be a store's DuckDB file or a folder that an export wrote")
    with (_folder if path.is_dir() else _file)(path) as other:
        yield other


@contextlib.contextmanager
def _file(path: Path) -> Iterator[Other]:
    if not is_database(path):
        raise StoreError(f"{path} must be the DuckDB file of a store, but it is no DuckDB file")
    with leased(path, read_only=True) as cursor:
        version = schema.version_of(cursor, str(path))
        if version == 0:
            raise StoreError(f"{path} is an empty DuckDB file; there is nothing to take from it")
        if version >= schema.VERSION:
            schema.prepare(cursor, where=str(path), read_only=True)
            cursor.execute("begin transaction read only")
            yield _tables(str(path), cursor)
            return
    with tempfile.TemporaryDirectory(prefix="check-workbench-") as folder:
        copy = Path(folder) / "store.duckdb"
        with leased(path, read_only=True), writing(path):
            shutil.copy(path, copy)
            log = path.with_name(f"{path.name}.wal")
            if log.exists():
                shutil.copy(log, f"{copy}.wal")
        with _migrated(copy, str(path)) as other:
            yield other


@contextlib.contextmanager
def _folder(path: Path) -> Iterator[Other]:
    held = manifest.read(path)
    if held.schema_version > schema.VERSION:
        raise StoreError(
            f"{path} was exported from a store of version {held.schema_version}; this check_workbench reads up to "
            f"version {schema.VERSION}. Install a newer check_workbench to read it."
        )
    manifest.check_files(path, held)
    if held.schema_version == schema.VERSION:
        if missing := sorted(set(schema.TABLES) ^ set(held.rows)):
            raise InputError(f"{path}: the manifest must name every table of a store once, but {missing} differ")
        for name, rows in held.rows.items():
            parquet.check(manifest.file_of(path, name), name, rows)
        yield Other(
            str(path), lambda name, columns: parquet.read(manifest.file_of(path, name), columns), dict(held.rows)
        )
        return
    with tempfile.TemporaryDirectory(prefix="check-workbench-") as folder:
        copy = Path(folder) / "store.duckdb"
        with contextlib.closing(connected(str(copy))) as connection:
            for name, rows in held.rows.items():
                parquet.check_rows(manifest.file_of(path, name), rows)
                connection.register("rows_of_a_file", parquet.read(manifest.file_of(path, name)))
                connection.execute(f"create table {quote(name)} as select * from rows_of_a_file")
                connection.unregister("rows_of_a_file")
            if schema.version_of(connection, str(path)) != held.schema_version:
                raise InputError(f"{path}: the manifest and meta.parquet name different versions; export again")
        with _migrated(copy, str(path)) as other:
            yield other


@contextlib.contextmanager
def _migrated(copy: Path, name: str) -> Iterator[Other]:
    import duckdb

    with leased(copy, read_only=False) as cursor:
        try:
            schema.prepare(cursor, where=name, read_only=False)
            for table, held in schema.TABLES.items():
                cursor.execute(f"select {listed(list(held.columns))} from {quote(table)} limit 0")
        except (duckdb.CatalogException, duckdb.BinderException) as error:
            reason = str(error).splitlines()[0]
            raise StoreError(f"{name} lacks what a store of its version has: {reason}; export again") from error
        yield _tables(name, cursor)


def _tables(name: str, cursor: duckdb.DuckDBPyConnection) -> Other:
    def read(table: str, columns: Sequence[str]) -> pa.RecordBatchReader:
        return cursor.sql(f"select {listed(list(columns))} from {quote(table)}").to_arrow_reader(parquet.ROWS_A_PIECE)

    return Other(name, read, {table: number(cursor, f"select count(*) from {quote(table)}") for table in schema.TABLES})
