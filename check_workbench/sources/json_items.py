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

_CLOSING = {"{": "}", "[": "]"}
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


class Member(NamedTuple):
    """One member of an object, or one element of a member that is spread."""

    place: int
    """Which object of the file it belongs to, from 1."""
    key: str
    value: Any
    line: int
    """The line where the value starts, from 1."""
    name: str | None = None
    """The element's own key, where the spread member is an object."""


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
    yield from _as_far_as_it_goes(_laid_out(buffered, file), file)


def lines(stream: IO[bytes], file: str) -> Iterator[Item | Rejected]:
    r"""Stream the records of a JSON file with one record a line, where a record may be an array.

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

    Examples
    --------
    >>> [(item.place, item.value) for item in lines(io.BytesIO(b'["a", 1]\n["b", 2]'), "f")]
    [(1, ['a', 1]), (2, ['b', 2])]
    """
    yield from _as_far_as_it_goes(_lines(stream, file), file)


def members(stream: IO[bytes], file: str, spread: Callable[[str], bool]) -> Iterator[Member | Rejected]:
    """Stream the members of the objects in a JSON file, one element at a time where a member is large.

    Parameters
    ----------
    stream
        Decompressed bytes of one object, of several, or of an array of them.
    file
        The file's name in rejected records.
    spread
        Says of a key of such an object whether the elements of its array or object come one by one.

    Yields
    ------
    Member or Rejected
        In file order. An object with no members yields nothing.

    Examples
    --------
    >>> data = io.BytesIO(b'{"name": "tour", "spans": [{"id": 1}, {"id": 2}]}')
    >>> [(m.key, m.value) for m in members(data, "tour.json", {"spans"}.__contains__)]
    [('name', 'tour'), ('spans', {'id': 1}), ('spans', {'id': 2})]
    """
    place, line = 0, 1
    try:
        window = Window(stream)
        while window.opens_value():
            place += 1
            line = window.line()
            try:
                yield from _members(window, place, file, spread)
            except ValueError as error:
                line, found = window.line(), window.resume()
                ending = "" if found else "; nothing after it could be read"
                yield Rejected(file=file, line=line, reason=reason_of(error) + ending)
                if not found:
                    return
        if problem := window.ending():
            yield Rejected(file=file, line=window.line(), reason=problem)
    except BROKEN_GZIP as error:
        yield Rejected(file=file, line=line, reason=f"the compressed file is broken after this record: {error}")


def _members(window: Window, place: int, file: str, spread: Callable[[str], bool]) -> Iterator[Member | Rejected]:
    if not window.enter("{"):
        line, kind = window.line(), type(window.value()).__name__
        yield Rejected(file=file, line=line, reason=f"a record must be an object, got {kind}")
        return
    while not window.leave("}"):
        key = window.key()
        bracket = window.peek() if spread(key) else ""
        if bracket in ("[", "{"):
            window.enter(bracket)
            while not window.leave(_CLOSING[bracket]):
                name = window.key() if bracket == "{" else None
                yield _member(window, place, key, name, file)
        else:
            yield _member(window, place, key, None, file)


def _member(window: Window, place: int, key: str, name: str | None, file: str) -> Member | Rejected:
    if not window.peek():
        raise ValueError("the text ends inside an object: the file is cut short")
    line = window.line()
    try:
        return Member(place, key, window.value(), line, name)
    except ValueError as error:
        if not window.jump():
            raise
        return Rejected(file=file, line=line, reason=reason_of(error))


def _laid_out(stream: io.BufferedReader, file: str) -> Iterator[Item | Rejected]:
    head = stream.peek(CHUNK).decode("utf-8", errors="replace")
    yield from (_lines if shape_of(head) == "lines" else _values)(stream, file)


def _as_far_as_it_goes(records: Iterator[Item | Rejected], file: str) -> Iterator[Item | Rejected]:
    """Pass on records up to where the compression is broken."""
    last: Item | Rejected | None = None
    try:
        for last in records:
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
