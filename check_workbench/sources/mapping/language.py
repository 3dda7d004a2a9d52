"""What a mapping says, once it is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from check_workbench.decisions.delimited import Cells
    from check_workbench.sources.mapping.expressions import Expression
    from check_workbench.sources.mapping.globs import Glob
    from check_workbench.sources.mapping.paths import Members, Path
    from check_workbench.sources.mapping.places import Places

Kind = Literal["run", "spans", "steps", "decisions", "answers"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """What must hold, or must not, for something to be taken."""

    path: Path
    words: frozenset[str]
    missing: bool
    """Whether it also holds where nothing is there."""
    wanted: bool
    """True of `when`, false of `unless`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """How one kind of thing is made of a record, or of each of several things in it."""

    kind: Kind
    line: int
    """Where it stands in the mapping."""
    fields: Mapping[str, Expression]
    each: Places | None = None
    messages: Path | None = None
    """Where chat messages lie, of which the spans are made."""
    conditions: tuple[Condition, ...] = ()
    let: Mapping[str, Expression] = field(default_factory=dict)
    rest: Used | None = None
    """What is read of an element; all else becomes attributes. None where attributes are given, or nothing is."""

    def paths(self) -> Iterator[Path]:
        """Yield the paths that are read in an element, or in the record where there is no `each`."""
        for part in (*self.fields.values(), *self.let.values()):
            yield from part.paths()
        yield from (condition.path for condition in self.conditions)
        if self.messages is not None:
            yield self.messages


@dataclass(frozen=True, slots=True)
class Used:
    """Which members of an object are read."""

    keys: frozenset[str]
    patterns: tuple[Members, ...]
    all: bool

    def reads(self, key: str) -> bool:
        """Say whether a member is read."""
        return self.all or key in self.keys or any(pattern.part(key) is not None for pattern in self.patterns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where records lie in a file."""

    records: Places | None = None
    """None: each line, element or row, or the whole object."""
    table: str | None = None
    """Of a SQLite file."""
    cells: Cells | None = None
    """How the cells of a CSV or TSV file are written; None: some may stand in quotes, and it may be any file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Join:
    """A second file, from which the record that belongs to this one is taken."""

    file: Expression
    files: Glob | None
    """The same as a pattern, where it is one file for all records."""
    source: Source
    on: tuple[tuple[Path, Expression], ...]
    """Paths in the second file's records, and what must be there."""
    many: bool
    """Whether several may belong to one record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What is made of some files."""

    files: Glob
    line: int
    source: Source
    outputs: tuple[Output, ...]
    conditions: tuple[Condition, ...] = ()
    group: Expression | None = None
    let: Mapping[str, Expression] = field(default_factory=dict)
    joins: Mapping[str, Join] = field(default_factory=dict)
    used: Used
    """What is read of a record."""
    around: bool = False
    """Whether something is read of what lies around a record."""

    def of(self, kind: Kind) -> tuple[Output, ...]:
        """Return the outputs of a kind."""
        return tuple(output for output in self.outputs if output.kind == kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A whole mapping."""

    name: str
    summary: str
    parts: tuple[Part, ...]
