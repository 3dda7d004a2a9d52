"""Sort more rows than fit into memory: sorted parts on the disk, read back side by side.

The database sorts on the disk as well, but gives up where its memory is a fourth of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    import numpy as np
    import pyarrow as pa

BYTES_A_PART = 64 << 20
"""What is sorted in memory at once."""
ROWS_A_BLOCK = 128
"""What is read of a part at once."""
KEY = "line"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    path: Path
    firsts: np.ndarray
    """The first key of each of its blocks."""


def in_order(rows: Iterable[pa.RecordBatch], schema: pa.Schema, folder: Path) -> Iterator[pa.RecordBatch]:
    """Sort rows by their whole-number column `line`, and yield them without it.

    Parameters
    ----------
    rows
        In any order.
    schema
        What they become, without `line`.
    folder
        An existing folder for the parts; what is written there is removed again.
    """
    import pyarrow as pa

    typed = schema.append(pa.field(KEY, pa.int64()))
    parts = [
        _written(_sorted(pa.Table.from_batches(batches).cast(typed)), folder / f"part-{number}.arrow")
        for number, batches in enumerate(_gathered(rows))
    ]
    for low, high in _ranges(parts):
        yield from _between(parts, low, high).to_batches()
    for part in parts:
        part.path.unlink()


def _gathered(rows: Iterable[pa.RecordBatch]) -> Iterator[list[pa.RecordBatch]]:
    """Yield as many rows as a part may have."""
    waiting: list[pa.RecordBatch] = []
    size = 0
    for batch in rows:
        waiting.append(batch)
        size += batch.nbytes
        if size >= BYTES_A_PART:
            full, waiting, size = waiting, [], 0
            yield full
    if waiting:
        yield waiting


def _sorted(table: pa.Table) -> pa.Table:
    import numpy as np

    return table.take(np.argsort(table[KEY].to_numpy(), kind="stable"))


def _written(table: pa.Table, path: Path) -> _Part:
    import pyarrow as pa

    with pa.OSFile(str(path), "wb") as stream, pa.ipc.new_file(stream, table.schema) as writer:
        writer.write_table(table.combine_chunks(), max_chunksize=ROWS_A_BLOCK)
    return _Part(path=path, firsts=table[KEY].to_numpy()[::ROWS_A_BLOCK])


def _ranges(parts: Sequence[_Part]) -> Iterator[tuple[int, int]]:
    """Yield ranges of keys that follow one another, each of about as many blocks as a part has."""
    import numpy as np

    if not parts:
        return
    firsts = np.sort(np.concatenate([part.firsts for part in parts]))
    step = max(len(part.firsts) for part in parts)
    bounds = [int(bound) for bound in np.unique(firsts[::step])]
    yield from zip(bounds, [*bounds[1:], np.iinfo(np.int64).max], strict=True)


def _between(parts: Sequence[_Part], low: int, high: int) -> pa.Table:
    """Return the rows of all parts with keys from `low` to under `high`, sorted."""
    import pyarrow as pa

    found = []
    for part in parts:
        with pa.OSFile(str(part.path)) as stream:
            blocks = pa.ipc.open_file(stream)
            start = max(0, int(part.firsts.searchsorted(low)) - 1)
            stop = int(part.firsts.searchsorted(high))
            for number in range(start, stop):
                block = blocks.get_batch(number)
                first, last = block[KEY].to_numpy().searchsorted([low, high])
                found.append(block.slice(first, last - first))
    return _sorted(pa.Table.from_batches(found)).drop_columns([KEY])
