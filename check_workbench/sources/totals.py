"""Add up what the parts of a trace cost, each part once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_TOO_LARGE = 1e300


class Amount(NamedTuple):
    """What one part used."""

    id: str | None
    parent: str | None
    value: float | None


def total(amounts: Sequence[Amount]) -> float | None:
    """Add amounts; what lies inside of a part that has an amount is part of it.

    Parameters
    ----------
    amounts
        One for each part of the trace, in any order.

    Returns
    -------
    float or None
        None if no part has an amount.

    Examples
    --------
    >>> total([Amount("agent", None, None), Amount("a", "agent", 5), Amount("b", "a", 5), Amount("c", "agent", 2)])
    7
    """
    parents: dict[str | None, Amount] = {one.id: one for one in amounts if one.id is not None}
    outer: dict[str | None, str | None] = {}
    found = [one.value for one in amounts if one.value is not None and _outer(one, parents, outer) in (None, one.id)]
    return sum(found) if found else None


def number(values: Iterable[Any]) -> float | None:
    """Return the first number among values, None without one."""
    return next((value for value in values if is_number(value)), None)


def is_number(value: Any) -> TypeGuard[float]:
    """Say whether a value is a number that can be counted with, which true and 10 to the power of 400 are not."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _TOO_LARGE


def whole(value: float | None) -> int | None:
    """Return a number of tokens, None where it is none that can be."""
    return int(value) if value is not None and 0 <= value < 2**63 else None


def _outer(one: Amount, parents: Mapping[str | None, Amount], known: dict[str | None, str | None]) -> str | None:
    """Name the nearest part around a part that has an amount; `known` keeps it for the parts on the way up."""
    way: dict[str | None, None] = {}
    above = parents.get(one.parent)
    while above is not None and above.value is None and above.id not in known and above.id not in way:
        way[above.id] = None
        above = parents.get(above.parent)
    found = None if above is None or above.id in way else above.id if above.value is not None else known[above.id]
    known.update(dict.fromkeys(way, found))
    return found
