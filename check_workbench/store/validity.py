"""Whether a run that a reader yields can be stored, and if not, why."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from check_workbench.records import SPAN_STATUSES, Run, Span, Step, columns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = datetime(2201, 1, 1, tzinfo=UTC)
_CHOICES: dict[type, list[tuple[str, tuple[str, ...]]]] = {
    r: [(c.name, c.choices) for c in columns(r) if c.choices] for r in (Run, Span)
}
_TIMES = {r: [c.name for c in columns(r) if c.kind == "time"] for r in (Run, Span, Step)}


def problem_of(run: Run) -> str | None:
    """Say why a run cannot be stored, or None.

    Parameters
    ----------
    run
        As a reader made it.
    """
    if not isinstance(run.run_id, str) or not run.run_id.strip():
        return f"run_id must be a text that is not empty, got {run.run_id!r}"
    spans = () if _plain(run.spans) else run.spans
    problems = (
        _part_problem(run, "the run"),
        *(_span_problem(span, place) for place, span in enumerate(spans, start=1)),
        *(_step_problem(step, place) for place, step in enumerate(run.steps, start=1)),
        _tree_problem(spans),
    )
    return next((problem for problem in problems if problem), None)


def utc(value: datetime) -> datetime:
    """Return the time in UTC without a zone; a naive time counts as UTC."""
    return value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)


def _plain(spans: Sequence[Span]) -> bool:
    """Say whether nothing in the spans could be wrong, in a few passes instead of one look at each span."""
    if any(s.started_at is not None or s.ended_at is not None or s.parent_id is not None for s in spans):
        return False
    ids = [s.span_id for s in spans if s.span_id is not None]
    return (
        all(isinstance(s.type, str) and s.type for s in spans)
        and all(s.status is None or s.status in SPAN_STATUSES for s in spans)
        and all(isinstance(id_, str) and id_[:1] != "#" for id_ in ids)
        and len(set(ids)) == len(ids)
    )


def _span_problem(span: Span, place: int) -> str | None:
    if not isinstance(span.type, str) or not span.type:
        return f"span {place}: type must be a text that is not empty, got {span.type!r}"
    return _part_problem(span, f"span {place}")


def _step_problem(step: Step, place: int) -> str | None:
    if not isinstance(step.step_id, str) or not step.step_id:
        return f"step {place}: step_id must be a text that is not empty, got {step.step_id!r}"
    return _part_problem(step, f"step {place}")


def _part_problem(part: Run | Span | Step, where: str) -> str | None:
    for name, choices in _CHOICES.get(type(part), ()):
        value = getattr(part, name)
        if value is not None and value not in choices:
            return f"{where}: {name} must be one of {', '.join(choices)}, got {value!r}"
    for name in _TIMES[type(part)]:
        value = getattr(part, name)
        if value is not None and (problem := _time_problem(value)):
            return f"{where}: {name} {problem}"
    return None


def _time_problem(value: Any) -> str | None:
    if not isinstance(value, datetime):
        return f"must be a time, got {value!r}"
    aware = value if value.tzinfo else value.replace(tzinfo=UTC)
    try:
        fits = EARLIEST <= aware < LATEST
    except OverflowError:
        fits = False
    return None if fits else f"must lie between 1970 and 2200, got {value.isoformat()}"


def _tree_problem(spans: Sequence[Span]) -> str | None:
    parents: dict[str, str | None] = {}
    for place, span in enumerate(spans, start=1):
        name = span_id(span, place)
        if name in parents:
            return f"span {place}: span_id {name!r} is there twice in this run"
        parents[name] = span.parent_id
    return _cycle(parents)


def span_id(span: Span, place: int) -> str:
    """Return the id of a span, or `#` and its place in the file from 1."""
    return f"#{place}" if span.span_id is None else str(span.span_id)


def _cycle(parents: Mapping[str, str | None]) -> str | None:
    safe: set[str] = set()
    for start in parents:
        path: dict[str, None] = {}
        at: str | None = start
        while at is not None and at in parents and at not in safe:
            if at in path:
                return f"span {at!r} is its own ancestor by parent_id"
            path[at] = None
            at = parents[at]
        safe.update(path)
    return None
