"""What a recorded-run format is, what it is shown of a file, and what it may yield beside runs."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from check_workbench.records import Decision, Run
    from check_workbench.results import Answer

    Record: TypeAlias = "Run | Decision | Answer | Rejected | Note"

SUFFIXES = (".json", ".jsonl", ".ndjson")
"""Endings of JSON files; `.gz` may follow."""
RUN_SUFFIXES = (*SUFFIXES, ".eval", ".traj")
"""Endings of files that are meant to hold runs, so that a damaged one is rejected and not passed over."""
ID_SUFFIXES = (*RUN_SUFFIXES, ".db", ".sqlite", ".csv", ".tsv", ".parquet")
"""Endings that are no part of a made-up id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """One record that cannot be used, and why."""

    file: str
    line: int
    """From 1; a header counts."""
    reason: str

    def to_json(self) -> dict[str, object]:
        """Return the record as the load report writes it."""
        return dataclasses.asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Something that a reader assumed or ignored, told once a file."""

    file: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a run came from."""

    file: str
    """As reports name it."""
    stem: str
    """Path relative to the PATH that was loaded, without suffixes: the first half of made-up run ids."""

    @classmethod
    def of(cls, path: Path, root: Path | None = None) -> Origin:
        """Describe a file found under `root`, or given by itself.

        Examples
        --------
        >>> from pathlib import Path
        >>> Origin.of(Path("runs/may/gpt-3.5.json.gz"), Path("runs")).stem
        'may/gpt-3.5'
        >>> Origin.of(Path("runs/may/gpt-3.5.json.gz")).stem
        'gpt-3.5'
        """
        inside = root is not None and root != path and path.is_relative_to(root)
        relative = path.relative_to(root) if inside and root is not None else PurePath(path.name)
        return cls(file=str(path), stem=_stem(relative.as_posix()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What a file looks like, as far as its first bytes and its list of contents show it."""

    kind: str = "json"
    """`json`, `zip` or `sqlite`."""
    shape: str = ""
    """Of JSON: `lines`, `array` or `object`."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """Of JSON: keys of the first record, each with the first character of its value."""
    records: tuple[Any, ...] = ()
    """Of JSON: the first records; the last one may be cut off inside."""
    names: frozenset[str] = frozenset()
    """The members of a ZIP file, or the tables of a SQLite file."""

    @property
    def first(self) -> Mapping[str, Any]:
        """The first record where it is an object, else an empty one."""
        return self.records[0] if self.records and isinstance(self.records[0], dict) else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A way in which agent runs are recorded."""

    name: str
    summary: str
    detect: Callable[[Head], str | None]
    """Why the file is of this format, or None."""
    read: Callable[[Path, Origin], Iterator[Record]] | None
    """A file to its runs, and to the decisions and answers recorded with them; None where the store reads it itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognised:
    """The format of a file, and why."""

    format: Format
    reason: str


def is_run_name(name: str) -> bool:
    """Say whether a file is named like one that holds runs.

    Examples
    --------
    >>> is_run_name("a.jsonl.gz"), is_run_name("LICENSE.txt")
    (True, False)
    """
    return name.lower().removesuffix(".gz").endswith(RUN_SUFFIXES)


def _stem(name: str) -> str:
    bare = name[:-3] if name.lower().endswith(".gz") else name
    found = next((s for s in ID_SUFFIXES if bare.lower().endswith(s)), "")
    return bare[: len(bare) - len(found)]
