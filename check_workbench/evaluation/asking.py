"""Asking an evaluator for the answers that nobody recorded, and keeping each as soon as it comes."""

from __future__ import annotations

import dataclasses
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from check_workbench.checks import kind_of
from check_workbench.errors import EvaluatorError, WorkbenchError
from check_workbench.evaluation.rows import naive, rows_of
from check_workbench.evaluators import Request
from check_workbench.evidence import selected, step_evidence, trace_evidence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pandas as pd

    from check_workbench.checks import Check
    from check_workbench.evaluators import Evaluator
    from check_workbench.results import Answer, Evidence
    from check_workbench.store import Store

RUNS_AT_ONCE = 100
SECONDS_UNSAVED = 1.0

_SPANS = """
    select r.run_id, s.span_id, s.type, s.name, s.input, s.output, s.status, s.error, s.model, s.duration_ms,
           s.attributes
    from spans s join runs r using (run_key) where r.run_id in (select unnest(?::varchar[])) order by r.run_id, s.seq
"""
_RUNS = "select run_id, digest, final_output from runs where run_id in (select unnest(?::varchar[]))"
_STEPS = """
    select r.run_id, s.* exclude (run_key) from steps s join runs r using (run_key)
    where r.run_id in (select unnest(?::varchar[])) order by r.run_id, s.place
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """One item of a check to be asked on some units."""

    check: Check
    place: int
    evaluator: Evaluator
    store: Store
    progress: Callable[[str, float], None] | None = None


def ask(asking: Asking, units: pd.DataFrame) -> list[Answer]:
    """Ask the evaluator about units, and store the answers.

    Parameters
    ----------
    asking
        What is asked, of whom, and where the answers go.
    units
        Rows of `units_of` without a counting answer.

    Returns
    -------
    list of Answer
        Those that came; a unit may be without one.

    Raises
    ------
    EvaluatorError
        If the evaluator stopped answering; what it had answered is stored.
    """
    item = asking.check.items[asking.place]
    if units.empty or kind_of(item.asks) not in asking.evaluator.capabilities.kinds:
        return []
    keeper = _Keeper(asking, total=len(units))
    answers = iter(asking.evaluator.answer(_requests(asking, units)))
    try:
        for answer in answers:
            keeper.keep(answer)
    except WorkbenchError:
        raise
    except Exception as error:
        raise EvaluatorError(
            f"evaluator {asking.evaluator.name!r} stopped answering check {asking.check.id!r}: "
            f"{type(error).__name__}: {error}. {len(keeper.answers)} of {len(units)} answers came and are kept, the "
            "rest is not_checked; evaluate again to go on from there.",
        ) from error
    finally:
        keeper.save()
    return keeper.answers


class _Keeper:
    """Takes answers in, and stores them at most a second later."""

    def __init__(self, asking: Asking, *, total: int) -> None:
        self.answers: list[Answer] = []
        self._asking = asking
        self._total = total
        self._saved = 0
        self._last = time.monotonic()

    def keep(self, answer: Answer) -> None:
        asked = self._asking.check.asked_items[self._asking.place]
        at = naive(answer.at or datetime.now(UTC))
        self.answers.append(dataclasses.replace(answer, asked=asked, at=at))
        if time.monotonic() - self._last >= SECONDS_UNSAVED:
            self.save()
        if self._asking.progress is not None:
            self._asking.progress(self._asking.check.id, min(1.0, len(self.answers) / self._total))

    def save(self) -> None:
        fresh = self.answers[self._saved :]
        if fresh and not self._asking.store.read_only:
            store_answers(self._asking.store, fresh)
        self._saved = len(self.answers)
        self._last = time.monotonic()


def store_answers(store: Store, answers: Sequence[Answer]) -> None:
    """Add answers that were made here to the store."""
    import pandas as pd

    runs = store.sql(_RUNS, [sorted({answer.run_id for answer in answers})])
    digests = dict(zip(runs["run_id"], runs["digest"], strict=True))
    rows = pd.DataFrame([{**dataclasses.asdict(answer), "stale": False} for answer in answers])
    rows["run_digest"] = pd.array([digests.get(run) for run in rows["run_id"]], dtype="Int64")
    store.insert("answers", rows)


def _requests(asking: Asking, units: pd.DataFrame) -> Iterator[Request]:
    rows = rows_of(units)
    for start in range(0, len(rows), RUNS_AT_ONCE):
        batch = rows[start : start + RUNS_AT_ONCE]
        ids = sorted({str(row["run_id"]) for row in batch})
        if asking.check.step_id is None:
            yield from _trace_requests(asking, batch, ids)
        else:
            yield from _step_requests(asking, batch, ids)


def _trace_requests(asking: Asking, batch: list[dict[str, Any]], ids: list[str]) -> Iterator[Request]:
    runs = {row["run_id"]: row for row in rows_of(asking.store.sql(_RUNS, [ids]))}
    spans = _by_run(asking.store.sql(_SPANS, [ids]))
    item = asking.check.items[asking.place]
    limit = asking.evaluator.capabilities.characters
    for row in batch:
        own = spans.get(row["run_id"], [])
        for about in _judged_spans(asking, own):
            seen = trace_evidence(item, runs[row["run_id"]], own, about=about, limit=limit)
            yield _request(asking, row, seen, span_id=about)


def _judged_spans(asking: Asking, spans: Sequence[Mapping[str, Any]]) -> list[str | None]:
    item = asking.check.items[asking.place]
    if item.scope != "span":
        return [None]
    return [str(span["span_id"]) for span in selected(item.evidence.spans, spans)]


def _step_requests(asking: Asking, batch: list[dict[str, Any]], ids: list[str]) -> Iterator[Request]:
    steps = _by_run(asking.store.sql(_STEPS, [ids]))
    limit = asking.evaluator.capabilities.characters
    for row in batch:
        own = steps.get(row["run_id"], [])
        step = next(one for one in own if one["place"] == row["place"])
        earlier = [one for one in own if one["place"] < row["place"]]
        yield _request(asking, row, step_evidence(asking.check, step, earlier, limit=limit))


def _request(asking: Asking, row: dict[str, Any], seen: Evidence, *, span_id: str | None = None) -> Request:
    item: Any = asking.check.items[asking.place]
    return Request(
        check_id=asking.check.id,
        run_id=row["run_id"],
        item=asking.place,
        question=item.asks,
        evidence=seen,
        asked=asking.check.asked_items[asking.place],
        step_id=asking.check.step_id,
        attempt=None if asking.check.step_id is None else int(row["attempt"]),
        span_id=span_id,
    )


def _by_run(rows: pd.DataFrame) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows_of(rows):
        found.setdefault(row["run_id"], []).append(row)
    return found
