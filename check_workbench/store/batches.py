"""Runs as Arrow tables: the rows that readers' runs become before the database normalises them."""

from __future__ import annotations

import contextlib
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from check_workbench.records import Run, Span, Step, columns
from check_workbench.store.frames import arrow_types, json_text
from check_workbench.store.schema import SQL_TYPES
from check_workbench.store.validity import problem_of, span_id, utc

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    import pyarrow as pa

    from check_workbench.records import Column

_FIELDS: dict[type, tuple[Column, ...]] = {record: columns(record) for record in (Run, Span, Step)}


class Placed(NamedTuple):
    """A run, the key that it will have, and where it stands in its file."""

    key: int
    line: int
    run: Run


class Batch(NamedTuple):
    """Arrow tables of some runs with their spans and steps."""

    runs: pa.Table
    spans: pa.Table
    steps: pa.Table


def batch(placed: Sequence[Placed]) -> tuple[Batch, list[tuple[Placed, str]]]:
    """Build the tables of the runs that can be stored; list the others, each with the reason.

    Parameters
    ----------
    placed
        Runs in file order.
    """
    refused = [(item, problem) for item in placed if (problem := problem_of(item.run))]
    bad = {item.key for item, _ in refused}
    good = [item for item in placed if item.key not in bad] if bad else placed
    try:
        return _batch(good), refused
    except (ValueError, TypeError, OverflowError):
        broken = [(item, reason) for item in good if (reason := _why_not(item))]
        bad = {item.key for item, _ in broken}
        return _batch([item for item in good if item.key not in bad]), refused + broken


def joined(batches: Sequence[Batch]) -> Batch:
    """Put batches behind one another, without copying them."""
    import pyarrow as pa

    runs, spans, steps = (pa.concat_tables(tables) for tables in zip(*(batches or [_batch([])]), strict=True))
    return Batch(runs=runs, spans=spans, steps=steps)


def text_form(value: Any) -> str:
    """Return how a value is stored as text: a text as it is, any other value as its JSON.

    Raises
    ------
    ValueError
        If it holds NaN or infinity, which JSON cannot write.

    Examples
    --------
    >>> text_form("a"), text_form({"n": 1.5, "of": [None, True]})
    ('a', '{"n":1.5,"of":[null,true]}')
    """
    return value if isinstance(value, str) else json_text(value)


def _why_not(item: Placed) -> str | None:
    try:
        _batch([item])
    except UnicodeError:
        return "a text holds half of a surrogate pair, which no encoding can write"
    except (ValueError, TypeError, OverflowError) as error:
        return f"a value does not fit its field: {error}"
    return None


def _batch(placed: Sequence[Placed]) -> Batch:
    import numpy as np

    counts = [len(item.run.spans) for item in placed]
    keys = np.array([item.key for item in placed], dtype=np.int64)
    spans, places = _spans(placed)
    ids = [span_id(span, place + 1) for span, place in zip(spans, places, strict=True)]
    steps = [(item.key, place, step) for item in placed for place, step in enumerate(item.run.steps)]
    return Batch(
        runs=_table(Run, [i.run for i in placed], row=keys, line=[i.line for i in placed]),
        spans=_table(
            Span,
            spans,
            row=np.repeat(keys, counts),
            seq=np.concatenate([np.arange(n, dtype=np.int64) for n in (*counts, 0)]),
            span_id=ids,
        ),
        steps=_table(Step, [s[2] for s in steps], row=[s[0] for s in steps], place=[s[1] for s in steps]),
    )


def _spans(placed: Sequence[Placed]) -> tuple[list[Span], list[int]]:
    """Return all spans in the order of their runs and times, and the place of each in its run from 0."""
    spans: list[Span] = []
    places: list[int] = []
    for item in placed:
        own = item.run.spans
        order: Sequence[int] = range(len(own))
        if all(span.started_at is not None for span in own):
            order = sorted(order, key=lambda i: utc(own[i].started_at))  # type: ignore[arg-type]
            own = tuple(own[i] for i in order)
        spans += own
        places += order
    return spans, places


def _table(record: type[Run | Span | Step], parts: Sequence[Any], **own: Any) -> pa.Table:
    import pyarrow as pa

    fields = _FIELDS[record]
    types = arrow_types({c.name: SQL_TYPES[c.kind] for c in fields})
    arrays = {c.name: _array(c, list(map(attrgetter(c.name), parts)), types[c.name]) for c in fields}
    for name, given in own.items():
        arrays[name] = pa.array(given, type=pa.large_string() if name == "span_id" else pa.int64())
    return pa.table(arrays)


def _array(column: Column, values: Sequence[Any], type_: pa.DataType) -> pa.Array:
    import pyarrow as pa

    if values.count(None) == len(values):
        return pa.nulls(len(values), type_)
    if column.kind == "text":
        with contextlib.suppress(TypeError, pa.ArrowException):  # all of it is text already
            return pa.array(values, type=type_)
    convert = _CONVERT[column.kind]
    return pa.array([None if v is None else convert(v) for v in values], type=type_)


def _integer(value: Any) -> int:
    if isinstance(value, bool) or int(value) != float(value):
        raise ValueError(f"{value!r} must be a whole number")
    return int(value)


def _number(value: Any) -> float:
    number = float(value)
    if isinstance(value, bool) or number != number or number in (float("inf"), float("-inf")):  # noqa: PLR0124
        raise ValueError(f"{value!r} must be a finite number")
    return number


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{value!r} must be true or false")
    return value


def _time(value: datetime) -> datetime:
    return utc(value)


_CONVERT: dict[str, Callable[[Any], Any]] = {
    "text": text_form,
    "json": json_text,
    "time": _time,
    "integer": _integer,
    "number": _number,
    "flag": _flag,
}
