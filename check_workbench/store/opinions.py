"""Load what people decided and what evaluators answered; nothing that is there already is doubled."""

from __future__ import annotations

import dataclasses
import hashlib
from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import check_workbench.decisions as readers
from check_workbench.errors import InputError
from check_workbench.records import person
from check_workbench.sources import Note, Rejected
from check_workbench.store import correcting
from check_workbench.store.batches import text_form
from check_workbench.store.frames import json_text, to_arrow
from check_workbench.store.names import listed, quote
from check_workbench.store.report import LoadReport
from check_workbench.store.returning import returned
from check_workbench.store.schema import table
from check_workbench.store.tables import Source, add_sources, next_key, number
from check_workbench.store.validity import utc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    import duckdb

    from check_workbench.records import Decision
    from check_workbench.results import Answer
    from check_workbench.store.database import Store

_SAW = ("saw_verdict", "prefilled")
_STALE = """
update answers set run_digest = runs.digest from runs
where answers.source_key >= ? and answers.run_id = runs.run_id and answers.run_digest is null
"""
_ASSERT = """
update decisions set asserted_blind = true from new_rows
where decisions.decision_key = new_rows.decision_key and new_rows.asserted_blind
    and not coalesce(decisions.asserted_blind, false)
"""


class Stored(NamedTuple):
    """What became of the decisions of a file."""

    added: int
    """Decisions that are new."""
    already: int
    """Decisions that were there."""
    asserted: int
    """Those of both that are blind on the caller's word alone."""
    keys: frozenset[int]
    """All of them."""


def load_decisions(store: Store, path: Path, *, blind: bool = False) -> LoadReport:
    """Load human decisions; see `Store.load_decisions`.

    A decision is known by its content. Rows without `decided_by` count as different people where a file repeats
    them; of one named person the last word counts, and the report says what replaces what. A sheet that was drawn from
    this store is read as such.
    """
    found = _read(path, returned(store, path) if readers.is_sheet(path) else readers.read(path))
    with store.transaction() as cursor:
        (stored,) = store_decisions(cursor, [(str(path), found.records)], blind=blind)
        source = number(cursor, "select max(source_key) from sources") if stored.added else None
        replaced = [f"{path}: {words}" for words in correcting.told(cursor, stored.keys, source)]
    asserted = [f"{path}: {asserted_words(stored.asserted, of=len(found.records))}"] if blind else []
    return LoadReport(
        decisions=stored.added,
        already=stored.already,
        rejected=tuple(found.rejected),
        notes=tuple(dict.fromkeys([*found.notes, *asserted, *replaced])),
        examined=store.doctor(),
    )


def load_answers(store: Store, path: Path) -> LoadReport:
    """Load recorded answers; see `Store.load_answers`."""
    found = _read(path, readers.read_answers(path))
    with store.transaction() as cursor:
        ((added, already),) = store_answers(cursor, [(str(path), found.records)])
    return LoadReport(
        answers=added,
        already=already,
        rejected=tuple(found.rejected),
        notes=tuple(dict.fromkeys(found.notes)),
        examined=store.doctor(),
    )


def asserted_words(asserted: int, *, of: int, what: str = "decisions") -> str:
    """Say how many decisions the caller asserted to be blind.

    Examples
    --------
    >>> asserted_words(4, of=6)
    '4 of 6 decisions were asserted to be blind by the caller; the others say themselves how they were made'
    >>> asserted_words(0, of=6)
    '0 of 6 decisions were asserted to be blind by the caller; all of them say themselves how they were made'
    >>> asserted_words(0, of=0)
    'there are no decisions, so none was asserted to be blind'
    """
    if not of:
        return f"there are no {what}, so none was asserted to be blind"
    others = f"; {'the others' if asserted else 'all of them'} say themselves how they were made"
    return f"{asserted:,} of {of:,} {what} were asserted to be blind by the caller{others * (asserted < of)}"


def store_decisions(
    cursor: duckdb.DuckDBPyConnection,
    brought: Sequence[tuple[str, Sequence[Decision]]],
    *,
    blind: bool,
) -> list[Stored]:
    """Store the decisions of files in a transaction; say of each file what became of them.

    Parameters
    ----------
    cursor
        In the transaction.
    brought
        Each file and its decisions.
    blind
        Whether the caller asserts that nobody saw a verdict; decisions that say otherwise stay as they are.
    """
    files = [(file, [_decision_row(decision, blind=blind) for decision in decisions]) for file, decisions in brought]
    for _, rows in files:
        _key(rows, "decision_key", leave_out="asserted_blind", of_nobody=lambda row: person(row["decided_by"]) is None)
    return [
        Stored(*counts, sum(row["asserted_blind"] for row in rows), frozenset(row["decision_key"] for row in rows))
        for counts, (_, rows) in zip(_insert(cursor, "decisions", files), files, strict=True)
    ]


def store_answers(
    cursor: duckdb.DuckDBPyConnection, brought: Sequence[tuple[str, Sequence[Answer]]]
) -> list[tuple[int, int]]:
    """Store the answers of files in a transaction; say of each how many are new, and how many were there already."""
    files = [(file, [_answer_row(answer) for answer in answers]) for file, answers in brought]
    for _, rows in files:
        _key(rows, "answer_key", leave_out="stale", of_nobody=lambda _: False)
    return _insert(cursor, "answers", files)


@dataclasses.dataclass(slots=True)
class _Found:
    records: list[Any]
    rejected: list[Rejected]
    notes: list[str]


def _read(path: Path, items: Iterable[Decision | Answer | Rejected | Note]) -> _Found:
    found = _Found([], [], [])
    try:
        for item in items:
            if isinstance(item, Rejected):
                found.rejected.append(item)
            elif isinstance(item, Note):
                found.notes.append(f"{item.file}: {item.text}")
            else:
                found.records.append(item)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    return found


def _decision_row(decision: Decision, *, blind: bool) -> dict[str, Any]:
    row = {field.name: getattr(decision, field.name) for field in dataclasses.fields(decision)}
    row["answer"] = None if decision.answer is None else text_form(decision.answer)
    row["decided_at"] = None if decision.decided_at is None else utc(decision.decided_at)
    row["asserted_blind"] = blind and _is_asserted(decision)
    return row


def _is_asserted(decision: Decision) -> bool:
    """Say whether nothing but the caller's word can make the decision blind."""
    return decision.verdict_seen is None and decision.provenance not in _SAW


def _answer_row(answer: Answer) -> dict[str, Any]:
    row = {field.name: getattr(answer, field.name) for field in dataclasses.fields(answer)}
    for name in ("probabilities", "value", "findings"):
        row[name] = None if row[name] is None else json_text(row[name])
    row["at"] = None if answer.at is None else utc(answer.at)
    row["stale"] = False
    return row


def _key(rows: list[dict[str, Any]], key: str, *, leave_out: str, of_nobody: Callable[[dict[str, Any]], bool]) -> None:
    """Give each row the digest of its content; rows of nobody are told apart by how often they came before."""
    before: Counter[str] = Counter()
    for row in rows:
        text = json_text([_plain(value) for name, value in row.items() if name not in {leave_out, key}])
        nth = before[text] if of_nobody(row) else 0
        before[text] += 1
        row[key] = int.from_bytes(hashlib.md5(f"{nth}{text}".encode(), usedforsecurity=False).digest()[:8], signed=True)


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def _insert(
    cursor: duckdb.DuckDBPyConnection, name: str, files: Sequence[tuple[str, list[dict[str, Any]]]]
) -> list[tuple[int, int]]:
    """Insert the rows whose key is new; say of each file how many they were, and how many were there already."""
    import pandas as pd

    key = f"{name.removesuffix('s')}_key"
    source = next_key(cursor, "sources", "source_key") if any(rows for _, rows in files) else 0
    unique: dict[int, dict[str, Any]] = {}
    for place, (_, rows) in enumerate(files, start=source):
        for row in rows:
            unique.setdefault(row[key], {**row, "source_key": place})
    if not unique:
        return [(0, 0)] * len(files)
    kept = list(unique.values())
    columns = [column for column in table(name).columns if column in kept[0]]
    frame = pd.DataFrame({c: pd.Series([row[c] for row in kept], dtype=object) for c in columns})
    cursor.register("new_rows", to_arrow(name, frame))
    inserted = cursor.execute(
        f"insert into {name} ({listed(columns)}) select {listed(columns)} from new_rows "
        f"where {quote(key)} not in (select {quote(key)} from {name}) returning source_key",
    )
    added = Counter(place for (place,) in inserted.fetchall())
    cursor.execute(_STALE, [source]) if name == "answers" else cursor.execute(_ASSERT)
    cursor.unregister("new_rows")
    add_sources(
        cursor,
        [
            Source(
                place,
                file,
                name,
                decisions=added[place] * (name == "decisions"),
                answers=added[place] * (name == "answers"),
            )
            for place, (file, _) in enumerate(files, start=source)
            if added[place]
        ],
    )
    return [(added[place], len(rows) - added[place]) for place, (_, rows) in enumerate(files, start=source)]
