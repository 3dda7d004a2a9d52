"""The tunable numbers of a check, and the check with one of them moved."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from check_workbench.checks.asks import FIXED_RULES, Slow
from check_workbench.checks.cuts import AtLeast, FlagAt, FlagLevel, FlagOn, PassBand, PassLevel, PassNames
from check_workbench.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from check_workbench.checks.check import Check, Item, Meaning
    from check_workbench.checks.cuts import Cutoffs


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """One tunable number of a check, named by the item's place and the document's key."""

    item: int
    key: str
    value: float | None
    means: Meaning


def thresholds(check: Check) -> tuple[Threshold, ...]:
    """List the tunable thresholds of a check in document order.

    Parameters
    ----------
    check
        The check.

    Returns
    -------
    tuple of Threshold
        Empty where nothing can be tuned.

    Examples
    --------
    >>> from check_workbench.checks import Check, Item, Repeat
    >>> rule = Item(asks=Repeat(), cut=AtLeast(value=3))
    >>> thresholds(Check(id="loop", dialect="neatroots", items=(rule,)))
    (Threshold(item=0, key='at_least', value=3, means='problem'),)
    """
    return tuple(
        Threshold(item=place, key=key, value=value, means=item.means)
        for place, item in enumerate(check.items)
        for key, value in _tunable(item)
    )


def with_threshold(check: Check, *, item: int, key: str, value: float | None) -> Check:
    """Return the check with one threshold moved; what it asks stays the same.

    Parameters
    ----------
    check
        The check.
    item
        Place of the item, from 0.
    key
        The document's key: `at_least`, `at_least_ms`, `flag_at`, `flag_at_level`, `pass`, `fail`, `confidence`.
    value
        The new number; None takes `fail` away.

    Raises
    ------
    UnknownNameError
        If the item has no such threshold.
    InputError
        If a band would be turned upside down.
    """
    known = [t.key for t in thresholds(check) if t.item == item]
    if key not in known:
        raise UnknownNameError.of(f"threshold of {check.id}, item {item},", key, known)
    changed = dataclasses.replace(check.items[item], cut=_moved(check.items[item].cut, key, value))
    return dataclasses.replace(check, items=(*check.items[:item], changed, *check.items[item + 1 :]))


def _tunable(item: Item) -> Iterator[tuple[str, float | None]]:
    match item.cut:
        case AtLeast(value=value):
            if not isinstance(item.asks, FIXED_RULES):
                yield "at_least_ms" if isinstance(item.asks, Slow) else "at_least", value
        case FlagAt(value=value) | FlagOn(value=value):
            yield "flag_at", value
        case FlagLevel(value=value):
            yield "flag_at_level", value
        case PassBand(pass_at=pass_at, fail_below=fail_below):
            yield "pass", pass_at
            yield "fail", fail_below
        case PassNames(confidence=value) | PassLevel(confidence=value):
            yield "confidence", value


def _moved(cut: Cutoffs, key: str, value: float | None) -> Cutoffs:
    if isinstance(cut, PassBand) and key == "fail":
        return _upright(dataclasses.replace(cut, fail_below=value))
    if value is None:
        raise InputError(f"{key} must be a number, got None")
    if isinstance(cut, PassBand):
        return _upright(dataclasses.replace(cut, pass_at=value))
    if isinstance(cut, PassNames | PassLevel):
        return dataclasses.replace(cut, confidence=value)
    return dataclasses.replace(cut, value=value)


def _upright(band: PassBand) -> PassBand:
    if band.fail_below is not None and band.fail_below > band.pass_at:
        raise InputError(f"fail must be at most pass, got fail {band.fail_below} and pass {band.pass_at}")
    return band
