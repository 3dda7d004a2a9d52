"""Tokens and costs of a trace."""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING, Any

from check_workbench.sources.totals import Amount, total

if TYPE_CHECKING:
    from collections.abc import Sequence

    from check_workbench.records import Span
    from check_workbench.sources.otel.spans import Made

_MODELS = frozenset({"llm", "embedding", "reranker"})
_METRICS = {
    "total_tokens": "tokens",
    "prompt_tokens": "tokens_in",
    "completion_tokens": "tokens_out",
    "total_cost": "cost",
}


def metrics_of(made: Sequence[Made]) -> dict[str, Any]:
    """Add up what the models of a trace used; without any, what its outermost spans used.

    Parameters
    ----------
    made
        Its spans.
    """
    found = {}
    is_model = [one.span.type in _MODELS for one in made]
    for name, field in _METRICS.items():
        values = [one.found.get(field) for one in made]
        if field == "tokens":
            values = [_both(one.span) if value is None else value for value, one in zip(values, made, strict=True)]
        if values.count(None) == len(values):
            continue
        models = [value for value in compress(values, is_model) if value is not None]
        found[name] = sum(models) if models else _outermost(made, values)
    return found


def _both(one: Span) -> int | None:
    if one.tokens_in is None and one.tokens_out is None:
        return None
    return (one.tokens_in or 0) + (one.tokens_out or 0)


def _outermost(made: Sequence[Made], values: Sequence[float | None]) -> float | None:
    return total([Amount(one.span.span_id, one.span.parent_id, v) for one, v in zip(made, values, strict=True)])
