"""From what a field of a mapping found to what the field of a record may hold."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from check_workbench.decisions import fields
from check_workbench.errors import InputError
from check_workbench.records import Column, Decision, Run, Span, Step, columns
from check_workbench.results import Answer
from check_workbench.sources.times import when

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from check_workbench.sources.mapping.language import Kind

RECORDS: Mapping[Kind, type] = {"run": Run, "spans": Span, "steps": Step, "decisions": Decision, "answers": Answer}
_OBJECTS = ("metrics", "attributes")
_NUMBERS = ("probability", "level", "score", "confidence")


def names_of(kind: Kind) -> tuple[str, ...]:
    """List the fields that a mapping may give for a kind of thing, in order."""
    names = tuple(f.name for f in dataclasses.fields(RECORDS[kind]) if f.name not in ("spans", "steps", "asked"))
    return tuple("question" if name == "item" and kind == "answers" else name for name in names)


def required_of(kind: Kind) -> tuple[str, ...]:
    """List the fields without which there is no thing of a kind."""
    return tuple(
        f.name
        for f in dataclasses.fields(RECORDS[kind])
        if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
    )


def takes_object(kind: Kind, name: str) -> bool:
    """Say whether a field may be an object made of several things."""
    if kind == "answers":
        return name in ("probabilities", "value")
    column = next(column for column in columns(RECORDS[kind]) if column.name == name)
    return column.kind == "json" or "Any" in _written(kind, name)


def converted(kind: Kind, name: str, value: Any) -> Any:
    """Return a value as the field takes it.

    Parameters
    ----------
    kind, name
        The field.
    value
        What was found; not None.

    Raises
    ------
    ValueError
        If the field cannot take it.

    Examples
    --------
    >>> converted("spans", "duration_ms", "12.5"), converted("answers", "level", "3.0")
    (12.5, 3.0)
    """
    if kind == "answers":
        return _of_answer(name, value)
    if kind == "decisions":
        return _of_decision(name, value)
    return _CONVERT[kind][name](name, value)


def _of_answer(name: str, value: Any) -> Any:
    if name in _NUMBERS:
        return fields.number(name, value)
    if name == "passed":
        return fields.flag(name, value)
    if name == "probabilities" and isinstance(value, dict):
        return {key: fields.number(f"{name}.{key}", number) for key, number in value.items()}
    return _moment(name, value) if name == "at" else value


def _of_decision(name: str, value: Any) -> Any:
    if name == "question":
        return fields.whole(name, value, least=0)
    return _moment(name, value) if name == "decided_at" else value


def _moment(name: str, value: Any) -> Any:
    """Return a time that is a number as a time; the reader of decisions takes text, and notes a missing zone."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return _time(name, value) if is_number else value


def _time(name: str, value: Any) -> Any:
    try:
        return when(value) if not hasattr(value, "astimezone") else value
    except ValueError as error:
        raise InputError(f"{name}: {error}") from None


def _object(name: str, value: Any) -> Any:
    if not isinstance(value, dict):
        raise InputError(f"{name} must be an object, got {type(value).__name__}")
    return value


def _any(name: str, value: Any) -> Any:
    del name
    return value


def _written(kind: Kind, name: str) -> str:
    return str(next(f.type for f in dataclasses.fields(RECORDS[kind]) if f.name == name))


def _converter(column: Column, written: str) -> Callable[[str, Any], Any]:
    if column.choices:
        return lambda name, value: fields.one_of(name, value, column.choices)
    if column.name in _OBJECTS:
        return _object
    if column.kind == "text" and "Any" not in written:
        return fields.text
    others: dict[str, Callable[[str, Any], Any]] = {
        "time": _time,
        "number": fields.number,
        "integer": fields.whole,
        "flag": fields.flag,
    }
    return others.get(column.kind, _any)


_CONVERT: dict[str, dict[str, Callable[[str, Any], Any]]] = {
    kind: {column.name: _converter(column, _written(kind, column.name)) for column in columns(record)}
    for kind, record in RECORDS.items()
    if record is not Answer
}
