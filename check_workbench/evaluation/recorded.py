"""Which recorded answer counts for a unit, and why one does not."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from check_workbench.evaluation.rows import plain_values
from check_workbench.results import Answer

if TYPE_CHECKING:
    from collections.abc import Iterable

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Present:
    """What a question of a check asks now."""

    asked: str
    words: str | None

    def refusal(self, answer: Answer, *, stale: bool = False) -> str | None:
        """Say why a recorded answer does not count for the present question, or None if it does.

        Parameters
        ----------
        answer
            The recorded answer.
        stale
            Whether its run was recorded anew, with other content, since.
        """
        if stale:
            return STALE
        if answer.asked is not None:
            return None if answer.asked == self.asked else OTHER_QUESTION
        if answer.ask is None or self.words is None or words_of(answer.ask) == self.words:
            return None
        return OTHER_QUESTION


def presents_of(check: Check) -> tuple[Present, ...]:
    """Return what each question of a check asks now; of rules, no words."""
    asks = [getattr(item.asks, "ask", None) for item in check.items]
    return tuple(
        Present(asked=asked, words=None if ask is None else words_of(ask))
        for asked, ask in zip(check.asked_items, asks, strict=True)
    )


def loaded_answers(check: Check, store: Store, units: pd.DataFrame) -> list[Candidate]:
    """Return the answers in the store that name a check and one of its units' runs, oldest first.

    Parameters
    ----------
    check
        The check.
    store
        The store.
    units
        Rows of `units_of`.
    """
    table = store.sql(_LAST_LOADED, [check.id, sorted(set(units["run_id"]))])
    presents = presents_of(check)
    answers = zip(answers_of(table), table["stale"].fillna(value=False).tolist(), strict=True)
    return [
        Candidate(answer=answer, refused=presents[answer.item].refusal(answer, stale=stale))
        for answer, stale in answers
        if 0 <= answer.item < len(presents) and (check.step_id is None or answer.step_id in {None, check.step_id})
    ]


def answers_of(table: pd.DataFrame) -> list[Answer]:
    """Build answers from rows of the answers table.

    Parameters
    ----------
    table
        One column per field of `Answer`; JSON values as their text.
    """
    names = [f.name for f in fields(Answer)]
    columns = {name: plain_values(table[name]) for name in names}
    for name in _JSON:
        columns[name] = [json.loads(value) if isinstance(value, str) else value for value in columns[name]]
    return [Answer(**dict(zip(names, row, strict=True))) for row in zip(*columns.values(), strict=True)]


def pools_of(check: Check, candidates: Iterable[Candidate]) -> tuple[Pool, ...]:
    """Sort recorded answers by item of the check and by unit.

    Parameters
    ----------
    check
        The check.
    candidates
        Answers to any of its items, those loaded last behind the others.
    """
    pools = tuple(Pool() for _ in check.items)
    for candidate in sorted(candidates, key=_age):
        by_unit = pools[candidate.answer.item].by_unit
        by_unit.setdefault(unit_of(check, candidate.answer), []).append(candidate)
    return pools


def unit_of(check: Check, answer: Answer) -> Key:
    """Return the unit of a check that an answer speaks of; a missing attempt is the first."""
    return answer.run_id, None if check.step_id is None else answer.attempt or 1


def _age(candidate: Candidate) -> tuple[bool, str]:
    at = candidate.answer.at
    return at is not None, at.isoformat(timespec="microseconds") if at else ""


def words_of(text: str) -> str:
    """Return a text with single blanks, as two wordings are compared."""
    return " ".join(text.split())
