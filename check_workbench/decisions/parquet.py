"""Tables as Parquet; rows are numbered from 1."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from check_workbench.decisions.rows import Row, RowFormat, demand
from check_workbench.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow as pa

    from check_workbench.sources.format import Note, Rejected

MAGIC = b"PAR1"


def _read(path: Path, required: tuple[str, ...]) -> Iterator[Row | Rejected | Note]:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as table:
            demand(str(path), required, table.schema_arrow.names)
            line = 0
            for batch in table.iter_batches():
                for row in _rows(batch):
                    line += 1
                    yield Row(line, row)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: the file must be Parquet, but cannot be read: {error}") from error


def _rows(batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    columns = {name: _values(batch.column(name)) for name in batch.schema.names}
    for place in range(batch.num_rows):
        yield {name: v[place] for name, v in columns.items() if v[place] is not None and v[place] != ""}


def _values(column: pa.Array) -> list[Any]:
    import pyarrow as pa

    if not pa.types.is_timestamp(column.type):
        values: list[Any] = column.to_pylist()
        return values
    micros = column.cast(pa.timestamp("us", column.type.tz), safe=False).cast(pa.int64()).to_pylist()
    return [None if value is None else _time(value, UTC if column.type.tz else None) for value in micros]


def _time(micros: int, zone: Any) -> datetime | str:
    try:
        return datetime(1970, 1, 1, tzinfo=zone) + timedelta(microseconds=micros)
    except OverflowError:
        return f"{micros} microseconds after 1970"


FORMAT = RowFormat(name="parquet", summary="Parquet", detect=lambda head: head.startswith(MAGIC), read=_read)
