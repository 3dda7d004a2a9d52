"""What an evaluator is asked about units: the question, and the evidence that it may see."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from check_workbench.evaluation.rows import rows_of
from check_workbench.evaluators import Request
from check_workbench.evidence import selected, step_evidence, trace_evidence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pandas as pd

    from check_workbench.checks import Check
    from check_workbench.evaluation.recorded import Key
    from check_workbench.evaluators import Evaluator
    from check_workbench.results import Evidence
    from check_workbench.store import Store

RUNS_AT_ONCE = 100

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
    known: Mapping[Key, frozenset[str | None]] = field(default_factory=dict)
    """Spans of a unit that are answered already."""


def requests_of(asking: Asking, units: pd.DataFrame) -> Iterator[Request]:
    """Yield the requests about units, with what the evaluator may see, some runs at a time.

    Parameters
    ----------
    asking
        What is asked, of whom.
    units
        Rows of `units_of`.
    """
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
        for about in _judged_spans(asking, row["run_id"], own):
            seen = trace_evidence(item, runs[row["run_id"]], own, about=about, limit=limit)
            yield _request(asking, row, seen, span_id=about)


def _judged_spans(asking: Asking, run_id: str, spans: Sequence[Mapping[str, Any]]) -> list[str | None]:
    item = asking.check.items[asking.place]
    if item.scope != "span":
        return [None]
    known = asking.known.get((run_id, None), frozenset())
    ids = [str(span["span_id"]) for span in selected(item.evidence.spans, spans)]
    return [span_id for span_id in ids if span_id not in known]


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
