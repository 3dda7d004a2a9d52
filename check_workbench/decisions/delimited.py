"""Tables as CSV, UTF-8: comma, semicolon or tab between the cells, a header in the first line."""

from __future__ import annotations

import contextlib
import csv
import io
import re
from itertools import chain
from typing import IO, TYPE_CHECKING, Literal, TextIO

from check_workbench.decisions.rows import Row, RowFormat, demand
from check_workbench.errors import InputError
from check_workbench.sources.format import Note, Rejected
from check_workbench.sources.json_items import BROKEN_GZIP, opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Cells = Literal["quoted", "plain", "escaped"]
"""How cells are written: some in quotes, all as they stand, or without quotes and with `\\t`, `\\n`, `\\r`."""

_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs"}
_ESCAPE = re.compile(r"\\([tnr\\])")
_ESCAPED = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}


def read(
    path: Path, required: tuple[str, ...], cells: Cells = "quoted", *, encoding: str = "utf-8-sig"
) -> Iterator[Row | Rejected | Note]:
    """Yield the rows of a file.

    Parameters
    ----------
    path
        The file; gzip is seen through.
    required
        Columns that it must have.
    cells
        How they are written.
    encoding
        How the text is.

    Raises
    ------
    InputError
        If the header cannot be used.
    """
    with opened(path) as stream, _text(stream, encoding) as text:
        try:
            yield from _rows(text, str(path), required, cells)
        except BROKEN_GZIP as error:
            yield Rejected(file=str(path), line=1, reason=f"the compressed file is broken: {error}")


@contextlib.contextmanager
def _text(stream: IO[bytes], encoding: str) -> Iterator[TextIO]:
    text = io.TextIOWrapper(stream, encoding=encoding, errors="surrogateescape", newline="")
    try:
        yield text
    finally:
        text.detach()


def _rows(text: TextIO, file: str, required: tuple[str, ...], written: Cells) -> Iterator[Row | Rejected | Note]:
    first = text.readline()
    delimiter = max(_DELIMITERS, key=first.count)
    if delimiter != ",":
        yield Note(file=file, text=f"the cells are separated by {_DELIMITERS[delimiter]}")
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if written == "quoted" else csv.QUOTE_NONE
    table = csv.reader(chain([first], text), delimiter=delimiter, quoting=quoting, strict=True)
    header = _header(table, file, required)
    while (line := table.line_num + 1) and (cells := _cells(table, file, line)) is not None:
        if isinstance(cells, Rejected):
            yield cells
        elif any(cells):
            yield _row(header, [_meant(cell) for cell in cells] if written == "escaped" else cells, file, line)


def _header(table: Iterator[list[str]], file: str, required: tuple[str, ...]) -> list[str]:
    try:
        names = [cell.strip() for cell in next(table)]
    except csv.Error as error:
        raise InputError(f"{file}: the header must be a line of column names: {error}") from None
    demand(file, required, names)
    twice = sorted({name for name in names if name and names.count(name) > 1})
    if twice:
        raise InputError(f"{file}: each column must be there once, but {', '.join(twice)} is there twice")
    return names


def _cells(table: Iterator[list[str]], file: str, line: int) -> list[str] | Rejected | None:
    try:
        cells = next(table, None)
    except csv.Error as error:
        return Rejected(file=file, line=line, reason=f"not valid CSV: {error}")
    return None if cells is None else [cell.strip() for cell in cells]


def _meant(cell: str) -> str:
    return _ESCAPE.sub(lambda found: _ESCAPED[found[1]], cell)


def _row(header: list[str], cells: list[str], file: str, line: int) -> Row | Rejected:
    if len(cells) != len(header):
        reason = f"the row must have {len(header)} cells like the header, but has {len(cells)}"
        return Rejected(file=file, line=line, reason=reason)
    try:
        "".join(cells).encode("utf-8")
    except UnicodeEncodeError:
        return Rejected(file=file, line=line, reason="the text must be UTF-8; save the table as CSV UTF-8")
    return Row(line, {name: cell for name, cell in zip(header, cells, strict=True) if cell and name})


FORMAT = RowFormat(name="csv", summary="CSV with a header, UTF-8", detect=lambda _: True, read=read)
