"""Where records, spans, decisions and answers lie: at a path, in parallel lists, or in the pieces of a text."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from check_workbench.sources.mapping.paths import Every, Members

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from check_workbench.sources.mapping.paths import Hit, Path
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

    @property
    def depth(self) -> int:
        """How many things lie around each: the record, and the elements on the way to it."""
        wild = sum(isinstance(step, Every | Members) for step in self.path.steps)
        return 1 + wild - self.ends_at_element

    @property
    def root(self) -> object:
        """What spans and steps have in common that are told in turns."""
        if self.lists or self.split is not None or self.find is not None or not self.path.steps:
            return repr(self.written)
        return self.path.up, self.path.variable, self.path.steps[0]

    def each(self, scope: Scope) -> Iterator[Scope]:
        """Yield what lies there, in order, each inside the elements on the way to it."""
        for hit in scope.hits(self.path):
            inner = scope
            for value in hit.through[:-1] if self.ends_at_element else hit.through:
                inner = inner.inside(value, {})
            yield from (found for found in self.apart(inner, hit) if found.value is not None)

    def records(self, scope: Scope) -> Iterator[Scope]:
        """Yield what lies there, each right inside the scope; null is a record, though none that can be used."""
        for hit in scope.hits(self.path, nulls=True):
            yield from self.apart(scope, hit)

    def apart(self, scope: Scope, hit: Hit) -> Iterator[Scope]:
        """Yield what one thing that the path found is taken apart into."""
        for where, value in self._taken_apart(scope, hit):
            yield scope.inside(value, {**hit.kept, "index": where[-1] if where else 0}, where)

    @property
    def ends_at_element(self) -> bool:
        """Whether the path ends at an element or member, which is not taken apart."""
        apart = self.lists or self.split is not None or self.find is not None
        return bool(not apart and self.path.steps and isinstance(self.path.steps[-1], Every | Members))

    def _taken_apart(self, scope: Scope, hit: Hit) -> Iterator[tuple[tuple[int, ...], Any]]:
        values: Iterable[Any]
        if self.lists:
            values = self._rows(scope, hit.value)
        elif self.split is not None or self.find is not None:
            values = self._pieces(hit.value)
        elif isinstance(hit.value, list) and not self.ends_at_element:
            values = hit.value
        else:
            yield hit.where, hit.value
            return
        yield from (((*hit.where, index), value) for index, value in enumerate(values))

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
