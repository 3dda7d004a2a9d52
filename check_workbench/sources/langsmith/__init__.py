"""LangSmith runs and feedback, as the clients send them and as the API, the SDK and bulk exports give them out.

What LangSmith calls a run is a span here, and its trace is the run: `run_id` is the `trace_id`.

| record | becomes |
|---|---|
| a run: `{id, trace_id, run_type, inputs, outputs, …}` | a span; see `langsmith_runs` |
| `{post: [run], patch: [run]}`, a batch | its runs; a patch is what came to be known of a run later |
| `child_runs` of a run, at any depth | runs |
| `feedback` of a run, or `{key, run_id, feedback_source, …}` | a decision or an answer; see `langsmith_feedback` |
| `{runs: [run], cursors}`, a page of the API | its runs |

Runs of one trace may lie anywhere in a file; traces come at its end. Rows of one run are merged in file order: a later
value replaces an earlier one unless it is empty, and `extra` is merged key by key. A run without `trace_id` says it in
`dotted_order`, or is its own trace if it has no parent; without `id`, `dotted_order` ends with it.
"""

from __future__ import annotations

from functools import partial
from typing import IO, TYPE_CHECKING, Any

from check_workbench.errors import InputError
from check_workbench.sources.feedback import Feedback
from check_workbench.sources.format import Format, Rejected
from check_workbench.sources.gathering import Group, Part, gather
from check_workbench.sources.json_items import items, opened
from check_workbench.sources.langsmith.feedback import opinion
from check_workbench.sources.langsmith.runs import id_of, run_of, trace_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from check_workbench.sources.format import Head, Origin, Record

    Reject = Callable[..., Rejected]

_BATCH = ("post", "patch")
_TELLING = frozenset({"run_type", "trace_id", "dotted_order", "session_name"})
_PLACED = frozenset({"trace_id", "dotted_order", "parent_run_id", "session_name", "session_id", "child_runs"})
_FEEDBACK = frozenset({"key", "run_id", "feedback_source"})


def _detect(head: Head) -> str | None:
    first = head.first
    if any(head.keys.get(key) == "[" for key in _BATCH):
        lists = [first[key] for key in _BATCH if isinstance(first.get(key), list)]
        sent = [row for rows in lists for row in rows if isinstance(row, dict)]
        return "its first record is a batch of LangSmith runs" if sent and _TELLING & sent[0].keys() else None
    if head.keys.keys() >= _FEEDBACK:
        return "its first record is feedback of LangSmith"
    page = first.get("runs")
    if isinstance(page, list) and "cursors" in head.keys and page and isinstance(page[0], dict):
        return "its first record is a page of LangSmith runs" if "run_type" in page[0] else None
    if {"id", "run_type"} <= head.keys.keys() and _PLACED & head.keys.keys():
        return "its first record is a run of LangSmith"
    return None


def _read(path: Path, origin: Origin) -> Iterator[Record]:
    feedback = Feedback()
    with opened(path) as stream:
        found: Iterator[Group | Record] = gather(_parts(stream, origin, feedback), stream.tell)
        for record in found:
            if isinstance(record, Group):
                yield from _trace(record, feedback, partial(Rejected, file=origin.file, line=record.values[0][0]))
            else:
                yield record
    yield from feedback.notes(origin.file)


def _parts(stream: IO[bytes], origin: Origin, feedback: Feedback) -> Iterator[Record | Part]:
    for item in items(stream, origin.file):
        if isinstance(item, Rejected):
            yield item
            continue
        line = item.line
        reject = partial(Rejected, file=origin.file, line=line)
        for row in _rows(item.value):
            if isinstance(row, dict) and row.keys() >= _FEEDBACK and "run_type" not in row:
                yield _opinion(row, feedback, reject)
            else:
                yield from _runs(row, line, reject)


def _rows(value: Any) -> list[Any]:
    if not isinstance(value, dict) or "run_type" in value:
        return [value]
    lists = [value[key] for key in ("runs", *_BATCH) if isinstance(value.get(key), list)]
    return [row for rows in lists for row in rows] if lists else [value]


def _runs(row: Any, line: int, reject: Reject) -> Iterator[Part | Rejected]:
    """Yield a run and the runs inside of it, each on its own."""
    waiting: list[tuple[Any, str | None, str | None]] = [(row, None, None)]
    while waiting:
        row, trace, parent = waiting.pop()
        try:
            alone, inside = _parted(row, parent)
            key, id_ = trace or trace_of(alone), id_of(alone)
        except ValueError as error:
            yield reject(reason=str(error))
            continue
        yield Part(key, [line, alone])
        waiting.extend((child, key, id_) for child in reversed(inside))


def _parted(row: Any, parent: str | None) -> tuple[dict[str, Any], list[Any]]:
    if not isinstance(row, dict):
        raise InputError(f"a run must be an object, got {type(row).__name__}")
    inside = row.get("child_runs") or []
    if not isinstance(inside, list):
        raise InputError(f"child_runs of a run must be a list, got {type(inside).__name__}")
    alone = {key: value for key, value in row.items() if key != "child_runs"}
    if parent is not None and not alone.get("parent_run_id"):
        alone["parent_run_id"] = parent
    return alone, inside


def _trace(group: Group, feedback: Feedback, reject: Reject) -> Iterator[Record]:
    rows = [row for _, row in group.values]
    try:
        yield run_of(group.key, rows)
    except ValueError as error:
        yield reject(reason=f"trace {group.key}: {error}")
    except RecursionError:
        yield reject(reason=f"trace {group.key}: it is nested too deeply")
    for row in rows:
        said = row.get("feedback") or []
        for one in said if isinstance(said, list) else [said]:
            about = {"run_id": one.get("run_id") or id_of(row), "trace_id": group.key} if isinstance(one, dict) else {}
            yield _opinion({**one, **about} if about else one, feedback, reject)


def _opinion(row: Any, feedback: Feedback, reject: Reject) -> Record:
    try:
        return opinion(row, feedback)
    except ValueError as error:
        return reject(reason=str(error))


FORMAT = Format(
    name="langsmith",
    summary="LangSmith runs and feedback: batches of a client, or arrays, lines and pages of an export",
    detect=_detect,
    read=_read,
)
