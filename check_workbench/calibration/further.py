"""What decisions would change that came after a call had read the labels, which a certificate therefore leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd

    from check_workbench.labels.reading import Further

_ERRS = {("pass", True), ("fail", False)}


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
    verdicts = dict(zip(zip(table["run_id"], table["attempt"], strict=True), table["verdict"], strict=True))
    gone = new = 0
    for one in further:
        verdict = verdicts.get((one.unit[0], one.unit[1] or 1))
        before, after = ((verdict, label) in _ERRS for label in (one.positive, one.otherwise))
        gone += before and not after
        new += after and not before
    changed = sum(one.positive is not one.otherwise for one in further)
    yield (
        f"{_many(sum(one.decisions for one in further), 'decision')} came after a call had read blind labels of the "
        f"same work, which stay as they were read; otherwise {_many(changed, 'label')} would change, so that "
        f"{_many(gone, 'error')} of the check would be gone and {new} would be new"
    )


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
