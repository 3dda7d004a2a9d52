"""Compare what a check said with what people decided, and count what a switch would have done."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from check_workbench.calibration import looks
from check_workbench.calibration.units import decision_keys, gather, joined
from check_workbench.comparison import people
from check_workbench.comparison.cautions import cautions
from check_workbench.comparison.counting import counted, groups, sides
from check_workbench.comparison.grounds import disagreements
from check_workbench.comparison.outcome import Comparison, marked
from check_workbench.comparison.rows import compared, without_label
from check_workbench.comparison.switching import moment, switched
from check_workbench.comparison.triaging import triage_of
from check_workbench.errors import InputError
from check_workbench.evaluation import evaluate, read
from check_workbench.labels import labels_for

if TYPE_CHECKING:
    from datetime import date, datetime
    from pathlib import Path

    import pandas as pd

    from check_workbench.calibration.units import Units
    from check_workbench.checks import Check
    from check_workbench.evaluation import Results
    from check_workbench.store import Store

__all__ = ["Comparison", "compare"]

QUESTION = 80
"""Characters of a question that name its group."""


def compare(
    check: Check | str | Path, store: Store, *, labels: str = "check", since: str | date | None = None
) -> Comparison:
    """Compare the verdicts of one check with what people decided on the same work.

    Decisions made in sight of the verdict are shown beside the blind ones. What people said of the check and of the
    work is never compared with each other. The labels that were read are noted in the store.

    Parameters
    ----------
    check
        One check, or a file or `FILE#ID` that holds one.
    store
        Runs, decisions and answers.
    labels
        `check`: decisions about the check; `work`: decisions about the work as a proxy.
    since
        From when on a switch is imagined, a date (UTC); None takes six weeks before the latest work.

    Returns
    -------
    Comparison
        It shows itself as text and HTML; `triage` records why check and people disagree.

    Raises
    ------
    InputError
        If the document cannot be read or holds several checks. Missing labels are no error.

    Examples
    --------
    >>> import check_workbench as cw
    >>> from check_workbench.checks import AtLeast, Check, Item, Repeat
    >>> loop = Check(id="loop", dialect="neatroots", items=(Item(asks=Repeat(), cut=AtLeast(value=3)),))
    >>> compare(loop, cw.open()).disagreements
    ()
    """
    if labels not in {"check", "work"}:
        raise InputError(f"labels must be 'check' or 'work', got {labels!r}.")
    start = moment(since)
    found = read(check)
    if len(found) != 1:
        names = ", ".join(one.id for one in found)
        raise InputError(f"compare takes one check, got {len(found)}: {names}. Name one as FILE#ID.")
    results = evaluate(found[0], store)
    with store.hold():
        return _compared(found[0], store, results, kind=labels, since=start)


def _compared(check: Check, store: Store, results: Results, *, kind: str, since: datetime | None) -> Comparison:
    units = gather(check, store, results.scores, kind=kind)
    opinions = people.opinions_on(check, store, kind=kind)
    rows, left_out = compared(units, store)
    said = people.each_said(opinions)
    triaged = triage_of(check, rows, store)
    grouped = {
        "step": (rows, "step_id"),
        **({"question": (_by_question(check, store, results, kind), "question")} if len(check.items) > 1 else {}),
        "approver": (people.by_person(check, rows, said), "approver"),
        "workflow": (rows, "workflow"),
        "month": (rows, "month"),
    }
    return Comparison(
        check=check.id,
        n=len(rows),
        frame=rows,
        counts=counted(rows, without_label(units, opinions)),
        sides=sides(rows),
        groups=groups(grouped),
        switched=switched(rows, since),
        ceiling=people.ceiling_of(check, units.table, opinions, said),
        disagreements=tuple(marked(disagreements(check, rows, results, store), triaged)),
        triaged=triaged,
        left_out=left_out,
        notes=(*units.notes, *cautions(check, store, rows), *_looked(check, store, units, n=len(rows))),
        subject=check,
        store=store,
    )


def _by_question(check: Check, store: Store, results: Results, kind: str) -> pd.DataFrame:
    """Return the units of each question with its own verdict, and the labels that speak of it or of the whole work."""
    import pandas as pd

    parts = []
    for place, item in enumerate(check.items):
        alone = dataclasses.replace(check, items=(item,))
        scores = results.scores[results.scores["item"] == place].assign(item=0)
        units = joined(alone, scores, labels_for(check, store, kind=kind, item=place).frame)
        ask = str(getattr(item.asks, "ask", ""))
        name = f"{place}: {ask if len(ask) <= QUESTION else ask[:QUESTION] + '…'}"
        parts.append(compared(units, store)[0].assign(question=name))
    return pd.concat(parts, ignore_index=True)


def _looked(check: Check, store: Store, units: Units, *, n: int) -> tuple[str, ...]:
    seen = looks.Look(call="compare", labels=decision_keys(units.labelled), result={"n": n})
    if looks.record(store, check, seen):
        return ()
    return ("the store is open to read only, so this look at the labels is not recorded",)
