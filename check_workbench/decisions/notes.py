"""What a reader of rows assumes or ignores, gathered so that it is told once."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, TypeVar

from check_workbench.decisions import fields
from check_workbench.errors import InputError, hint
from check_workbench.sources.format import Note, Rejected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import datetime

    from check_workbench.decisions.rows import Row

_T = TypeVar("_T")


class Notes:
    """The notes on one file.

    Parameters
    ----------
    file
        Its name.
    known
        The columns that are read.
    """

    def __init__(self, file: str, known: Iterable[str]) -> None:
        self._file = file
        self._known = frozenset(known)
        self._told: set[str] = set()
        self._naive: Counter[str] = Counter()

    def unknown(self, names: Iterable[str]) -> Iterator[Note]:
        """Tell of columns that are not read, each once, with a spelling hint."""
        for name in names:
            if name not in self._known and name not in self._told:
                self._told.add(name)
                near = hint(name[:80], self._known)
                ending = near if near.startswith(" Did") else ""
                yield Note(file=self._file, text=f"the column {name[:80]!r} is not known and was not read.{ending}")

    def time(self, name: str, value: Any) -> datetime:
        """Read a time, remembering whether it had a zone."""
        moment, naive = fields.time(name, value)
        self._naive[name] += naive
        return moment

    def records(
        self, rows: Iterable[Row | Rejected | Note], make: Callable[[Mapping[str, Any], Notes], _T]
    ) -> Iterator[_T | Rejected | Note]:
        """Make a record of each row; notes come where they arise or at the end.

        Parameters
        ----------
        rows
            As a format reads them.
        make
            Makes a record of a row's values; an InputError rejects the row.
        """
        for row in rows:
            if isinstance(row, Rejected | Note):
                yield row
                continue
            yield from self.unknown(row.values)
            try:
                yield make(row.values, self)
            except InputError as error:
                yield Rejected(file=self._file, line=row.line, reason=str(error))
        yield from self.closing()

    def closing(self) -> Iterator[Note]:
        """Tell what can only be told once every row was read."""
        for name, rows in self._naive.items():
            if rows:
                counted = f"{rows:,} rows; they count" if rows > 1 else "1 row; it counts"
                yield Note(file=self._file, text=f"{name} has no time zone in {counted} as UTC")
