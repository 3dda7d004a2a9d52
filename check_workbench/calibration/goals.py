"""Which goal is wanted for which threshold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from check_workbench.errors import InputError, UnknownNameError
from check_workbench.stats.cutoffs import Goal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from check_workbench.checks import Check, Threshold


def goals(
    wanted: str | Mapping[str, str], checks: Sequence[Check], keys: Callable[[Check], Sequence[str]]
) -> Callable[[Check, Threshold], Goal]:
    """Return what finds the goal of a threshold.

    Parameters
    ----------
    wanted
        One goal for all, or one per check: by its id, or by id and key, as `"refund flag_at"`.
    checks
        The checks.
    keys
        The keys of a check's thresholds.

    Raises
    ------
    InputError
        If a goal cannot be read, a name is none of theirs, or a threshold has no goal.
    """
    if not isinstance(wanted, Mapping):
        goal = Goal.parse(wanted)
        return lambda *_: goal
    read = {str(name): Goal.parse(text) for name, text in wanted.items()}
    names = [name for check in checks for name in (check.id, *(f"{check.id} {key}" for key in keys(check)))]
    for name in read:
        if name not in names:
            raise UnknownNameError.of("check with a threshold", name, names)
    without = [
        f"{check.id} {key}"
        for check in checks
        for key in keys(check)
        if not {check.id, f"{check.id} {key}"} & set(read)
    ]
    if without:
        raise InputError(f"every threshold needs a goal; none is given for {', '.join(without)}.")
    return lambda check, threshold: read.get(f"{check.id} {threshold.key}") or read[check.id]
