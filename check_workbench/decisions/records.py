"""Rows to decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.decisions import fields
from check_workbench.decisions.notes import Notes
from check_workbench.errors import InputError
from check_workbench.records import Decision, columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from check_workbench.decisions.rows import Row
    from check_workbench.sources.format import Note, Rejected

_COLUMNS = {column.name: column for column in columns(Decision)}
REQUIRED = tuple(name for name, column in _COLUMNS.items() if column.required)
_LEAST = {"question": 0, "attempt": 1}
_SEEN = {"blind": False, "saw_verdict": True}
"""What a provenance says of `verdict_seen`."""


def decisions(rows: Iterable[Row | Rejected | Note], file: str) -> Iterator[Decision | Rejected | Note]:
    """Turn rows into decisions; notes come where they arise or at the end.

    Parameters
    ----------
    rows
        As a format reads them.
    file
        The file's name in rejected records.
    """
    yield from Notes(file, _COLUMNS).records(rows, decision)


def decision(row: Mapping[str, Any], notes: Notes) -> Decision:
    """Turn one row into a decision.

    Parameters
    ----------
    row
        Values by column.
    notes
        Remembers what was assumed.

    Raises
    ------
    InputError
        If it is none.

    Examples
    --------
    >>> decision({"run_id": 7, "decision": "approved"}, Notes("labels.csv", ())).run_id
    '7'
    """
    for name in REQUIRED:
        if name not in row:
            raise InputError(f"{name} must be there")
    values = {name: _value(name, value, notes) for name, value in row.items() if name in _COLUMNS}
    implied = _SEEN.get(values.get("provenance", ""))
    seen = values.setdefault("verdict_seen", implied)
    if implied is not None and seen is not implied:
        said = "saw the verdict" if seen else "did not see the verdict"
        raise InputError(
            f"provenance {values['provenance']} contradicts verdict_seen, which says that the person {said}"
        )
    return Decision(**values)


def _value(name: str, value: Any, notes: Notes) -> Any:
    column = _COLUMNS[name]
    if column.choices:
        return fields.one_of(name, value, column.choices)
    if column.kind == "time":
        return notes.time(name, value)
    return _CONVERT[column.kind](name, value)


def _whole(name: str, value: Any) -> int:
    return fields.whole(name, value, least=_LEAST[name])


def _sampled(name: str, value: Any) -> float:
    found = fields.share(name, value)
    if found == 0:
        raise InputError(f"{name} must lie above 0 and up to 1, got 0")
    return found


_CONVERT: dict[str, Callable[[str, Any], Any]] = {
    "text": fields.text,
    "integer": _whole,
    "number": _sampled,
    "flag": fields.flag,
}
