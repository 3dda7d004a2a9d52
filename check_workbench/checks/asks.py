"""What is measured or asked: selectors, evidence rules, the nine rule types and the three question kinds."""

from __future__ import annotations

from dataclasses import dataclass


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
