"""Rule type `unrecovered_error`.

Fires when
    the last call of a tool failed, and the run still gives a final answer in which no word speaks of a failure.

Why it matters
    An agent that hides a failure tells its user that work was done which was not.

Example
    `issue_refund` fails last, and the answer reads "Your refund is on its way".

What it cannot see
    Whether the answer is honest: it looks for words of failure, so it is a hint, not proof; a tool whose work another
    tool then did; and failures reported in a language without words in the list.

The measurement is the number of tools left failed, by name; calls without a name count as one tool. There is one
finding a tool. The words stand in `shipped/failure-words.txt`: each counts wherever a word of the answer starts so.
"""

from __future__ import annotations

import functools
import re
from importlib import resources
from typing import TYPE_CHECKING

import ibis

from check_workbench.rules import shape

if TYPE_CHECKING:
    from ibis.expr.types import BooleanColumn, Table

    from check_workbench.checks import UnrecoveredError
    from check_workbench.rules.shape import Recorded


def measure(rule: UnrecoveredError, recorded: Recorded) -> Table:
    """Count the tools left failed in each run whose answer does not say so."""
    left = _unspoken(left_failed(rule, recorded.spans), recorded.runs)
    return shape.measured(recorded.runs, left.group_by("run_key").agg(value=left.count()))


def find(rule: UnrecoveredError, recorded: Recorded) -> Table:
    """Find each tool left failed."""
    left = _unspoken(left_failed(rule, recorded.quoted), recorded.runs)
    found = left.select("run_key", "first", key=left.name.fill_null(""), value=ibis.literal(1).cast("float64"))
    return shape.spotted(found, shape.complaints(recorded.quoted), recorded.label)


def left_failed(rule: UnrecoveredError, spans: Table) -> Table:
    """Return run, tool name and sequence of each last call that failed, whatever the final answer says."""
    match = shape.matching(spans, rule.span)
    failed = match.filter(match.failed)
    last = failed.group_by("run_key", "name").agg(first=failed.seq.max())
    later = match.filter(~match.failed).select(at_run="run_key", tool="name", at="seq")
    same_tool = [last.run_key == later.at_run, last.name.identical_to(later.tool), last["first"] < later["at"]]
    return last.anti_join(later, same_tool)


@functools.cache
def failure_words() -> tuple[str, ...]:
    """Return the words that speak of a failure, in lower case."""
    text = (resources.files("check_workbench") / "shipped" / "failure-words.txt").read_text("utf-8")
    return tuple(line.strip().lower() for line in text.splitlines() if line.strip() and not line.startswith("#"))


@functools.cache
def failure_pattern() -> str:
    """Return the regular expression that finds any of the words; an apostrophe may be straight or curly."""
    words = "|".join(re.escape(word).replace("'", r"['\x{2019}]").replace("\\ ", "\\s+") for word in failure_words())
    return rf"(?i)\b(?:{words})"


def _unspoken(left: Table, runs: Table) -> Table:
    silent = runs.filter(_answers(runs)).select(at_run="run_key")
    return left.semi_join(silent, [("run_key", "at_run")])


def _answers(runs: Table) -> BooleanColumn:
    answer = runs.final_output.fill_null("")
    return answer.re_search(r"\S") & ~answer.re_search(failure_pattern())
