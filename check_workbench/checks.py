"""What a check asks and where it cuts: rules, questions, cut-offs, `Check`, and the two digests.

The *asked* digest covers what is measured or asked; it keys answers, measurements and labels. The *document*
digest adds cut-offs and flags; it keys verdicts and certificates. Moving a threshold changes only the second.
Source: DESIGN section 3.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from check_workbench.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterator

Dialect = Literal["neatroots", "check-1", "otodock", "okareo", "ancha"]
Scope = Literal["span", "trace", "session", "step"]
Meaning = Literal["problem", "good"]
"""What a high value means: rules and failure questions measure a problem, check-1 claims measure good work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selector:
    """Which spans are looked at; an empty part selects every span."""

    types: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceRule:
    """What an evaluator is shown of a run."""

    spans: Selector = Selector()
    fields: tuple[str, ...] = ("input", "output", "status")
    last: int | None = None
    """Only the newest so many spans; None shows all."""
    final_output: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """The largest number of matching spans in a run that share the `same` fields."""

    span: Selector = Selector()
    same: tuple[str, ...] = ("tool", "input")


@dataclass(frozen=True, slots=True, kw_only=True)
class Errors:
    """The longest streak of failed spans among the matching ones."""

    span: Selector = Selector()


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """The number of matching spans in a run."""

    span: Selector = Selector()


@dataclass(frozen=True, slots=True, kw_only=True)
class Slow:
    """The longest matching span of a run, in milliseconds."""

    span: Selector = Selector()


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A number of the whole run (rule type `threshold`)."""

    metric: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """The matching spans whose text a regular expression hits."""

    pattern: str
    span: Selector = Selector()
    fields: tuple[str, ...] = ("input", "output", "error", "name")
    ignore_case: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RequiresBefore:
    """The matching spans before which no required call succeeded."""

    requires: Selector
    span: Selector = Selector()


@dataclass(frozen=True, slots=True, kw_only=True)
class UnrecoveredError:
    """The tools whose last call failed although the final answer says nothing of a failure."""

    span: Selector = Selector()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnd:
    """Whether the run ended in one of the given ways."""

    statuses: tuple[str, ...] = ("error", "no_output", "interrupted")


Rule = Repeat | Errors | Count | Slow | Metric | Match | RequiresBefore | UnrecoveredError | RunEnd
RULE_TYPES: dict[str, type[Rule]] = {
    "repeat": Repeat,
    "errors": Errors,
    "count": Count,
    "slow": Slow,
    "threshold": Metric,
    "match": Match,
    "requires_before": RequiresBefore,
    "unrecovered_error": UnrecoveredError,
    "run_end": RunEnd,
}
FIXED_RULES = (Match, RequiresBefore, UnrecoveredError, RunEnd)
"""Rules that are cut at one hit and cannot be tuned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class YesNo:
    """A question answered by the probability of yes."""

    ask: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A question answered by one of several named options."""

    ask: str
    options: tuple[tuple[str, str], ...]
    """Name and description, in document order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    """A question answered by a level, numbered from 0, or by the expected level."""

    ask: str
    levels: tuple[str, ...]


Question = YesNo | Choice | Levels
QUESTION_KINDS: dict[str, type[Question]] = {"yes_no": YesNo, "choice": Choice, "score": Levels}


@dataclass(frozen=True, slots=True, kw_only=True)
class AtLeast:
    """A rule raises findings from this measurement on."""

    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagAt:
    """A failure question is flagged from this probability on."""

    value: float = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagOn:
    """A choice is flagged when the named options together reach this probability."""

    names: tuple[str, ...]
    value: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagLevel:
    """A score is flagged from this expected level on."""

    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PassBand:
    """A claim passes from `pass_at` on, fails below `fail_below` (without one: below `pass_at`), else it is unsure."""

    pass_at: float = 0.9
    fail_below: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PassNames:
    """A choice passes or is unsure by its name; below the confidence it is unsure."""

    passing: tuple[str, ...]
    unsure: tuple[str, ...] = ()
    confidence: float = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class PassLevel:
    """A level passes from this one on, else it fails; below the confidence it is unsure."""

    level: int
    confidence: float = 0.8


Cutoffs = AtLeast | FlagAt | FlagOn | FlagLevel | PassBand | PassNames | PassLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing that a check asks, and its cut."""

    asks: Rule | Question
    cut: Cutoffs
    scope: Scope = "trace"
    evidence: EvidenceRule = EvidenceRule()

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """One tunable number of a check, named by the item's place and the document's key."""

    item: int
    key: str
    value: float | None
    means: Meaning


def kind_of(asks: Rule | Question) -> str:
    """Return the name of a rule type or question kind as neatroots documents write it.

    Examples
    --------
    >>> kind_of(Metric(metric="total_tokens")), kind_of(Levels(ask="How bad?", levels=("fine", "bad")))
    ('threshold', 'score')
    """
    return next(name for name, type_ in (*RULE_TYPES.items(), *QUESTION_KINDS.items()) if isinstance(asks, type_))


def is_rule(asks: Rule | Question) -> bool:
    """Say whether it is measured by code rather than asked of a model."""
    return isinstance(asks, tuple(RULE_TYPES.values()))


def thresholds(check: Check) -> tuple[Threshold, ...]:
    """List the tunable thresholds of a check in document order.

    Parameters
    ----------
    check
        The check.

    Returns
    -------
    tuple of Threshold
        Empty where nothing can be tuned.

    Examples
    --------
    >>> rule = Item(asks=Repeat(), cut=AtLeast(value=3))
    >>> thresholds(Check(id="loop", dialect="neatroots", items=(rule,)))
    (Threshold(item=0, key='at_least', value=3, means='problem'),)
    """
    return tuple(
        Threshold(item=place, key=key, value=value, means=item.means)
        for place, item in enumerate(check.items)
        for key, value in _tunable(item)
    )


def with_threshold(check: Check, *, item: int, key: str, value: float | None) -> Check:
    """Return the check with one threshold moved; what it asks stays the same.

    Parameters
    ----------
    check
        The check.
    item
        Place of the item, from 0.
    key
        The document's key: `at_least`, `at_least_ms`, `flag_at`, `flag_at_level`, `pass`, `fail`, `confidence`.
    value
        The new number; None takes `fail` away.

    Raises
    ------
    UnknownNameError
        If the item has no such threshold.
    InputError
        If a band would be turned upside down.
    """
    known = [t.key for t in thresholds(check) if t.item == item]
    if key not in known:
        raise UnknownNameError.of(f"threshold of {check.id}, item {item},", key, known)
    changed = dataclasses.replace(check.items[item], cut=_moved(check.items[item].cut, key, value))
    return dataclasses.replace(check, items=(*check.items[:item], changed, *check.items[item + 1 :]))


def _tunable(item: Item) -> Iterator[tuple[str, float | None]]:
    match item.cut:
        case AtLeast(value=value):
            if not isinstance(item.asks, FIXED_RULES):
                yield "at_least_ms" if isinstance(item.asks, Slow) else "at_least", value
        case FlagAt(value=value) | FlagOn(value=value):
            yield "flag_at", value
        case FlagLevel(value=value):
            yield "flag_at_level", value
        case PassBand(pass_at=pass_at, fail_below=fail_below):
            yield "pass", pass_at
            yield "fail", fail_below
        case PassNames(confidence=value) | PassLevel(confidence=value):
            yield "confidence", value


def _moved(cut: Cutoffs, key: str, value: float | None) -> Cutoffs:
    if isinstance(cut, PassBand) and key == "fail":
        return _upright(dataclasses.replace(cut, fail_below=value))
    if value is None:
        raise InputError(f"{key} must be a number, got None")
    if isinstance(cut, PassBand):
        return _upright(dataclasses.replace(cut, pass_at=value))
    if isinstance(cut, PassNames | PassLevel):
        return dataclasses.replace(cut, confidence=value)
    return dataclasses.replace(cut, value=value)


def _upright(band: PassBand) -> PassBand:
    if band.fail_below is not None and band.fail_below > band.pass_at:
        raise InputError(f"fail must be at most pass, got fail {band.fail_below} and pass {band.pass_at}")
    return band


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
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]
