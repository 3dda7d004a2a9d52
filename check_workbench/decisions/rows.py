"""What a table of decisions is made of, whichever format it is in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from check_workbench.errors import InputError, hint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from check_workbench.sources import Note, Rejected


class Row(NamedTuple):
    """One row, with missing values left out."""

    line: int
    """From 1; a header counts."""
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFormat:
    """A way in which tables are written."""

    name: str
    summary: str
    detect: Callable[[bytes], bool]
    """Whether a file that starts with these bytes, gzip undone, is of this format."""
    read: Callable[[Path, tuple[str, ...]], Iterator[Row | Rejected | Note]]
    """A file and the columns that it must have, to its rows."""


def demand(file: str, required: Iterable[str], found: Iterable[str]) -> None:
    """Refuse a table without a required column.

    Raises
    ------
    InputError
        If one is missing.
    """
    names = list(found)
    for column in required:
        if column not in names:
            raise InputError(f"{file}: the column {column} must be there.{_near(column, names)}")


def _near(column: str, names: list[str]) -> str:
    """Offer a name that says the same in fewer or other letters: `run`, `Run ID`; else what is spelled alike."""
    wanted = _letters(column)
    near = [name for name in names if len(_letters(name)) > 2 and _letters(name) in wanted]
    return f" Did you mean {' or '.join(map(repr, near[:2]))}?" if near else hint(column, names)


def _letters(name: str) -> str:
    return "".join(char for char in name.lower() if char.isalnum())
