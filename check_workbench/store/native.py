"""Our own JSON lines, set-based: the database parses, checks and explodes whole batches of lines.

A line that is not plainly right, or has keys that are no field, is given to `own_runs`, which is slower, says why it
cannot be used, and misses nothing. So the queries here only tell plain lines from others, and every reason has one
home. Both ways meet in `staging`, so equal content gets equal digests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from check_workbench.errors import InputError
from check_workbench.sources import Rejected, opened
from check_workbench.sources.json_text import decode, reason_of
from check_workbench.store.arrivals import store_placed, store_staged
from check_workbench.store.batches import Placed
from check_workbench.store.bay import keep
from check_workbench.store.blocks import blocks
from check_workbench.store.native_sql import NAIVE, PARSED, RAW, STEPPED, SUSPECTS
from check_workbench.store.own_runs import NAIVE_NOTE, run_of
from check_workbench.store.staging import stage
from check_workbench.store.tables import number

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import duckdb
    import pyarrow as pa

    from check_workbench.records import Run
    from check_workbench.store.arrivals import Target
    from check_workbench.store.bay import Bay
    from check_workbench.store.blocks import Block


def load(bay: Bay, path: Path, target: Target, told: Callable[[float], None]) -> None:
    """Load a file of our own JSON lines.

    Parameters
    ----------
    bay
        Beside the transaction of the file.
    path
        The file, plain or gzip.
    target
        Where its runs go.
    told
        Is told which share of the file is done.
    """
    size = path.stat().st_size or 1
    key = target.first
    with opened(path) as stream:
        for block in blocks(stream):
            if block.broken:
                target.own.rejected.append(Rejected(file=target.file, line=block.first_line, reason=block.broken))
                break
            key = _store_block(bay, block, key, target)
            told(min(1.0, block.read / size))


def _store_block(bay: Bay, block: Block, key: int, target: Target) -> int:
    """Store the plain lines of a block, then the others, and return the next free key."""
    lines = block.table(key)
    if not lines.num_rows:
        return key
    side = bay.side
    _parse(side, lines)
    staged = stage(side, RAW if number(side, STEPPED) else RAW._replace(steps=""), suspects=SUSPECTS)
    if number(side, NAIVE):
        target.own.note(target.file, NAIVE_NOTE)
    odd = {row for (row,) in side.execute("select row from suspects").fetchall()}
    if len(odd) < lines.num_rows:
        store_staged(bay, staged, [target])
    after = key + int(lines.num_rows)
    if not odd:
        return after
    texts = [(place, text) for place, text in block.lines(key) if place.row in odd]
    placed = [
        Placed(after + offset, place.line, run)
        for offset, (place, text) in enumerate(texts)
        if (run := _run(text, place.line, target)) is not None
    ]
    store_placed(bay, [placed], [target])
    return after + len(texts)


def _parse(cursor: duckdb.DuckDBPyConnection, lines: pa.Table) -> None:
    """Parse the lines of a block, and leave those that are plain as `native_lines`."""
    import pyarrow.compute as pc

    cursor.register("native_lines", lines)
    parsed = keep(cursor, "native_parsed", PARSED)
    odd = parsed.filter(parsed["odd"])["row"]
    if len(odd):
        cursor.register("native_lines", lines.filter(pc.invert(pc.is_in(lines["row"], odd))))


def _run(text: bytes, line: int, target: Target) -> Run | None:
    try:
        return run_of(decode(text.decode("utf-8")), note=lambda note: target.own.note(target.file, note))
    except ValueError as error:
        reason = str(error) if isinstance(error, InputError) else reason_of(error)
        target.own.rejected.append(Rejected(file=target.file, line=line, reason=reason))
    return None
