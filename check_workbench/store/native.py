"""Our own JSON lines, loaded in batches of lines."""

from __future__ import annotations

import gzip
import zlib
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from check_workbench.sources import Rejected, opened
from check_workbench.sources.json_text import decode, reason_of
from check_workbench.store.arrivals import Tally, Target, store_placed
from check_workbench.store.batches import Placed
from check_workbench.store.own_runs import run_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import duckdb

BYTES_A_BATCH = 64 << 20


class Line(NamedTuple):
    """One line of a file, from 1."""

    number: int
    text: bytes


def load(
    cursor: duckdb.DuckDBPyConnection,
    path: Path,
    target: Target,
    own: Tally,
    told: Callable[[float], None],
) -> None:
    """Load a file of our own JSON lines.

    Parameters
    ----------
    cursor
        In a transaction.
    path
        The file, plain or gzip.
    target
        Where its runs go.
    own
        Is told what came of them.
    told
        Is told which share of the file is done.
    """
    size = path.stat().st_size or 1
    key = target.first
    with opened(path) as stream:
        for lines in _batches(stream, target, own):
            key = _store_lines(cursor, lines, key, target, own)
            told(min(1.0, stream.tell() / size))


def _store_lines(
    cursor: duckdb.DuckDBPyConnection,
    lines: list[Line],
    key: int,
    target: Target,
    own: Tally,
) -> int:
    placed = [Placed(key + i, line.number, run) for i, line in enumerate(lines) if (run := _run(line, target, own))]
    store_placed(cursor, placed, target, own)
    return key + len(lines)


def _run(line: Line, target: Target, own: Tally) -> Any:
    def note(text: str) -> None:
        own.notes.append(f"{target.file}: {text}")

    try:
        return run_of(decode(line.text.decode("utf-8")), note=note)
    except ValueError as error:
        own.rejected.append(Rejected(file=target.file, line=line.number, reason=_reason(error)))
    return None


def _reason(error: ValueError) -> str:
    known = isinstance(error, UnicodeDecodeError) or type(error) is not ValueError
    return reason_of(error) if known else str(error)


def _batches(stream: IO[bytes], target: Target, own: Tally) -> Iterator[list[Line]]:
    lines: list[Line] = []
    size = 0
    number = 0
    try:
        for number, raw in enumerate(stream, start=1):
            text = raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw
            if text.isspace():
                continue
            lines.append(Line(number, text))
            size += len(text)
            if size >= BYTES_A_BATCH:
                yield lines
                lines, size = [], 0
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        reason = f"the compressed file is broken after this line: {error}"
        own.rejected.append(Rejected(file=target.file, line=number, reason=reason))
    if lines:
        yield lines
