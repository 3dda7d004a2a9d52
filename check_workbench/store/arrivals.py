"""What has come of a load so far, and where the runs of each file go."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from check_workbench.sources import Rejected
from check_workbench.store.batches import batch, joined
from check_workbench.store.staging import WON, Raw, settle, stage

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from check_workbench.records import Decision
    from check_workbench.results import Answer
    from check_workbench.store.batches import Placed
    from check_workbench.store.bay import Bay
    from check_workbench.store.opinions import Stored
    from check_workbench.store.report import Taken
    from check_workbench.store.staging import Fate, Staged

TABLES = ("raw_runs", "raw_spans", "raw_steps")
OUTDONE_SHOWN = 10
"""How many run ids the note about copies that lost names; the rest is counted."""


class Target(NamedTuple):
    """Where the runs of one file go, and who is told what came of them."""

    file: str
    format: str
    first: int
    """Key of its first run."""
    source: int
    """Key of its row in `sources`."""
    own: Tally


@dataclass(slots=True)
class Tally:
    """What has come of a load so far."""

    runs: int = 0
    spans: int = 0
    steps: int = 0
    decisions: int = 0
    answers: int = 0
    told: int = 0
    """Decisions that files of runs brought, new or not."""
    asserted: int = 0
    """Those of them that are blind on the caller's word alone."""
    already: int = 0
    replaced: int = 0
    digest: int = 0
    """The digests of the runs that were stored, mixed."""
    outdone: list[str] = field(default_factory=list)
    """Runs that came again with other content, of which the store's copy stays."""
    rejected: list[Rejected] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    taken: list[Taken] = field(default_factory=list)
    said: list[Decision] = field(default_factory=list)
    """Decisions that the file of runs brought, until they are stored behind the runs."""
    answered: list[Answer] = field(default_factory=list)

    def count_opinions(self, decisions: Stored, answers: int, answers_before: int) -> None:
        """Count decisions and answers that came with runs and are stored now, and those that were there already."""
        self.decisions += decisions.added
        self.told += decisions.added + decisions.already
        self.asserted += decisions.asserted
        self.answers += answers
        self.already += decisions.already + answers_before
        self.said, self.answered = [], []

    def keep_said_of(self, run_ids: set[str]) -> None:
        """Keep the decisions and answers about some runs alone."""
        self.said = [decision for decision in self.said if decision.run_id in run_ids]
        self.answered = [answer for answer in self.answered if answer.run_id in run_ids]

    def note(self, file: str, text: str) -> None:
        """Note something that was assumed, once."""
        note = f"{file}: {text}"
        if note not in self.notes:
            self.notes.append(note)

    def note_outdone(self) -> None:
        """Note that runs came again with other content and less in them, which a count does not tell from the same."""
        if not self.outdone:
            return
        ids = sorted(set(self.outdone))
        runs, more = "1 run" if len(ids) == 1 else f"{len(ids):,} runs", len(ids) - OUTDONE_SHOWN
        named = ", ".join(map(repr, ids[:OUTDONE_SHOWN])) + (f" and {more:,} more" if more > 0 else "")
        self.notes.append(
            f"{runs} came again with other content; the copy with more spans stays, of equal ones the copy with more "
            f"steps or the later end (run id{'s' * (len(ids) > 1)} {named})"
        )

    def add(self, fate: Fate) -> None:
        """Count what became of some runs; those that repeat a run_id in their file are rejected, not counted."""
        self.runs += fate.runs * (fate.fate == "new")
        self.replaced += fate.runs * (fate.fate == "replaced")
        self.already += fate.runs * (fate.fate in {"already", "outdone"})
        if fate.fate in WON:
            self.spans += fate.spans
            self.steps += fate.steps
            self.digest ^= fate.digest

    def join(self, other: Tally) -> None:
        """Add what came of one file."""
        self.runs += other.runs
        self.spans += other.spans
        self.steps += other.steps
        self.decisions += other.decisions
        self.told += other.told
        self.asserted += other.asserted
        self.answers += other.answers
        self.taken += other.taken
        self.already += other.already
        self.replaced += other.replaced
        self.outdone += other.outdone
        self.rejected += sorted(other.rejected, key=lambda r: r.line)
        self.notes += other.notes


def store_placed(bay: Bay, groups: Iterable[Sequence[Placed]], targets: Sequence[Target]) -> None:
    """Store runs that readers made.

    Parameters
    ----------
    bay
        Beside the transaction of the files.
    groups
        The runs, in groups so small that a group becomes Arrow while it is still near the processor.
    targets
        Where they go, in the order of the runs.
    """
    tables = []
    for placed in groups:
        made, refused = batch(placed)
        for item, reason in refused:
            target = targets[bisect_right(targets, item.key, key=_first) - 1]
            target.own.rejected.append(Rejected(file=target.file, line=item.line, reason=reason))
        tables.append(made)
    whole = joined(tables)
    if not whole.runs.num_rows:
        return
    names = Raw(runs="raw_runs", spans="raw_spans", steps="raw_steps" if whole.steps.num_rows else "")
    for name, rows in zip(TABLES, whole, strict=True):
        bay.side.register(name, rows)
    store_staged(bay, stage(bay.side, names), targets)


def store_staged(bay: Bay, staged: Staged, targets: Sequence[Target]) -> None:
    """Store staged runs, and tell what came of them.

    Parameters
    ----------
    bay
        Beside the transaction of the files.
    staged
        The runs with their spans and steps.
    targets
        Where they go, in the order of the runs.
    """
    import numpy as np
    import pyarrow as pa

    places = np.searchsorted([*map(_first, targets)], staged.runs["row"].to_numpy(), side="right") - 1
    sources = pa.array(np.array([target.source for target in targets], dtype=np.int64)[places])
    fates = settle(bay, staged._replace(runs=staged.runs.append_column("source", sources)))
    by_source = {target.source: target for target in targets}
    for fate in fates.each:
        by_source[fate.source].own.add(fate)
    for source, run_id in fates.outdone:
        by_source[source].own.outdone.append(run_id)
    for source, line, run_id, first in fates.repeated:
        reason = f"run_id {run_id!r} must be there once in a file, but line {first} has it with other content"
        target = by_source[source]
        target.own.rejected.append(Rejected(file=target.file, line=line, reason=reason))


def _first(target: Target) -> int:
    return target.first
