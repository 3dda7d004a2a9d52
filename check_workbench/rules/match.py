"""Rule type `match`.

Fires when
    a regular expression hits the input, output, error or name of a matching span. The text of an MCP result counts as
    output. `fields` says which are read, `ignore_case` whether case matters.

Why it matters
    Keys, injected instructions and forbidden commands are words, and words can be found without a model.

Example
    `pattern: "sk-[A-Za-z0-9]{20,}"` in the output of any tool.

What it cannot see
    The same thing said in other words, encoded, or beyond the first 200,000 characters of an MCP result.

The measurement is the number of spans hit; there is one finding a span, quoting the words. Patterns run in RE2. The few
that RE2 cannot compile run in Python, see `check_workbench.rules.limited`.
"""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING

import ibis

from check_workbench import patterns
from check_workbench.errors import InputError, UnknownNameError
from check_workbench.rules import shape

if TYPE_CHECKING:
    from ibis.expr.types import BooleanColumn, BooleanValue, StringColumn, Table

    from check_workbench.checks import Match
    from check_workbench.rules.shape import Recorded

FIELDS = {"input": ("input",), "output": ("output", "mcp_text"), "error": ("error",), "name": ("name",)}


def measure(rule: Match, recorded: Recorded) -> Table:
    """Count the spans that are hit in each run."""
    hit = _hits(rule, recorded.spans)
    return shape.measured(recorded.runs, hit.group_by("run_key").agg(value=hit.count()))


def find(rule: Match, recorded: Recorded) -> Table:
    """Find each span that is hit."""
    hit = _hits(rule, recorded.spans)
    pattern = _pattern(rule)
    quote = ibis.cases(*((_hit(hit[column], pattern), hit[column].re_extract(pattern, 0)) for column in columns(rule)))
    found = hit.mutate(
        key=hit.span_id,
        value=ibis.literal(1).cast("float64"),
        spans=shape.listed(hit[recorded.label]),
        quote=quote.substr(0, shape.QUOTED),
        resolved=shape.NO,
    )
    return shape.findings(found)


def columns(rule: Match) -> tuple[str, ...]:
    """Return the columns that a rule reads, in the order in which they are quoted."""
    for name in rule.fields:
        if name not in FIELDS:
            raise UnknownNameError.of("field to match", name, FIELDS)
    return tuple(dict.fromkeys(column for name in rule.fields for column in FIELDS[name]))


def _hits(rule: Match, spans: Table) -> Table:
    pattern, worth_a_look = _pattern(rule), _worth_a_look(rule)
    match = shape.matching(spans, rule.span)
    tests = [_holds(match[column], worth_a_look) & _hit(match[column], pattern) for column in columns(rule)]
    return match.filter(functools.reduce(operator.or_, tests, shape.NO))


def _worth_a_look(rule: Match) -> tuple[str, ...]:
    """Return the words without which there is no hit, where they are far cheaper to find than the pattern.

    They are not where the pattern starts with the only one: RE2 looks for that first by itself, twice as fast.
    """
    words = () if rule.ignore_case else patterns.needed(rule.pattern)
    return () if len(words) == 1 and rule.pattern.startswith(words[0]) else words


def _holds(text: StringColumn, words: tuple[str, ...]) -> BooleanValue:
    return ibis.or_(*(text.contains(word) for word in words)) if words else shape.YES


def _hit(text: StringColumn, pattern: str) -> BooleanColumn:
    return text.re_search(pattern).fill_null(shape.NO)


def _pattern(rule: Match) -> str:
    if not patterns.runs_in_re2(patterns.require(rule.pattern)):
        raise InputError(f"RE2 cannot compile {rule.pattern[:80]!r}: it is measured in a store, not by a query")
    return patterns.re2_form(rule.pattern, ignore_case=rule.ignore_case)
