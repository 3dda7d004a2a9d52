"""Rows to recorded answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.decisions import fields
from check_workbench.decisions.notes import Notes
from check_workbench.errors import InputError
from check_workbench.results import Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from check_workbench.decisions.rows import Row
    from check_workbench.sources.format import Note, Rejected

REQUIRED = ("run_id", "check_id")
KINDS = ("probability", "probabilities", "choice", "level")
JUDGEMENT = ("passed", "score", "value")
REMARKS = ("explanation", "findings", "quote")
"""May stand beside any answer; alone they are a judgement without a value."""
STATUSES = ("ok", "error", "skipped")
TOLERANCE = 0.05
"""How far the sum of probabilities may lie from 1."""


def answers(rows: Iterable[Row | Rejected | Note], file: str) -> Iterator[Answer | Rejected | Note]:
    """Turn rows into answers; notes come where they arise or at the end.

    Parameters
    ----------
    rows
        As a format reads them.
    file
        The file's name in rejected records.
    """
    yield from Notes(file, (*_CONVERT, "at")).records(rows, answer)


def answer(row: Mapping[str, Any], notes: Notes) -> Answer:
    """Turn one row into an answer.

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
    >>> answer({"run_id": "r", "check_id": "c", "probability": 0.9}, Notes("answers.jsonl", ("at",))).probability
    0.9
    """
    for name in REQUIRED:
        if name not in row:
            raise InputError(f"{name} must be there")
    values = {name: convert(name, row[name]) for name, convert in _CONVERT.items() if name in row}
    if "at" in row:
        values["at"] = notes.time("at", row["at"])
    values["item"] = values.pop("question", 0)
    values["status"] = None if values.get("status") == "ok" else values.get("status")
    _one_kind(values)
    return Answer(**values)


def _one_kind(values: Mapping[str, Any]) -> None:
    kinds = [name for name in KINDS if name in values]
    judged = [name for name in JUDGEMENT if name in values]
    given = [*kinds, *([f"a judgement ({', '.join(judged)})"] if judged else [])]
    if len(given) > 1:
        raise InputError(f"an answer must be of one kind, got {' and '.join(given)}")
    if given and values["status"]:
        raise InputError(f"status {values['status']} means that there is no answer, got {given[0]}")
    if not given and not values["status"] and not any(name in values for name in REMARKS):
        raise InputError(f"an answer must be there: one of {', '.join(KINDS)}, or a judgement with passed or score")


def _probabilities(name: str, value: Any) -> dict[str, float]:
    if isinstance(value, list):
        value = {str(level): p for level, p in enumerate(value)}
    if not isinstance(value, dict) or not value:
        raise InputError(f"{name} must be an object of option or level to probability, got {value!r:.80}")
    found = {str(key): _share(f"{name}.{key:.40}", p) for key, p in value.items()}
    total = sum(found.values())
    if abs(total - 1) > TOLERANCE + 1e-9:
        raise InputError(f"{name} must sum to 1 (within {TOLERANCE}), got {total:.6g}")
    return found


def _real(name: str, value: Any) -> float:
    if isinstance(value, str):
        raise InputError(f"{name} must be a number, got the text {value!r:.80}")
    return fields.number(name, value)


def _share(name: str, value: Any) -> float:
    return fields.share(name, _real(name, value))


def _level(name: str, value: Any) -> float:
    found = _real(name, value)
    if found < 0:
        raise InputError(f"{name} must be 0 or more, got {found:g}")
    return found


def _passed(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"{name} must be true or false, got {value!r:.80}")
    return value


def _findings(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise InputError(f"{name} must be a list, got {value!r:.80}")
    return value


def _status(name: str, value: Any) -> str:
    return fields.one_of(name, value, STATUSES)


def _place(name: str, value: Any) -> int:
    return fields.whole(name, value, least=0)


def _attempt(name: str, value: Any) -> int:
    return fields.whole(name, value, least=1)


def _any(_name: str, value: Any) -> Any:
    return value


_CONVERT: dict[str, Callable[[str, Any], Any]] = {
    "run_id": fields.text,
    "check_id": fields.text,
    "step_id": fields.text,
    "span_id": fields.text,
    "attempt": _attempt,
    "question": _place,
    "ask": fields.text,
    "probability": _share,
    "probabilities": _probabilities,
    "choice": fields.text,
    "level": _level,
    "passed": _passed,
    "score": _real,
    "value": _any,
    "explanation": fields.text,
    "findings": _findings,
    "quote": fields.text,
    "confidence": _share,
    "model": fields.text,
    "method": fields.text,
    "status": _status,
}
