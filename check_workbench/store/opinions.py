"""Load what people decided and what evaluators answered; nothing that is there already is doubled."""

from __future__ import annotations

import dataclasses
import hashlib
from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING, Any

import check_workbench.decisions as readers
from check_workbench.errors import InputError
from check_workbench.sources import Note, Rejected
from check_workbench.store.batches import text_form
from check_workbench.store.frames import json_text, to_arrow
from check_workbench.store.names import listed, quote
from check_workbench.store.report import LoadReport
from check_workbench.store.schema import table
from check_workbench.store.tables import next_key, number
from check_workbench.store.validity import utc

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import duckdb

    from check_workbench.records import Decision
    from check_workbench.results import Answer
    from check_workbench.store.database import Store

_SAW = ("saw_verdict", "prefilled")
_STALE = """
update answers set run_digest = runs.digest from runs
where answers.source_key = ? and answers.run_id = runs.run_id and answers.run_digest is null
"""
_ASSERT = """
update decisions set asserted_blind = true from new_rows
where decisions.decision_key = new_rows.decision_key and new_rows.asserted_blind
    and not coalesce(decisions.asserted_blind, false)
"""


def load_decisions(store: Store, path: Path, *, blind: bool = False) -> LoadReport:
    """Load human decisions; see `Store.load_decisions`.

    A decision is known by its content. Rows without `decided_by` count as different people where a file repeats
    them.
    """
    found = _read(path, readers.read(path))
    with store.transaction() as cursor:
        added, already = store_decisions(cursor, found.records, path, blind=blind)
    notes = list(found.notes)
    if blind:
        asserted = sum(_is_asserted(decision) for decision in found.records)
        notes.append(f"{path}: {asserted:,} of {added + already:,} decisions were asserted to be blind by the caller")
    return LoadReport(
        decisions=added,
        already=already,
        rejected=tuple(found.rejected),
        notes=tuple(dict.fromkeys(notes)),
        examined=store.doctor(),
    )


def load_answers(store: Store, path: Path) -> LoadReport:
    """Load recorded answers; see `Store.load_answers`."""
    found = _read(path, readers.read_answers(path))
    with store.transaction() as cursor:
        added, already = store_answers(cursor, found.records, path)
    return LoadReport(
        answers=added,
        already=already,
        rejected=tuple(found.rejected),
        notes=tuple(dict.fromkeys(found.notes)),
        examined=store.doctor(),
    )


def store_decisions(
    cursor: duckdb.DuckDBPyConnection,
    decisions: Sequence[Decision],
    path: Path,
    *,
    blind: bool = False,
) -> tuple[int, int]:
    """Store decisions in a transaction; return how many are new, and how many were there already."""
    rows = [_decision_row(decision, blind=blind) for decision in decisions]
    _key(rows, "decision_key", leave_out="asserted_blind", named="decided_by")
    added = _insert(cursor, "decisions", rows, path)
    return added, len(rows) - added


def store_answers(cursor: duckdb.DuckDBPyConnection, answers: Sequence[Answer], path: Path) -> tuple[int, int]:
    """Store answers in a transaction; return how many are new, and how many were there already."""
    rows = [_answer_row(answer) for answer in answers]
    _key(rows, "answer_key", leave_out="stale", named="run_id")
    added = _insert(cursor, "answers", rows, path)
    return added, len(rows) - added


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


def _key(rows: list[dict[str, Any]], key: str, *, leave_out: str, named: str) -> None:
    """Give each row the digest of its content; rows of nobody are told apart by how often they came before."""
    before: Counter[str] = Counter()
    for row in rows:
        text = json_text([_plain(value) for name, value in row.items() if name not in {leave_out, key}])
        nth = 0 if row[named] is not None else before[text]
        before[text] += 1
        row[key] = int.from_bytes(hashlib.md5(f"{nth}{text}".encode(), usedforsecurity=False).digest()[:8], signed=True)


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def _insert(cursor: duckdb.DuckDBPyConnection, name: str, rows: list[dict[str, Any]], path: Path) -> int:
    """Insert the rows whose key is new, and return how many there were."""
    import pandas as pd

    if not rows:
        return 0
    key = f"{name.removesuffix('s')}_key"
    unique = list({row[key]: row for row in rows}.values())
    source = next_key(cursor, "sources", "source_key")
    columns = [column for column in table(name).columns if column in unique[0]]
    frame = pd.DataFrame({c: pd.Series([row[c] for row in unique], dtype=object) for c in columns})
    cursor.register("new_rows", to_arrow(name, frame))
    added = number(
        cursor,
        f"insert into {name} (source_key, {listed(columns)}) select {source}, {listed(columns)} from new_rows "
        f"where {quote(key)} not in (select {quote(key)} from {name})",
    )
    cursor.execute(_STALE, [source]) if name == "answers" else cursor.execute(_ASSERT)
    cursor.unregister("new_rows")
    if added:
        counts = {"decisions": 0, "answers": 0, name: added}
        cursor.execute(
            "insert into sources select ?, ?, ?, null, now()::timestamp, 0, 0, 0, ?, ?",
            [source, str(path), name, counts["decisions"], counts["answers"]],
        )
    return added
