"""Rules of neatroots documents: from the mapping under `rule:` to a rule and its cut.

Source: neatroots, "Rules". A key of the rule itself that is not known here warns, because the
source document does not show them all; inside a selector it is an error, because there it would widen the check.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from check_workbench import patterns
from check_workbench.checks import (
    RULE_TYPES,
    AtLeast,
    Count,
    Errors,
    Match,
    Metric,
    Repeat,
    RequiresBefore,
    Rule,
    RunEnd,
    Selector,
    Slow,
    UnrecoveredError,
)
from check_workbench.dialects.fields import Fields
from check_workbench.dialects.selectors import selector, selector_or_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from check_workbench.dialects.problems import Problems
    from check_workbench.documents import Mapping

SAME_FIELDS = ("tool", "name", "input", "output", "type", "status", "error", "model")
MATCH_FIELDS = ("input", "output", "error", "name")
END_STATUSES = ("error", "no_output", "interrupted")
ONCE = AtLeast(value=1)


def rule_of(node: Mapping, problems: Problems) -> tuple[Rule, AtLeast] | None:
    """Read a rule.

    Parameters
    ----------
    node
        The mapping under `rule:`.
    problems
        Where everything wrong is collected.

    Returns
    -------
    tuple or None
        The rule and its cut; None without a known `type`. Usable only if no error was added.
    """
    fields = Fields(node, problems, "rule")
    type_ = fields.word("type", RULE_TYPES, required=f"one of {', '.join(RULE_TYPES)}")
    if not type_:
        return None
    made = READERS[type_](fields)
    fields.close(lenient=True)
    return made


def _span(fields: Fields) -> Selector:
    return selector(fields, "span")


def _at_least(fields: Fields, default: float | None = None) -> AtLeast:
    why = "" if default is not None else "from how many on it is raised"
    value = fields.number("at_least", default=default, low=1, required=why)
    if default is not None and not fields.has("at_least"):
        fields.problems.note(fields.node, "default-cut", f"at_least is not written, so {default:g} counts")
    return AtLeast(value=value if value is not None else 1)


def _repeat(fields: Fields) -> tuple[Rule, AtLeast]:
    same = fields.words("same", default=("tool", "input"))
    fields.known_values("same", same, SAME_FIELDS)
    return Repeat(span=_span(fields), same=same), _at_least(fields, 3)


def _errors(fields: Fields) -> tuple[Rule, AtLeast]:
    return Errors(span=_span(fields)), _at_least(fields, 3)


def _count(fields: Fields) -> tuple[Rule, AtLeast]:
    return Count(span=_span(fields)), _at_least(fields)


def _slow(fields: Fields) -> tuple[Rule, AtLeast]:
    value = fields.number("at_least_ms", low=0, required="from how many milliseconds on it is raised")
    return Slow(span=_span(fields)), AtLeast(value=value if value is not None else 0)


def _threshold(fields: Fields) -> tuple[Rule, AtLeast]:
    metric = fields.text("metric", required="the number of the run, as total_tokens or duration_ms")
    value = fields.number("at_least", required="from which value on it is raised")
    return Metric(metric=metric), AtLeast(value=value if value is not None else 0)


def _match(fields: Fields) -> tuple[Rule, AtLeast]:
    pattern = fields.text("pattern", required="the regular expression")
    node = fields.node.get("pattern")
    if pattern and node is not None and (why := patterns.problem(pattern)) is not None:
        fields.problems.error(node, "bad-pattern", f"the pattern {why}")
    wanted = fields.words("fields", default=MATCH_FIELDS)
    fields.known_values("fields", wanted, MATCH_FIELDS)
    ignore_case = fields.flag("ignore_case")
    return Match(pattern=pattern, span=_span(fields), fields=wanted, ignore_case=ignore_case), ONCE


def _requires_before(fields: Fields) -> tuple[Rule, AtLeast]:
    requires = selector_or_name(fields, "requires", required="the call that must have succeeded before")
    return RequiresBefore(requires=requires, span=_span(fields)), ONCE


def _unrecovered_error(fields: Fields) -> tuple[Rule, AtLeast]:
    return UnrecoveredError(span=_span(fields)), ONCE


def _run_end(fields: Fields) -> tuple[Rule, AtLeast]:
    statuses = fields.words("status", default=END_STATUSES)
    fields.known_values("status", statuses, END_STATUSES)
    return RunEnd(statuses=statuses), ONCE


READERS: dict[str, Callable[[Fields], tuple[Rule, AtLeast]]] = {
    "repeat": _repeat,
    "errors": _errors,
    "count": _count,
    "slow": _slow,
    "threshold": _threshold,
    "match": _match,
    "requires_before": _requires_before,
    "unrecovered_error": _unrecovered_error,
    "run_end": _run_end,
}
