"""Traces as Jaeger's API and its screen export them: `{data: [{traceID, spans, processes}]}`, or the traces alone.

| record | run |
|---|---|
| `traceID` | `run_id`: a trace is a run, see `runs` |
| a span's `tags`, each with key, type and value | its attributes, see `vocabulary` |
| the first reference of type `CHILD_OF`, else the first `FOLLOWS_FROM` | `parent_id`; others: `otel.references` |
| `startTime`, `duration`, microseconds | `started_at`, `ended_at` |
| tags `error`, `otel.status_code`, `otel.status_description` | `status`, `error` |
| tags `otel.scope.name`, `otel.scope.version` | `attributes.scope` |
| tag `span.kind` | `otel.kind` |
| `logs`, each with a timestamp and fields | `otel.events` |
| the process, before or behind the spans: `serviceName` and tags | `attributes.resource` |

A tag whose type is a number or a flag is one, also where its value was written as text.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from check_workbench.sources.format import Format, Note, Rejected
from check_workbench.sources.json_pieces import BEGIN, END, pieces
from check_workbench.sources.otel.jaeger_spans import plain_span, tags_of
from check_workbench.sources.otel.reading import objects, one_span, runs_of_spans

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from check_workbench.records import Run
    from check_workbench.sources.format import Head, Origin
    from check_workbench.sources.gathering import Part
    from check_workbench.sources.json_pieces import Piece
    from check_workbench.sources.otel.contexts import Contexts
    from check_workbench.sources.otel.reading import Told

_UNSAID = frozenset({"total", "limit", "offset", "traceID"})


def _detect(head: Head) -> str | None:
    data = head.first.get("data")
    trace = objects(data[0]) if isinstance(data, list) and data else head.first
    spans = trace.get("spans")
    span = objects(spans[0]) if isinstance(spans, list) and spans else {}
    if not span.keys() >= {"traceID", "spanID", "operationName"}:
        return None
    return "its first trace has spans of Jaeger, with operationName and spanID"


def _read(path: Path, origin: Origin) -> Iterator[Run | Rejected | Note]:
    return runs_of_spans(path, origin, _spans)


def _spans(stream: IO[bytes], file: str, contexts: Contexts) -> Iterator[Told]:
    trace = _Trace(contexts)
    for piece in pieces(stream, file, into=frozenset({"data"}), each=frozenset({"spans"})):
        if isinstance(piece, Rejected):
            yield piece
        elif piece.key == "spans":
            yield _span(piece, trace, file)
        elif piece.what == BEGIN:
            trace = _Trace(contexts)
        elif piece.what != END and (words := trace.add(piece.key, piece.value)):
            yield Note(file=file, text=words)


class _Trace:
    """The processes of one trace, and the contexts that its spans have in them."""

    def __init__(self, contexts: Contexts) -> None:
        self._contexts = contexts
        self._processes: dict[str, dict[str, Any]] = {}
        self._places: dict[tuple[str, str], int] = {}

    def place(self, process: str, scope: dict[str, Any]) -> int:
        """Return the context of a span."""
        key = (process, repr(scope))
        if key not in self._places:
            self._places[key] = self._contexts.open()
            self._contexts.set(self._places[key], scope=scope, resource=self._processes.get(process, {}))
        return self._places[key]

    def add(self, key: str, value: Any) -> str | None:
        """Take in what is no span; return words about what is not read."""
        if key != "processes":
            return f"{key} holds no spans and is left out" if value and key not in _UNSAID else None
        self._processes = {name: _resource(process) for name, process in objects(value).items()}
        for (process, _), place in self._places.items():
            self._contexts.set(place, resource=self._processes.get(process, {}))
        return None


def _resource(process: Any) -> dict[str, Any]:
    told = objects(process)
    service = told.get("serviceName")
    return {**({"service.name": service} if service else {}), **tags_of(told.get("tags"))}


def _span(piece: Piece, trace: _Trace, file: str) -> Part | Rejected:
    try:
        span, process, scope = plain_span(piece.value)
    except ValueError as error:
        return Rejected(file=file, line=piece.locate(), reason=str(error))
    return one_span(span, trace.place(process, scope), file, piece.locate)


FORMAT = Format(
    name="jaeger",
    summary="traces as Jaeger's API exports them: data with traceID, spans and processes",
    detect=_detect,
    read=_read,
)
