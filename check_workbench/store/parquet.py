"""Tables as Parquet files: the same rows make the same bytes, and no table has to fit into memory."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from check_workbench.errors import InputError
from check_workbench.store.frames import arrow_types
from check_workbench.store.schema import TABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa

ROWS_A_PIECE = 1_024
BYTES_A_GROUP = 32 << 20
"""Text of a row group, counted in whole pieces, so that the groups follow from the rows alone."""


def schema_of(name: str) -> pa.Schema:
    """Return the Arrow schema of a table's file; JSON is text."""
    import pyarrow as pa

    return pa.schema(arrow_types(TABLES[name].columns))


def write(path: Path, name: str, rows: Iterable[pa.RecordBatch], *, told: Callable[[int], None]) -> int:
    """Write the rows of a table, make sure that they are on the disk, and return how many there were.

    Parameters
    ----------
    path
        The file.
    name
        The table.
    rows
        In order.
    told
        Is told how many rows were written so far.
    """
    from pyarrow import parquet

    schema, count = schema_of(name), 0
    with path.open("wb") as stream:
        with parquet.ParquetWriter(stream, schema, compression="zstd") as writer:
            for group in _groups(_pieces(rows, schema)):
                writer.write_table(group, row_group_size=max(1, group.num_rows))
                count += group.num_rows
                told(count)
        stream.flush()
        os.fsync(stream.fileno())
    return count


def check(path: Path, name: str, rows: int) -> None:
    """Refuse a file that does not hold a table's columns and so many rows.

    Raises
    ------
    InputError
        If it is no Parquet, or another table.
    """
    found = check_rows(path, rows)
    if not found.equals(schema_of(name), check_metadata=False):
        raise InputError(f"{path} must hold the columns of {name}, got {', '.join(found.names)}; export again")


def check_rows(path: Path, rows: int) -> pa.Schema:
    """Refuse a file that does not hold so many rows, and return its schema.

    Raises
    ------
    InputError
        If it is no Parquet, or holds more or fewer.
    """
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            schema, held = file.schema_arrow, file.metadata.num_rows
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path} must be Parquet, but cannot be read: {error}; export again") from error
    if held != rows:
        raise InputError(f"{path} must hold {rows:,} rows as the manifest says, but holds {held:,}; export again")
    return schema


def read(path: Path, columns: Sequence[str] | None = None) -> pa.RecordBatchReader:
    """Read a file in batches, some columns or all."""
    import pyarrow as pa
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        schema = file.schema_arrow.remove_metadata()
    kept = [field for field in schema if columns is None or field.name in columns]

    def batches() -> Iterator[pa.RecordBatch]:
        with parquet.ParquetFile(path) as file:
            yield from file.iter_batches(ROWS_A_PIECE, columns=[field.name for field in kept])

    return pa.RecordBatchReader.from_batches(pa.schema(kept), batches())


def _pieces(rows: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.Table]:
    """Cut rows into tables of the same length, the last one shorter."""
    import pyarrow as pa

    waiting: list[pa.RecordBatch] = []
    missing = ROWS_A_PIECE
    for batch in rows:
        rest = batch
        while rest.num_rows >= missing:
            yield pa.Table.from_batches([*waiting, rest.slice(0, missing)]).cast(schema)
            waiting, rest, missing = [], rest.slice(missing), ROWS_A_PIECE
        if rest.num_rows:
            waiting.append(rest)
            missing -= rest.num_rows
    if waiting:
        yield pa.Table.from_batches(waiting).cast(schema)


def _groups(pieces: Iterable[pa.Table]) -> Iterator[pa.Table]:
    import pyarrow as pa

    waiting: list[pa.Table] = []
    size = 0
    for piece in pieces:
        waiting.append(piece)
        size += _text_bytes(piece)
        if size >= BYTES_A_GROUP:
            yield pa.concat_tables(waiting).combine_chunks()
            waiting, size = [], 0
    if waiting:
        yield pa.concat_tables(waiting).combine_chunks()


def _text_bytes(piece: pa.Table) -> int:
    """Count the bytes of the values, however they lie in memory."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = [column for column in piece.columns if pa.types.is_large_string(column.type)]
    fixed: int = 8 * piece.num_rows * piece.num_columns
    return fixed + sum(int(pc.sum(pc.binary_length(column)).as_py() or 0) for column in texts)
