"""`Check`, its items and the process around it, and the two digests that key everything else."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from check_workbench.checks.asks import EvidenceRule, is_rule, kind_of
from check_workbench.checks.cuts import PassBand, PassLevel, PassNames

if TYPE_CHECKING:
    from check_workbench.checks.asks import Question, Rule
    from check_workbench.checks.cuts import Cutoffs

Dialect = Literal["neatroots", "check-1", "otodock", "okareo", "ancha"]
Scope = Literal["span", "trace", "session", "step"]
Meaning = Literal["problem", "good"]
"""What a high value means: rules and failure questions measure a problem, check-1 claims measure good work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing that a check asks, and its cut."""

    asks: Rule | Question
    cut: Cutoffs
    scope: Scope = "trace"
    evidence: EvidenceRule = dataclasses.field(default_factory=EvidenceRule)

    @property
    def means(self) -> Meaning:
        """What a high value means."""
        return "good" if isinstance(self.cut, PassBand | PassNames | PassLevel) else "problem"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessStep:
    """One step of a check-1 process."""

    id: str
    kind: str
    next: tuple[str, ...] = ()
    """The ids that may follow; the step below it where the document names none."""
    on_reject: str | None = None
    checked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """The check-1 process that a step check belongs to."""

    name: str
    version: str
    """SHA-256 of the canonical document."""
    steps: tuple[ProcessStep, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A named document that judges recorded work."""

    id: str
    dialect: Dialect
    items: tuple[Item, ...]
    title: str = ""
    guidance: str = ""
    group: str | None = None
    action: Literal["flag", "halt"] = "flag"
    when: Literal["live", "end"] = "end"
    workflow: str | None = None
    """Only runs of this workflow are judged; the others are `not_applicable`."""
    step_id: str | None = None
    """The step that is judged; None judges whole runs."""
    advisory: bool = False
    process: Process | None = None
    instructions: str = ""
    body: str = ""
    file: str | None = None
    """The file it was read from, as the caller wrote it."""

    @property
    def asked(self) -> str:
        """The digest of everything that is measured or asked."""
        return _digest([_asked(self, item) for item in self.items])

    @property
    def asked_items(self) -> tuple[str, ...]:
        """The digest of each item on its own, in order; answers are keyed by it."""
        return tuple(_digest(_asked(self, item)) for item in self.items)

    @property
    def document(self) -> str:
        """The digest of what is asked together with cut-offs and flags."""
        return _digest(
            [
                self.asked,
                [_plain(item.cut) for item in self.items],
                {"advisory": self.advisory, "action": self.action, "workflow": self.workflow, "step": self.step_id},
            ],
        )

    def __str__(self) -> str:
        """Return the id."""
        return self.id


def _asked(check: Check, item: Item) -> Any:
    kind = kind_of(item.asks)
    if is_rule(item.asks):
        return {"kind": kind, "asks": _plain(item.asks)}
    seen = {"scope": item.scope, "evidence": _plain(item.evidence)}
    if check.dialect == "check-1":
        seen = {"instructions": check.instructions, "body": check.body}
    return {"kind": kind, "asks": _plain(item.asks), **seen}


def _plain(value: Any) -> Any:
    return dataclasses.asdict(value)


def _digest(value: Any) -> str:
    text = json.dumps(_alike(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _alike(value: Any) -> Any:
    """Return equal numbers in one form, so that 3 and 3.0 have one digest."""
    match value:
        case dict():
            return {key: _alike(part) for key, part in value.items()}
        case list() | tuple():
            return [_alike(part) for part in value]
        case float() if value.is_integer():
            return int(value)
        case _:
            return value
