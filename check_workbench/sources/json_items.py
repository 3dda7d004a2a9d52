"""Stream the records of a JSON file: lines, one array, or one object, without holding more than one record."""

from __future__ import annotations

import contextlib
import gzip
import io
import zlib
from functools import partial
from typing import IO, TYPE_CHECKING, Any, NamedTuple, cast

from check_workbench.sources.format import Rejected
from check_workbench.sources.json_text import decode, reason_of
from check_workbench.sources.json_window import CHUNK, Window

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

BROKEN_GZIP = (EOFError, gzip.BadGzipFile, zlib.error)
"""What reading a damaged gzip file raises."""


class Item(NamedTuple):
    """One record of a file."""

    place: int
    """Which record of the file it is, from 1; broken ones count."""
    value: Any
    locate: Callable[[], int]
    """Finds the line where it starts, until the next record is read."""

    @property
    def line(self) -> int:
        """The line where it starts, from 1."""
        return self.locate()


@contextlib.contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading, decompressing gzip by its first bytes."""
    with path.open("rb") as stream:
        if stream.peek(2)[:2] != b"\x1f\x8b":
            yield stream
            return
        with gzip.GzipFile(fileobj=stream) as plain:
            yield io.BufferedReader(plain, CHUNK)


def shape_of(text: str) -> str:
    """Say how the JSON in a file is laid out, from its first characters.

    Returns
    -------
    str
        `array`, `lines`, or `object` for one object spread over several lines.

    Examples
    --------
    >>> shape_of('[{"a": 1}'), shape_of('{"a": 1}'), shape_of('{' + chr(10) + '"a": 1}')
    ('array', 'lines', 'object')
    """
    lines = text.lstrip("\ufeff \t\r\n").split("\n", 2)
    if lines[0].startswith("["):
        return "array"
    first, second = lines[0].rstrip(), lines[1].lstrip() if len(lines) > 1 else "{"
    return "lines" if first.endswith("}") or second.startswith("{") or not second else "object"


def items(stream: IO[bytes], file: str) -> Iterator[Item | Rejected]:
    """Stream the records of a JSON file.

    A broken record is rejected and the next one is read, as long as it can be seen where it starts.

    Parameters
    ----------
    stream
        Decompressed bytes.
    file
        The file's name in rejected records.

    Yields
    ------
    Item or Rejected
        In file order.
    """
    buffered = (
        stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(cast("io.RawIOBase", stream), CHUNK)
    )
    last: Item | Rejected | None = None
    try:
        head = buffered.peek(CHUNK).decode("utf-8", errors="replace")
        read = _lines if shape_of(head) == "lines" else _values
        for last in read(buffered, file):
            yield last
    except BROKEN_GZIP as error:
        line = last.line if last else 1
        yield Rejected(file=file, line=line, reason=f"the compressed file is broken after this record: {error}")


def _lines(stream: IO[bytes], file: str) -> Iterator[Item | Rejected]:
    place = 0
    for number, raw in enumerate(stream, start=1):
        line = raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw
        if line.isspace() or not line:
            continue
        place += 1
        try:
            yield Item(place, decode(line), partial(int, number))
        except ValueError as error:
            yield Rejected(file=file, line=number, reason=reason_of(error))


def _values(stream: IO[bytes], file: str) -> Iterator[Item | Rejected]:
    window = Window(stream)
    place = 0
    while window.opens_value():
        place += 1
        try:
            yield Item(place, window.value(), window.line)
        except ValueError as error:
            line, found = window.line(), window.jump()
            ending = "" if found else "; nothing after it could be read"
            yield Rejected(file=file, line=line, reason=reason_of(error) + ending)
            if not found:
                return
    if problem := window.ending():
        yield Rejected(file=file, line=window.line(), reason=problem)
