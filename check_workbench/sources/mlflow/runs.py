"""One MLflow trace to a run.

| trace | run |
|---|---|
| `info.trace_id`, in MLflow 2 `info.request_id` | `run_id` |
| tag `mlflow.traceName`, else the name of the root | `workflow` |
| `mlflow.trace.session` of the metadata | `session_id` |
| `request_time` or `timestamp_ms`; the last end | `started_at`, `ended_at` |
| inputs and outputs of the root, else those of the metadata, which may be cut | `input`, `final_output` |
| `state` or `status`: ERROR; OK with an output; OK without | `status` `error`; `ok`; `no_output` |
| `execution_duration_ms` or `execution_time_ms`; tokens of the metadata, else of the outermost spans | `metrics` |
| failed spans | `metrics.errors` |
| assessments that are expectations, by name | `attributes.expectations` |
| everything else: tags, metadata, `trace_location`, `client_request_id` | `attributes` |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError
from check_workbench.records import Run
from check_workbench.sources.called import called
from check_workbench.sources.encoded import meant
from check_workbench.sources.mlflow.spans import span_of
from check_workbench.sources.times import when
from check_workbench.sources.totals import Amount, number, total

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from check_workbench.records import Span

_SESSION, _NAME, _TOKENS = "mlflow.trace.session", "mlflow.traceName", "mlflow.trace.tokenUsage"
_INPUTS, _OUTPUTS = "mlflow.traceInputs", "mlflow.traceOutputs"
_TAKEN = frozenset(
    {"trace_id", "request_id", "request_time", "timestamp_ms", "execution_duration_ms", "execution_time_ms"}
    | {"state", "status", "assessments", "request_preview", "response_preview"}
)
_EMPTY: tuple[Any, ...] = (None, "", [], {})


def run_of(info: Mapping[str, Any], rows: Sequence[Any]) -> Run:
    """Make a run of a trace.

    Parameters
    ----------
    info
        What is said of the whole trace.
    rows
        Its spans.

    Raises
    ------
    ValueError
        If something that a run needs is missing or wrong.
    """
    run_id = info.get("trace_id") or info.get("request_id")
    if not isinstance(run_id, str):
        raise InputError(f"the trace_id or request_id of a trace must be text, got {run_id!r:.80}")
    spans = called([span_of(row) for row in rows])
    root = _root(spans)
    metadata = {**_object(info, "request_metadata"), **_object(info, "trace_metadata")}
    name, session = _object(info, "tags").get(_NAME), metadata.get(_SESSION)
    given, final = _told(root, "input", metadata.get(_INPUTS)), _told(root, "output", metadata.get(_OUTPUTS))
    return Run(
        run_id=run_id,
        workflow=name if isinstance(name, str) and name else None if root is None else root.name,
        session_id=session if isinstance(session, str) and session else None,
        status=_status(info, final),
        started_at=when(info.get("request_time", info.get("timestamp_ms"))),
        ended_at=max((one.ended_at for one in spans if one.ended_at is not None), default=None),
        input=given,
        final_output=final,
        metrics=_metrics(info, metadata, spans),
        attributes=_attributes(info),
        spans=spans,
    )


def _root(spans: Sequence[Span]) -> Span | None:
    known = {one.span_id for one in spans}
    roots = [one for one in spans if one.parent_id not in known]
    return roots[0] if len(roots) == 1 else None


def _told(root: Span | None, name: str, short: Any) -> Any:
    """Return what the root has recorded, else the text in the metadata, which may be cut."""
    whole = None if root is None else getattr(root, name)
    return meant(short) if whole is None else whole


def _status(info: Mapping[str, Any], final: Any) -> str | None:
    state = info.get("state", info.get("status"))
    if state == "ERROR":
        return "error"
    return None if state != "OK" else "no_output" if final is None else "ok"


def _metrics(info: Mapping[str, Any], metadata: Mapping[str, Any], spans: Sequence[Span]) -> dict[str, float]:
    usage = meant(metadata.get(_TOKENS))
    stated = usage if isinstance(usage, dict) else {}
    read = number([stated.get("input_tokens"), total([Amount(s.span_id, s.parent_id, s.tokens_in) for s in spans])])
    written = number(
        [stated.get("output_tokens"), total([Amount(s.span_id, s.parent_id, s.tokens_out) for s in spans])]
    )
    sides = [side for side in (read, written) if side is not None]
    found = {
        "duration_ms": number([info.get("execution_duration_ms"), info.get("execution_time_ms")]),
        "prompt_tokens": read,
        "completion_tokens": written,
        "total_tokens": number([stated.get("total_tokens"), sum(sides) if sides else None]),
        "errors": sum(one.status == "error" for one in spans),
    }
    return {name: value for name, value in found.items() if value is not None}


def _attributes(info: Mapping[str, Any]) -> dict[str, Any] | None:
    kept = {key: value for key, value in info.items() if key not in _TAKEN and value not in _EMPTY}
    listed = info.get("assessments")
    rows = [row for row in listed if isinstance(row, dict)] if isinstance(listed, list) else []
    expected = {
        str(row.get("assessment_name")): row["expectation"].get("value", row["expectation"])
        for row in rows
        if is_expectation(row)
    }
    return {**kept, **({"expectations": expected} if expected else {})} or None


def is_expectation(row: Any) -> bool:
    """Say whether an assessment is what an answer should have been.

    Examples
    --------
    >>> is_expectation({"expectation": {"value": "paid"}}), is_expectation({"feedback": {"value": True}})
    (True, False)
    """
    return isinstance(row, dict) and isinstance(row.get("expectation"), dict)


def _object(owner: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = owner.get(key)
    return found if isinstance(found, dict) else {}
