"""Calibrate thresholds against human decisions: what each cut flags, how sure that is, and which one meets a goal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.calibration import looks
from check_workbench.calibration.comparing import answered_apart
from check_workbench.calibration.measuring import measured
from check_workbench.calibration.outcome import Calibration, Calibrations
from check_workbench.calibration.units import decision_keys, gather
from check_workbench.checks import thresholds
from check_workbench.errors import InputError
from check_workbench.evaluation import evaluate, read
from check_workbench.labels.reasons import left_out
from check_workbench.stats.cutoffs import Goal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from check_workbench.calibration.units import Units
    from check_workbench.checks import Check
    from check_workbench.store import Store

__all__ = ["Calibration", "Calibrations", "calibrate"]


def calibrate(
    checks: Check | str | Path | Iterable[Check | str | Path],
    store: Store,
    *,
    goal: str = "precision>=0.9",
    labels: str = "check",
    item: int | None = None,
) -> Calibrations:
    """Calibrate every tunable threshold of one or many checks.

    Answers that were recorded or cached are used; no evaluator is asked. The labels that were read are noted in the
    store, so that `trust` knows which cuts may owe their value to them.

    Parameters
    ----------
    checks
        Checks, files, folders, or `FILE#ID`.
    store
        Runs, decisions and answers.
    goal
        `precision>=0.9`, `recall>=0.95`, `cost 1:5` (a false flag : a missed problem) or `risk<=0.05@0.9`.
    labels
        `check`: decisions about the check; `work`: decisions about the work as a proxy.
    item
        Only this question, from 0; None means all.

    Raises
    ------
    InputError
        If a document, the goal or an argument cannot be used. Missing labels are no error.
    """
    wanted = Goal.parse(goal)
    if labels not in {"check", "work"}:
        raise InputError(f"labels must be 'check' or 'work', got {labels!r}.")
    found = read(checks)
    results = evaluate(found, store)
    entries: list[Calibration] = []
    notes: list[str] = []
    for check in found:
        places = [p for p in dict.fromkeys(t.item for t in thresholds(check)) if item is None or p == item]
        by_item = [gather(check, store, results.scores, kind=labels, item=_place(check, p)) for p in places]
        units = by_item[0] if by_item else gather(check, store, results.scores, kind=labels)
        pairs = zip(by_item, places, strict=True)
        mine = [entry for of_item, place in pairs for entry in _of_item(of_item, wanted, place)]
        entries += mine
        notes += _notes(units, mine)
        seen = looks.Look(
            call="calibrate",
            labels=sorted({key for of_item in by_item for key in decision_keys(of_item.labelled)}),
            result={"goal": str(wanted), "chosen": [_conclusion(e) for e in mine]},
        )
        if not looks.record(store, check, seen):
            notes.append(f"{check.id}: the store is open to read only, so this look at its labels is not recorded")
    return Calibrations(entries=tuple(entries), notes=tuple(notes))


def _place(check: Check, item: int) -> int | None:
    return item if len(check.items) > 1 else None


def _of_item(units: Units, goal: Goal, item: int) -> Iterator[Calibration]:
    """Calibrate the thresholds of one question, the answers of each method and model apart."""
    table = units.table
    silent = table[f"s{item}"].isna()
    names = table[["method", "model"]].fillna("")
    pairs = sorted(set(names[~silent].itertuples(index=False, name=None))) or [("", "")]
    for threshold in thresholds(units.check):
        if threshold.item == item:
            for method, model in pairs:
                mine = (names["method"] == method) & (names["model"] == model)
                yield measured(units, table[mine | silent], threshold, goal)


def _conclusion(entry: Calibration) -> dict[str, Any]:
    """Return what the ledger keeps of a calibration: which number of the document it would be, on how many labels."""
    at = entry.chosen.at if entry.chosen else None
    return {"item": entry.threshold.item, "key": entry.threshold.key, "at": at, "labels": entry.n}


def _notes(units: Units, mine: list[Calibration]) -> Iterator[str]:
    check = units.check.id
    if not mine:
        yield f"{check}: it has no number that could be tuned"
    yield from (f"{check}: {note}" for note in units.notes)
    if len(units.check.items) > 1:
        yield f"{check}: where a label is about all questions, a problem of one counts as missed by the others"
    if units.unmatched:
        yield f"{check}: {units.unmatched} labels are about work that was not evaluated"
    yield from (f"{check}: {words}" for words in left_out(units.excluded))
    yield from (f"{check}: {words}" for words in _without_band(mine))
    yield from (f"{check}: {words}" for words in answered_apart(mine))


def _without_band(mine: list[Calibration]) -> Iterator[str]:
    """Yield where `pass` and `fail` of one question would meet."""
    passing = {e.threshold.item: e.chosen.at for e in mine if e.chosen and e.threshold.key == "pass"}
    for e in mine:
        if e.chosen and e.threshold.key == "fail" and passing.get(e.threshold.item) == e.chosen.at:
            yield f"pass and fail both become {e.chosen.at:g}, so nothing is left unsure; choose one with its own goal"
