"""Which recorded answer counts for a unit, and why one does not."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from check_workbench.results import Answer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd

    from check_workbench.checks import Check
    from check_workbench.store import Store

Key = tuple[str, int | None]
"""A unit of one check: the run and, for step checks, the attempt."""

NO_ANSWER = "no answer"
OTHER_QUESTION = "the recorded question differs from the present one"
STALE = "the run changed since"
OTHER_VERSION = "recorded under another version of the process"

_JSON = ("probabilities", "value", "findings")
_LAST_LOADED = """
    select * from answers where check_id = ? and run_id in (select unnest(?::varchar[]))
    order by run_id, "at" nulls first, source_key nulls last, rowid
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An answer that somebody recorded, and the reason for which it does not count, if any."""

    answer: Answer
    refused: str | None = None


@dataclass(slots=True, kw_only=True)
class Pool:
    """The recorded answers to one item of a check, oldest first."""

    by_unit: dict[Key, list[Candidate]] = field(default_factory=dict)
    several: int = 0
    """Units on which more than one answer counts, of which the newest was taken."""
    without_ask: int = 0
    """Counting answers that do not say which question they answer."""

    def chosen(self, unit: Key) -> tuple[list[Answer], str]:
        """Return the newest counting answer of each span of a unit, and why there is none if there is none."""
        candidates = self.by_unit.get(unit, [])
        newest: dict[str | None, Answer] = {}
        counting = 0
        for candidate in candidates:
            if candidate.refused is None:
                newest[candidate.answer.span_id] = candidate.answer
                counting += 1
        self.several += counting > len(newest)
        self.without_ask += sum(answer.ask is None and answer.asked is None for answer in newest.values())
        refused = [candidate.refused for candidate in candidates if candidate.refused]
        return list(newest.values()), refused[-1] if refused else NO_ANSWER

    def notes(self) -> dict[str, int]:
        """Return what a reader must know of the chosen answers, with counts."""
        return {
            "units have several recorded answers; the newest counts": self.several,
            "recorded answers do not say which question they answer and count for the present one": self.without_ask,
        }


def loaded_answers(check: Check, store: Store, units: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the answers table that name a check and one of its units' runs, oldest first.

    Parameters
    ----------
    check
        The check.
    store
        The store.
    units
        Rows of `units_of`.
    """
    return store.sql(_LAST_LOADED, [check.id, sorted(set(units["run_id"]))])


def pool_of(check: Check, place: int, rows: Iterable[Mapping[str, Any]], submitted: Iterable[Candidate]) -> Pool:
    """Sort recorded answers to one item by unit.

    Parameters
    ----------
    check
        The check.
    place
        Place of the item, from 0.
    rows
        Rows of `loaded_answers`.
    submitted
        Answers that stand in recorded verdicts of the check's step.
    """
    loaded = [
        Candidate(answer=answer, refused=refusal(check, answer, stale=bool(row["stale"])))
        for row in rows
        if row["item"] == place and (answer := answer_of(row)).step_id in {None, check.step_id}
    ]
    pool = Pool()
    for candidate in sorted([*submitted, *loaded], key=_age):
        if candidate.answer.item == place:
            pool.by_unit.setdefault(unit_of(check, candidate.answer), []).append(candidate)
    return pool


def unit_of(check: Check, answer: Answer) -> Key:
    """Return the unit of a check that an answer speaks of; a missing attempt is the first."""
    return answer.run_id, None if check.step_id is None else answer.attempt or 1


def refusal(check: Check, answer: Answer, *, stale: bool) -> str | None:
    """Say why a recorded answer does not count for the present check, or None if it does.

    Parameters
    ----------
    check
        The check.
    answer
        The recorded answer.
    stale
        Whether its run was recorded anew, with other content, since.
    """
    if stale:
        return STALE
    if answer.asked is not None:
        return None if answer.asked == check.asked_items[answer.item] else OTHER_QUESTION
    present = getattr(check.items[answer.item].asks, "ask", None)
    if answer.ask is not None and present is not None and _words(answer.ask) != _words(present):
        return OTHER_QUESTION
    return None


def answer_of(row: Mapping[str, Any]) -> Answer:
    """Build an answer from a row of the answers table.

    Parameters
    ----------
    row
        One value per field of `Answer`; JSON values as their text.
    """
    values = {f.name: _value(f.name, row[f.name]) for f in fields(Answer)}
    return Answer(**values)


def _value(name: str, value: Any) -> Any:
    if name in _JSON and isinstance(value, str):
        return json.loads(value)
    return int(value) if name in {"item", "attempt"} and value is not None else value


def _age(candidate: Candidate) -> tuple[bool, str]:
    at = candidate.answer.at
    return at is not None, at.isoformat(timespec="microseconds") if at else ""


def _words(text: str) -> str:
    return " ".join(text.split())
