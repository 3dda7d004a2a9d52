"""Read one file through the parts of a mapping that are for it."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from check_workbench.decisions.notes import Notes
from check_workbench.errors import InputError
from check_workbench.sources.format import Note, Rejected
from check_workbench.sources.mapping.building import Building
from check_workbench.sources.mapping.opening import Located, located
from check_workbench.sources.mapping.remarks import Remarks
from check_workbench.sources.mapping.scopes import Scope, Watch
from check_workbench.sources.mapping.shelf import Shelf, key_of
from check_workbench.sources.mapping.usage import together

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from check_workbench.sources.format import Origin, Record
    from check_workbench.sources.mapping.language import Join, Part

FILES_SHOWN = 3
"""How many files that are not there a note names; the rest is counted."""


class Fitting(NamedTuple):
    """A part of a mapping that is for a file, the folder from which its files are counted, and what is kept of it."""

    part: Part
    folder: Path
    kept: Mapping[str, str]


def read(path: Path, origin: Origin, fitting: tuple[Fitting, ...]) -> Iterator[Record]:
    """Yield what a file holds, part after part.

    Parameters
    ----------
    path
        The file.
    origin
        Its name in reports and in ids.
    fitting
        The parts that are for it.
    """
    parts = together(tuple(one.part for one in fitting))
    for one, part in zip(fitting, parts, strict=True):
        if (refusal := outside(path, one.folder)) is not None:
            yield Rejected(file=origin.file, line=1, reason=refusal)
            return
        with contextlib.ExitStack() as shelves:
            yield from _part(path, origin, one._replace(part=part), shelves)


def outside(path: Path, folder: Path) -> str | None:
    """Say so if a file lies outside the folder, by a link."""
    real, inside = os.path.realpath(path), os.path.realpath(folder)
    if os.path.commonpath([real, inside]) == inside:
        return None
    return "it is a link to a file outside the PATH, which a mapping does not follow"


def _part(path: Path, origin: Origin, fitting: Fitting, shelves: contextlib.ExitStack) -> Iterator[Record]:
    part, watch, remarks = fitting.part, Watch(), Remarks()
    kept = {**fitting.kept, "file": origin.stem, "path": origin.file}
    base = Scope(None, watch, kept)
    building = Building(part, origin.file, remarks, Notes(origin.file, ("decided_at", "at")))
    joins: dict[str, _Joined] = {name: _Joined(join, fitting.folder, shelves) for name, join in part.joins.items()}
    makers: dict[str, Callable[[Scope], Any]] = {name: made.of for name, made in part.let.items()}
    makers.update({name: joined.of for name, joined in joins.items()})
    chosen = _chosen(located(path, part.source, base, around=part.around), part, origin.file, remarks)
    for found in _grouped(chosen, part, base, shelves):
        if isinstance(found, Located):
            found.scope.makers = makers
            yield from building.of(found)
        else:
            yield found
    if part.source.records is not None:
        watch.found.update([part.source.records.path] if remarks.records else [])
    yield from remarks.notes(part, watch, origin.file)
    for joined in joins.values():
        yield from (Note(file=origin.file, text=text) for text in joined.notes())
    yield from building.notes.closing()


def _chosen(
    found: Iterator[Located | Rejected | Note],
    part: Part,
    file: str,
    remarks: Remarks,
) -> Iterator[Located | Rejected | Note]:
    """Leave out the records that the part is not for."""
    for item in found:
        if not isinstance(item, Located):
            yield item
            continue
        try:
            meets = item.scope.meets(part.conditions)
        except ValueError as error:
            yield Rejected(file=file, line=item.line, reason=f"when or unless: {error}")
            continue
        remarks.left_out["records", part.line] += not meets
        if meets:
            yield item


def _grouped(
    found: Iterator[Located | Rejected | Note],
    part: Part,
    base: Scope,
    shelves: contextlib.ExitStack,
) -> Iterator[Located | Rejected | Note]:
    """Gather records of one key into one record whose `rows` they are, where the part asks for it."""
    if part.group is None:
        yield from found
        return
    shelf = shelves.enter_context(contextlib.closing(Shelf()))
    for item in found:
        if not isinstance(item, Located):
            yield item
            continue
        try:
            key = key_of([part.group.of(item.scope)])
        except ValueError as error:
            yield Rejected(file=str(base.named("path")), line=item.line, reason=f"group: {error}")
            continue
        if key is None:
            reason = "it has nothing to be grouped by"
            yield Rejected(file=str(base.named("path")), line=item.line, reason=reason)
        else:
            shelf.put(key, item.scope.value, item.line)
    for place, (_, line, rows) in enumerate(shelf.groups(), start=1):
        yield Located(line, dataclasses.replace(base, value={"rows": rows}, kept={**base.kept, "place": place}))


class _Joined:
    """The second file of a join; it is read when the first record asks for it."""

    def __init__(self, join: Join, folder: Path, shelves: contextlib.ExitStack) -> None:
        self._notes: list[str] = []
        self._missing: list[str] = []
        self._join = join
        self._folder = folder
        self._shelves = shelves
        self._by_file: dict[str, Shelf] = {}

    def of(self, scope: Scope) -> Any:
        """Return the record that belongs to one, or all of them, or None."""
        file = self._join.file.of(scope)
        key = key_of(expression.of(scope) for _, expression in self._join.on)
        if file is None or key is None:
            return None
        if file not in self._by_file:
            self._by_file[file] = self._read(str(file))
        found = self._by_file[file].get(key)
        if self._join.many:
            return found
        if len(found) > 1:
            raise InputError(f"{len(found)} records of {file} belong to it, one may; say many: true to take them all")
        return found[0] if found else None

    def notes(self) -> Iterator[str]:
        """Yield what is to be told of the files that were joined, each thing once."""
        if self._missing:
            count, named = len(self._missing), ", ".join(name[:80] for name in self._missing[:FILES_SHOWN])
            files, more = "file" if count == 1 else f"{count:,} files", f" and {count - FILES_SHOWN:,} more"
            is_, joined = ("is", "which is") if count == 1 else ("are", "which are")
            rest = more if count > FILES_SHOWN else ""
            yield f"the {files} {named}{rest}, {joined} joined, {is_} not there under {self._folder}"
        yield from dict.fromkeys(self._notes)

    def _read(self, file: str) -> Shelf:
        path = self._path(file)
        watch = Watch()
        shelf = self._shelves.enter_context(contextlib.closing(Shelf()))
        if path is None:
            self._missing.append(file)
            return shelf
        base = Scope(None, watch, {"path": str(path)})
        records = 0
        for found in located(path, self._join.source, base, around=False):
            if not isinstance(found, Located):
                text = found.text if isinstance(found, Note) else f"line {found.line} was rejected: {found.reason}"
                self._notes.append(f"{file}, which is joined: {text}")
                continue
            records += 1
            key = key_of(found.scope.one(path) for path, _ in self._join.on)
            if key is not None:
                shelf.put(key, found.scope.value, found.line)
        for path_, keys in watch.near.items():
            if path_ not in watch.found:
                known = ", ".join(map(repr, keys[:12]))
                self._notes.append(f"{file}, which is joined: {path_.text!r} was found in no record; it has {known}")
        return shelf

    def _path(self, file: str) -> Path | None:
        near = (self._folder.joinpath(*name.split("/")) for name in (file, f"{file}.gz", file.removesuffix(".gz")))
        there = (candidate for candidate in near if _is_file(candidate))
        return next((found for found in there if outside(found, self._folder) is None), None)


def _is_file(path: Path) -> bool:
    """Say whether a name that a record gives is a file; it may be longer than any file's."""
    try:
        return path.is_file()
    except OSError:
        return False
