"""What of a check is calibrated together: a question by labels that name it, all questions by labels of the whole."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from check_workbench.calibration.composite import Composite
from check_workbench.calibration.units import gather
from check_workbench.checks import Threshold, thresholds

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from check_workbench.calibration.units import Units
    from check_workbench.checks import Check
    from check_workbench.store import Store

    Part = tuple[Units, tuple[Threshold, ...]]

NAMED = "select decision_key from decisions where check_id = ? and question is not null"
COMPOSITE = "composite"
"""The key of the one cut that stands for a number of every question."""
ENOUGH = 50
"""Units without a label that can fix a path."""


def parts(check: Check, store: Store, scores: pd.DataFrame, *, kind: str, item: int | None) -> Iterator[Part]:
    """Yield units and the thresholds that their labels speak of.

    Parameters
    ----------
    check
        A check with numbers that can be tuned.
    store
        The store, asked for labels.
    scores
        `scores` of an evaluation.
    kind
        `check` or `work`, as for `gather`.
    item
        Only this question, with every label that may speak of it.

    Yields
    ------
    tuple
        Of several questions first those that labels name, then all others together as one composite score.
    """
    numbers = thresholds(check)
    places = dict.fromkeys(number.item for number in numbers)
    if len(check.items) == 1 or item is not None:
        for place in places if item is None else [place for place in places if place == item]:
            units = gather(check, store, scores, kind=kind, item=place if len(check.items) > 1 else None)
            yield units, tuple(number for number in numbers if number.item == place)
        return
    named = set(store.sql(NAMED, [check.id])["decision_key"].tolist())
    apart = False
    for place in places if named else ():
        units = _only(gather(check, store, scores, kind=kind, item=place), named, asked=True)
        if units.table["labelled"].any():
            apart = True
            yield units, tuple(number for number in numbers if number.item == place)
    whole = _only(gather(check, store, scores, kind=kind), named, asked=False)
    if whole.table["labelled"].any() or not apart:
        yield whole, (Threshold(item=len(check.items), key=COMPOSITE, value=None, means="good"),)


def path_of(check: Check, rows: pd.DataFrame) -> Composite:
    """Return the path of cuts through all questions, fixed by unlabelled work where there is enough of it.

    Parameters
    ----------
    check
        The check.
    rows
        The units of one method and model.
    """
    live = rows[rows["mode"].fillna("live") != "test"]
    free = live[~live["labelled"].astype(bool)]
    return Composite.of(check, "pass", reference=free if len(free) >= ENOUGH else live, everything=live)


def _only(units: Units, named: set[int], *, asked: bool) -> Units:
    """Keep the labels that name a question, or those of which a decision names none."""
    labelled = units.table["labelled"].to_numpy(dtype=bool)
    keys = [set(of) if known else set() for of, known in zip(units.table["decision_keys"], labelled, strict=True)]
    kept = labelled & np.array([bool(of & named if asked else of - named) for of in keys], dtype=bool)
    lost = int((labelled & ~kept).sum())
    if not lost:
        return units
    reason = "about_all_questions" if asked else "one_question_only"
    excluded = {**units.excluded, reason: units.excluded.get(reason, 0) + lost}
    return dataclasses.replace(units, table=units.table.assign(labelled=kept), excluded=excluded)
