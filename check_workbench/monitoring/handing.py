"""The sheet on which people label the drawn work, without sight of the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from check_workbench.calibration import looks as ledger
from check_workbench.calibration.units import KEY
from check_workbench.errors import InputError
from check_workbench.files import write_file
from check_workbench.labelling.drawing import Drawn
from check_workbench.labelling.paper import keep_other, paper, written
from check_workbench.store.returning import DRAW

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from check_workbench.checks import Check
    from check_workbench.store import Store


def hand_out(check: Check, due: pd.DataFrame, store: Store, path: Path) -> None:
    """Write a sheet of due work, once the store knows what is on it.

    Parameters
    ----------
    check
        The check.
    due
        The work that is on it: run_id step_id attempt verdict.
    store
        Where the work is, and where what comes back is joined with what was handed out.
    path
        The CSV file.

    Raises
    ------
    InputError
        If there is nothing to label, the store is open to read only, or the file holds something else.
    """
    if due.empty:
        raise InputError(f"{path}: there is no work to label, so no sheet is written.")
    if store.read_only:
        raise InputError(f"{path}: the store is open to read only, so what comes back on a sheet could not be joined.")
    drawn = _drawn(check, due)
    on_paper = paper([drawn])
    content = written(on_paper, [drawn], store)
    keep_other(path, content)
    result = {**on_paper.recorded(0, drawn), "purpose": "audit"}
    ledger.record(store, check, ledger.Look(call=DRAW, labels=[], result=result))
    write_file(path, content)


def _drawn(check: Check, due: pd.DataFrame) -> Drawn:
    """Return due work as a draw; weeks differ in how much of them is drawn, so no row claims a probability."""
    return Drawn(
        check=check,
        purpose="trust",
        verdicts=tuple(sorted(set(due["verdict"]))),
        units=due[[*KEY, "verdict"]].assign(probability=None).reset_index(drop=True),
        free=len(due),
        region=len(due),
        told={},
        unweighted=0,
        differing=False,
        population=len(due),
    )
