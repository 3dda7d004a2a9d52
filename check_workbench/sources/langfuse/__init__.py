"""Langfuse traces, observations and scores, as the interface, the API and the export to blob storage write them.

One record is one object of an array or of lines, or one file. `run_id` is the id of the trace.

| record | becomes |
|---|---|
| `{trace, observations}` | a run; see `langfuse_traces` |
| a trace: `{id, timestamp, tags, public, observations, scores}` | a run; `observations` may be missing, or be ids |
| an observation: `{id, traceId, type, parentObservationId, …}` | a run for each trace, at the end of the file |
| a score: `{id, traceId, name, source, value, …}`, or in a trace | a decision or an answer; see `langfuse_scores` |
| `{data: […], meta}`, a page of the API | its records |

Keys in snake_case, as in the export to blob storage, are the same keys.
"""

from __future__ import annotations

import re
from functools import cache, partial
from typing import IO, TYPE_CHECKING, Any

from check_workbench.errors import InputError
from check_workbench.records import Run
from check_workbench.sources.format import Format, Rejected
from check_workbench.sources.gathering import Group, Part, gather
from check_workbench.sources.json_items import items, opened
from check_workbench.sources.langfuse.scores import SOURCES, Scores
from check_workbench.sources.langfuse.traces import run_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from check_workbench.sources.format import Head, Origin, Record

    Reject = Callable[..., Rejected]

_EXPORT = frozenset({"trace", "observations"})
_TRACE = frozenset({"id", "timestamp", "tags", "public", "release"})
_OBSERVATION = frozenset({"id", "traceId", "type", "parentObservationId"})
_SCORE = frozenset({"id", "name", "source", "value", "dataType"})
_UNDERSCORE = re.compile(r"_([a-z])")


def _detect(head: Head) -> str | None:
    first: Any = head.first
    trace = first.get("trace")
    if isinstance(trace, dict) and head.keys.keys() <= _EXPORT and trace.keys() >= {"id", "timestamp"}:
        return "its first record has a trace and its observations"
    page = first.get("data")
    if isinstance(page, list) and "meta" in first and page:
        first = page[0]
    if not isinstance(first, dict):
        return None
    kind = _kind(_camel(first) if page else dict.fromkeys(map(_camel_key, head.keys)) | _camel(first))
    return None if kind is None else f"its first record is {kind} of Langfuse"


def _read(path: Path, origin: Origin) -> Iterator[Record]:
    scores = Scores()
    with opened(path) as stream:
        found: Iterator[Group | Record] = gather(_parts(stream, origin, scores), stream.tell)
        for record in found:
            if isinstance(record, Group):
                reject = partial(Rejected, file=origin.file, line=record.values[0][0])
                yield from _run({"id": record.key}, [row for _, row in record.values], reject)
            else:
                yield record
    yield from scores.notes(origin.file)


def _parts(stream: IO[bytes], origin: Origin, scores: Scores) -> Iterator[Record | Part]:
    for item in items(stream, origin.file):
        if isinstance(item, Rejected):
            yield item
            continue
        line = item.line
        reject = partial(Rejected, file=origin.file, line=line)
        for record in _records(item.value):
            try:
                yield from _made(record, line, scores, reject)
            except ValueError as error:
                yield reject(reason=str(error))


def _made(record: Any, line: int, scores: Scores, reject: Reject) -> Iterator[Record | Part]:
    if not isinstance(record, dict):
        raise InputError(f"a record must be an object, got {type(record).__name__}")
    if isinstance(record.get("trace"), dict):
        yield from _trace(_camel(record["trace"]), _objects(record, "observations"), scores, reject)
        return
    row = _camel(record)
    kind = _kind(row)
    if kind == "an observation":
        yield Part(_text(row, "traceId"), [line, row])
    elif kind == "a score":
        yield scores.read(row)
    elif kind == "a trace":
        yield from _trace(row, [], scores, reject)
    else:
        raise InputError("it must be a trace, an observation or a score of Langfuse, but has none of their keys")


def _trace(
    trace: dict[str, Any], observations: list[dict[str, Any]], scores: Scores, reject: Reject
) -> Iterator[Record]:
    said = [row for key in ("scores", "corrections") for row in _objects(trace, key)]
    [run] = _run(trace, [*_objects(trace, "observations"), *observations], reject)
    yield run
    for row in said:
        try:
            yield scores.read(row, run if isinstance(run, Run) else None)
        except ValueError as error:
            yield reject(reason=str(error))


def _run(trace: dict[str, Any], observations: list[dict[str, Any]], reject: Reject) -> Iterator[Run | Rejected]:
    try:
        yield run_of(trace, observations)
    except ValueError as error:
        yield reject(reason=f"trace {trace.get('id')!r:.80}: {error}")
    except RecursionError:
        yield reject(reason=f"trace {trace.get('id')!r:.80}: it is nested too deeply")


def _objects(record: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """Return the objects of a list; ids alone say nothing that is not said elsewhere."""
    listed = record.get(key) or []
    if not isinstance(listed, list) or not all(isinstance(one, dict | str) for one in listed):
        raise InputError(f"{key} of a trace must be a list of objects or ids, got {listed!r:.80}")
    return [_camel(one) for one in listed if isinstance(one, dict)]


def _records(value: Any) -> list[Any]:
    page = value.get("data") if isinstance(value, dict) and "meta" in value else None
    return page if isinstance(page, list) else [value]


def _kind(row: Mapping[str, Any]) -> str | None:
    keys = row.keys()
    if keys >= _OBSERVATION:
        return "an observation"
    if keys >= _SCORE and row.get("source") in SOURCES:
        return "a score"
    return "a trace" if keys >= _TRACE else None


def _camel(row: Mapping[str, Any]) -> dict[str, Any]:
    return {_camel_key(key) if "_" in key else key: value for key, value in row.items()}


@cache
def _camel_key(key: str) -> str:
    return _UNDERSCORE.sub(lambda found: found[1].upper(), key)


def _text(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    if not isinstance(value, str) or not value:
        raise InputError(f"{key} must be text, got {value!r:.80}")
    return value


FORMAT = Format(
    name="langfuse",
    summary="Langfuse traces, observations and scores, from the interface, the API or the export to blob storage",
    detect=_detect,
    read=_read,
)
