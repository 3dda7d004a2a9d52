"""What an expression can see: the element or record at hand, what lies around it, and what was kept under a name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError
from check_workbench.sources.mapping.paths import keys_of, straight, walk
from check_workbench.sources.mapping.words import word

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from check_workbench.sources.mapping.language import Condition
    from check_workbench.sources.mapping.paths import Hit, Path


@dataclass(slots=True)
class Watch:
    """Which paths found something in a file, and what lay where they looked."""

    found: set[Path] = field(default_factory=set)
    near: dict[Path, tuple[str, ...]] = field(default_factory=dict)
    """Of a path that found nothing yet: the keys at the first place where it did not."""
    uneven: int = 0
    """How often parallel lists had different lengths."""

    def missed(self, path: Path, value: Any) -> None:
        """Remember what lay where a path found nothing."""
        if path in self.near or path in self.found:
            return
        known = keys_of(value)
        for length in range(1, len(path.steps)):
            inside = next(walk(value, path.steps[:length]), None)
            if inside is None:
                break
            known = keys_of(inside.value)
        self.near[path] = known


@dataclass(slots=True)
class Scope:
    """One thing that fields are read from."""

    value: Any
    watch: Watch
    kept: Mapping[str, Any] = field(default_factory=dict)
    around: Scope | None = None
    made: dict[str, Any] = field(default_factory=dict)
    """What was computed under a name here, once."""
    makers: Mapping[str, Callable[[Scope], Any]] = field(default_factory=dict)
    """How what has a name is computed when it is first asked for."""
    where: tuple[int, ...] = ()
    """The places of the elements through which the way led here."""

    def inside(self, value: Any, kept: Mapping[str, Any], where: tuple[int, ...] = ()) -> Scope:
        """Return the scope of something found in this one."""
        return Scope(value, self.watch, kept, self, where=where)

    def one(self, path: Path) -> Any:
        """Return what a path finds: one value, a list where it spreads, None where nothing is there."""
        if path.spreads:
            return [hit.value for hit in self.hits(path)] or None
        start = self.named(path.variable) if path.variable else self._out(path.up)
        value = straight(start, path.steps)
        if value is None:
            self.watch.missed(path, start)
        else:
            self.watch.found.add(path)
        return value

    def hits(self, path: Path, *, nulls: bool = False) -> Iterator[Hit]:
        """Yield all that a path finds; null elements only where they are asked for."""
        start = self.named(path.variable) if path.variable else self._out(path.up)
        found = False
        for hit in walk(start, path.steps):
            if hit.value is None and not nulls:
                continue
            if not found:
                found = True
                self.watch.found.add(path)
            yield hit
        if not found:
            self.watch.missed(path, start)

    def meets(self, conditions: tuple[Condition, ...]) -> bool:
        """Say whether all conditions let this thing through.

        Raises
        ------
        InputError
            If one of them looks at a list or an object.
        """
        return all(self._holds(condition) for condition in conditions)

    def named(self, name: str) -> Any:
        """Return what was kept, joined or computed under a name, or None."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.kept:
                return scope.kept[name]
            if name in scope.makers:
                return scope._make(name)
            scope = scope.around
        return None

    def _holds(self, condition: Condition) -> bool:
        value = self.one(condition.path)
        if value is None or not condition.words:
            return (value is None and condition.missing) is condition.wanted
        try:
            return (word(value) in condition.words) is condition.wanted
        except InputError as error:
            raise InputError(f"{condition.path.text!r}: {error}") from None

    def _make(self, name: str) -> Any:
        if name not in self.made:
            self.made[name] = self.makers[name](self)
        return self.made[name]

    def _out(self, up: int) -> Any:
        scope: Scope | None = self
        for _ in range(up):
            scope = scope.around if scope is not None else None
        return None if scope is None else scope.value
