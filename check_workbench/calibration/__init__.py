"""Calibrate thresholds against human decisions: what each cut flags, how sure that is, and which one meets a goal."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

from check_workbench.calibration import looks
from check_workbench.calibration.comparing import answered_apart
from check_workbench.calibration.goals import goals
from check_workbench.calibration.meaning import SCALE
from check_workbench.calibration.measuring import measured
from check_workbench.calibration.outcome import Calibration, Calibrations
from check_workbench.calibration.questions import COMPOSITE, parts, path_of
from check_workbench.calibration.units import decision_keys, gather
from check_workbench.checks import thresholds
from check_workbench.errors import InputError
from check_workbench.evaluation import evaluate, read
from check_workbench.labels.reasons import left_out
from check_workbench.stats.cutoffs import Goal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import pandas as pd

    from check_workbench.calibration.units import Units
    from check_workbench.checks import Check, Threshold
    from check_workbench.evaluation.recorded import Key
    from check_workbench.store import Store

__all__ = ["Calibration", "Calibrations", "calibrate"]


def calibrate(
    checks: Check | str | Path | Iterable[Check | str | Path],
    store: Store,
    *,
    goal: str | Mapping[str, str] = "precision>=0.9",
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
        `precision>=0.9`, `recall>=0.95`, `cost 1:5` (a false flag : a missed problem) or `risk<=0.05@0.9`; or a goal
        for each check by its id, or by id and key, as `{"vendor-check/check_vendor pass": "recall>=0.9", ...}`.
    labels
        `check`: decisions about the check; `work`: decisions about the work as a proxy.
    item
        Only this question, from 0, with every label that may speak of it. None means all: of a check with several
        questions those that labels name, and by labels about the whole check all questions through one composite score.

    Raises
    ------
    InputError
        If a document, the goal or an argument cannot be used. Missing labels are no error.
    """
    if labels not in {"check", "work"}:
        raise InputError(f"labels must be 'check' or 'work', got {labels!r}.")
    found = read(checks)
    wanted = goals(goal, found, _keys)
    _known(item, found)
    results = evaluate(found, store)
    entries: list[Calibration] = []
    notes: list[str] = []
    for check in found:
        several = list(parts(check, store, results.scores, kind=labels, item=item)) if thresholds(check) else []
        mine = [entry for units, numbers in several for entry in _of_part(units, numbers, wanted)]
        entries += mine
        if not several:
            several = [(gather(check, store, results.scores, kind=labels), ())]
        notes += _notes(several, mine)
        seen = looks.Look(
            call="calibrate",
            labels=sorted({key for units, numbers in several if numbers for key in decision_keys(units.labelled)}),
            result={"goal": _told(goal), "labels": labels, "chosen": [one for e in mine for one in _conclusions(e)]},
        )
        if not looks.record(store, check, seen):
            notes.append(f"{check.id}: the store is open to read only, so this look at its labels is not recorded")
    if any(entry.meaning and entry.meaning.curve for entry in entries):
        notes.append(SCALE)
    return Calibrations(entries=tuple(entries), notes=tuple(notes))


def _keys(check: Check) -> list[str]:
    keys = list(dict.fromkeys(number.key for number in thresholds(check)))
    return [*keys, COMPOSITE] if len(check.items) > 1 else keys


def _known(item: int | None, checks: Sequence[Check]) -> None:
    most = max(len(check.items) for check in checks)
    if item is not None and (isinstance(item, bool) or not isinstance(item, int) or not 0 <= item < most):
        raise InputError(f"item must be a question's place from 0 to {most - 1}, or None for all; got {item!r}.")


def _told(goal: str | Mapping[str, str]) -> str:
    return str(Goal.parse(goal)) if isinstance(goal, str) else json.dumps(dict(goal), sort_keys=True)


def _of_part(
    units: Units, numbers: Sequence[Threshold], wanted: Callable[[Check, Threshold], Goal]
) -> Iterator[Calibration]:
    """Calibrate thresholds, the answers of each method and model apart."""
    table = units.table
    names = table[["method", "model"]].fillna("")
    for number in numbers:
        places = [number.item] if number.key != COMPOSITE else range(len(units.check.items))
        silent = table[[f"s{place}" for place in places]].isna().any(axis=1)
        pairs = sorted(set(names[~silent].itertuples(index=False, name=None))) or [("", "")]
        for method, model in pairs:
            mine = table[((names["method"] == method) & (names["model"] == model)) | silent]
            goal = wanted(units.check, number)
            path = path_of(units.check, mine) if number.key == COMPOSITE else None
            found = measured(units.check, mine, number, goal, path)
            undecided = sum(key in units.undecided for key in _named(units.check, mine[~silent[mine.index]]))
            yield dataclasses.replace(found, share=found.share.without(undecided, found.n))


def _named(check: Check, table: pd.DataFrame) -> Iterator[Key]:
    """Yield runs and attempts as labels name them: a check on whole runs has no attempts."""
    for run, attempt in zip(table["run_id"], table["attempt"], strict=True):
        yield run, None if check.step_id is None else int(attempt)


def _conclusions(entry: Calibration) -> Iterator[dict[str, Any]]:
    """Yield what the ledger keeps of a calibration: the numbers chosen, and whether those that stand meet the goal.

    One cut for all questions is a choice of all their numbers, also of those that it leaves as they are.
    """
    written = {(number.threshold.item, number.threshold.key): number.threshold.value for number in entry.numbers}
    for own in thresholds(entry.check) if entry.composite else (entry.threshold,):
        kept = own.value if written and entry.composite else None
        at = written.get((own.item, own.key), kept)
        yield {"item": own.item, "key": own.key, "at": at, "met": entry.met, "goal": entry.goal, "labels": entry.n}


def _notes(several: Sequence[tuple[Units, Sequence[Threshold]]], mine: list[Calibration]) -> Iterator[str]:
    check = several[0][0].check
    if not mine:
        yield f"{check.id}: it has no number that could be tuned"
    told = [words for units, numbers in several for words in _of_labels(units, numbers)]
    told += [*_without_band(mine), *answered_apart(mine)]
    yield from (f"{check.id}: {words}" for words in dict.fromkeys(told))


def _of_labels(units: Units, numbers: Sequence[Threshold]) -> Iterator[str]:
    """Say what the labels of one part assume, and which were left out."""
    yield from units.notes
    part = ""
    if len(units.check.items) > 1 and numbers:
        part = "all questions: " if numbers[0].key == COMPOSITE else f"question {numbers[0].item}: "
        if numbers[0].key != COMPOSITE and "about_all_questions" not in units.excluded:
            yield f"{part}a problem that a label finds in the whole counts as missed by this question"
    if units.unmatched:
        yield f"{part}{units.unmatched} labels are about work that was not evaluated"
    yield from (f"{part}{words}" for words in left_out(units.excluded))


def _without_band(mine: list[Calibration]) -> Iterator[str]:
    """Yield where `pass` and `fail` of one question would meet."""
    passing = {e.threshold.item: e.chosen.at for e in mine if e.chosen and e.threshold.key == "pass"}
    for e in mine:
        if e.chosen and e.threshold.key == "fail" and passing.get(e.threshold.item) == e.chosen.at:
            yield f"pass and fail both become {e.chosen.at:g}, so nothing is left unsure; choose one with its own goal"
