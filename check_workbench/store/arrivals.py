"""What has come of a load so far, and where the runs of one file go."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from check_workbench.sources import Rejected
from check_workbench.store.batches import batch, joined
from check_workbench.store.staging import Raw, settle, stage

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from check_workbench.records import Decision
    from check_workbench.results import Answer
    from check_workbench.store.batches import Placed
    from check_workbench.store.bay import Bay
    from check_workbench.store.report import Taken
    from check_workbench.store.staging import Fates

TABLES = ("raw_runs", "raw_spans", "raw_steps")


class Target(NamedTuple):
    """Where the runs of one file go."""

    file: str
    first: int
    """Key of its first run."""
    source: int
    """Key of its row in `sources`."""


@dataclass(slots=True)
class Tally:
    """What has come of a load so far."""

    runs: int = 0
    spans: int = 0
    steps: int = 0
    decisions: int = 0
    answers: int = 0
    already: int = 0
    replaced: int = 0
    rejected: list[Rejected] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    taken: list[Taken] = field(default_factory=list)
    said: list[Decision] = field(default_factory=list)
    """Decisions that the file of runs brought, until they are stored behind the runs."""
    answered: list[Answer] = field(default_factory=list)

    def count_opinions(self, decisions: int, decisions_before: int, answers: int, answers_before: int) -> None:
        """Count decisions and answers that came with runs, and the ones that were there already."""
        self.decisions += decisions
        self.answers += answers
        self.already += decisions_before + answers_before

    def keep_said_of(self, run_ids: set[str]) -> None:
        """Keep the decisions and answers about some runs alone."""
        self.said = [decision for decision in self.said if decision.run_id in run_ids]
        self.answered = [answer for answer in self.answered if answer.run_id in run_ids]

    def note(self, file: str, text: str) -> None:
        """Note something that was assumed, once."""
        note = f"{file}: {text}"
        if note not in self.notes:
            self.notes.append(note)

    def add(self, fates: Fates, file: str) -> None:
        """Count what became of a batch."""
        self.runs += fates.runs
        self.spans += fates.spans
        self.steps += fates.steps
        self.already += fates.already
        self.replaced += fates.replaced
        self.rejected += [
            Rejected(
                file=file,
                line=line,
                reason=f"run_id {run_id!r} must be there once in a file, but line {first} has it with other content",
            )
            for line, run_id, first in fates.repeated
        ]

    def join(self, other: Tally) -> None:
        """Add what came of one file."""
        self.runs += other.runs
        self.spans += other.spans
        self.steps += other.steps
        self.decisions += other.decisions
        self.answers += other.answers
        self.taken += other.taken
        self.already += other.already
        self.replaced += other.replaced
        self.rejected += sorted(other.rejected, key=lambda r: r.line)
        self.notes += other.notes


def store_placed(bay: Bay, groups: Iterable[Sequence[Placed]], target: Target, own: Tally) -> None:
    """Store runs that a reader made.

    Parameters
    ----------
    bay
        Beside the transaction of the file.
    groups
        The runs, in groups so small that a group becomes Arrow while it is still near the processor.
    target
        Where they go.
    own
        Is told what came of them.
    """
    tables = []
    for placed in groups:
        made, refused = batch(placed)
        own.rejected += [Rejected(file=target.file, line=line, reason=reason) for line, reason in refused]
        tables.append(made)
    whole = joined(tables)
    if not whole.runs.num_rows:
        return
    names = Raw(runs="raw_runs", spans="raw_spans", steps="raw_steps" if whole.steps.num_rows else "")
    for name, rows in zip(TABLES, whole, strict=True):
        bay.side.register(name, rows)
    own.add(settle(bay, stage(bay.side, names), target.source), target.file)
