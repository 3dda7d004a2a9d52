"""Lists of spans without blocks around them: an array or lines of spans, or `{session_id, spans: [...]}`.

| record | run |
|---|---|
| `trace_id` of a span | `run_id`: a trace is a run, see `runs` |
| a span under any of the names in `recorded` | a span, see `spans` |
| `context` with `trace_id` and `span_id`, as the console exporter of the Python SDK writes it | the ids |
| `resource`, with or without `attributes` in it | `attributes.resource` |
| `scope`, `instrumentation_scope` | `attributes.scope` |
| what stands around a list of spans: `session_id`, … | `attributes.around`; `session_id` where no span tells one |
| a record that is no span and has none | (rejected) |
"""

from __future__ import annotations

from functools import partial
from typing import IO, TYPE_CHECKING, Any

from check_workbench.sources.format import Format, Head, Note, Rejected
from check_workbench.sources.heads import look
from check_workbench.sources.json_items import items
from check_workbench.sources.json_pieces import BEGIN, VALUE, pieces
from check_workbench.sources.otel.flat_parts import SharedParts
from check_workbench.sources.otel.reading import objects, runs_of_spans
from check_workbench.sources.otel.recorded import NAMES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from check_workbench.records import Run
    from check_workbench.sources.format import Origin
    from check_workbench.sources.gathering import Part
    from check_workbench.sources.otel.contexts import Contexts
    from check_workbench.sources.otel.reading import Told

_TRACE = ("trace_id", "traceId")
_SPAN = ("span_id", "spanId")
_SAID = frozenset({"attributes", *(key for key, name in NAMES.items() if name == "start")})
_OTHERS = frozenset({"run_id", "trace_metadata"})
"""Keys of our own runs, and of rows of MLflow, which hold spans as well."""
_NEATLOGS = frozenset({"schema_version", "start_time_unix_nano"})
OF_LOGS = frozenset({"severity_number", "severityNumber", "severity_text", "severityText"})
"""Keys of log records, which name the span that they were written in."""


def _detect(head: Head) -> str | None:
    """Say why a file holds a flat list of spans, or None."""
    spans = head.first.get("spans")
    span = objects(spans[0]) if isinstance(spans, list) and spans else head.first
    if span.keys() >= _NEATLOGS or _OTHERS & head.first.keys() or OF_LOGS & span.keys() or not _SAID & span.keys():
        return None
    if _has_ids(span):
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
        Brings a span under names that `recorded` knows.
    """
    head = look(path)
    around = isinstance(head, Head) and isinstance(head.first.get("spans"), list)
    return runs_of_spans(path, origin, partial(_spans_in_lists if around else _spans, plain))


def _read(path: Path, origin: Origin) -> Iterator[Run | Rejected | Note]:
    return runs_of_flat(path, origin, _as_it_is)


def _as_it_is(value: Any) -> Any:
    return value


def _spans(plain: Callable[[Any], Any], stream: IO[bytes], file: str, contexts: Contexts) -> Iterator[Told]:
    parts = SharedParts(contexts)
    for item in items(stream, file):
        yield item if isinstance(item, Rejected) else parts.span(plain(item.value), {}, file, item.locate)


def _spans_in_lists(plain: Callable[[Any], Any], stream: IO[bytes], file: str, contexts: Contexts) -> Iterator[Told]:
    parts = SharedParts(contexts)
    around: dict[str, Any] = {}
    listed = False
    for piece in pieces(stream, file, into=frozenset(), each=frozenset({"spans"})):
        if isinstance(piece, Rejected):
            yield piece
        elif piece.what == BEGIN:
            around, parts, listed = {}, SharedParts(contexts), False
        elif piece.key == "spans" or (piece.what == VALUE and not piece.key):
            listed = True
            yield parts.span(plain(piece.value), around, file, piece.locate)
        elif piece.what == VALUE:
            around[piece.key] = piece.value
        elif listed:
            parts.say(around)
        else:
            yield _alone(plain(around), parts, file, piece.locate)


def _alone(value: Any, parts: SharedParts, file: str, locate: Callable[[], int]) -> Part | Rejected:
    """Read a record that holds no list of spans: a span, or nothing that can be used."""
    if _has_ids(value) or "trace_id" in objects(value.get("context")):
        return parts.span(value, {}, file, locate)
    return Rejected(file=file, line=locate(), reason="a record must be a span, or have spans in a list, got neither")


def _has_ids(span: Mapping[str, Any]) -> bool:
    return any(key in span for key in _TRACE) and any(key in span for key in _SPAN)


FORMAT = Format(
    name="spans",
    summary="OpenTelemetry spans in an array, in lines, or in spans of {session_id, spans}",
    detect=_detect,
    read=_read,
)
