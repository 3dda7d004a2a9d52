"""OTLP in JSON, as collectors, SDKs and Grafana Tempo write it: a document, an array of them, lines, or one by one.

| record | run |
|---|---|
| `traceId` of a span, wherever in the file, lower-case hexadecimal | `run_id`: a trace is a run, see `runs` |
| `resourceSpans` or `resource_spans`; Tempo's `batches`, also inside `trace` | read one span at a time |
| `scopeSpans`, `scope_spans`, `instrumentationLibrarySpans`, `instrumentation_library_spans` | the same |
| `resource.attributes`, before or behind the spans | `attributes.resource` |
| `scope` or `instrumentationLibrary`, before or behind the spans | `attributes.scope` |
| `schemaUrl` of either | `schema_url` beside them |
| a span | a span, see `spans` |

Metrics and logs in the same file are no runs; a note names them.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from check_workbench.sources.format import Format, Note, Rejected
from check_workbench.sources.json_pieces import pieces
from check_workbench.sources.otel.otlp_blocks import RESOURCES, SCOPES, Block
from check_workbench.sources.otel.reading import objects, one_span, runs_of_spans

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from check_workbench.records import Run
    from check_workbench.sources.format import Head, Origin
    from check_workbench.sources.otel.contexts import Contexts
    from check_workbench.sources.otel.reading import Told

_INTO = frozenset({*RESOURCES, *SCOPES, "trace"})
_SPANS = frozenset({"spans"})


def _detect(head: Head) -> str | None:
    """Look at more than one record: other signals may come first, and the first one may be broken."""
    for record in (head.keys, *head.records):
        outer = objects(objects(record).get("trace", record))
        key = next((key for key in RESOURCES if outer.get(key) == "[" or isinstance(outer.get(key), list)), None)
        if key is not None and (key != "batches" or _is_batch(outer[key])):
            return f"it has OpenTelemetry spans in {key}"
    return None


def _is_batch(batches: Any) -> bool:
    first = objects(batches[0]) if isinstance(batches, list) and batches else {}
    return any(key in first for key in ("resource", *SCOPES))


def _read(path: Path, origin: Origin) -> Iterator[Run | Rejected | Note]:
    return runs_of_spans(path, origin, _spans)


def _spans(stream: IO[bytes], file: str, contexts: Contexts) -> Iterator[Told]:
    block = Block(contexts)
    for piece in pieces(stream, file, into=_INTO, each=_SPANS):
        if isinstance(piece, Rejected):
            yield piece
        elif piece.key == "spans":
            yield one_span(piece.value, block.context, file, piece.locate)
        elif words := block.add(piece):
            yield Note(file=file, text=words)


FORMAT = Format(
    name="otlp",
    summary="OpenTelemetry spans as OTLP JSON, or as Grafana Tempo exports them",
    detect=_detect,
    read=_read,
)
