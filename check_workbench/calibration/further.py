"""What decisions change that came after a call had read labels: for a certificate, nothing that favours the check."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd

    from check_workbench.evaluation.recorded import Key
    from check_workbench.labels.reading import Further

_ERRS = {("pass", True), ("fail", False)}
"""Verdicts with the labels that contradict them."""


def errs_anew(table: pd.DataFrame, further: Sequence[Further]) -> frozenset[Key]:
    """Return the units on which the check errs by what came late, and not by what was read.

    Parameters
    ----------
    table
        The units with their verdicts.
    further
        What came late, by unit.
    """
    return frozenset(one.unit for one, before, after in _errors(table, further) if after and not before)


def about_further(table: pd.DataFrame, further: Sequence[Further]) -> Iterator[str]:
    """Yield how many decisions came late, and how many labels and errors of the check they would change.

    Parameters
    ----------
    table
        The units with their verdicts.
    further
        What came late, by unit.
    """
    if not further:
        return
    errors = [(before, after) for _, before, after in _errors(table, further)]
    gone, new = errors.count((True, False)), errors.count((False, True))
    changed = sum(one.positive is not one.otherwise for one in further)
    came = _many(sum(one.decisions for one in further), "decision")
    yield (
        f"{came} came after a call had read blind labels of the same work, and would change {_many(changed, 'label')}: "
        f"{_many(gone, 'error')} of the check would be gone, but still count; {_many(new, 'error')} would be new, and "
        "count"
    )


def _errors(table: pd.DataFrame, further: Sequence[Further]) -> Iterator[tuple[Further, bool, bool]]:
    """Yield what came late with whether the check errs, as it was read and as it is now."""
    verdicts = dict(zip(zip(table["run_id"], table["attempt"], strict=True), table["verdict"], strict=True))
    for one in further:
        verdict = verdicts.get((one.unit[0], one.unit[1] or 1))
        yield one, (verdict, one.positive) in _ERRS, (verdict, one.otherwise) in _ERRS


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
