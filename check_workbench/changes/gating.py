"""`gate`: whether a folder of checks still keeps what its lock says."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from check_workbench.calibration import looks
from check_workbench.calibration.units import digest, gather, gather_as_read
from check_workbench.changes.conditions import TESTS, UPDATE, Case, Subject, cases_of
from check_workbench.changes.numbers import measured
from check_workbench.changes.origins import certified, kind_of, origins
from check_workbench.changes.passage import Gate
from check_workbench.changes.places import document_case, places_of, usable
from check_workbench.dialects import survey
from check_workbench.errors import InputError
from check_workbench.evaluation import evaluate, require_store

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pandas as pd

    from check_workbench.changes.places import Place
    from check_workbench.checks import Check
    from check_workbench.store import Store

ALPHA = 0.05
"""Allowed chance that a gate at which nothing became worse fails by chance."""
UNRECORDED = "the store is open to read only, so this look at its labels is not recorded"


def gate(paths: str | Path | Iterable[str | Path], store: Store, *, update: bool = False) -> Gate:
    """Say whether checks still keep what their `calibration.lock` says, for CI.

    A case fails where a document is invalid, no `calibrate` or `trust` concluded a number, a check changed without
    re-evaluation, another method or model answers, more work than before has no verdict, or a number is worse than the
    locked one beyond noise. What too few labels cannot say is skipped, never passed. No evaluator is asked.

    Parameters
    ----------
    paths
        Folders and files of checks, or `FILE#ID`. The lock lies in the folder, or beside the file.
    store
        Runs, decisions and answers; one that is open to read only will do.
    update
        First write the lock anew from what is measured now.

    Returns
    -------
    Gate
        Every condition on every check, and whether the gate is passed.

    Raises
    ------
    InputError
        If a path holds no check, or a lock is missing, broken or of other checks.

    Notes
    -----
    The numbers are compared by Fisher's exact test, one-sided; all tests of a call together fail by chance with at
    most 5 % (Bonferroni).
    """
    require_store(store)
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    readings = survey(given).readings
    if not readings:
        raise InputError(f"{', '.join(map(str, given)) or 'no path'}: holds no check that the workbench knows")
    places = places_of(given, readings, update=update)
    with store.hold():
        subjects, notes = _subjects([*usable(places)], store, update=update)
    if update:
        subjects = [*_renewed(places, subjects)]
        notes = [*notes, *_updated(places, subjects)]
    cases = [*map(document_case, readings), *(case for _, one in subjects for case in cases_of(one))]
    gone = () if update else (case for place in places for case in _gone(place))
    return Gate(cases=(*cases, *gone), notes=tuple(dict.fromkeys(notes)))


def _subjects(
    found: Sequence[tuple[Place, Check]], store: Store, *, update: bool
) -> tuple[list[tuple[Place, Subject]], list[str]]:
    """Measure every check, and record that its labels were read."""
    if not found:
        return [], []
    results = evaluate([check for _, check in found], store)
    ledger = looks.ledger(store)
    subjects = []
    notes = list(results.notes)
    for place, check in found:
        entry = place.lock.entries.get(check.id)
        locked = None if entry is None or update else entry["labels"]
        kind, blind = (locked["kind"], locked["blind"]) if locked else _basis(check, ledger, entry)
        units = (
            gather_as_read(check, store, results.scores, kind=kind, reads=looks.reads(ledger))
            if blind
            else gather(check, store, results.scores, kind=kind)
        )
        now = measured(units, kind=kind, blind=blind)
        keys = None if entry is None else _locked_keys(check, entry, ledger)
        one = Subject(
            check=check,
            file=str(check.file),
            now=now,
            origins=origins(check, ledger, entry),
            certified=certified(check, ledger, entry),
            entry=entry,
            parts=None if keys is None else now.split(keys),
            delta=ALPHA / (TESTS * len(found)),
        )
        subjects.append((place, one))
        seen = looks.Look(call="gate", labels=now.keys, result={"numbers": now.to_entry()["numbers"]})
        notes += () if looks.record(store, check, seen) else (UNRECORDED,)
        notes += (f"{check.id}: {note}" for note in now.units.notes)
    return subjects, notes


def _basis(check: Check, ledger: pd.DataFrame, entry: Mapping[str, Any] | None) -> tuple[str, bool]:
    """Return which labels a new lock is of, and whether only blind ones: where trust certified the check."""
    return kind_of(origins(check, ledger, entry)), bool(certified(check, ledger, entry))


def _locked_keys(check: Check, entry: Mapping[str, Any], ledger: pd.DataFrame) -> set[int] | None:
    """Return the decisions that the lock was measured on, where the ledger has a look at just these."""
    wanted = entry["labels"]["digest"]
    labels = looks.own(ledger, check)["labels"]
    return next((set(map(int, one)) for one in labels if digest(sorted(map(int, one))) == wanted), None)


def _renewed(places: Sequence[Place], subjects: Sequence[tuple[Place, Subject]]) -> Iterator[tuple[Place, Subject]]:
    """Write the locks, and yield the checks beside their new entries."""
    for place in places:
        mine = {one.check.id: (one, _entry(place, one)) for home, one in subjects if home is place}
        place.renewed({id_: entry for id_, (_, entry) in mine.items()}).write()
        for one, entry in mine.values():
            parts = one.now.labelled, one.now.labelled.iloc[:0]
            yield place, dataclasses.replace(one, entry=entry, parts=parts)


def _entry(place: Place, one: Subject) -> dict[str, Any]:
    return {
        "file": place.shown(one.check.file),
        "asked": one.check.asked,
        "document": one.check.document,
        "thresholds": one.origins,
        "certified": one.certified,
        **one.now.to_entry(),
    }


def _updated(places: Sequence[Place], subjects: Sequence[tuple[Place, Subject]]) -> Iterator[str]:
    """Say what became of each lock."""
    for place in places:
        before = place.lock.entries
        now = {one.check.id: one.entry for home, one in subjects if home is place}
        told = {
            "new": [id_ for id_ in now if id_ not in before],
            "changed": [id_ for id_, entry in now.items() if id_ in before and before[id_] != entry],
            "taken out": sorted(place.gone()),
        }
        words = "; ".join(f"{what}: {', '.join(ids)}" for what, ids in told.items() if ids) or "nothing changed"
        yield f"{place.lock.path}: {words}"


def _gone(place: Place) -> Iterator[Case]:
    for id_, file in sorted(place.gone().items()):
        words = f"it is in {place.lock.path.name}, but {file} no longer holds it"
        yield Case(of=id_, file=file, condition="there", state="skipped", words=words, advice=UPDATE)
