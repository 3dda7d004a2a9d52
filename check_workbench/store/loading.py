"""Load recorded runs: each file whole or not at all, whichever format it has."""

from __future__ import annotations

from itertools import chain, count, islice
from typing import TYPE_CHECKING, NamedTuple

from check_workbench import sources
from check_workbench.errors import InputError
from check_workbench.records import Decision, Run
from check_workbench.results import Answer
from check_workbench.sources import Note, Rejected
from check_workbench.store import importing, native
from check_workbench.store.arrivals import Tally, Target
from check_workbench.store.batches import Placed
from check_workbench.store.files import Found, find
from check_workbench.store.gathered import (
    SMALL_BYTES,
    SMALL_OWN_BYTES,
    SPANS_A_GROUP,
    Gathered,
    Read,
    finish,
    moved,
    store_runs,
    while_under,
)
from check_workbench.store.opinions import asserted_words
from check_workbench.store.own_lines import own_records
from check_workbench.store.progress import Progress
from check_workbench.store.report import LoadReport, Taken
from check_workbench.store.sampling import Sampling
from check_workbench.store.staging import begin_file
from check_workbench.store.tables import next_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from check_workbench.sources.format import Record
    from check_workbench.sources.mapping import Mapping
    from check_workbench.store.database import Store


class Way(NamedTuple):
    """How the files of a load are taken."""

    format: str | None = None
    """The name of a format that overrides detection."""
    mapping: str | Path | None = None
    sample: int | None = None
    """How many runs are taken at most."""
    blind: bool = False
    """Whether the caller asserts that decisions which come with the runs were made out of sight of the verdict."""


class _Job(NamedTuple):
    """A load, and what is the same for all of its files."""

    store: Store
    way: Mapping | str | None
    """A mapping or the name of a format; None where files tell what they are."""
    sampling: Sampling | None
    blind: bool


class _Arrival(NamedTuple):
    """A file that is being loaded."""

    item: Found
    size: int
    """In bytes."""
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
        job = _Job(store, plan or way.format, _sampling(store, plan or way.format, found, way.sample), way.blind)
        tally = _load_files(job, found, skipped, progress or Progress("loading"))
    tally.note_outdone()
    if way.blind:
        what = "decisions that came with the runs"
        tally.notes.append(asserted_words(tally.asserted, of=tally.told, what=what))
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


def _sampling(store: Store, way: Mapping | str | None, found: list[Found], sample: int | None) -> Sampling | None:
    return None if sample is None else Sampling(found, sample, lambda item: _tried(store, item, way))


def _tried(store: Store, item: Found, way: Mapping | str | None) -> Iterator[Record]:
    """Read a file that is sampled; what cannot be read, or is a store, is told when it is loaded."""
    try:
        if importing.kind_of(store, item.path):
            return
        recognised = _recognised(item, way)
        if isinstance(recognised, sources.Recognised):
            yield from (record for _, record in _records(item, recognised))
    except (OSError, InputError):
        return


def _records(item: Found, recognised: sources.Recognised) -> Iterator[tuple[int, Record]]:
    """Read a file; each record comes with its line, or where only the reader knows that, its place."""
    if recognised.format.read is None:
        return own_records(item.path, sources.Origin.of(item.path, item.root))
    return enumerate(sources.read(item.path, recognised, root=item.root), start=1)


def _load_files(job: _Job, found: list[Found], skipped: list[str], say: Callable[[str, float], None]) -> Tally:
    tallies, done = [], 0
    wanted = [item for item in found if job.sampling is None or item in job.sampling.quotas]
    total = sum(_size(item.path) for item in wanted) or 1
    with Gathered(job.store, blind=job.blind) as gathered:
        for item in wanted:
            size = _size(item.path)

            def told(share: float, item: Found = item, before: int = done, size: int = size) -> None:
                say(str(item.path), (before + share * size) / total)

            if size > SMALL_BYTES:
                gathered.store()
            told(0.0)
            own = _load_file(job, gathered, item, size, told)
            if own is None:
                skipped.append(str(item.path))
                own = Tally(notes=_told_otherwise(job, item))
            tallies.append(own)
            told(1.0)
            done += size
    tally = Tally()
    for own in tallies:
        tally.join(own)
    return tally


def _told_otherwise(job: _Job, item: Found) -> list[str]:
    """Say how a file without runs must be loaded, where that can be seen."""
    by_mapping = job.way is not None and not isinstance(job.way, str)
    way = None if by_mapping else sources.mistaken.other_than(item.path, "runs")
    return [f"{item.path}: {way}"] if way else []


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


def _load_file(job: _Job, gathered: Gathered, item: Found, size: int, told: Callable[[float], None]) -> Tally | None:
    """Load one file, or let it wait with others; None where it holds no runs."""
    reason = importing.kind_of(job.store, item.path) if job.way is None else None
    if reason is not None:
        gathered.store()
        return _load_store(job, item, reason, told)
    try:
        recognised = _recognised(item, job.way)
    except OSError as error:
        return _unreadable(item, error)
    except InputError as error:
        if item.path == item.root:
            raise
        return Tally(rejected=[Rejected(file=str(item.path), line=1, reason=str(error))])
    if isinstance(recognised, sources.Recognised):
        return _load_runs(job, gathered, _Arrival(item, size, recognised, told))
    return None if recognised is None else Tally(rejected=[recognised])


def _unreadable(item: Found, error: OSError) -> Tally:
    return Tally(rejected=[Rejected(file=str(item.path), line=0, reason=f"cannot be read: {error.strerror}")])


def _load_store(job: _Job, item: Found, reason: str, told: Callable[[float], None]) -> Tally:
    own = Tally()
    if job.sampling is None:
        importing.take(job.store, item, reason, own, told)
        own.notes += [f"{item.path}: a store says itself which of its decisions are blind"] if job.blind else []
    else:
        own.notes.append(
            f"{item.path}: {reason}; a store is not sampled, so it was left out (load it without a sample)"
        )
    return own


def _load_runs(job: _Job, gathered: Gathered, arrival: _Arrival) -> Tally:
    """Load a file of runs by itself, or let it wait with others if it is small."""
    item, size, recognised, told = arrival
    own = Tally(taken=[Taken(str(item.path), recognised.format.name, recognised.reason)])
    runs, is_native = _runs(job, arrival, own), _is_native(job, recognised)
    try:
        read, is_whole = _read_small(runs) if size <= (SMALL_OWN_BYTES if is_native else SMALL_BYTES) else ([], False)
    except OSError as error:
        return _unreadable(item, error)
    if is_whole and not (is_native and own.rejected):
        _keep_sampled(job, own)
        told(1.0)
        gathered.add(Read(str(item.path), recognised.format.name, size, read, own))
        return own
    gathered.store()
    try:
        return _store_alone(job, arrival, chain(read, runs), own)
    except OSError as error:
        return _unreadable(item, error)


def _is_native(job: _Job, recognised: sources.Recognised) -> bool:
    """Say whether the database itself reads a file, and says why a line of it cannot be used."""
    return recognised.format.read is None and job.sampling is None


def _read_small(runs: Iterator[Placed]) -> tuple[list[Placed], bool]:
    """Read so many runs as a small file has; say whether these are all."""
    read = list(while_under(SPANS_A_GROUP, runs))
    more = list(islice(runs, 1))
    return read + more, not more


def _store_alone(job: _Job, arrival: _Arrival, runs: Iterator[Placed], own: Tally) -> Tally:
    item, _, recognised, told = arrival
    is_native = _is_native(job, recognised)
    if is_native:
        own = Tally(taken=own.taken)
    with job.store.transaction() as cursor:
        source = next_key(cursor, "sources", "source_key")
        target = Target(str(item.path), recognised.format.name, begin_file(cursor), source, own)
        with job.store.bay(cursor) as bay:
            if is_native:
                native.load(bay, item.path, target, told)
            else:
                store_runs(bay, moved(runs, target.first), [target])
        _keep_sampled(job, own)
        finish(cursor, [target], blind=job.blind)
    return own


def _keep_sampled(job: _Job, own: Tally) -> None:
    if job.sampling is not None:
        own.keep_said_of(job.sampling.run_ids)


def _runs(job: _Job, arrival: _Arrival, own: Tally) -> Iterator[Placed]:
    """Read the runs of a file, with keys from 0; what else it holds goes into the tally."""
    records = _records(arrival.item, arrival.recognised)
    if job.sampling is not None:
        records = job.sampling.choose(arrival.item, records)
    key = count()
    for place, record in records:
        if isinstance(record, Run):
            yield Placed(next(key), place, record)
        elif isinstance(record, Decision):
            own.said.append(record)
        elif isinstance(record, Answer):
            own.answered.append(record)
        elif isinstance(record, Note):
            own.notes.append(f"{record.file}: {record.text}")
        else:
            own.rejected.append(record)
