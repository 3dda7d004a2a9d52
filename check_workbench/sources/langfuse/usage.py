"""Tokens, cost and time of Langfuse observations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.sources.totals import Amount, is_number, number, total, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from check_workbench.records import Span


def metrics(
    trace: Mapping[str, Any],
    observations: Sequence[Mapping[str, Any]],
    spans: Sequence[Span],
    lasted: float | None,
) -> dict[str, float] | None:
    """Collect the numbers of a whole trace.

    Parameters
    ----------
    trace
        The trace.
    observations
        Its observations.
    spans
        What was made of them, one each.
    lasted
        Milliseconds from when it began to when its last observation ended.
    """
    seconds = number([trace.get("latency")])
    levels = [row.get("level") for row in observations]
    found = {
        "duration_ms": lasted if seconds is None else seconds * 1000,
        "total_cost": number([trace.get("totalCost"), _sum(spans, map(_cost, observations))]),
        "prompt_tokens": _sum(spans, (one.tokens_in for one in spans)),
        "completion_tokens": _sum(spans, (one.tokens_out for one in spans)),
        "total_tokens": _sum(spans, map(_total_tokens, observations, spans)),
        "errors": levels.count("ERROR") if levels else None,
        "warnings": levels.count("WARNING") if levels else None,
    }
    return {name: value for name, value in found.items() if value is not None} or None


def tokens(row: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Return the tokens that an observation read and wrote.

    Examples
    --------
    >>> tokens({"usageDetails": {"input": 10, "input_cached_tokens": 90, "output": 7, "total": 107}})
    (100, 7)
    """
    usage = _usage(row)
    if not usage:
        return None, None
    return whole(_kinds(usage, "input")), whole(_kinds(usage, "output"))


def _usage(row: Mapping[str, Any]) -> Mapping[str, Any]:
    usage = row.get("usageDetails") or row.get("usage")
    return usage if isinstance(usage, dict) else {}


def _kinds(usage: Mapping[str, Any], kind: str) -> float | None:
    found = [value for key, value in usage.items() if kind in key and "Cost" not in key and is_number(value)]
    return sum(found) if found else None


def _total_tokens(row: Mapping[str, Any], one: Span) -> float | None:
    sides = [side for side in (one.tokens_in, one.tokens_out) if side is not None]
    return number([_usage(row).get("total"), sum(sides) if sides else None])


def _cost(row: Mapping[str, Any]) -> float | None:
    """Return what an observation cost; a total of 0 without details is how Langfuse writes that nothing is known."""
    details = row.get("costDetails")
    split = details if isinstance(details, dict) else {}
    stated = number([row.get("totalCost"), row.get("calculatedTotalCost"), split.get("total")])
    return stated if stated or split else None


def _sum(spans: Sequence[Span], values: Iterable[float | None]) -> float | None:
    return total([Amount(one.span_id, one.parent_id, value) for one, value in zip(spans, values, strict=True)])
