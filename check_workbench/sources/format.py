"""What a recorded-run format is, what it is shown of a file, and what it may yield beside runs."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import PurePath
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from check_workbench.records import Run

SUFFIXES = (".json", ".jsonl", ".ndjson")
"""Endings of JSON files; `.gz` may follow."""


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
    """The first thing in a JSON file, as far as its first bytes show it."""

    shape: str
    """`lines`, `array` or `object`."""
    keys: Mapping[str, str]
    """Keys of the first record, each with the first character of its value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A way in which agent runs are recorded."""

    name: str
    summary: str
    detect: Callable[[Head], str | None]
    """Why the file is of this format, or None."""
    read: Callable[[IO[bytes], Origin], Iterator[Run | Rejected]] | None
    """Decompressed bytes to runs; None where the store reads the file itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognised:
    """The format of a file, and why."""

    format: Format
    reason: str


def is_json_name(name: str) -> bool:
    """Say whether a file is named like JSON.

    Examples
    --------
    >>> is_json_name("a.jsonl.gz"), is_json_name("LICENSE.txt")
    (True, False)
    """
    return name.lower().removesuffix(".gz").endswith(SUFFIXES)


def _stem(name: str) -> str:
    bare = name[:-3] if name.lower().endswith(".gz") else name
    found = next((s for s in SUFFIXES if bare.lower().endswith(s)), "")
    return bare[: len(bare) - len(found)]
