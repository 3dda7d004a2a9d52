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
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import datetime

    import pyarrow as pa

    from check_workbench.records import Column


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


def batch(placed: Sequence[Placed]) -> tuple[Batch, list[tuple[int, str]]]:
    """Build the tables of the runs that can be stored; list line and reason of the others.

    Parameters
    ----------
    placed
        Runs in file order.
    """
    refused = [(item.line, problem) for item in placed if (problem := problem_of(item.run))]
    bad = {line for line, _ in refused}
    good = [item for item in placed if item.line not in bad] if bad else placed
    try:
        return _batch(good), refused
    except (ValueError, TypeError, OverflowError):
        broken = {item.line: reason for item in good if (reason := _why_not(item))}
        return _batch([item for item in good if item.line not in broken]), refused + list(broken.items())


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
    spans = [row for item in placed for row in _span_rows(item)]
    steps = [(item.key, place, step) for item in placed for place, step in enumerate(item.run.steps)]
    return Batch(
        runs=_table(Run, [i.run for i in placed], row=[i.key for i in placed], line=[i.line for i in placed]),
        spans=_table(
            Span,
            [s[3] for s in spans],
            row=[s[0] for s in spans],
            seq=[s[1] for s in spans],
            span_id=[s[2] for s in spans],
        ),
        steps=_table(Step, [s[2] for s in steps], row=[s[0] for s in steps], place=[s[1] for s in steps]),
    )


def _span_rows(item: Placed) -> Iterator[tuple[int, int, str, Span]]:
    spans = item.run.spans
    order: Iterable[int] = range(len(spans))
    if all(span.started_at is not None for span in spans):
        order = sorted(order, key=lambda i: utc(spans[i].started_at))  # type: ignore[arg-type]
    for seq, place in enumerate(order):
        yield item.key, seq, span_id(spans[place], place + 1), spans[place]


def _table(record: type[Run | Span | Step], parts: Sequence[Any], **own: list[Any]) -> pa.Table:
    import pyarrow as pa

    fields = columns(record)
    types = arrow_types({c.name: SQL_TYPES[c.kind] for c in fields})
    arrays = {c.name: _array(c, list(map(attrgetter(c.name), parts)), types[c.name]) for c in fields}
    for name, values in own.items():
        arrays[name] = pa.array(values, type=pa.large_string() if name == "span_id" else pa.int64())
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
