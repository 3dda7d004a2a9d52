"""The LangSmith runs of one trace to a run of ours.

| run of LangSmith | span |
|---|---|
| `run_type` | `type`: `llm tool chain retriever prompt parser embedding` |
| `id`, `parent_run_id` (else from `dotted_order`), `name` | `span_id`, `parent_id`, `name` |
| `inputs`, `outputs`; empty outputs are none | `input`, `output` |
| `error` | `error`, and `status` `error`; else `ok` with an end, outputs or `status` `success` |
| `start_time`, `end_time` | `started_at`, `ended_at` |
| of `llm` and `embedding`: tokens; `ls_model_name`, else the model called | `tokens_in`, `tokens_out`, `model` |
| everything else: `extra`, `events`, `tags`, `feedback_stats`, … | `attributes` |

Spans come in the order of `dotted_order`, if all have one. Tokens are in `outputs.usage_metadata`, in `prompt_tokens`
and `completion_tokens`, or where the model's own client leaves them. Tool calls that lie only in the outputs of models
become `tool` spans; see `called`.

| root: the run with the id of the trace, else the only one without a parent in it | run |
|---|---|
| `name`, `inputs`, `outputs` | `workflow`, `input`, `final_output` |
| `thread_id`, `session_id` or `conversation_id` of its metadata | `session_id` |
| `error`; `outputs`; an end without outputs | `status` `error`; `ok`; `no_output` |
| its tokens, `total_cost` and times, else those of the outermost spans with any | `metrics` |
| `session_name` (the project), `reference_example_id`, `tags` | `attributes` |

Failed spans are `metrics.errors`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard

from check_workbench.errors import InputError
from check_workbench.records import Run
from check_workbench.sources.called import called
from check_workbench.sources.langsmith.usage import metrics, model, tokens
from check_workbench.sources.spans import span
from check_workbench.sources.times import when

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from check_workbench.records import Span

_MODELS = frozenset({"llm", "embedding"})
_THREADS = ("thread_id", "session_id", "conversation_id")
_OF_RUN = ("session_name", "session_id", "reference_example_id", "tags")
_OF_SPAN = frozenset(
    {"id", "trace_id", "parent_run_id", "dotted_order", "name", "run_type", "inputs", "outputs", "error"}
    | {"start_time", "end_time", "feedback"}
)
_EMPTY: tuple[Any, ...] = (None, "", [], {})


def trace_of(row: Mapping[str, Any]) -> str:
    """Return the id of the trace that a run is part of.

    Examples
    --------
    >>> trace_of({"dotted_order": "20260501T100000000000Za1.20260501T100001000000Zb2"})
    'a1'
    """
    if _is_text(row.get("trace_id")):
        return str(row["trace_id"])
    if placed := _ids(row):
        return placed[0]
    if row.get("parent_run_id"):
        raise InputError(f"run {row.get('id')!r:.80} must name its trace in trace_id or dotted_order, it has a parent")
    return id_of(row)


def id_of(row: Mapping[str, Any]) -> str:
    """Return the id of a run.

    Examples
    --------
    >>> id_of({"dotted_order": "20260501T100000000000Za1.20260501T100001000000Zb2"})
    'b2'
    """
    if _is_text(row.get("id")):
        return str(row["id"])
    if placed := _ids(row):
        return placed[-1]
    raise InputError(f"a run must have an id, got {row.get('id')!r:.80}")


def run_of(trace: str, rows: Sequence[Mapping[str, Any]]) -> Run:
    """Make a run of the LangSmith runs of one trace.

    Parameters
    ----------
    trace
        Its id.
    rows
        Its runs and what was patched of them, in file order.

    Raises
    ------
    ValueError
        If something that a run needs is missing or wrong.
    """
    merged: dict[str, dict[str, Any]] = {}
    for row in rows:
        known = merged.setdefault(id_of(row), {})
        _merge(known, row)
    for id_, row in merged.items():
        row["id"], row["parent_run_id"] = id_, _parent(row)
    ordered = list(merged.values())
    if all(_is_text(row.get("dotted_order")) for row in ordered):
        ordered.sort(key=lambda row: str(row["dotted_order"]))
    root = _root(trace, ordered)
    spans = called([_span(row) for row in ordered])
    return Run(
        run_id=trace,
        workflow=root["name"] if _is_text(root.get("name")) else None,
        session_id=_session(root),
        status=_status(root),
        started_at=when(root.get("start_time")) or min((s.started_at for s in spans if s.started_at), default=None),
        ended_at=when(root.get("end_time")),
        input=root.get("inputs"),
        final_output=root.get("outputs") or None,
        metrics=metrics(root, ordered, spans),
        attributes={key: root[key] for key in _OF_RUN if root.get(key)} or None,
        spans=spans,
    )


def _merge(known: dict[str, Any], row: Mapping[str, Any]) -> None:
    for key, value in row.items():
        before = known.get(key)
        if key in ("extra", "metadata") and isinstance(before, dict) and isinstance(value, dict):
            known[key] = dict(before)
            _merge(known[key], value)
        elif value not in _EMPTY or key not in known:
            known[key] = value


def _span(row: Mapping[str, Any]) -> Span:
    type_ = row.get("run_type")
    if not _is_text(type_):
        raise InputError(f"run_type of run {row['id']!r:.80} must be text, got {type_!r:.80}")
    error = row.get("error")
    done = row.get("end_time") or row.get("outputs") or row.get("status") == "success"
    tokens_in, tokens_out = tokens(row) if type_ in _MODELS else (None, None)
    return span(
        type=type_.lower(),
        name=row["name"] if _is_text(row.get("name")) else None,
        span_id=row["id"],
        parent_id=row["parent_run_id"],
        input=row.get("inputs"),
        output=row.get("outputs") or None,
        status="error" if error else "ok" if done else None,
        error=str(error) if error else None,
        started_at=when(row.get("start_time")),
        ended_at=when(row.get("end_time")),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        model=model(row) if type_ in _MODELS else None,
        attributes={key: v for key, v in row.items() if key not in _OF_SPAN and v not in _EMPTY} or None,
    )


def _root(trace: str, rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    known = {row["id"]: row for row in rows}
    roots = [row for row in rows if row["parent_run_id"] not in known]
    return known.get(trace) or (roots[0] if len(roots) == 1 else {})


def _parent(row: Mapping[str, Any]) -> str | None:
    value = row.get("parent_run_id")
    if value and not isinstance(value, str):
        raise InputError(f"parent_run_id of run {row['id']!r:.80} must be text, got {value!r:.80}")
    placed = _ids(row)
    return value or (placed[-2] if len(placed) > 1 else None)


def _ids(row: Mapping[str, Any]) -> list[str]:
    """Read the ids from the trace down to the run out of `dotted_order`."""
    order = row.get("dotted_order")
    found = [part.partition("Z")[2] for part in order.split(".")] if isinstance(order, str) else []
    return found if all(found) else []


def _status(root: Mapping[str, Any]) -> str | None:
    if root.get("error"):
        return "error"
    return "ok" if root.get("outputs") else "no_output" if root.get("end_time") else None


def _session(root: Mapping[str, Any]) -> str | None:
    extra = root.get("extra")
    metadata = extra.get("metadata") if isinstance(extra, dict) else None
    named = metadata if isinstance(metadata, dict) else {}
    return next((named[key] for key in _THREADS if _is_text(named.get(key))), None)


def _is_text(value: Any) -> TypeGuard[str]:
    return isinstance(value, str) and bool(value)
