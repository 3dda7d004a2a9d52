"""What the decisions of a file do to earlier ones of the same people, told when it is loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.decisions.last_words import replaced, subject_of
from check_workbench.records import is_problem

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterator

    import duckdb

_NAMED = ("run_id", "check_id", "step_id", "attempt", "question", "span_id", "decision", "decided_by", "decided_at")
_SEVERAL = f"""
    select decision_key, source_key, {", ".join(_NAMED)} from decisions
    where decided_by is not null and check_id is not null and run_id in (
        select run_id from decisions where decision_key in (select unnest(?::bigint[])))
    qualify count(*) over (partition by run_id, check_id) > 1 order by decision_key
"""


def told(cursor: duckdb.DuckDBPyConnection, keys: Collection[int], source: int | None) -> Iterator[str]:
    """Yield what the decisions of a file replace, which of them are replaced, and which contradict each other.

    Parameters
    ----------
    cursor
        In the transaction that stored them.
    keys
        The decisions of the file.
    source
        The source of those that were not there; None where all were.
    """
    rows = cursor.execute(_SEVERAL, [list(keys)]).fetchall()
    names = ("decision_key", "source_key", *_NAMED)
    subjects: dict[Hashable, list[dict[str, Any]]] = {}
    for row in (dict(zip(names, values, strict=True)) for values in rows):
        if (subject := subject_of(row)) is not None:
            subjects.setdefault(subject, []).append(row)
    gone = replaced((subject, row) for subject, said in subjects.items() for row in said)
    new = {row["decision_key"] for said in subjects.values() for row in said if row["source_key"] == source}
    if count := len(new & set(gone.values())):
        words = "1 decision replaces an earlier one" if count == 1 else f"{count:,} decisions replace earlier ones"
        yield f"{words} of the same person (for trust, what a call had read blind stays)"
    if count := sum(key in keys and by not in new for key, by in gone.items()):
        words = "1 decision does" if count == 1 else f"{count:,} decisions do"
        yield (
            f"{words} not count, because the same person has decided again since; to return to what a file says, give "
            "it a later decided_at"
        )
    left = ([row for row in said if row["decision_key"] not in gone] for said in subjects.values())
    if count := sum(_contradict(said, keys) for said in left):
        yield (
            f"of {count:,} {'piece' if count == 1 else 'pieces'} of work one person says both problem and no problem, "
            "and nothing tells which came last, so both count; decided_at tells it"
        )


def _contradict(said: list[dict[str, Any]], keys: Collection[int]) -> bool:
    sides = {is_problem(row["decision"]) for row in said}
    return {True, False} <= sides and any(row["decision_key"] in keys for row in said)
