"""Merge another store into this one, in one transaction."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, NamedTuple

from check_workbench.errors import InputError, StoreError
from check_workbench.store import bringing
from check_workbench.store.clashes import clashes
from check_workbench.store.interleaving import LOOKS, SOURCES, TRIAGE, interleave
from check_workbench.store.others import opened
from check_workbench.store.progress import Progress
from check_workbench.store.transfers import Clash, MergeReport

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import duckdb

    from check_workbench.store.database import Store
    from check_workbench.store.others import Other


class Merged(NamedTuple):
    """What came in, what was there, and where the two stores differ."""

    came: dict[str, int]
    already: int
    replaced: int
    clashes: tuple[Clash, ...]
    clash_counts: dict[str, int]
    notes: tuple[str, ...]


def merge(store: Store, path: Path, *, progress: Callable[[str, float], None] | None = None) -> MergeReport:
    """Merge another store; see `Store.merge`."""
    say = progress or Progress("merging")
    if store.is_at(path):
        raise InputError(f"{path} is this store itself; name the store of somebody else")
    with store.hold():
        merged = merge_from(store, path, lambda share: say(str(path), share))
        return dataclasses.replace(report_of(str(path), merged), examined=store.doctor())


def report_of(path: str, merged: Merged) -> MergeReport:
    """Return the report of a merge, without an examination of the store."""
    came: Any = merged.came
    return MergeReport(
        path=path,
        **came,
        already=merged.already,
        replaced=merged.replaced,
        clashes=merged.clashes,
        clash_counts=merged.clash_counts,
        notes=merged.notes,
    )


def merge_from(store: Store, path: Path, told: Callable[[float], None]) -> Merged:
    """Merge the store at a path in one transaction.

    Raises
    ------
    InputError
        If there is no store, or one that contradicts itself.
    StoreError
        If the file is no store, or is of a newer version.
    StoreBusyError
        If another process holds the file for 10 seconds.
    """
    import duckdb

    try:
        with opened(path) as other, store.transaction() as cursor:
            return _merge(cursor, store, other, told)
    except (duckdb.ConstraintException, duckdb.ConversionException, duckdb.InvalidInputException) as error:
        raise StoreError(f"{path} contradicts itself: {str(error).splitlines()[0]}") from error


def _merge(
    cursor: duckdb.DuckDBPyConnection,
    store: Store,
    other: Other,
    told: Callable[[float], None],
) -> Merged:
    bringing.stage(cursor, other)
    bringing.settle_fates(cursor)
    found, counts = clashes(cursor)
    interleave(cursor, SOURCES)
    bringing.renumber_sources(cursor)
    fates = bringing.bring_runs(cursor, other, store.columns_of, told)
    came = {
        **{name: fates[name] for name in ("runs", "spans", "steps")},
        "measurements": bringing.bring_measurements(cursor),
        "decisions": bringing.bring_decisions(cursor),
        "answers": bringing.bring_answers(cursor),
        "checks": bringing.bring_checks(cursor),
        "looks": interleave(cursor, LOOKS),
        "triage": interleave(cursor, TRIAGE),
    }
    told(1.0)
    said = other.rows["decisions"] - came["decisions"] + other.rows["answers"] - came["answers"]
    return Merged(
        came=came,
        already=fates["already"] + said,
        replaced=fates["replaced"],
        clashes=tuple(found),
        clash_counts=counts,
        notes=tuple(bringing.bring_meta(cursor, other.name)),
    )
