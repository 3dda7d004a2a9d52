"""Mappings: a small YAML file that says where runs, decisions and answers lie in a format that no reader knows.

`language` holds what a mapping says, `reading` reads it, `reader` reads files with it; the README shows the language
by example, and `../mappings` holds the mappings that are shipped.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from check_workbench.documents import FlawError, decode
from check_workbench.errors import InputError, hint
from check_workbench.sources.format import Format, Recognised
from check_workbench.sources.mapping.reader import Fitting, read
from check_workbench.sources.mapping.reading import plan_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from check_workbench.sources.format import Origin, Record
    from check_workbench.sources.mapping.language import Plan

__all__ = ["Mapping", "read_mapping", "shipped"]

_FOLDER = "mappings"


@dataclass(frozen=True, slots=True)
class Mapping:
    """A mapping that can be loaded with."""

    plan: Plan

    @property
    def name(self) -> str:
        """Its name."""
        return self.plan.name

    @property
    def summary(self) -> str:
        """What it is for, in a line."""
        return self.plan.summary

    def recognise(self, path: Path, root: Path) -> Recognised | None:
        """Say how the mapping reads a file, or None where it says nothing of it.

        Parameters
        ----------
        path
            The file.
        root
            The PATH under which it was found, from which the mapping counts.
        """
        fitting = tuple(self._fitting(path, root))
        if not fitting and not self._joins(path, root):
            return None
        patterns = " and ".join(dict.fromkeys(repr(one.part.files.text) for one in fitting))
        format_ = Format(
            name=self.name,
            summary=self.summary,
            detect=lambda _: None,
            read=functools.partial(_read, fitting=fitting),
        )
        reason = f"the mapping's files {patterns}" if fitting else "a file that the mapping joins"
        return Recognised(format=format_, reason=reason)

    def idle(self, found: Iterable[tuple[Path, Path]]) -> Iterator[str]:
        """Yield the patterns of files that none of the files, given with their PATH, fits."""
        files = list(found)
        for pattern in dict.fromkeys(part.files for part in self.plan.parts):
            if not any(pattern.match(path, root) for path, root in files):
                yield pattern.text

    def _joins(self, path: Path, root: Path) -> bool:
        """Say whether a file is read for a join, and only for that."""
        joins = [join for part in self.plan.parts for join in part.joins.values()]
        return any(join.files is not None and join.files.match(path, root) is not None for join in joins)

    def _fitting(self, path: Path, root: Path) -> Iterator[Fitting]:
        for part in self.plan.parts:
            if (found := part.files.match(path, root)) is not None:
                yield Fitting(part, *found)


def read_mapping(name: str | Path) -> Mapping:
    """Read a mapping from a file, or take a shipped one by its name.

    Parameters
    ----------
    name
        A YAML file, or the name of a shipped mapping.

    Raises
    ------
    InputError
        If there is none, or with every problem in it.

    Examples
    --------
    >>> read_mapping("pandalm_testset").name
    'pandalm_testset'
    """
    file = Path(name)
    if str(name) in _shipped_files():
        text, shown = _shipped_files()[str(name)].read_text(encoding="utf-8"), f"{_FOLDER}/{name}.yaml"
        return Mapping(plan_of(text, shown, name=str(name)))
    try:
        data = file.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        known = hint(str(name), _shipped_files())
        raise InputError(
            f"the mapping {str(name)!r} is no file that can be read ({reason}) and not shipped.{known}"
        ) from None
    try:
        text = decode(data)
    except FlawError as error:
        raise InputError(
            f"{file}:{error.flaw.line}:{error.flaw.column}: {error.flaw.message}. {error.flaw.hint}"
        ) from None
    return Mapping(plan_of(text, str(file), name=file.stem))


def shipped() -> tuple[Mapping, ...]:
    """Return the shipped mappings by name."""
    return tuple(read_mapping(name) for name in sorted(_shipped_files()))


def _read(path: Path, origin: Origin, *, fitting: tuple[Fitting, ...]) -> Iterator[Record]:
    return read(path, origin, fitting)


@functools.cache
def _shipped_files() -> dict[str, Path]:
    folder = Path(str(resources.files("check_workbench.sources") / _FOLDER))
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}
