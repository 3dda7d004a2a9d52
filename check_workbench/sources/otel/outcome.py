"""What was asked of a run, what came out, and whose run it was; `runs` has the rules."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from check_workbench.sources.otel.texts import ASKING, REPLYING, instructions, spoken, system_prompt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from check_workbench.records import Span
    from check_workbench.sources.otel.contexts import Context
    from check_workbench.sources.otel.spans import Made

AROUND = ("agent", "workflow", "chain", "task")
"""Types of spans that hold the work of others."""
LAST = datetime.max.replace(tzinfo=UTC)
_FIRST = datetime.min.replace(tzinfo=UTC)


def workflow(made: Sequence[Made], top: Span, around: Context) -> str | None:
    """Return what ran."""
    service = _text(around.resource.get("service.name"))
    if service and service.startswith("unknown_service"):
        service = None
    agents = sorted(
        (one for one in made if one.span.type == "agent" and "agent" in one.found),
        key=lambda one: one.span.started_at or LAST,
    )
    named = _first(made, "workflow") or service or _first(agents, "agent") or _first(made, "function")
    return named or (top.name if top.type in AROUND else None)


def session(made: Sequence[Made], around: Context) -> str | None:
    """Return the session that it belongs to."""
    return _first(made, "session") or _text(around.around.get("session_id"))


def status(made: Sequence[Made], top: Span, final: Any) -> str | None:
    """Say how it ended."""
    if any("interrupted" in one.found for one in made):
        return "interrupted"
    if top.status == "error":
        return "error"
    if final is not None:
        return "ok"
    heard = any(one.span.type == "llm" and one.span.input is not None for one in made)
    return "no_output" if heard else top.status


def request(top: Span, spans: Sequence[Span]) -> Any:
    """Return what was asked for."""
    found = top.input if top.input is not None else _outer(spans, "input", min, lambda one: one.started_at or LAST)
    return None if found is None else spoken(found, ASKING)


def final_output(top: Span, spans: Sequence[Span]) -> Any:
    """Return the final answer."""
    found = top.output if top.output is not None else _outer(spans, "output", max, lambda one: one.ended_at or _FIRST)
    return None if found is None else spoken(found, REPLYING)


def rules(made: Sequence[Made]) -> str | None:
    """Return the system prompt of the first call of a model that has one."""
    models = sorted((one for one in made if one.span.type == "llm"), key=lambda one: one.span.started_at or LAST)
    for one in models:
        alone = one.found.get("system")
        found = (instructions(alone) if alone else None) or system_prompt(one.span.input)
        if found:
            return found
    return None


def _first(made: Iterable[Made], field: str) -> str | None:
    return next((one.found[field] for one in made if field in one.found), None)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _outer(spans: Sequence[Span], field: str, pick: Callable[..., Span], by: Callable[[Span], datetime]) -> Any:
    """Return what an agent or chain has recorded, else what a model has."""
    for types in (AROUND, ("llm",)):
        having = [one for one in spans if one.type in types and getattr(one, field) is not None]
        if having:
            return getattr(pick(having, key=by), field)
    return None
