"""Read one file with one reader, for the tests of the formats."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from check_workbench.records import Run
from check_workbench.sources import READERS, Origin

if TYPE_CHECKING:
    from pathlib import Path

    from check_workbench.sources.format import Record

T = TypeVar("T")


def read(name: str, path: Path) -> list[Record]:
    """Read a file as `f.json`, found as `may/f`."""
    reader = READERS[name].read
    assert reader is not None
    return list(reader(path, Origin(file="f.json", stem="may/f")))


def only(records: list[Record], kind: type[T]) -> list[T]:
    """Keep the records of one kind."""
    return [record for record in records if isinstance(record, kind)]


def one_run(records: list[Record]) -> Run:
    """Return the only run."""
    [run] = only(records, Run)
    return run
