"""Load recorded runs: each file in one transaction, whichever format it has."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from check_workbench import sources
from check_workbench.errors import InputError
from check_workbench.records import Decision, Run
from check_workbench.results import Answer
from check_workbench.sources import Note, Rejected
from check_workbench.store import native
from check_workbench.store.arrivals import Tally, Target, store_placed
from check_workbench.store.batches import Placed
from check_workbench.store.bay import Bay
from check_workbench.store.doctor import examine
from check_workbench.store.files import Found, find
from check_workbench.store.opinions import store_answers, store_decisions
from check_workbench.store.progress import Progress
from check_workbench.store.report import LoadReport, Taken
from check_workbench.store.staging import begin_file
from check_workbench.store.tables import next_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    import duckdb

    from check_workbench.sources.mapping import Mapping
    from check_workbench.store.database import Store

SPANS_A_BATCH = 50_000
SPANS_A_GROUP = 2_000
"""What of a batch is read before it becomes Arrow: about as much as a processor keeps near."""


def load_runs(
    store: Store,
    paths: str | Path | Iterable[str | Path],
    *,
    format_name: str | None = None,
    mapping: str | Path | None = None,
    progress: Callable[[str, float], None] | None = None,
) -> LoadReport:
    """Load files and folders into a store; see `Store.load`."""
    say = progress or Progress("loading")
    plan = None if mapping is None else _read_mapping(mapping)
    found, skipped = find(paths)
    total = sum(_size(item.path) for item in found) or 1
    tally, done = Tally(), 0
    with store.hold():
        for item in found:
            size = _size(item.path)

            def told(share: float, item: Found = item, before: int = done, size: int = size) -> None:
                say(str(item.path), (before + share * size) / total)

            told(0.0)
            if not _load_file(store, item, plan or format_name, tally, told):
                skipped.append(str(item.path))
                if plan is None and (way := sources.mistaken.other_than(item.path, "runs")):
                    tally.notes.append(f"{item.path}: {way}")
            told(1.0)
            done += size
    if plan is not None:
        tally.notes += [f"{plan.name}: none of the files is {pattern!r}" for pattern in plan.idle(found)]
    return LoadReport(
        runs=tally.runs,
        spans=tally.spans,
        steps=tally.steps,
        decisions=tally.decisions,
        answers=tally.answers,
        already=tally.already,
        replaced=tally.replaced,
        skipped=tuple(skipped),
        rejected=tuple(tally.rejected),
        taken=tuple(tally.taken),
        notes=tuple(dict.fromkeys(tally.notes)),
        examined=examine(store),
    )


def _read_mapping(mapping: str | Path) -> Mapping:
    from check_workbench.sources.mapping import read_mapping

    return read_mapping(mapping)


def _recognised(item: Found, way: Mapping | str | None) -> sources.Recognised | Rejected | None:
    """Find the format of a file by a mapping, by the name of a format, or by what it holds."""
    if way is None or isinstance(way, str):
        return sources.recognise(item.path, format=way)
    return way.recognise(item.path, item.root)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _load_file(
    store: Store,
    item: Found,
    way: Mapping | str | None,
    tally: Tally,
    told: Callable[[float], None],
) -> bool:
    """Load one file in one transaction; say whether it holds runs."""
    try:
        recognised = _recognised(item, way)
    except OSError as error:
        tally.rejected.append(Rejected(file=str(item.path), line=0, reason=f"cannot be read: {error.strerror}"))
        return True
    except InputError as error:
        if item.path == item.root:
            raise
        tally.rejected.append(Rejected(file=str(item.path), line=1, reason=str(error)))
        return True
    if recognised is None:
        return False
    if isinstance(recognised, Rejected):
        tally.rejected.append(recognised)
        return True
    own = Tally(taken=[Taken(str(item.path), recognised.format.name, recognised.reason)])
    try:
        with store.transaction() as cursor:
            _store_file(cursor, item, recognised, own, told)
    except OSError as error:
        own = Tally(rejected=[Rejected(file=str(item.path), line=0, reason=f"cannot be read: {error.strerror}")])
    tally.join(own)
    return True


def _store_file(
    cursor: duckdb.DuckDBPyConnection,
    item: Found,
    recognised: sources.Recognised,
    own: Tally,
    told: Callable[[float], None],
) -> None:
    source = next_key(cursor, "sources", "source_key")
    target = Target(file=str(item.path), first=begin_file(cursor), source=source)
    with Bay(cursor) as bay:
        if recognised.format.read is None:
            native.load(bay, item.path, target, own, told)
        else:
            _store_runs(bay, _runs(item, recognised, own), target, own)
    if own.runs or own.replaced:
        cursor.execute(
            "insert into sources select ?, ?, ?, (select bit_xor(digest) from runs where source_key = ?), "
            "now()::timestamp, ?, ?, ?, 0, 0",
            [source, str(item.path), recognised.format.name, source, own.runs + own.replaced, own.spans, own.steps],
        )
    own.count_opinions(*store_decisions(cursor, own.said, item.path), *store_answers(cursor, own.answered, item.path))


def _runs(item: Found, recognised: sources.Recognised, own: Tally) -> Iterator[tuple[int, Run]]:
    for place, record in enumerate(sources.read(item.path, recognised, root=item.root), start=1):
        if isinstance(record, Run):
            yield place, record
        elif isinstance(record, Decision):
            own.said.append(record)
        elif isinstance(record, Answer):
            own.answered.append(record)
        elif isinstance(record, Note):
            own.notes.append(f"{record.file}: {record.text}")
        else:
            own.rejected.append(record)


def _store_runs(bay: Bay, runs: Iterator[tuple[int, Run]], target: Target, own: Tally) -> None:
    placed = (Placed(target.first + offset, line, run) for offset, (line, run) in enumerate(runs))
    for first in placed:
        batch = _while_under(SPANS_A_BATCH, chain([first], placed))
        store_placed(bay, _groups(batch), target, own)


def _groups(placed: Iterator[Placed]) -> Iterator[list[Placed]]:
    for first in placed:
        yield list(_while_under(SPANS_A_GROUP, chain([first], placed)))


def _while_under(most: int, placed: Iterator[Placed]) -> Iterator[Placed]:
    """Yield runs until they have so many spans; a run counts as one more."""
    spans = 0
    for item in placed:
        yield item
        spans += 1 + len(item.run.spans)
        if spans >= most:
            return
