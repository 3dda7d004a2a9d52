"""MLflow traces with their assessments, as `Trace.to_json`, `Trace.to_dict` and `mlflow.search_traces` write them.

One record is one trace: `{info, data: {spans}}`, or a row of a data frame, `{trace, …}` or `{trace_id, spans, …}`.
MLflow 3 and MLflow 2 name things differently; both are read.

`run_id` is the id of the trace. Runs are told in `mlflow_runs`, spans in `mlflow_spans`, assessments in
`mlflow_assessments`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError
from check_workbench.sources.encoded import meant
from check_workbench.sources.format import Format, Rejected
from check_workbench.sources.json_items import items, opened
from check_workbench.sources.mlflow.assessments import Assessments
from check_workbench.sources.mlflow.runs import is_expectation, run_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from check_workbench.sources.format import Head, Origin, Record

    Reject = Callable[..., Rejected]

_METADATA = frozenset({"trace_metadata", "request_metadata"})
_ROW = frozenset({"trace_id", "trace_metadata", "assessments"})
_OF_ROW = {"execution_duration": "execution_duration_ms", "request": "request_preview", "response": "response_preview"}


def _detect(head: Head) -> str | None:
    info = head.first.get("info")
    if isinstance(info, dict) and {"trace_id", "request_id"} & info.keys() and _METADATA & info.keys():
        return "its first record is a trace of MLflow, with info and data"
    if head.keys.keys() >= _ROW and {"trace", "spans"} & head.keys.keys():
        return "its first record is a row of the traces of MLflow"
    return None


def _read(path: Path, origin: Origin) -> Iterator[Record]:
    assessments = Assessments()
    with opened(path) as stream:
        for item in items(stream, origin.file):
            if isinstance(item, Rejected):
                yield item
            else:
                yield from _trace(item.value, assessments, partial(Rejected, file=origin.file, line=item.line))
    yield from assessments.notes(origin.file)


def _trace(value: Any, assessments: Assessments, reject: Reject) -> Iterator[Record]:
    try:
        info, rows = _parts(value)
        run, said = run_of(info, rows), _list(info, "assessments")
    except ValueError as error:
        yield reject(reason=str(error))
        return
    except RecursionError:
        yield reject(reason="it is nested too deeply")
        return
    yield run
    for row in said:
        if is_expectation(row):
            continue
        try:
            opinion = assessments.read(row, run.run_id)
            if opinion is not None:
                yield opinion
        except ValueError as error:
            yield reject(reason=f"trace {run.run_id}: {error}")


def _parts(value: Any) -> tuple[Mapping[str, Any], Sequence[Any]]:
    """Return what is said of a trace, and its spans, from any of the forms that it is written in."""
    whole = meant(value.get("trace")) if isinstance(value, dict) and "info" not in value else value
    if isinstance(value, dict) and not isinstance(whole, dict):
        rest = {str(key): inner for key, inner in value.items() if key not in ("trace", "spans")}
        info = {_OF_ROW.get(key, key): inner for key, inner in rest.items()}
        return info, _list(value, "spans")
    if not isinstance(whole, dict) or not isinstance(whole.get("info"), dict):
        raise InputError("a trace must be an object with info and data")
    data = whole.get("data")
    return whole["info"], _list(data if isinstance(data, dict) else {}, "spans")


def _list(owner: Mapping[str, Any], key: str) -> list[Any]:
    found = owner.get(key) or []
    if not isinstance(found, list):
        raise InputError(f"{key} of a trace must be a list, got {type(found).__name__}")
    return found


FORMAT = Format(
    name="mlflow",
    summary="MLflow traces with their assessments, from Trace.to_json, Trace.to_dict or search_traces",
    detect=_detect,
    read=_read,
)
