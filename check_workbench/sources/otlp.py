"""OTLP in JSON, as collectors, SDKs and Grafana Tempo write it: a document, an array of them, lines, or one by one.

| record | run |
|---|---|
| `traceId` of a span, wherever in the file, lower-case hexadecimal | `run_id`: a trace is a run, see `otel_runs` |
| `resourceSpans` or `resource_spans`; Tempo's `batches`, also inside `trace` | read one span at a time |
| `scopeSpans`, `scope_spans`, `instrumentationLibrarySpans`, `instrumentation_library_spans` | the same |
| `resource.attributes`, before or behind the spans | `attributes.resource` |
| `scope` or `instrumentationLibrary`, before or behind the spans | `attributes.scope` |
| `schemaUrl` of either | `schema_url` beside them |
| a span | a span, see `otel_spans` |

Metrics and logs in the same file are no runs; a note names them.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from check_workbench.sources.format import Format, Note, Rejected
from check_workbench.sources.json_pieces import BEGIN, END, pieces
from check_workbench.sources.otel_reading import objects, one_span, runs_of_spans
from check_workbench.sources.otel_values import attributes_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from check_workbench.records import Run
    from check_workbench.sources.format import Head, Origin
    from check_workbench.sources.json_pieces import Piece
    from check_workbench.sources.otel_reading import Told
    from check_workbench.sources.otel_recorded import Contexts

_RESOURCES = ("resourceSpans", "resource_spans", "batches")
_SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans")
_INTO = frozenset({*_RESOURCES, *_SCOPES, "trace"})
_SPANS = frozenset({"spans"})
_SCOPE = frozenset({"scope", "instrumentationLibrary", "instrumentation_library"})
_SCHEMA = frozenset({"schemaUrl", "schema_url"})
_UNSAID = frozenset({"attributes", "droppedAttributesCount", "dropped_attributes_count"})


def _detect(head: Head) -> str | None:
    """Look at more than one record: other signals may come first, and the first one may be broken."""
    for record in (head.keys, *head.records):
        outer = objects(objects(record).get("trace", record))
        key = next((key for key in _RESOURCES if outer.get(key) == "[" or isinstance(outer.get(key), list)), None)
        if key is not None and (key != "batches" or _is_batch(outer[key])):
            return f"it has OpenTelemetry spans in {key}"
    return None


def _is_batch(batches: Any) -> bool:
    first = objects(batches[0]) if isinstance(batches, list) and batches else {}
    return any(key in first for key in ("resource", *_SCOPES))


def _read(path: Path, origin: Origin) -> Iterator[Run | Rejected | Note]:
    return runs_of_spans(path, origin, _spans)


def _spans(stream: IO[bytes], file: str, contexts: Contexts) -> Iterator[Told]:
    block = _Block(contexts)
    for piece in pieces(stream, file, into=_INTO, each=_SPANS):
        if isinstance(piece, Rejected):
            yield piece
        elif piece.key == "spans":
            yield one_span(piece.value, block.context, file, piece.locate)
        elif words := block.add(piece):
            yield Note(file=file, text=words)


class _Block:
    """The resource and the scope whose spans come by."""

    def __init__(self, contexts: Contexts) -> None:
        self._contexts = contexts
        self._inside: list[str] = []
        self._resource: dict[str, Any] = {}
        self._scope: dict[str, Any] = {}
        self._places: list[int] = []
        """The contexts of the resource."""
        self.context = contexts.open()

    def add(self, piece: Piece) -> str | None:
        """Take in what is no span; return words about what is not read."""
        if piece.what == BEGIN:
            self._begin(piece.key)
        elif piece.what == END:
            self._inside.pop()
        elif self._inside and self._inside[-1] in _SCOPES:
            return self._say_scope(piece.key, piece.value)
        elif self._inside and self._inside[-1] in _RESOURCES:
            return self._say_resource(piece.key, piece.value)
        else:
            return _left_out(piece)
        return None

    def _begin(self, key: str) -> None:
        self._inside = [*self._inside, key] if key else [key]
        if key in _RESOURCES:
            self._resource, self._places = {}, []
        self._scope = {}
        self.context = self._contexts.open()
        self._places.append(self.context)
        self._contexts.set(self.context, resource=self._resource, scope=self._scope)

    def _say_scope(self, key: str, value: Any) -> str | None:
        if key in _SCOPE:
            told = objects(value)
            given = told.get("attributes")
            scope = {name: inner for name, inner in told.items() if inner and name not in _UNSAID}
            self._scope = {**self._scope, **scope, **({"attributes": attributes_of(given)} if given else {})}
        elif key in _SCHEMA:
            self._scope = {**self._scope, "schema_url": value} if value else self._scope
        else:
            return _unknown(key, value)
        self._contexts.set(self.context, scope=self._scope)
        return None

    def _say_resource(self, key: str, value: Any) -> str | None:
        if key == "resource":
            self._resource = {**self._resource, **attributes_of(objects(value).get("attributes") or {})}
        elif key in _SCHEMA:
            self._resource = {**self._resource, "schema_url": value} if value else self._resource
        else:
            return _unknown(key, value)
        for place in self._places:
            self._contexts.set(place, resource=self._resource)
        return None


def _left_out(piece: Piece) -> str | None:
    if not piece.key:
        return f"a record must be an object, got {type(piece.value).__name__}: it is left out"
    return _unknown(piece.key, piece.value)


def _unknown(key: str, value: Any) -> str | None:
    return f"{key} holds no spans and is left out" if value and key not in _UNSAID else None


FORMAT = Format(
    name="otlp",
    summary="OpenTelemetry spans as OTLP JSON, or as Grafana Tempo exports them",
    detect=_detect,
    read=_read,
)
