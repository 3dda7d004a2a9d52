"""Sheets that people fill in without a notebook: how cells are written, and what comes back.

A sheet is CSV with a `row_id`. What was drawn stands in the store, so a row that nobody drew there, or whose ids were
changed, is rejected. Cells that a spreadsheet would take for a formula, or an id that it would take for a number or a
date, begin with one more apostrophe.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from check_workbench.decisions import delimited, fields
from check_workbench.decisions.notes import Notes
from check_workbench.errors import InputError
from check_workbench.records import CHECK_DECISIONS, WORK_DECISIONS, Decision, person
from check_workbench.sources.format import Note, Rejected
from check_workbench.sources.json_items import BROKEN_GZIP, opened

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime
    from pathlib import Path

    from check_workbench.decisions.rows import Row

ROW = "row_id"
DECISION = "decision"
SHOWN = ("question", "input", "work", "output")
"""What is shown to the person; nothing of it is read back."""
NOT_ASKED = "not asked"
UTF8, WINDOWS = "utf-8-sig", "cp1252"
WORDS = (*CHECK_DECISIONS, *(word for word in WORK_DECISIONS if word != "completed"))
_LATER = timedelta(microseconds=1)
"""By how much a correction comes after what it corrects, at least."""
_FORMULA = re.compile(r"['=+\-@\t\r\n]")
_ID = re.compile(
    r"['=+\-@\t\r\n.\d]|(?:true|false)$|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned(Decision):
    """A decision that came back on a sheet."""

    asked: str
    """The digest of what was asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """One decision that a row of a sheet asks for."""

    check_id: str
    asked: str
    probability: float | None
    stale: bool = False
    """Whether the check asks something else by now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One row of a sheet as it was drawn."""

    run_id: str
    step_id: str | None
    attempt: int | None
    wanted: Mapping[str, Wanted] = field(default_factory=dict)
    """By column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """What the same person said last of the same question and work."""

    decision: str
    note: str | None
    decided_by: str | None
    decided_at: datetime | None


def key(decision: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what decisions of one person on one question of one unit share."""
    named = tuple(decision[name] for name in ("run_id", "step_id", "attempt", "check_id", "asked"))
    return (*named, person(decision["decided_by"]))


def escaped(cell: str, *, is_id: bool = False) -> str:
    """Write a cell so that a spreadsheet takes it for text.

    Parameters
    ----------
    cell
        What it says.
    is_id
        Whether it must come back unchanged, so that it may not become a number or a date either.

    Examples
    --------
    >>> escaped("=1+1"), escaped("12"), escaped("0012", is_id=True)
    ("'=1+1", '12', "'0012")
    """
    return f"'{cell}" if (_ID if is_id else _FORMULA).match(cell) else cell


def meant(cell: str) -> str:
    """Return what an escaped cell says.

    Examples
    --------
    >>> [meant(escaped(cell, is_id=True)) for cell in ("=1+1", "'x", "r-1", "007")]
    ['=1+1', "'x", 'r-1', '007']
    """
    return cell.removeprefix("'")


def is_sheet(head: bytes) -> bool:
    """Say whether a file that starts with these bytes is a sheet: its header has decisions, and rows or what is shown.

    Examples
    --------
    >>> is_sheet(b"decision;note;run_id;row_id"), is_sheet(b"run_id,decision")
    (True, False)
    """
    text = head.decode("utf-8-sig", errors="replace")
    for delimiter in ",;\t":
        names = [name.strip() for name in next(csv.reader(text.splitlines(keepends=True), delimiter=delimiter), [])]
        told = any(name.partition(":")[0] == DECISION for name in names)
        if told and (ROW in names or {*SHOWN} <= {*names}):
            return True
    return False


def returned(
    path: Path, drawn: Mapping[str, Place], before: Mapping[tuple[Any, ...], Before], now: datetime
) -> Iterator[Returned | Rejected | Note]:
    """Read what came back on a sheet.

    Parameters
    ----------
    path
        The sheet.
    drawn
        What was drawn, by row id.
    before
        What came back last, by `key`. Another decision of the same person corrects it.
    now
        When what is new counts as decided.
    """
    sheet = _Sheet(str(path), drawn, before, now)
    encoding = _encoding(path)
    if encoding != UTF8:
        yield Note(file=str(path), text="the text is not UTF-8: it was read as a spreadsheet on Windows writes it")
    for row in delimited.read(path, (ROW, "run_id"), encoding=encoding):
        if isinstance(row, Rejected | Note):
            yield row
        else:
            yield from sheet.decisions(row)
    yield from sheet.closing()


def _encoding(path: Path) -> str:
    """Return how a spreadsheet saved the file; only ids and what people wrote must come back whole."""
    with opened(path) as stream:
        try:
            stream.read().decode(UTF8)
        except (UnicodeDecodeError, *BROKEN_GZIP):
            return WINDOWS
    return UTF8


class _Sheet:
    def __init__(
        self, file: str, drawn: Mapping[str, Place], before: Mapping[tuple[Any, ...], Before], now: datetime
    ) -> None:
        self._file, self._drawn, self._before, self._now = file, drawn, before, now
        self._here: dict[tuple[Any, ...], Returned] = {}
        self._seen: set[str] = set()
        self._counts: Counter[str] = Counter()
        self._stale: Counter[str] = Counter()
        columns = {column for place in drawn.values() for column in place.wanted}
        self._notes = Notes(file, {ROW, "run_id", "step_id", "decision", "note", "decided_by", *SHOWN, *columns})

    def decisions(self, row: Row) -> Iterator[Returned | Rejected | Note]:
        yield from self._notes.unknown(row.values)
        try:
            place = self._place(row.values)
        except InputError as error:
            yield Rejected(file=self._file, line=row.line, reason=str(error))
            return
        for column in self._columns(row.values, place):
            try:
                found = self._decision(row.values, place, column)
            except InputError as error:
                yield Rejected(file=self._file, line=row.line, reason=str(error))
                continue
            if found is not None:
                yield found

    def closing(self) -> Iterator[Note]:
        told = {
            "blank": "{} left empty: they are skipped, and may come back later on the same sheet",
            "twice": "{} there on two sheets: each counts once",
            "edited": "{} already loaded with another note: the first note stays",
        }
        for name, words in told.items():
            if count := self._counts[name]:
                counted = "1 decision is" if count == 1 else f"{count:,} decisions are"
                yield Note(file=self._file, text=words.format(counted))
        for check, count in sorted(self._stale.items()):
            counted = "1 decision counts" if count == 1 else f"{count:,} decisions count"
            yield Note(
                file=self._file, text=f"{check} was reworded after it was drawn: {counted} for the old text only"
            )

    def _place(self, values: Mapping[str, Any]) -> Place:
        row_id = values.get(ROW)
        if row_id is None:
            raise InputError(
                f"{ROW} must be there: it says which work was read; copy it from the sheet as it was drawn"
            )
        place = self._drawn.get(row_id)
        if place is None:
            of = row_id.partition("-")[0]
            known = any(one.startswith(f"{of}-") for one in self._drawn)
            where = f"the sheet {of!r} has no such row" if known else "no such sheet was drawn from this store"
            raise InputError(f"{ROW} must be as it was drawn, got {row_id[:80]!r}: {where}")
        for name, drawn in (("run_id", place.run_id), ("step_id", place.step_id)):
            given = values.get(name)
            if (name == "run_id" or given is not None) and given != escaped(drawn or "", is_id=True).strip():
                raise InputError(f"{name} must be {drawn!r}, which was drawn as {row_id}, but was changed to {given!r}")
        if row_id in self._seen:
            raise InputError(f"{ROW} {row_id} came before in this file; each row counts once, the first")
        self._seen.add(row_id)
        return place

    def _columns(self, values: Mapping[str, Any], place: Place) -> Iterator[str]:
        for column in place.wanted:
            if column in values:
                yield column
            else:
                self._counts["blank"] += 1
        others = [name for name in values if name.partition(":")[0] == DECISION and name not in place.wanted]
        yield from (name for name in others if _plain(values[name]) != _plain(NOT_ASKED))

    def _decision(self, values: Mapping[str, Any], place: Place, column: str) -> Returned | None:
        wanted = place.wanted.get(column)
        if wanted is None:
            raise InputError(
                f"{column} was not asked of this work, so it must stay {NOT_ASKED!r}; got {values[column]!r}"
            )
        made: dict[str, Any] = {
            "run_id": place.run_id,
            "step_id": place.step_id,
            "attempt": place.attempt,
            "check_id": wanted.check_id,
            "asked": wanted.asked,
            "decision": _word(column, values[column]),
            "decided_by": values.get("decided_by"),
        }
        note, at, name = values.get("note"), self._now, key(made)
        here, before = self._here.get(name), self._before.get(name)
        if here is not None:
            _same(column, made["decision"], here.decision, "on another sheet in this file")
            self._counts["twice"] += 1
            return None
        if before is not None and made["decision"] == before.decision:
            self._counts["edited"] += note != before.note
            note, at, made["decided_by"] = before.note, before.decided_at or at, before.decided_by
        elif before is not None:
            if person(made["decided_by"]) is None:
                _same(column, made["decision"], before.decision, "as it was loaded before")
            at = max(at, (before.decided_at or at) + _LATER)
        if wanted.stale:
            self._stale[wanted.check_id] += 1
        told: dict[str, Any] = {"verdict_seen": False, "provenance": "blind", "probability_sampled": wanted.probability}
        self._here[name] = Returned(**made, **told, note=note, decided_at=at)
        return self._here[name]


def _same(column: str, decision: str, earlier: str, where: str) -> None:
    """Refuse a decision that contradicts another on the same work, of which nothing says that it comes later."""
    if decision != earlier:
        raise InputError(
            f"{column} must stay {earlier!r}, {where}, got {decision!r}; "
            "only who is named in decided_by can correct a decision, and each person needs a name"
        )


def _word(column: str, value: str) -> str:
    word = _plain(value)
    if word in {"yes", "no", "ja", "nein", "true", "false", "1", "0"}:
        raise InputError(
            f"{column} must say what the person found, got {value!r}; write problem, no_problem or unclear"
        )
    return fields.one_of(column, word, WORDS)


def _plain(value: str) -> str:
    return re.sub(r"[\s_-]+", "_", meant(value).strip().lower())
