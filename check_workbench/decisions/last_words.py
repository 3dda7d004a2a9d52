"""Which word of a person counts: of a check the last, of work that may have been done again the first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.records import FINDING_DECISIONS, is_problem, person

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

    Row = Mapping[str, Any]


def subject_of(row: Row) -> tuple[Hashable, ...] | None:
    """Return who speaks of what in a decision; words that share it replace one another. None replaces nothing.

    A decision that names no check is an event of a process: work that is rejected and then approved was done again, and
    nobody took the rejection back.

    Parameters
    ----------
    row
        A decision as the store holds it.

    Examples
    --------
    >>> row = dict.fromkeys(("step_id", "attempt", "question", "span_id"))
    >>> row = {**row, "run_id": "r", "check_id": "c", "decision": "problem", "decided_by": " Ann"}
    >>> subject_of(row)
    ('ann', 'r', 'c', None, 1, None, None, False)
    >>> subject_of({**row, "decided_by": ""}), subject_of({**row, "check_id": None})
    (None, None)
    """
    who = person(row["decided_by"])
    if who is None or row["check_id"] is None:
        return None
    finding = row["decision"] in FINDING_DECISIONS
    attempt = int(row["attempt"] or 1)
    question = None if row["question"] is None else int(row["question"])
    return who, row["run_id"], row["check_id"], row["step_id"], attempt, question, row["span_id"], finding


def replaced(said: Iterable[tuple[Hashable, Row]]) -> dict[int, int]:
    """Return the decisions that a later word of the same person replaces, each with one that stands in its place.

    The last word is the one with the latest `decided_at`; at the same time, the one that was loaded later. Where one
    of them has no time, the order of loading decides between them all. Words that nothing puts in order, such as two of
    one file without a time, replace each other not: the order of rows in a file or a table means nothing.

    Parameters
    ----------
    said
        Decisions as the store holds them, with `source_key`, each with its subject; see `subject_of`.

    Returns
    -------
    dict
        From key to key.

    Examples
    --------
    >>> first = {"decision_key": 1, "source_key": 0, "decided_at": None}
    >>> replaced([("ann on r", {**first, "decision_key": 2, "source_key": 1}), ("ann on r", first)])
    {1: 2}
    """
    subjects: dict[Hashable, list[Row]] = {}
    for subject, row in said:
        subjects.setdefault(subject, []).append(row)
    return {key: last for rows in subjects.values() for key, last in _replaced(rows)}


def _replaced(rows: Sequence[Row]) -> Iterator[tuple[int, int]]:
    dated = all(row["decided_at"] is not None for row in rows)

    def moment(row: Row) -> tuple[Any, ...]:
        loaded = -1 if row["source_key"] is None else int(row["source_key"])
        return (row["decided_at"], loaded) if dated else (loaded,)

    latest = max(map(moment, rows))
    last = min(int(row["decision_key"]) for row in rows if moment(row) == latest)
    yield from ((int(row["decision_key"]), last) for row in rows if moment(row) != latest)


def done_again(said: Iterable[tuple[Hashable, Row]]) -> frozenset[int]:
    """Return the decisions about work that the same person had found bad before, so that they speak of later work.

    Parameters
    ----------
    said
        Decisions as the store holds them, each with the submission that it was joined to. Only those count that name
        neither a check nor an attempt, of people with a name, and only where all of a person have a time.

    Examples
    --------
    >>> row = {"check_id": None, "attempt": None, "decided_by": "ann"}
    >>> bad = {**row, "decision_key": 1, "decision": "rejected", "decided_at": "2026-03-01T09:00"}
    >>> good = {**row, "decision_key": 2, "decision": "approved", "decided_at": "2026-03-01T15:00"}
    >>> sorted(done_again([("r", good), ("r", bad)])), sorted(done_again([("r", good)]))
    ([2], [])
    """
    people: dict[Hashable, list[Row]] = {}
    for submission, row in said:
        who = person(row["decided_by"])
        if who is not None and row["check_id"] is None and row["attempt"] is None:
            people.setdefault((submission, who), []).append(row)
    return frozenset(key for rows in people.values() for key in _later(rows))


def _later(rows: Sequence[Row]) -> Iterator[int]:
    moments = [row["decided_at"] for row in rows]
    if any(moment is None for moment in moments):
        return
    first = min(moments)
    if all(is_problem(row["decision"]) for row in rows if row["decided_at"] == first):
        yield from (int(row["decision_key"]) for row in rows if row["decided_at"] != first)
