"""Choose some runs of many files without reading more of them than that takes.

Of each file the runs come in windows of 100, in the order of the file, and within a window by a digest of their
`run_id`. The files come in the order of a digest of their path below the PATH that was given. A sample takes the first
run of each file, then the second of each, and so on, until it has enough. So it is spread over the files, it is the
same each time, and a larger sample contains a smaller one. What lies behind the last window that is needed is not
read: a sample stands for the beginnings of its files, and is there quickly, however large the folder is.
"""

from __future__ import annotations

import hashlib
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

from check_workbench.records import Run
from check_workbench.sources import Origin
from check_workbench.store.report import Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from check_workbench.sources.format import Record
    from check_workbench.store.files import Found

    Placed = tuple[int, Record]

WINDOW = 100
"""Runs of a file among which a digest chooses."""
File = TypeVar("File")


class Sampling:
    """What a sampled load takes of each file.

    Parameters
    ----------
    found
        All files.
    wanted
        How many runs in all.
    records
        Reads a file; yields nothing where it holds no runs.
    """

    def __init__(self, found: Sequence[Found], wanted: int, records: Callable[[Found], Iterator[Record]]) -> None:
        ordered = sorted(found, key=lambda item: (in_sample_order(Origin.of(item.path, item.root).stem), item))
        self.quotas = quotas(ordered, wanted, lambda item, most: runs_up_to(records(item), most))
        self.of_files = len(found)
        self.taken = self.seen = 0
        self.run_ids: set[str] = set()
        """The runs that were taken."""

    def choose(self, item: Found, placed: Iterator[Placed]) -> Iterator[Placed]:
        """Yield the runs that are taken of a file, and what else was read on the way; count them."""

        def see(runs: int) -> None:
            self.seen += runs

        for place, record in chosen(placed, self.quotas[item], see):
            if isinstance(record, Run):
                self.taken += 1
                self.run_ids.add(record.run_id)
            yield place, record

    def sample(self) -> Sample:
        """Return how much was taken and seen."""
        files = sum(quota > 0 for quota in self.quotas.values())
        return Sample(taken=self.taken, seen=self.seen, files=files, of_files=self.of_files)


def quotas(files: Iterable[File], wanted: int, has: Callable[[File, int], int]) -> dict[File, int]:
    """Say how many runs a sample takes of each file.

    Parameters
    ----------
    files
        In the order of the sample.
    wanted
        How many runs in all.
    has
        Counts the runs of a file up to a number.

    Returns
    -------
    dict
        Of the files that were looked at; 0 where there are none.

    Examples
    --------
    >>> sizes = {"a": 1, "b": 50, "c": 9}
    >>> quotas(sizes, 8, lambda name, most: min(sizes[name], most))
    {'a': 1, 'b': 4, 'c': 3}
    """
    found: dict[File, int] = {}
    active, level, left = list(files), 0, wanted
    while active and left:
        step = max(1, left // len(active))
        further = []
        for file in active:
            if not left:
                break
            got = has(file, level + step) - level
            found[file] = level + got
            left -= got
            if got == step:
                further.append(file)
        active, level = further, level + step
    return found


def in_sample_order(stem: str) -> bytes:
    """Return what files are sorted by, and runs within a window."""
    return hashlib.sha256(stem.encode("utf-8", errors="surrogatepass")).digest()


def chosen(records: Iterator[Placed], quota: int, seen: Callable[[int], None]) -> Iterator[Placed]:
    """Yield so many runs of a file, in its order, and what else was read on the way.

    Parameters
    ----------
    records
        All that a reader yields, with their places.
    quota
        How many runs.
    seen
        Is told how many runs each window had.
    """
    window: list[Placed] = []
    for item in chain(records, [None]):
        if item is not None and not isinstance(item[1], Run):
            yield item
            continue
        if item is not None:
            window.append(item)
        if item is None or len(window) == WINDOW:
            seen(len(window))
            yield from _lowest(window, quota)
            quota -= len(window)
            window = []
            if quota <= 0:
                return


def runs_up_to(records: Iterator[Record], most: int) -> int:
    """Count the runs that a reader yields, up to a number."""
    count = 0
    for record in records:
        count += isinstance(record, Run)
        if count >= most:
            break
    return count


def _lowest(window: list[Placed], quota: int) -> Iterator[Placed]:
    """Yield the runs of a window with the lowest digests, in the order of the file."""
    ranked = sorted(window, key=lambda item: in_sample_order(str(getattr(item[1], "run_id", ""))))
    places = {place for place, _ in ranked[:quota]}
    yield from (item for item in window if item[0] in places)
