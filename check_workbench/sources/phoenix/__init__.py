"""Phoenix spans and annotations, as its client, its API and its data frames write them.

| record | becomes |
|---|---|
| a span: `{context: {trace_id, span_id}, span_kind, …}` | a span of its trace, see `otel.spans` and `otel.runs` |
| a row of a data frame: `context.trace_id`, `attributes.input.value`, … | the same; lists of messages are taken apart |
| an annotation of a span or a trace: `{annotator_kind, name, result, …}` | a decision or an answer, see below |
| a row of annotations joined to spans: both, with `annotation_name` and `result.label` | both; the span once |
| `{data: […], next_cursor}`, a page of the API | its records |

| annotation | becomes |
|---|---|
| `annotator_kind` HUMAN | a decision about the check of that name; see `feedback` for what label and score say |
| LLM, CODE | an answer of the check of that name, `method` `phoenix LLM` or `phoenix CODE` |
| `trace_id`; `span_id` | `run_id`; `span_id`, and `run_id` by the spans of the same file |
| `label`, `score`, `explanation` | `choice` and `score`, with both `value` and `score`; `note`, `explanation` |
| `metadata.model`, `user_id`, `updated_at` | `model`, `decided_by`, `decided_at` or `at` |
| `metadata` beyond that | (not taken; a note counts it) |

An annotation of a span names no trace, so it needs the span in the same file, before it or behind. One of a session, or
of one document that a span brought, is of no run, and is rejected.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import IO, TYPE_CHECKING, Any

from check_workbench.sources.format import Format, Rejected
from check_workbench.sources.gathering import Group, gather
from check_workbench.sources.json_items import items, opened
from check_workbench.sources.otel.contexts import Contexts
from check_workbench.sources.otel.reading import one_span, repaired
from check_workbench.sources.otel.recorded import Recorded
from check_workbench.sources.otel.runs import run_of
from check_workbench.sources.phoenix.annotations import Annotations
from check_workbench.sources.phoenix.rows import annotation_in, span_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from check_workbench.sources.format import Head, Origin, Record
    from check_workbench.sources.gathering import Part


def _detect(head: Head) -> str | None:
    first: Any = head.first
    page = first.get("data")
    if isinstance(page, list) and "next_cursor" in head.keys and page:
        first = page[0]
    if not isinstance(first, dict):
        return None
    if span_in(first) is not None:
        return "its first record is a span of Phoenix"
    return "its first record is an annotation of Phoenix" if annotation_in(first) is not None else None


def _read(path: Path, origin: Origin) -> Iterator[Record]:
    annotations, contexts, repairs = Annotations(origin.file), Contexts(), Counter[str]()
    context = contexts.open()
    with opened(path) as stream:
        found: Iterator[Group | Record] = gather(_parts(stream, origin.file, context, annotations), stream.tell)
        for record in found:
            if isinstance(record, Group):
                spans = _once(Recorded(*told) for told in record.values)
                yield run_of(record.key, spans, contexts, repairs)
                yield from annotations.about(record.key, spans)
            else:
                yield record
    yield from annotations.rest()
    yield from repaired(repairs, origin.file)


def _parts(stream: IO[bytes], file: str, context: int, annotations: Annotations) -> Iterator[Record | Part]:
    for item in items(stream, file):
        if isinstance(item, Rejected):
            yield item
            continue
        line = item.line
        page = item.value.get("data") if isinstance(item.value, dict) and "next_cursor" in item.value else None
        for row in page if isinstance(page, list) else [item.value]:
            span, said = span_in(row), annotation_in(row)
            if span is not None:
                yield one_span(span, context, file, partial(int, line))
            if said is not None:
                yield from annotations.take(said, line)
            if span is None and said is None:
                yield Rejected(file=file, line=line, reason="it is neither a span nor an annotation of Phoenix")


def _once(spans: Iterable[Recorded]) -> list[Recorded]:
    """Leave out the repeats of a span that each of its annotations brings along."""
    found: list[Recorded] = []
    known: dict[str | None, Recorded] = {}
    for told in spans:
        if told.span_id is None or known.get(told.span_id) != told:
            found.append(told)
            known[told.span_id] = told
    return found


FORMAT = Format(
    name="phoenix",
    summary="Phoenix spans and annotations, from its client, its API or its data frames",
    detect=_detect,
    read=_read,
)
