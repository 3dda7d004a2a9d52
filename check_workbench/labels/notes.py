"""What is told of the labels of a check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.labels.blindness import ASSERTED, TIME
from check_workbench.records import person

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from check_workbench.labels.voting import Vote


def called_both(votes: Sequence[Vote]) -> bool:
    """Say whether one person, or nobody named, calls the work both bad and good.

    Parameters
    ----------
    votes
        On one unit.
    """
    said = {(person(one.row["decided_by"]), one.positive) for one in votes if one.row["check_id"] is None}
    return any((who, not bad) in said for who, bad in said)


def notes(rows: Sequence[Mapping[str, Any]], undone: int, *, proxy: bool) -> Iterator[str]:
    """Yield what labels rest on that nobody wrote down.

    Parameters
    ----------
    rows
        The labels.
    undone
        How many units one person calls both bad and good; see `called_both`.
    proxy
        Whether decisions about the work stand in for those about the check.
    """
    if proxy:
        yield "decisions about the work stand in for decisions about the check"
    counts = {by: sum(by in (row["blind_by"] or "") for row in rows) for by in (ASSERTED, TIME)}
    if counts[ASSERTED]:
        yield f"that nobody saw a verdict was asserted when loading ({counts[ASSERTED]} units)"
    if counts[TIME]:
        yield (
            f"blind because the decision came before any verdict that the store knows of ({counts[TIME]} units); times "
            "without a zone were read as UTC"
        )
    if undone:
        yield (
            f"of {undone} units one person, or nobody named, says that the work is bad and that it is good: if it was "
            "done again in between, its first submission was bad and is not counted; record the submissions, or name "
            "the attempt"
        )
