"""The folders that were given to the gate, each with its lock, and which checks of it can be used."""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from check_workbench.changes.conditions import Case
from check_workbench.changes.lock import NAME, Lock, read_lock
from check_workbench.dialects.reading import split_id
from check_workbench.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from check_workbench.checks import Check
    from check_workbench.dialects import Reading

SHOWN = 10
"""Errors of a document that its case tells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A folder with a lock, and what was given of it."""

    folder: Path
    readings: tuple[Reading, ...]
    entire: bool
    """Whether the folder itself was given."""
    files: frozenset[str]
    """Files that were given as a whole."""
    lock: Lock

    @property
    def checks(self) -> list[Check]:
        """The checks that were given and can be used."""
        wanted = [(reading, {found.id for found in reading.found}) for reading in self.readings]
        return [check for reading, ids in wanted for check in reading.checks if check.id in ids]

    def shown(self, file: str | None) -> str:
        """Return a file as its path from the folder."""
        return Path(os.path.relpath(os.path.abspath(file or ""), os.path.abspath(self.folder))).as_posix()  # noqa: PTH100 - links stay as they were given

    def gone(self) -> dict[str, str]:
        """Return the ids in the lock whose check is no longer there, with their file."""
        present = {found.id for reading in self.readings for found in reading.found}
        broken = {self.shown(reading.file) for reading in self.readings if errors_of(reading)}
        files = {self.shown(file) for file in self.files}
        return {
            id_: entry["file"]
            for id_, entry in self.lock.entries.items()
            if id_ not in present and entry["file"] not in broken and (self.entire or entry["file"] in files)
        }

    def renewed(self, entries: Mapping[str, dict[str, Any]]) -> Lock:
        """Return the lock with new entries, without those whose check is gone."""
        kept = {id_: entry for id_, entry in self.lock.entries.items() if id_ not in self.gone()}
        return dataclasses.replace(self.lock, entries={**kept, **entries})


def places_of(given: Sequence[str | Path], readings: Sequence[Reading], *, update: bool) -> tuple[Place, ...]:
    """Sort what was read by the folder whose lock speaks of it: a given folder, or the one around a given file.

    Parameters
    ----------
    given
        The paths.
    readings
        What was read there.
    update
        Whether a lock need not be there, nor be of these checks.

    Raises
    ------
    InputError
        If a lock is missing, broken or of other checks.
    """
    roots = sorted((split_id(path) for path in given), key=lambda root: not root[0].is_dir())
    found: dict[str, tuple[Path, list[Reading]]] = {}
    for reading in readings:
        file = Path(reading.file)
        root = next(root for root, _ in roots if file.is_relative_to(root))
        folder = root if root.is_dir() else root.parent
        found.setdefault(os.path.realpath(folder), (folder, []))[1].append(reading)
    entire = {os.path.realpath(root) for root, id_ in roots if root.is_dir() and id_ is None}
    files = frozenset(str(root) for root, id_ in roots if id_ is None)
    return tuple(
        _place(folder, tuple(mine), entire=real in entire, files=files, update=update)
        for real, (folder, mine) in found.items()
    )


def usable(places: Sequence[Place]) -> Iterator[tuple[Place, Check]]:
    """Yield every check that can be judged: not one of several with the same id, which the documents' cases tell."""
    pairs = [(place, check) for place in places for check in place.checks]
    times = Counter(check.id for _, check in pairs)
    yield from (pair for pair in sorted(pairs, key=lambda pair: pair[1].id) if times[pair[1].id] == 1)


def document_case(reading: Reading) -> Case:
    """Return whether a file of checks is valid."""
    wrong = errors_of(reading)
    ids = ", ".join(found.id for found in reading.found)
    more = [f"{len(wrong) - SHOWN} more"] if len(wrong) > SHOWN else []
    return Case(
        of=reading.file,
        file=reading.file,
        condition="valid",
        state="failed" if wrong else "passed",
        words="; ".join([*wrong[:SHOWN], *more]) or f"{reading.dialect}: {ids}",
        advice="check-workbench validate lists every problem" if wrong else "",
    )


def errors_of(reading: Reading) -> list[str]:
    """Return the errors of a document in words."""
    return [f"{p.line}:{p.column}: {p.message}" for p in reading.problems if p.severity == "error"]


def _place(folder: Path, readings: tuple[Reading, ...], *, entire: bool, files: frozenset[str], update: bool) -> Place:
    lock = read_lock(folder)
    if lock is None and not update:
        raise InputError(
            f"{folder / NAME} does not exist. Where calibrate and trust were run, "
            "check-workbench gate --update writes it; commit it beside the checks.",
        )
    lock = lock or Lock(path=folder / NAME)
    ids = {found.id for reading in readings for found in reading.found}
    if lock.entries and entire and not update and not ids & set(lock.entries) and not any(map(errors_of, readings)):
        known = ", ".join(sorted(lock.entries)[:5])
        raise InputError(
            f"{lock.path}: is the lock of other checks ({known}), none of which is in {folder}. "
            "check-workbench gate --update writes a new one.",
        )
    return Place(folder=folder, readings=readings, entire=entire, files=files, lock=lock)
