"""Where records, spans, decisions and answers lie: at a path, in parallel lists, or in the pieces of a text."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from check_workbench.sources.mapping.paths import Hit, Path, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from check_workbench.sources.mapping.scopes import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """A way to several things: a path, and how what lies there is taken apart."""

    path: Path
    lists: Mapping[str, Path] = field(default_factory=dict)
    """Parallel lists by the name that their elements get."""
    split: Any = None
    """A compiled pattern: each piece starts behind a hit and ends before the next."""
    find: Any = None
    """A compiled pattern: each hit is a thing, its named groups are its members."""
    after: str | None = None
    """Words behind which a text begins; where they are not there, nothing is."""
    before: str | None = None
    """Words at which a text ends, if they are there."""
    written: Any = None
    """As the mapping has it, to see which places are the same."""

    def each(self, scope: Scope) -> Iterator[Scope]:
        """Yield what lies there, in order."""
        for hit in scope.hits(self.path):
            yield from self.apart(scope, hit)

    def apart(self, scope: Scope, hit: Hit) -> Iterator[Scope]:
        """Yield what one thing that the path found is taken apart into."""
        for index, value in self._taken_apart(scope, hit):
            yield scope.inside(value, {**hit.kept, "index": index})

    def paths(self) -> Iterator[Path]:
        """Yield the paths that are read."""
        yield self.path

    def _taken_apart(self, scope: Scope, hit: Hit) -> Iterator[tuple[int, Any]]:
        if self.lists:
            yield from enumerate(self._rows(scope, hit.value))
        elif self.split is not None or self.find is not None:
            yield from enumerate(self._pieces(hit.value))
        elif isinstance(hit.value, list) and not (self.path.steps and self._ends_in_elements()):
            yield from ((index, value) for index, value in enumerate(hit.value) if value is not None)
        else:
            yield hit.nth, hit.value

    def _ends_in_elements(self) -> bool:
        return hasattr(self.path.steps[-1], "kept")

    def _rows(self, scope: Scope, value: Any) -> Iterator[dict[str, Any]]:
        inside = scope.inside(value, {})
        columns = {name: inside.one(path) for name, path in self.lists.items()}
        columns = {name: column for name, column in columns.items() if isinstance(column, list)}
        lengths = Counter(map(len, columns.values()))
        scope.watch.uneven += len(lengths) > 1
        for place in range(max(lengths, default=0)):
            yield {name: column[place] for name, column in columns.items() if place < len(column)}

    def _pieces(self, value: Any) -> Iterator[Any]:
        if not isinstance(value, str) or (self.after is not None and self.after not in value):
            return
        text = value if self.after is None else value.partition(self.after)[2]
        text = text if self.before is None else text.partition(self.before)[0]
        if self.find is not None:
            yield from (found.groupdict() or found[1 if self.find.groups else 0] for found in self.find.finditer(text))
            return
        hits = [found.span() for found in self.split.finditer(text) if found.end() > found.start()]
        ends = [start for start, _ in hits[1:]] + [len(text)]
        yield from (text[start:end] for (_, start), end in zip(hits, ends, strict=False))


def spread(places: Places, value: Any) -> Iterator[Hit]:
    """Yield what the path of places finds in a value, without looking at what it is taken apart into."""
    yield from walk(value, places.path.steps)
