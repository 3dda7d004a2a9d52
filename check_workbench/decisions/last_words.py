"""Which word of a person counts: the one place that says when a decision replaces an earlier one."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from check_workbench.records import FINDING_DECISIONS, person

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

    Row = Mapping[str, Any]

EVENT = "completed"
"""A word about the work that is no opinion of it: it replaces none, and none replaces it."""


def subject_of(row: Row) -> tuple[Hashable, ...] | None:
    """Return who speaks of what in a decision; words that share it replace one another. None replaces nothing.

    Parameters
    ----------
    row
        A decision as the store holds it.

    Examples
    --------
    >>> row = dict.fromkeys(("check_id", "step_id", "attempt", "question", "span_id"))
    >>> subject_of({**row, "run_id": "r", "decision": "problem", "decided_by": " Ann"})
    ('ann', 'r', None, None, 1, None, None, False)
    >>> subject_of({**row, "run_id": "r", "decision": "problem", "decided_by": ""}) is None
    True
    """
    who = person(row["decided_by"])
    if who is None or row["decision"] == EVENT:
        return None
    finding = row["decision"] in FINDING_DECISIONS
    attempt = int(row["attempt"] or 1)
    question = None if row["question"] is None else int(row["question"])
    return who, row["run_id"], row["check_id"], row["step_id"], attempt, question, row["span_id"], finding


def replaced(said: Iterable[tuple[Hashable, Row]]) -> dict[int, int]:
    """Return the decisions that a later word of the same person replaces, each with one that stands in its place.

    The last word is the one with the latest `decided_at`; at the same time, the one that was loaded later. Where one
    of them has no time, the order of loading decides between them all. Words that nothing puts in order, such as two of
    one file without a time, replace each other not: the order of rows in a file or a table means nothing. What comes
    after `returned` speaks of the next submission, so it replaces nothing before, unless attempts are named.

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
    >>> first = {"decision_key": 1, "source_key": 0, "decided_at": None, "check_id": "c", "decision": "problem"}
    >>> replaced([("ann on r", {**first, "decision_key": 2, "source_key": 1}), ("ann on r", first)])
    {1: 2}
    """
    subjects: dict[Hashable, list[Row]] = {}
    for subject, row in said:
        subjects.setdefault(subject, []).append(row)
    return {
        int(row["decision_key"]): min(int(last["decision_key"]) for last in moments[-1])
        for rows in subjects.values()
        if len(rows) > 1
        for moments in _submissions(rows)
        for moment in moments[:-1]
        for row in moment
    }


def _submissions(rows: Sequence[Row]) -> Iterator[list[list[Row]]]:
    """Yield the words on each submission, those of one moment together, in order of time."""
    dated = all(row["decided_at"] is not None for row in rows)

    def moment(row: Row) -> tuple[Any, ...]:
        loaded = -1 if row["source_key"] is None else int(row["source_key"])
        return (row["decided_at"], loaded) if dated else (loaded,)

    words: list[list[Row]] = []
    for _, together in groupby(sorted(rows, key=moment), key=moment):
        words.append(list(together))
        if any(_sends_back(row) for row in words[-1]):
            yield words
            words = []
    if words:
        yield words


def _sends_back(row: Row) -> bool:
    return row["decision"] == "returned" and row["check_id"] is None and row["attempt"] is None
