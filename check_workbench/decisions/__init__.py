"""Human decisions and recorded answers from files: one file per format, and the table that names them.

A new format is one module with a `FORMAT` and one entry in `FORMATS`.
"""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from check_workbench.decisions import delimited, json_rows, parquet, sheets
from check_workbench.decisions.answers import answers
from check_workbench.decisions.records import REQUIRED, decisions
from check_workbench.decisions.rows import Row, RowFormat
from check_workbench.errors import InputError
from check_workbench.sources import mistaken
from check_workbench.sources.format import Note, Rejected
from check_workbench.sources.json_items import BROKEN_GZIP, opened

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from check_workbench.records import Decision
    from check_workbench.results import Answer

__all__ = ["FORMATS", "Note", "Rejected", "Row", "RowFormat", "is_sheet", "read", "read_answers"]

FORMATS: Mapping[str, RowFormat] = MappingProxyType(
    {format_.name: format_ for format_ in (parquet.FORMAT, json_rows.FORMAT, delimited.FORMAT)},
)
"""The first format whose `detect` says yes reads the file."""


def read(path: str | Path) -> Iterator[Decision | Rejected | Note]:
    """Read human decisions.

    Parameters
    ----------
    path
        A CSV, JSON lines or Parquet file; told apart by content.

    Yields
    ------
    Decision, Rejected or Note
        In file order; notes say what was assumed or ignored.

    Raises
    ------
    InputError
        If the file cannot be used as a whole.
    """
    file = Path(path)
    _refuse_other(file, wanted="decisions")
    yield from decisions(_rows(file, _format(file), REQUIRED), str(path))


def is_sheet(path: Path) -> bool:
    """Say whether a file is a sheet that people filled in; its rows mean nothing without the record of the draw.

    Parameters
    ----------
    path
        The file.
    """
    return path.is_file() and sheets.is_sheet(_head(path))


def read_answers(path: str | Path) -> Iterator[Answer | Rejected | Note]:
    """Read recorded answers.

    Parameters
    ----------
    path
        A JSON lines file.

    Yields
    ------
    Answer, Rejected or Note
        In file order.

    Raises
    ------
    InputError
        If the file cannot be used as a whole.
    """
    file = Path(path)
    _refuse_other(file, wanted="answers")
    found = _format(file)
    if found is not None and found.name != "jsonl":
        raise InputError(f"{path}: recorded answers must be JSON lines, but this looks like {found.summary}")
    yield from answers(_rows(file, found, ()), str(path))


def _refuse_other(path: Path, *, wanted: str) -> None:
    """Refuse a file that plainly holds something else, in place of rejecting it row by row."""
    if (way := mistaken.other_than(path, wanted)) is not None:
        raise InputError(f"{path}: {way}")


def _rows(path: Path, found: RowFormat | None, required: tuple[str, ...]) -> Iterator[Row | Rejected | Note]:
    if found is None:
        yield Note(file=str(path), text="the file is empty")
        return
    yield from found.read(path, required)


def _format(path: Path) -> RowFormat | None:
    head = _head(path)
    if head.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\x00" in head[:4]:
        raise InputError(f"{path}: the text must be UTF-8, but is UTF-16 or UTF-32; save it as UTF-8 and load it again")
    if not head.strip(b"\xef\xbb\xbf \t\r\n"):
        return None
    return next(format_ for format_ in FORMATS.values() if format_.detect(head))


def _head(path: Path) -> bytes:
    try:
        with opened(path) as stream:
            return stream.read(1 << 12)
    except BROKEN_GZIP as error:
        raise InputError(f"{path}: the compressed file is broken: {error}") from None
    except IsADirectoryError:
        raise InputError(f"{path} must be a file, but is a folder") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
