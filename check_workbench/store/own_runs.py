"""One record of our own JSON lines as a `Run`: the obvious way, which also says why a record cannot be used."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError
from check_workbench.records import Run, Span, Step, columns

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from check_workbench.records import Column

NAIVE_NOTE = "times without a zone were read as UTC"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?")
_COLUMNS = {record: columns(record) for record in (Run, Span, Step)}
_OBJECTS = ("attributes", "metrics")
_LISTS = ("events",)


def run_of(record: Any, *, note: Callable[[str], None]) -> Run:
    """Make a run of a decoded record; keys that are no field go into `attributes`.

    Parameters
    ----------
    record
        What the line holds.
    note
        Is told what was assumed.

    Raises
    ------
    InputError
        If the record cannot be used; the message says why.

    Examples
    --------
    >>> run_of({"run_id": "r", "team": "red"}, note=print).attributes
    {'team': 'red'}
    """
    if not isinstance(record, dict):
        raise InputError(f"a run must be an object, got {_shown(record)}")
    if isinstance(record.get("run_id"), bool | dict | list | float):
        raise InputError(f"run_id must be a text, got {_shown(record['run_id'])}")
    if record.get("run_id") in (None, ""):
        raise InputError("run_id is required, and is missing or empty")
    spans = tuple(_part(Span, p, f"span {i}", note=note) for i, p in enumerate(_list(record, "spans"), start=1))
    steps = tuple(_part(Step, p, f"step {i}", note=note) for i, p in enumerate(_list(record, "steps"), start=1))
    values = _values(Run, {k: v for k, v in record.items() if k not in {"spans", "steps"}}, "the run", note=note)
    return Run(**values, spans=spans, steps=steps)


def moment(value: Any) -> tuple[datetime, bool]:
    """Read a time: ISO 8601 text, or a number since 1970.

    A number is seconds; one of 12 or more digits before the point is milliseconds, of 15 or more microseconds, of
    18 or more nanoseconds. Parts under a microsecond are cut off.

    Parameters
    ----------
    value
        Text or number; a number may be written as text.

    Returns
    -------
    tuple
        The time in UTC, and whether it came without a zone.

    Raises
    ------
    InputError
        If it is neither.

    Examples
    --------
    >>> moment("2026-03-01T12:00:00+02:00")
    (datetime.datetime(2026, 3, 1, 10, 0, tzinfo=datetime.timezone.utc), False)
    >>> moment(1.5)[0] == moment("1970-01-01 00:00:01.5")[0]
    True
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InputError(f"must be a time, got {_shown(value)}")
    text = str(value)
    if _NUMBER.fullmatch(text):
        return _since_epoch(value if isinstance(value, int) else float(value)), False
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(f"must be ISO 8601 or seconds since 1970, got {_shown(value)}") from None
    try:
        return (read.replace(tzinfo=UTC), True) if read.tzinfo is None else (read.astimezone(UTC), False)
    except OverflowError:
        raise InputError(f"must lie between 1970 and 2200, got {_shown(value)}") from None


def _since_epoch(number: float) -> datetime:
    size = abs(number)
    per_second = 1 if size < 1e11 else 1_000 if size < 1e14 else 1_000_000 if size < 1e17 else 1_000_000_000
    try:
        if isinstance(number, int):
            return _EPOCH + timedelta(microseconds=number * 1_000_000 // per_second)
        return _EPOCH + timedelta(microseconds=math.floor(round(number / per_second * 1e6, 3)))
    except (OverflowError, ValueError):
        raise InputError(f"must lie between 1970 and 2200, got {_shown(number)}") from None


def _list(record: Mapping[str, Any], name: str) -> list[Any]:
    value = record.get(name)
    if value is not None and not isinstance(value, list):
        raise InputError(f"{name} must be a list, got {_shown(value)}")
    return value or []


def _part(kind: type[Any], value: Any, where: str, *, note: Callable[[str], None]) -> Any:
    if not isinstance(value, dict):
        raise InputError(f"{where} must be an object, got {_shown(value)}")
    required = next(c.name for c in _COLUMNS[kind] if c.required)
    if value.get(required) in (None, ""):
        raise InputError(f"{where}: {required} is required, and is missing or empty")
    return kind(**_values(kind, value, where, note=note))


def _values(kind: type[Any], record: Mapping[str, Any], where: str, *, note: Callable[[str], None]) -> dict[str, Any]:
    known = {c.name: c for c in _COLUMNS[kind]}
    values: dict[str, Any] = {}
    unknown: dict[str, Any] = {}
    for name, value in record.items():
        if name not in known:
            unknown[name] = value
        elif value is not None:
            try:
                values[name] = _value(known[name], value, note=note)
            except InputError as error:
                raise InputError(f"{where}: {name} {error}") from None
    if unknown:
        values["attributes"] = _with(values.get("attributes") or {}, unknown)
    return values


def _with(attributes: Mapping[str, Any], unknown: Mapping[str, Any]) -> dict[str, Any]:
    """Add keys to attributes; one that is there already gets an underscore, so that nothing is lost."""
    merged = dict(attributes)
    for name, value in unknown.items():
        free = name
        while free in merged:
            free += "_"
        merged[free] = value
    return merged


def _value(column: Column, value: Any, *, note: Callable[[str], None]) -> Any:
    if column.kind == "time":
        read, naive = moment(value)
        if naive:
            note(NAIVE_NOTE)
        return read
    if column.kind in {"integer", "number"}:
        return _quantity(value, whole=column.kind == "integer")
    if column.kind == "flag" and not isinstance(value, bool):
        raise InputError(f"must be true or false, got {_shown(value)}")
    if column.name in _OBJECTS and not isinstance(value, dict):
        raise InputError(f"must be an object, got {_shown(value)}")
    if column.name in _LISTS and not isinstance(value, list):
        raise InputError(f"must be a list, got {_shown(value)}")
    return value


def _quantity(value: Any, *, whole: bool) -> float:
    must = "a whole number" if whole else "a number"
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise InputError(f"must be {must}, got {_shown(value)}")
    if isinstance(value, str) and not _NUMBER.fullmatch(value):
        raise InputError(f"must be {must}, got {_shown(value)}")
    number = float(value)
    if not math.isfinite(number) or (whole and (not number.is_integer() or abs(number) >= 2**63)):
        raise InputError(f"must be {must}, got {_shown(value)}")
    return int(number) if whole else number


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
