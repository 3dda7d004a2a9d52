"""Stream the records of a file: lines, elements or members of JSON, rows of CSV, Parquet and SQLite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from check_workbench.decisions import delimited, parquet
from check_workbench.decisions.rows import Row
from check_workbench.errors import InputError
from check_workbench.sources.format import SUFFIXES, Note, Rejected
from check_workbench.sources.json_items import BROKEN_GZIP, Member, items, members, opened, shape_of
from check_workbench.sources.json_window import CHUNK
from check_workbench.sources.mapping import sqlite_rows
from check_workbench.sources.mapping.paths import Every, Hit, Key, Members, walk
from check_workbench.sources.mapping.words import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from check_workbench.decisions.delimited import Cells
    from check_workbench.sources.mapping.language import Source
    from check_workbench.sources.mapping.paths import Step
    from check_workbench.sources.mapping.places import Places
    from check_workbench.sources.mapping.scopes import Scope

_TABLES = (".csv", ".tsv")


class Located(NamedTuple):
    """One record and where it stands."""

    line: int
    scope: Scope


def located(path: Path, source: Source, base: Scope, *, around: bool) -> Iterator[Located | Rejected | Note]:
    """Yield the records of a file.

    Parameters
    ----------
    path
        The file; gzip is seen through.
    source
        Where records lie in it.
    base
        Holds what is known of the whole file, its name among it.
    around
        Whether something is read of the members around records that are elements of one large object.

    Yields
    ------
    Located, Rejected or Note
        In file order; a file that cannot be used is one `Rejected`.
    """
    file = str(base.named("path"))
    try:
        found = _located(path, source, base, file, around=around)
        for place, item in enumerate(found, start=1):
            if isinstance(item, Located):
                item.scope.kept = {**item.scope.kept, "place": place, "line": item.line}
            yield item
    except BROKEN_GZIP as error:
        yield Rejected(file=file, line=1, reason=f"the compressed file is broken: {error}")
    except InputError as error:
        yield Rejected(file=file, line=1, reason=str(error).removeprefix(f"{path}: "))


def _located(path: Path, source: Source, base: Scope, file: str, *, around: bool) -> Iterator[Any]:
    magic = _magic(path)
    if magic.startswith(sqlite_rows.MAGIC):
        yield from _of_rows(sqlite_rows.rows(path, source.table, file), source.records, base)
    elif source.table is not None:
        raise InputError(f"the mapping reads the table {source.table!r} of it, but it is no SQLite file")
    elif not magic.startswith(parquet.MAGIC) and _is_delimited(path.name, magic):
        yield from _of_rows(_cells(path, source.cells or "quoted"), source.records, base)
    elif source.cells is not None:
        raise InputError(f"the mapping says that its cells are {source.cells}, but it is no CSV or TSV file")
    elif magic.startswith(parquet.MAGIC):
        yield from _of_rows(parquet.FORMAT.read(path, ()), source.records, base)
    elif source.records is not None and _spreads(source.records) and _is_large_object(path):
        yield from _of_members(path, source.records, base, file, around=around)
    else:
        yield from _of_items(path, source.records, base, file)


def _magic(path: Path) -> bytes:
    with opened(path) as stream:
        return stream.read(64)


def _is_delimited(name: str, start: bytes) -> bool:
    bare = name.lower().removesuffix(".gz")
    if bare.endswith((*_TABLES, *SUFFIXES)):
        return bare.endswith(_TABLES)
    return start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in (b"{", b"[")


def _cells(path: Path, written: Cells) -> Iterator[Any]:
    for row in delimited.read(path, (), written):
        if not (isinstance(row, Note) and "cells are separated" in row.text):
            yield row


def _of_rows(rows: Iterator[Any], places: Places | None, base: Scope) -> Iterator[Any]:
    for row in rows:
        if isinstance(row, Row):
            values = {name: plain(cell) for name, cell in row.values.items()}
            yield from _records(base.inside(values, {}), row.line, places)
        else:
            yield row


def _of_items(path: Path, places: Places | None, base: Scope, file: str) -> Iterator[Any]:
    with opened(path) as stream:
        for item in items(stream, file):
            if isinstance(item, Rejected):
                yield item
            else:
                yield from _records(base.inside(item.value, {}), item.line, places)


def _records(item: Scope, line: int, places: Places | None) -> Iterator[Located]:
    if places is None:
        yield Located(line, item)
    else:
        yield from (Located(line, record) for record in places.records(item))


def _spreads(places: Places) -> bool:
    """Say whether records are elements or members of a member, so that they can come one by one."""
    steps = places.path.steps
    return len(steps) > 1 and isinstance(steps[0], Key | Members) and isinstance(steps[1], Every | Members)


def _is_large_object(path: Path) -> bool:
    with opened(path) as stream:
        head = stream.read(CHUNK)
    text = head.decode("utf-8", errors="replace")
    return shape_of(text) == "object" or (text.lstrip("\ufeff \t\r\n")[:1] == "{" and "\n" not in text)


def _of_members(path: Path, places: Places, base: Scope, file: str, *, around: bool) -> Iterator[Any]:
    first, second, *rest = places.path.steps
    spread = _spread(first)
    outside = _outside(path, file, spread) if around else {}
    with opened(path) as stream:
        count, now, keys = 0, None, dict[str, None]()
        for member in members(stream, file, spread):
            if isinstance(member, Rejected):
                yield member
                continue
            count = count + 1 if (member.place, member.key) == now else 0
            now = (member.place, member.key)
            keys[member.key] = None
            item = base.inside(outside.get(member.place), {})
            for hit in _hits(member, count, first, second):
                base.watch.found.add(places.path)
                for inner in walk(hit.value, tuple(rest)) if rest else [Hit(hit.value, {})]:
                    whole = Hit(inner.value, {**hit.kept, **inner.kept}, (*hit.where, *inner.where))
                    yield from (Located(member.line, record) for record in places.apart(item, whole))
    if places.path not in base.watch.found:
        base.watch.near[places.path] = tuple(keys)


def _spread(step: Step) -> Callable[[str], bool]:
    if isinstance(step, Members):
        return lambda key: step.part(key) is not None
    return lambda key: isinstance(step, Key) and key == step.name


def _outside(path: Path, file: str, spread: Callable[[str], bool]) -> dict[int, dict[str, Any]]:
    """Collect the members of each object that are not spread."""
    found: dict[int, dict[str, Any]] = {}
    with opened(path) as stream:
        for member in members(stream, file, spread):
            if isinstance(member, Member) and not spread(member.key):
                found.setdefault(member.place, {})[member.key] = member.value
    return found


def _hits(member: Member, count: int, first: Step, second: Step) -> Iterator[Hit]:
    """Yield the element of a spread member where it fits, with what is kept of its key and place."""
    outer = _spread(first)(member.key) and isinstance(first, Key | Members)
    kept = {first.kept: first.part(member.key)} if isinstance(first, Members) and first.kept else {}
    if not outer:
        return
    if isinstance(second, Every) and member.name is None:
        yield Hit(member.value, {**kept, **({second.kept: count} if second.kept else {})}, (count,))
    elif isinstance(second, Members) and member.name is not None and (part := second.part(member.name)) is not None:
        yield Hit(member.value, {**kept, **({second.kept: part} if second.kept else {})}, (count,))
