"""What calls had read of a unit when a further decision came: for a certificate, an error that was read stays one.

Whoever has seen where a check errs could otherwise correct just those labels, or let a second person contradict them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from check_workbench.evaluation.recorded import Key
    from check_workbench.labels.blindness import Blindness


class Read(NamedTuple):
    """A call that read labels."""

    at: datetime
    keys: frozenset[int]
    """The decisions behind them."""


class Reads(NamedTuple):
    """What was read before a certificate."""

    calls: Sequence[Read] = ()
    """Oldest first."""
    anew: frozenset[Key] = frozenset()
    """Units whose label may change although it was read, since what came later is worse for the check."""


class Said(NamedTuple):
    """A decision that can be placed."""

    row: Mapping[str, Any]
    unit: Key
    blindness: Blindness
    reason: str | None = None
    """Why it does not speak of the unit."""


class Further(NamedTuple):
    """What decisions would make of a label, had they not come after it was read."""

    unit: Key
    positive: bool | None
    """The label as it was read; None: none."""
    otherwise: bool | None
    """What the label would be now; None: there would be none."""
    decisions: int


def came_late(said: Sequence[Said], reads: Reads) -> frozenset[int]:
    """Return the keys of the decisions that came after a call had read a blind label of their unit.

    A decision that was read was there, and so was one that had been loaded by then; where nobody knows when one was
    loaded, it came late. A label that was not blind may still be replaced by a blind one.

    Parameters
    ----------
    said
        All decisions on the units of a check.
    reads
        The calls that read labels, and the units that they do not bind.
    """
    units = {int(one.row["decision_key"]): one.unit for one in said if one.blindness.by and not one.reason}
    first: dict[Key, Read] = {}
    for read in reads.calls:
        for key in read.keys & units.keys():
            if units[key] not in reads.anew:
                first.setdefault(units[key], read)
    return frozenset(
        int(one.row["decision_key"]) for one in said if one.unit in first and not _was_there(one.row, first[one.unit])
    )


def _was_there(row: Mapping[str, Any], read: Read) -> bool:
    loaded = row["loaded_at"]
    return int(row["decision_key"]) in read.keys or (loaded is not None and loaded <= read.at)
