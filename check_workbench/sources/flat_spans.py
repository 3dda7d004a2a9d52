"""Lists of spans without blocks around them: an array or lines of spans, or `{session_id, spans: [...]}`.

| record | run |
|---|---|
| `trace_id` of a span | `run_id`: a trace is a run, see `otel_runs` |
| a span under any of the names in `otel_recorded` | a span, see `otel_spans` |
| `context` with `trace_id` and `span_id`, as the console exporter of the Python SDK writes it | the ids |
| `resource`, with or without `attributes` in it | `attributes.resource` |
| `scope`, `instrumentation_scope` | `attributes.scope` |
| what stands around a list of spans: `session_id`, … | `attributes.around`; `session_id` where no span tells one |
"""

from __future__ import annotations

from functools import partial
from typing import IO, TYPE_CHECKING, Any

from check_workbench.sources.format import Format, Head, Note, Rejected
from check_workbench.sources.heads import look
from check_workbench.sources.json_items import items
from check_workbench.sources.json_pieces import BEGIN, VALUE, pieces
from check_workbench.sources.otel_reading import objects, one_span, runs_of_spans
from check_workbench.sources.otel_recorded import NAMES
from check_workbench.sources.otel_values import attributes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from check_workbench.records import Run
    from check_workbench.sources.format import Origin
    from check_workbench.sources.gathering import Part
    from check_workbench.sources.otel_reading import Told
    from check_workbench.sources.otel_recorded import Contexts

_TRACE = ("trace_id", "traceId")
_SPAN = ("span_id", "spanId")
_SCOPES = ("scope", "instrumentation_scope", "instrumentationScope")
_SHARED = frozenset({"resource", *_SCOPES})
_SAID = frozenset({"attributes", *(key for key, name in NAMES.items() if name == "start")})
_OTHERS = frozenset({"run_id", "trace_metadata"})
"""Keys of our own runs, and of rows of MLflow, which hold spans as well."""
_NEATLOGS = frozenset({"schema_version", "start_time_unix_nano"})


def _detect(head: Head) -> str | None:
    """Say why a file holds a flat list of spans, or None."""
    spans = head.first.get("spans")
    span = objects(spans[0]) if isinstance(spans, list) and spans else head.first
    if span.keys() >= _NEATLOGS or _OTHERS & head.first.keys() or not (_SAID & span.keys()):
        return None
    if any(key in span for key in _TRACE) and any(key in span for key in _SPAN):
        where = "its first record has a list of spans, each" if span is not head.first else "its first record is a span"
        return f"{where} with a trace id and a span id"
    context = objects(span.get("context"))
    kind = span.get("kind")
    if "trace_id" in context and isinstance(kind, str) and kind.startswith("SpanKind."):
        return "its first record is a span of the Python SDK, with its ids in context"
    return None


def runs_of_flat(path: Path, origin: Origin, plain: Callable[[Any], Any]) -> Iterator[Run | Rejected | Note]:
    """Read a flat list of spans, with or without something around it.

    Parameters
    ----------
    path
        The file.
    origin
        Where it comes from.
    plain
        Brings a span under names that `otel_recorded` knows.
    """
    head = look(path)
    around = isinstance(head, Head) and isinstance(head.first.get("spans"), list)
    return runs_of_spans(path, origin, partial(_spans_in_lists if around else _spans, plain))


def _read(path: Path, origin: Origin) -> Iterator[Run | Rejected | Note]:
    return runs_of_flat(path, origin, _as_it_is)


def _as_it_is(value: Any) -> Any:
    return value


def _spans(plain: Callable[[Any], Any], stream: IO[bytes], file: str, contexts: Contexts) -> Iterator[Told]:
    parts = _SharedParts(contexts)
    for item in items(stream, file):
        yield item if isinstance(item, Rejected) else parts.span(plain(item.value), {}, file, item.locate)


def _spans_in_lists(plain: Callable[[Any], Any], stream: IO[bytes], file: str, contexts: Contexts) -> Iterator[Told]:
    parts = _SharedParts(contexts)
    around: dict[str, Any] = {}
    for piece in pieces(stream, file, into=frozenset(), each=frozenset({"spans"})):
        if isinstance(piece, Rejected):
            yield piece
        elif piece.what == BEGIN:
            around, parts = {}, _SharedParts(contexts)
        elif piece.key == "spans" or (piece.what == VALUE and not piece.key):
            yield parts.span(plain(piece.value), around, file, piece.locate)
        elif piece.what == VALUE:
            around[piece.key] = piece.value
            parts.say(around)
        elif any(key in around for key in _TRACE):
            yield parts.span(plain(around), {}, file, piece.locate)


class _SharedParts:
    """The contexts of spans that each say their own resource and scope."""

    def __init__(self, contexts: Contexts) -> None:
        self._contexts = contexts
        self._places: dict[str, int] = {}

    def say(self, around: dict[str, Any]) -> None:
        """Say what stands around the list, once more of it is known."""
        for place in self._places.values():
            self._contexts.set(place, around=dict(around))

    def span(self, value: Any, around: dict[str, Any], file: str, locate: Callable[[], int]) -> Part | Rejected:
        """Read one span."""
        if not isinstance(value, dict):
            return one_span(value, 0, file, locate)
        told = {key: inner for key, inner in value.items() if key not in _SHARED}
        ids = told.get("context")
        if isinstance(ids, dict) and "trace_id" in ids:
            del told["context"]
            told = {**ids, **told}
        resource, scope = value.get("resource"), next((value[key] for key in _SCOPES if value.get(key)), None)
        return one_span(told, self._place(resource, scope, around), file, locate)

    def _place(self, resource: Any, scope: Any, around: dict[str, Any]) -> int:
        key = repr((resource, scope))
        if key not in self._places:
            self._places[key] = self._contexts.open()
            told = objects(scope) or ({"name": scope} if scope else {})
            self._contexts.set(
                self._places[key],
                resource=attributes_of(objects(resource).get("attributes", objects(resource))),
                scope={name: inner for name, inner in told.items() if inner},
                around=dict(around),
            )
        return self._places[key]


FORMAT = Format(
    name="spans",
    summary="OpenTelemetry spans in an array, in lines, or in spans of {session_id, spans}",
    detect=_detect,
    read=_read,
)
