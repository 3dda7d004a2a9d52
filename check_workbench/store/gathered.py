"""Files of runs in transactions: a large one by itself while it is read, small ones together once they are read.

A transaction with its statements costs a tenth of a second, however little it stores. So small files wait until there
are enough of them. They are stored as if each had come by itself: a file that names a run of one that waits is stored
in a later transaction, and each keeps its own counts, digest and row in `sources`.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, Self

from check_workbench.store.arrivals import Target, store_placed
from check_workbench.store.opinions import store_answers, store_decisions
from check_workbench.store.staging import begin_file
from check_workbench.store.tables import Source, add_sources, next_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import duckdb

    from check_workbench.store.arrivals import Tally
    from check_workbench.store.batches import Placed
    from check_workbench.store.bay import Bay
    from check_workbench.store.database import Store

SPANS_A_BATCH = 50_000
SPANS_A_GROUP = 2_000
"""What of a batch is read before it becomes Arrow: about as much as a processor keeps near."""
SMALL_BYTES = 1 << 20
"""A file of up to so many bytes, and under `SPANS_A_GROUP` spans, is small."""
SMALL_OWN_BYTES = 1 << 18
"""Of our own lines the database reads more at once faster than a loop over them."""
FILES_AT_ONCE = 250
BYTES_AT_ONCE = 8 << 20
"""About a second of work, which a kill may lose."""


class Read(NamedTuple):
    """A small file that was read."""

    file: str
    format: str
    size: int
    """In bytes."""
    placed: Sequence[Placed]
    """Its runs, with keys from 0."""
    own: Tally
    """Is told what comes of them."""


class Gathered:
    """Small files that wait to be stored; a context manager, which stores those that still wait, also on an error.

    Parameters
    ----------
    store
        Where they go.
    blind
        Whether the caller asserts that decisions which come with the runs were made out of sight of the verdict.
    """

    def __init__(self, store: Store, *, blind: bool) -> None:
        self._store = store
        self._blind = blind
        self._waiting: list[Read] = []
        self._named: set[str] = set()
        self._spans = self._bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.store()

    def add(self, read: Read) -> None:
        """Let a file wait, until there is enough to store."""
        named = {item.run.run_id for item in read.placed} | {answer.run_id for answer in read.own.answered}
        if not named.isdisjoint(self._named):
            self.store()
        self._waiting.append(read)
        self._named |= named
        self._spans += sum(map(_weight, read.placed))
        self._bytes += read.size
        if len(self._waiting) >= FILES_AT_ONCE or self._spans >= SPANS_A_BATCH or self._bytes >= BYTES_AT_ONCE:
            self.store()

    def store(self) -> None:
        """Store the files that wait, all in one transaction."""
        waiting, self._waiting, self._named = self._waiting, [], set()
        self._spans = self._bytes = 0
        if not waiting:
            return
        with self._store.transaction() as cursor:
            key, source = begin_file(cursor), next_key(cursor, "sources", "source_key")
            targets = []
            for place, read in enumerate(waiting, start=source):
                targets.append(Target(file=read.file, format=read.format, first=key, source=place, own=read.own))
                key += len(read.placed)
            placed = (moved(read.placed, to.first) for read, to in zip(waiting, targets, strict=True))
            with self._store.bay(cursor) as bay:
                store_runs(bay, chain.from_iterable(placed), targets)
            finish(cursor, targets, blind=self._blind)


def moved(placed: Iterable[Placed], first: int) -> Iterator[Placed]:
    """Yield runs with keys from `first` instead of 0."""
    return (item._replace(key=first + item.key) for item in placed)


def store_runs(bay: Bay, placed: Iterator[Placed], targets: Sequence[Target]) -> None:
    """Store runs in batches, while they are read.

    Parameters
    ----------
    bay
        Beside the transaction of the files.
    placed
        The runs.
    targets
        Where they go, in the order of the runs.
    """
    for first in placed:
        batch = while_under(SPANS_A_BATCH, chain([first], placed))
        store_placed(bay, _groups(batch), targets)


def finish(cursor: duckdb.DuckDBPyConnection, targets: Sequence[Target], *, blind: bool) -> None:
    """Write down which files brought runs, and store the decisions and answers that came with them."""
    won = [target for target in targets if target.own.runs or target.own.replaced]
    add_sources(
        cursor,
        [
            Source(to.source, to.file, to.format, own.digest, own.runs + own.replaced, own.spans, own.steps)
            for to in won
            for own in [to.own]
        ],
    )
    decided = store_decisions(cursor, [(target.file, target.own.said) for target in targets], blind=blind)
    answered = store_answers(cursor, [(target.file, target.own.answered) for target in targets])
    for target, decisions, answers in zip(targets, decided, answered, strict=True):
        target.own.count_opinions(decisions, *answers)


def while_under(most: int, placed: Iterator[Placed]) -> Iterator[Placed]:
    """Yield runs until they have so many spans; a run counts as one more."""
    spans = 0
    for item in placed:
        yield item
        spans += _weight(item)
        if spans >= most:
            return


def _groups(placed: Iterator[Placed]) -> Iterator[list[Placed]]:
    for first in placed:
        yield list(while_under(SPANS_A_GROUP, chain([first], placed)))


def _weight(item: Placed) -> int:
    return 1 + len(item.run.spans)
