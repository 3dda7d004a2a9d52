"""What a field is made of: a constant, a path, a text with holes, or a path with something done to what it finds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from check_workbench.decisions import fields
from check_workbench.errors import InputError
from check_workbench.sources.json_text import decode
from check_workbench.sources.mapping.words import word

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from check_workbench.sources.mapping.paths import Path
    from check_workbench.sources.mapping.scopes import Scope

LONGEST_TEXT = 100_000
"""Characters that a text with holes may come to."""


class Expression(Protocol):
    """Something that has a value in a scope."""

    def of(self, scope: Scope) -> Any:
        """Return the value, or None where it is missing."""

    def paths(self) -> Iterator[Path]:
        """Yield the paths that are read for it."""


@dataclass(frozen=True, slots=True)
class Constant:
    """The same everywhere."""

    value: Any

    def of(self, scope: Scope) -> Any:
        """Return the constant."""
        del scope
        return self.value

    def paths(self) -> Iterator[Path]:
        """Yield nothing."""
        yield from ()


@dataclass(frozen=True, slots=True)
class Found:
    """What a path finds."""

    path: Path

    def of(self, scope: Scope) -> Any:
        """Return what the path finds."""
        return scope.one(self.path)

    def paths(self) -> Iterator[Path]:
        """Yield the path."""
        yield self.path


@dataclass(frozen=True, slots=True)
class Template:
    """A text with holes; missing where one of them is."""

    parts: tuple[str | Path, ...]

    def of(self, scope: Scope) -> Any:
        """Return the text with its holes filled."""
        made: list[str] = []
        for part in self.parts:
            value = part if isinstance(part, str) else scope.one(part)
            if value is None:
                return None
            made.append(value if isinstance(part, str) else word(value))
        if sum(map(len, made)) > LONGEST_TEXT:
            raise InputError(f"a text with holes must come to at most {LONGEST_TEXT:,} characters")
        return "".join(made)

    def paths(self) -> Iterator[Path]:
        """Yield the paths in the holes."""
        yield from (part for part in self.parts if not isinstance(part, str))


@dataclass(frozen=True, slots=True)
class Parts:
    """An object; members that are missing are left out."""

    members: Mapping[str, Expression]

    def of(self, scope: Scope) -> Any:
        """Return the object, or None where it would be empty."""
        made = {name: value for name, part in self.members.items() if (value := part.of(scope)) is not None}
        return made or (None if self.members else {})

    def paths(self) -> Iterator[Path]:
        """Yield the paths of all members."""
        for part in self.members.values():
            yield from part.paths()


NOTHING = object()
"""Stands where no default was given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Worked:
    """The first of several things that is there, worked upon in this order: join, minus, times, match, values, as."""

    sources: tuple[Expression, ...]
    join: str | None = None
    minus: Expression | None = None
    times: float | None = None
    match: Any = None
    """A compiled RE2 pattern."""
    values: Mapping[str, Any] | None = None
    kind: str | None = None
    """`number`, `text`, `lower` or `json`."""
    default: Any = NOTHING

    def of(self, scope: Scope) -> Any:
        """Return the value, or the default where it is missing or not among the values."""
        value = next((v for source in self.sources if (v := source.of(scope)) is not None), None)
        value = self._shaped(value, scope)
        if value is None:
            return None if self.default is NOTHING else self.default
        if self.values is not None:
            value = self._translated(self.values, word(value))
        return value if value is None or self.kind is None else _as(self.kind, value)

    def paths(self) -> Iterator[Path]:
        """Yield the paths of all sources."""
        for source in (*self.sources, *((self.minus,) if self.minus else ())):
            yield from source.paths()

    def _shaped(self, value: Any, scope: Scope) -> Any:
        if self.join is not None and isinstance(value, list):
            value = self.join.join(word(item) for item in value)
        if value is not None and (self.minus is not None or self.times is not None):
            value = self._reckoned(value, scope)
        if self.match is not None and value is not None:
            found = self.match.search(value if isinstance(value, str) else word(value))
            value = None if found is None else found[1 if self.match.groups else 0]
        return value

    def _reckoned(self, value: Any, scope: Scope) -> float | None:
        other = 0 if self.minus is None else self.minus.of(scope)
        if other is None:
            return None
        result = (fields.number("it", value) - fields.number("minus", other)) * (
            1 if self.times is None else self.times
        )
        if not math.isfinite(result):
            raise InputError("it comes to no finite number")
        return result

    def _translated(self, values: Mapping[str, Any], key: str) -> Any:
        if key in values:
            return values[key]
        if self.default is NOTHING:
            known = ", ".join(map(repr, list(values)[:12]))
            raise InputError(f"{key[:80]!r} is not among its values {known}; add it, or give a default")
        return self.default


def _as(kind: str, value: Any) -> Any:
    if kind == "number":
        return fields.number("it", value)
    if kind in ("text", "lower"):
        return word(value) if kind == "text" else word(value).lower()
    return decode(value) if isinstance(value, str) else value
