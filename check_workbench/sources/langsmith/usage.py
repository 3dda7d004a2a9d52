"""Tokens, cost, time and model of LangSmith runs."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from check_workbench.sources.times import when
from check_workbench.sources.totals import Amount, number, total, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from check_workbench.records import Span

_READ = ("input_tokens", "prompt_tokens")
_WRITTEN = ("output_tokens", "completion_tokens")
_USAGE = (
    ("outputs", "usage_metadata"),
    (),
    ("extra", "metadata", "usage_metadata"),
    ("outputs", "usage"),
    ("outputs", "llm_output", "token_usage"),
    ("outputs", "generations", 0, 0, "message", "kwargs", "usage_metadata"),
    ("outputs", "generations", 0, "message", "kwargs", "usage_metadata"),
)
"""Where numbers of tokens are looked for, in this order."""
_MODEL = (
    ("extra", "metadata", "ls_model_name"),
    ("extra", "invocation_params", "model"),
    ("extra", "invocation_params", "model_name"),
    ("outputs", "model"),
    ("inputs", "model"),
)


def metrics(root: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], spans: Sequence[Span]) -> dict[str, float]:
    """Collect the numbers of a whole trace.

    Parameters
    ----------
    root
        The run at its root, empty where there is none.
    rows
        Its runs.
    spans
        What was made of them.
    """
    started, ended = when(root.get("start_time")), when(root.get("end_time"))
    found = {
        "duration_ms": (ended - started) / timedelta(milliseconds=1) if started and ended else None,
        "total_cost": _sum(rows, _cost),
        "prompt_tokens": _sum(rows, lambda row: tokens(row)[0]),
        "completion_tokens": _sum(rows, lambda row: tokens(row)[1]),
        "total_tokens": _sum(rows, _total_tokens),
        "errors": sum(one.status == "error" for one in spans),
    }
    return {name: value for name, value in found.items() if value is not None}


def tokens(row: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Return the tokens that a model read and wrote.

    Examples
    --------
    >>> tokens({"outputs": {"usage": {"prompt_tokens": 9, "completion_tokens": 2}}})
    (9, 2)
    """
    for usage in _usages(row):
        read, written = number(map(usage.get, _READ)), number(map(usage.get, _WRITTEN))
        if read is not None or written is not None:
            return whole(read), whole(written)
    return None, None


def model(row: Mapping[str, Any]) -> str | None:
    """Return the model that was called, None where nothing says it."""
    found = (_at(row, path) for path in _MODEL)
    return next((name for name in found if isinstance(name, str) and name), None)


def _total_tokens(row: Mapping[str, Any]) -> float | None:
    sides = [side for side in tokens(row) if side is not None]
    return number([*(usage.get("total_tokens") for usage in _usages(row)), sum(sides) if sides else None])


def _cost(row: Mapping[str, Any]) -> float | None:
    """Read the cost of a run, which the SDK writes as a decimal in a text."""
    value = row.get("total_cost")
    try:
        cost = number([float(value) if isinstance(value, str) else value])
    except ValueError:
        return None
    return cost if cost is not None and math.isfinite(cost) else None


def _usages(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [usage for path in _USAGE if isinstance(usage := _at(row, path), dict)]


def _at(value: Any, path: Sequence[str | int]) -> Any:
    for key in path:
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and isinstance(key, int) and key < len(value):
            value = value[key]
        else:
            return None
    return value


def _sum(rows: Sequence[Mapping[str, Any]], amount: Callable[[Mapping[str, Any]], float | None]) -> float | None:
    return total([Amount(row["id"], row["parent_run_id"], amount(row)) for row in rows])
