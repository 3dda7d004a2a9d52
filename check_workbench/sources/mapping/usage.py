"""Which members of a record a part of a mapping reads, so that the others are kept as attributes or told."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from check_workbench.sources.mapping.language import Used
from check_workbench.sources.mapping.paths import Every, Key, Members

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from check_workbench.sources.mapping.expressions import Expression
    from check_workbench.sources.mapping.language import Join, Output, Part
    from check_workbench.sources.mapping.paths import Path, Step
    from check_workbench.sources.mapping.places import Places


def used_of(
    outputs: Iterable[Output],
    let: Mapping[str, Expression],
    joins: Mapping[str, Join],
    ignored: Iterable[str],
) -> Used:
    """Say what is read of a record, or ignored on purpose."""
    return _used([*_at_record(outputs, let, joins), *((Key(name),) for name in ignored)])


def looks_around(outputs: Iterable[Output], let: Mapping[str, Expression], joins: Mapping[str, Join]) -> bool:
    """Say whether something is read of what lies around a record."""
    shared = any(path.up for path in _named(let, joins))
    return shared or any(path.up > _depth(output) for output in outputs for path in output.paths())


def with_rest(outputs: tuple[Output, ...]) -> tuple[Output, ...]:
    """Tell spans and steps that are made of elements which members of those are read anyway."""
    return tuple(
        dataclasses.replace(output, rest=_used_together(output, outputs))
        if output.kind in ("spans", "steps") and output.each is not None and "attributes" not in output.fields
        else output
        for output in outputs
    )


def together(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Let parts that read the same records of a file know what the others read; runs keep the rest."""
    return tuple(_knowing(part, [other for other in parts if _records(other) == _records(part)]) for part in parts)


def _knowing(part: Part, same: list[Part]) -> Part:
    used = Used(
        frozenset(key for one in same for key in one.used.keys),
        tuple(dict.fromkeys(pattern for one in same for pattern in one.used.patterns)),
        any(one.used.all for one in same),
    )
    kept = any(_keeps_rest(output) for one in same for output in one.outputs)
    outputs = (dataclasses.replace(output, rest=used) if _keeps_rest(output) else output for output in part.outputs)
    return dataclasses.replace(part, used=dataclasses.replace(used, all=used.all or kept), outputs=tuple(outputs))


def _keeps_rest(output: Output) -> bool:
    return output.kind == "run" and "attributes" not in output.fields


def _records(part: Part) -> tuple[object, ...]:
    records = part.source.records
    return part.source.table, part.source.cells, None if records is None else repr(records.written), part.group is None


def _at_record(
    outputs: Iterable[Output],
    let: Mapping[str, Expression],
    joins: Mapping[str, Join],
) -> Iterator[tuple[Step, ...]]:
    yield from _starts(_named(let, joins), 0)
    for output in outputs:
        if output.each is None:
            yield from _starts(output.paths(), 0)
        else:
            yield from _of_places(output.each)
            yield from _starts(output.paths(), output.each.depth)


def _depth(output: Output) -> int:
    return 0 if output.each is None else output.each.depth


def _named(let: Mapping[str, Expression], joins: Mapping[str, Join]) -> Iterator[Path]:
    for expression in let.values():
        yield from expression.paths()
    for join in joins.values():
        yield from join.file.paths()
        for _, expression in join.on:
            yield from expression.paths()


def _of_places(places: Places) -> Iterator[tuple[Step, ...]]:
    path = places.path
    if path.variable is not None or path.up:
        return
    if path.steps or not places.lists:
        yield path.steps
    else:
        yield from (column.steps for column in places.lists.values())


def _starts(paths: Iterable[Path], up: int) -> Iterator[tuple[Step, ...]]:
    yield from (path.steps for path in paths if path.up == up and path.variable is None)


def _used_together(output: Output, outputs: tuple[Output, ...]) -> Used:
    """Say what is read of an element, by all that is made of it or of what lies in it."""
    return _used(steps for other in outputs if other.kind == output.kind for steps in _at_element(output, other))


def _at_element(output: Output, other: Output) -> Iterator[tuple[Step, ...]]:
    here, there = output.each, other.each
    if here is None or there is None:
        return
    if here.written == there.written:
        yield from _starts(other.paths(), 0)
    elif (here.path.variable, here.path.up) == (there.path.variable, there.path.up):
        trail, longer = _trail(here), _trail(there)
        if trail == longer:
            yield from _starts(other.paths(), 0)
        elif trail == longer[: len(trail)]:
            yield longer[len(trail) :]
            yield from _starts(other.paths(), there.depth - here.depth)


def _trail(places: Places) -> tuple[Step, ...]:
    """Return the way to each element, whether the mapping writes the last brackets or not."""
    steps = places.path.steps if places.ends_at_element else (*places.path.steps, Every(None))
    return tuple(Every(None) if isinstance(step, Every) else step for step in steps)


def _used(starts: Iterable[tuple[Step, ...]]) -> Used:
    keys: set[str] = set()
    patterns: dict[Members, None] = {}
    whole = False
    for steps in starts:
        if steps and isinstance(steps[0], Key):
            keys.add(steps[0].name)
        elif steps and isinstance(steps[0], Members):
            patterns[steps[0]] = None
        else:
            whole = True
    return Used(frozenset(keys), tuple(patterns), whole)
