"""Asking an evaluator for the answers that nobody recorded, and keeping each as soon as it comes."""

from __future__ import annotations

import dataclasses
import json
import time
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from check_workbench.checks import kind_of
from check_workbench.engines import Connected
from check_workbench.errors import EvaluatorError, WorkbenchError
from check_workbench.evaluation.requests import Asking, requests_of
from check_workbench.evaluation.rows import naive

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pandas as pd

    from check_workbench.evaluators import Request
    from check_workbench.results import Answer
    from check_workbench.store import Store

SECONDS_UNSAVED = 1.0
TOLERANCE = 0.05
"""How far the sum of probabilities may lie from 1."""

_DIGESTS = "select run_id, digest from runs where run_id in (select unnest(?::varchar[]))"
_CUT = "units were shown to the evaluator in part, since their evidence did not fit"
_STRAY = "answers of the evaluator belong to nothing that was asked and were dropped"


def ask(asking: Asking, units: pd.DataFrame) -> tuple[list[Answer], Counter[str]]:
    """Ask the evaluator about units, and store the answers.

    Parameters
    ----------
    asking
        What is asked, of whom, and where the answers go.
    units
        Rows of `units_of` without a counting answer.

    Returns
    -------
    tuple
        The answers that came, of some units perhaps none; and what a reader must know of them, with counts.

    Raises
    ------
    EvaluatorError
        If the evaluator stopped answering; what it had answered is stored.
    """
    if isinstance(asking.store, Connected) and not units.empty:
        from check_workbench.evaluation.partitions import ask_in_partitions

        return ask_in_partitions(asking, units, asking.store)
    item = asking.check.items[asking.place]
    if units.empty or kind_of(item.asks) not in asking.evaluator.capabilities.kinds:
        return [], Counter()
    keeper = _Keeper(asking, total=len(units))
    try:
        for answer in asking.evaluator.answer(keeper.watched(requests_of(asking, units))):
            keeper.keep(answer)
    except WorkbenchError:
        raise
    except Exception as error:
        if keeper.ours:
            raise
        raise EvaluatorError(
            f"evaluator {asking.evaluator.name!r} stopped answering check {asking.check.id!r}: "
            f"{type(error).__name__}: {error}. {len(keeper.answers)} of {len(units)} answers came and are kept, the "
            "rest is not_checked; evaluate again to go on from there.",
        ) from error
    finally:
        keeper.save()
    return keeper.answers, keeper.notes


class _Keeper:
    """Takes answers in, and stores them at most a second later."""

    def __init__(self, asking: Asking, *, total: int) -> None:
        self.answers: list[Answer] = []
        self.notes: Counter[str] = Counter()
        self.ours = False
        """Whether it was no fault of the evaluator's that the answers ended."""
        self._asking = asking
        self._total = total
        self._requested: set[tuple[Any, ...]] = set()
        self._saved = 0
        self._last = time.monotonic()

    def watched(self, requests: Iterable[Request]) -> Iterator[Request]:
        try:
            for request in requests:
                self._requested.add(_place(request))
                self.notes[_CUT] += request.evidence.truncated
                yield request
        except Exception:
            self.ours = True
            raise

    def keep(self, answer: Answer) -> None:
        if _place(answer) not in self._requested:
            self.notes[_STRAY] += 1
            return
        asked = self._asking.check.asked_items[self._asking.place]
        at = naive(answer.at or datetime.now(UTC))
        self.answers.append(sound(dataclasses.replace(answer, asked=asked, at=at)))
        if time.monotonic() - self._last >= SECONDS_UNSAVED:
            self.save()
        if self._asking.progress is not None:
            of = len(self._asking.check.items)
            share = min(1.0, len(self.answers) / self._total)
            self._asking.progress(self._asking.check.id, (self._asking.place + share) / of)

    def save(self) -> None:
        fresh = self.answers[self._saved :]
        if fresh and not self._asking.store.read_only:
            store_answers(self._asking.store, fresh)
        self._saved = len(self.answers)
        self._last = time.monotonic()


def sound(answer: Answer) -> Answer:
    """Return an answer, or an error in its place where its numbers are no probabilities.

    Parameters
    ----------
    answer
        As the evaluator gave it.

    Examples
    --------
    >>> from check_workbench.results import Answer
    >>> sound(Answer(check_id="c", run_id="r", probability=1.5)).status
    'error'
    """
    vector = list((answer.probabilities or {}).values())
    shares = [share for share in (answer.probability, answer.confidence, *vector) if share is not None]
    in_range = all(0 <= share <= 1 for share in shares)
    if in_range and (not vector or abs(sum(vector) - 1) <= TOLERANCE):
        return answer
    return dataclasses.replace(
        answer,
        probability=None,
        probabilities=None,
        confidence=None,
        status="error",
        explanation=f"the evaluator gave {shares}, which are no probabilities",
    )


def store_answers(store: Store, answers: Sequence[Answer]) -> None:
    """Add answers that were made here to the store."""
    import pandas as pd

    runs = store.sql(_DIGESTS, [sorted({answer.run_id for answer in answers})])
    digests = dict(zip(runs["run_id"], runs["digest"], strict=True))
    rows = pd.DataFrame([{**dataclasses.asdict(answer), "stale": False} for answer in answers])
    for name in ("probabilities", "value", "findings"):
        rows[name] = pd.Series([None if v is None else json.dumps(v) for v in rows[name]], dtype=object)
    rows["run_digest"] = pd.array([digests.get(run) for run in rows["run_id"]], dtype="Int64")
    store.insert("answers", rows)


def _place(one: Answer | Request) -> tuple[Any, ...]:
    return one.check_id, one.run_id, one.item, one.step_id, one.attempt, one.span_id
