"""Load recorded runs: each file in one transaction, whichever format it has."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from check_workbench import sources
from check_workbench.errors import InputError
from check_workbench.records import Decision, Run
from check_workbench.results import Answer
from check_workbench.sources import Note, Rejected
from check_workbench.store import importing, native
from check_workbench.store.arrivals import Tally, Target, store_placed
from check_workbench.store.batches import Placed
from check_workbench.store.files import Found, find
from check_workbench.store.opinions import store_answers, store_decisions
from check_workbench.store.own_lines import own_records
from check_workbench.store.progress import Progress
from check_workbench.store.report import LoadReport, Taken
from check_workbench.store.sampling import Sampling
from check_workbench.store.staging import begin_file
from check_workbench.store.tables import next_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    import duckdb

    from check_workbench.sources.format import Record
    from check_workbench.sources.mapping import Mapping
    from check_workbench.store.bay import Bay
    from check_workbench.store.database import Store

SPANS_A_BATCH = 50_000
SPANS_A_GROUP = 2_000
"""What of a batch is read before it becomes Arrow: about as much as a processor keeps near."""


class Way(NamedTuple):
    """How the files of a load are taken."""

    format: str | None = None
    """The name of a format that overrides detection."""
    mapping: str | Path | None = None
    sample: int | None = None
    """How many runs are taken at most."""


class _Job(NamedTuple):
    """A load, and what is the same for all of its files."""

    store: Store
    way: Mapping | str | None
    """A mapping or the name of a format; None where files tell what they are."""
    sampling: Sampling | None


class _Arrival(NamedTuple):
    """A file that is being loaded."""

    item: Found
    recognised: sources.Recognised
    told: Callable[[float], None]


def load_runs(
    store: Store,
    paths: str | Path | Iterable[str | Path],
    way: Way,
    *,
    progress: Callable[[str, float], None] | None = None,
) -> LoadReport:
    """Load files and folders into a store; see `Store.load`."""
    if way.sample is not None and way.sample < 1:
        raise InputError(f"a sample must have at least 1 run, got {way.sample}")
    plan = None if way.mapping is None else _read_mapping(way.mapping)
    found, skipped = find(paths)
    with store.hold():
        job = _job(store, plan or way.format, found, way.sample)
        tally = _load_files(job, found, skipped, progress or Progress("loading"))
    if plan is not None:
        tally.notes += [f"{plan.name}: none of the files is {pattern!r}" for pattern in plan.idle(found)]
    counted = ("runs", "spans", "steps", "decisions", "answers", "already", "replaced")
    return LoadReport(
        **{name: getattr(tally, name) for name in counted},
        skipped=tuple(skipped),
        rejected=tuple(tally.rejected),
        taken=tuple(tally.taken),
        notes=tuple(dict.fromkeys(tally.notes)),
        examined=store.doctor(),
        sample=None if job.sampling is None else job.sampling.sample(),
    )


def _job(store: Store, way: Mapping | str | None, found: list[Found], sample: int | None) -> _Job:
    if sample is None:
        return _Job(store, way, None)
    return _Job(store, way, Sampling(found, sample, lambda item: _tried(store, item, way)))


def _tried(store: Store, item: Found, way: Mapping | str | None) -> Iterator[Record]:
    """Read a file that is sampled; what cannot be read, or is a store, is told when it is loaded."""
    try:
        if importing.kind_of(store, item.path):
            return
        recognised = _recognised(item, way)
        if isinstance(recognised, sources.Recognised):
            yield from _records(item, recognised)
    except (OSError, InputError):
        return


def _records(item: Found, recognised: sources.Recognised) -> Iterator[Record]:
    if recognised.format.read is None:
        return own_records(item.path, sources.Origin.of(item.path, item.root))
    return sources.read(item.path, recognised, root=item.root)


def _load_files(job: _Job, found: list[Found], skipped: list[str], say: Callable[[str, float], None]) -> Tally:
    tally, done = Tally(), 0
    wanted = [item for item in found if job.sampling is None or item in job.sampling.quotas]
    total = sum(_size(item.path) for item in wanted) or 1
    for item in wanted:
        size = _size(item.path)

        def told(share: float, item: Found = item, before: int = done, size: int = size) -> None:
            say(str(item.path), (before + share * size) / total)

        told(0.0)
        if not _load_file(job, item, tally, told):
            skipped.append(str(item.path))
            by_mapping = job.way is not None and not isinstance(job.way, str)
            if not by_mapping and (way := sources.mistaken.other_than(item.path, "runs")):
                tally.notes.append(f"{item.path}: {way}")
        told(1.0)
        done += size
    return tally


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
        return sum(part.stat().st_size for part in (path.iterdir() if path.is_dir() else [path]))
    except OSError:
        return 0


def _load_file(job: _Job, item: Found, tally: Tally, told: Callable[[float], None]) -> bool:
    """Load one file in one transaction; say whether it holds runs."""
    reason = importing.kind_of(job.store, item.path) if job.way is None else None
    if reason is not None:
        _load_store(job, item, reason, tally, told)
        return True
    try:
        recognised = _recognised(item, job.way)
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
        with job.store.transaction() as cursor:
            _store_file(cursor, job, _Arrival(item, recognised, told), own)
    except OSError as error:
        own = Tally(rejected=[Rejected(file=str(item.path), line=0, reason=f"cannot be read: {error.strerror}")])
    tally.join(own)
    return True


def _load_store(job: _Job, item: Found, reason: str, tally: Tally, told: Callable[[float], None]) -> None:
    if job.sampling is None:
        importing.take(job.store, item, reason, tally, told)
    else:
        tally.notes.append(
            f"{item.path}: {reason}; a store is not sampled, so it was left out (load it without a sample)"
        )


def _store_file(cursor: duckdb.DuckDBPyConnection, job: _Job, arrival: _Arrival, own: Tally) -> None:
    item, recognised, told = arrival
    source = next_key(cursor, "sources", "source_key")
    target = Target(file=str(item.path), first=begin_file(cursor), source=source)
    with job.store.bay(cursor) as bay:
        if recognised.format.read is None and job.sampling is None:
            native.load(bay, item.path, target, own, told)
        else:
            records: Iterator[tuple[int, Record]] = enumerate(_records(item, recognised), start=1)
            if job.sampling is not None:
                records = job.sampling.choose(item, records)
            _store_runs(bay, _runs(records, own), target, own)
    if job.sampling is not None:
        own.keep_said_of(job.sampling.run_ids)
    if own.runs or own.replaced:
        cursor.execute(
            "insert into sources select ?, ?, ?, (select bit_xor(digest) from runs where source_key = ?), "
            "now()::timestamp, ?, ?, ?, 0, 0",
            [source, str(item.path), recognised.format.name, source, own.runs + own.replaced, own.spans, own.steps],
        )
    own.count_opinions(*store_decisions(cursor, own.said, item.path), *store_answers(cursor, own.answered, item.path))


def _runs(records: Iterator[tuple[int, Record]], own: Tally) -> Iterator[tuple[int, Run]]:
    for place, record in records:
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
