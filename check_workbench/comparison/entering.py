"""From what a person writes about disagreements to entries that can be recorded, or a refusal with near names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from check_workbench.comparison.triaging import CAUSES
from check_workbench.errors import InputError, UnknownNameError, hint
from check_workbench.evaluation.rows import rows_of

if TYPE_CHECKING:
    import pandas as pd

    Given = str | Iterable[str] | Mapping[str, str] | pd.DataFrame

ALL_CAUSES = ", ".join(map(repr, CAUSES))


def named(given: Given, cause: str | None, note: str | None) -> list[tuple[str, str, str | None]]:
    """Return unit, cause and note of each disagreement that was named.

    Parameters
    ----------
    given
        A unit, several, causes by unit, or a table with the columns `unit`, `cause` and, if wanted, `note`.
    cause
        The cause of the units that are given without one.
    note
        The note of those that are given without one.

    Raises
    ------
    InputError
        If a cause is missing, stands twice, or is none of the three.

    Examples
    --------
    >>> named(["r-1", "r-2"], "check_wrong", None)
    [('r-1', 'check_wrong', None), ('r-2', 'check_wrong', None)]
    """
    if isinstance(given, str):
        rows = [(given, cause, note)]
    elif isinstance(given, Mapping):
        rows = [(unit, _one_cause(own, cause), note) for unit, own in given.items()]
    elif hasattr(given, "columns"):
        rows = [(row["unit"], _one_cause(row["cause"], cause), row.get("note") or note) for row in _rows(given)]
    elif isinstance(given, Iterable):
        rows = [(unit, cause, note) for unit in given]
    else:
        raise InputError(
            f"units must be names, causes by name, or a table with unit and cause; got {type(given).__name__}."
        )
    return [(_text(unit, "unit"), _cause(own), None if told is None else _text(told, "note"))
            for unit, own, told in rows]  # fmt: skip


def person(by: object) -> str:
    """Return the name of who triaged, or refuse.

    Raises
    ------
    InputError
        If it is no name.
    """
    if not isinstance(by, str) or not by.strip():
        raise InputError(f"by must name who looked at the disagreement, got {by!r}.")
    return by


def places(frame: pd.DataFrame, units: Iterable[str], open_to: Iterable[str]) -> list[int]:
    """Return where in the compared units each named one stands.

    Parameters
    ----------
    frame
        Compared units.
    units
        What was named.
    open_to
        The units that may be named.

    Raises
    ------
    UnknownNameError
        If one is not among the compared units; near names are told.
    InputError
        If check and people agree on it, or the check is unsure.
    """
    known = {str(unit): place for place, unit in enumerate(frame["unit"])}
    allowed = set(open_to)
    for unit in units:
        if unit not in known:
            raise UnknownNameError.of("disagreement", unit, allowed or known)
        if unit not in allowed:
            verdict, label = frame.iloc[known[unit]][["verdict", "label"]]
            raise InputError(
                f"{unit!r} is no disagreement: the check says {verdict}, people say it is {label}."
                f"{hint(unit, allowed)}",
            )
    return [known[unit] for unit in units]


def _one_cause(own: Any, common: str | None) -> Any:
    if common is not None:
        raise InputError("each unit has its own cause here, so none may be given for all of them.")
    return own


def _rows(table: Any) -> list[dict[str, Any]]:
    missing = [name for name in ("unit", "cause") if name not in table.columns]
    if missing:
        raise InputError(f"the table must have the columns unit and cause; {' and '.join(missing)} missing.")
    return rows_of(table)


def _cause(cause: Any) -> str:
    if not isinstance(cause, str) or cause not in CAUSES:
        near = hint(cause, CAUSES) if isinstance(cause, str) else ""
        raise InputError(f"cause must be one of {ALL_CAUSES}, got {cause!r}.{near if near.startswith(' Did') else ''}")
    return cause


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{what} must be text, got {type(value).__name__}.")
    return value
