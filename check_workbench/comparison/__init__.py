"""Compare what a check said with what people decided, and count what a switch would have done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from check_workbench.calibration import looks
from check_workbench.calibration.units import decision_keys, gather
from check_workbench.comparison.counting import counted, groups, sides, switched
from check_workbench.comparison.outcome import Comparison
from check_workbench.comparison.rows import compared, disagreements
from check_workbench.errors import InputError
from check_workbench.evaluation import evaluate, read

if TYPE_CHECKING:
    from pathlib import Path

    from check_workbench.checks import Check
    from check_workbench.store import Store

__all__ = ["Comparison", "compare"]


def compare(check: Check | str | Path, store: Store, *, labels: str = "check") -> Comparison:
    """Compare the verdicts of one check with what people decided on the same work.

    Decisions made in sight of the verdict are shown beside the blind ones, never mixed into them. The labels that were
    read are noted in the store.

    Parameters
    ----------
    check
        One check, or a file or `FILE#ID` that holds one.
    store
        Runs, decisions and answers.
    labels
        `check`: decisions about the check; `work`: decisions about the work as a proxy.

    Raises
    ------
    InputError
        If the document cannot be read or holds several checks. Missing labels are no error.
    """
    if labels not in {"check", "work"}:
        raise InputError(f"labels must be 'check' or 'work', got {labels!r}.")
    found = read(check)
    if len(found) != 1:
        names = ", ".join(one.id for one in found)
        raise InputError(f"compare takes one check, got {len(found)}: {names}. Name one as FILE#ID.")
    units = gather(found[0], store, evaluate(found, store).scores, kind=labels)
    rows, left_out = compared(units, store)
    notes = list(units.notes)
    seen = looks.Look(call="compare", labels=decision_keys(units.labelled), result={"n": len(rows)})
    if not looks.record(store, found[0], seen):
        notes.append("the store is open to read only, so this look at the labels is not recorded")
    return Comparison(
        check=found[0].id,
        n=len(rows),
        counts=counted(rows),
        sides=sides(rows),
        groups=groups(rows),
        switched=switched(rows),
        disagreements=tuple(disagreements(rows)),
        left_out=left_out,
        notes=tuple(notes),
    )
