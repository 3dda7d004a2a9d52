"""What every rule shares: which spans match, and the two forms that leave a rule, measurements and findings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import ibis

if TYPE_CHECKING:
    from ibis.expr.types import BooleanColumn, Column, StringColumn, Table, TimestampColumn

    from check_workbench.checks import Selector

YES, NO = (ibis.literal(truth) for truth in (True, False))


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """The unbound tables that a rule reads, and what a search in them needs."""

    spans: Table
    runs: Table
    at: float = 1.0
    """Findings are raised from this measurement on."""
    label: str = "seq"
    """The column that names spans in findings: `seq` or `span_id`."""


QUOTED = 200
"""Characters of a quote."""
LONGEST_MS = 1e12
"""A recorded duration beyond this (31 years) gives no end time."""


def selected(spans: Table, selector: Selector) -> BooleanColumn:
    """Say of each span whether a selector matches it; an empty part matches all, a missing value matches no name."""
    wanted = {"type": selector.types, "name": selector.names, "status": selector.statuses}
    tests = [spans[column].isin(values) for column, values in wanted.items() if values]
    return ibis.and_(*tests) if tests else YES


def matching(spans: Table, selector: Selector) -> Table:
    """Keep the spans that a selector matches."""
    return spans.filter(selected(spans, selector))


def measured(runs: Table, values: Table) -> Table:
    """Give every run its value; a run without one has 0."""
    keyed = values.select(at_run="run_key", found=values.value.cast("float64"))
    joined = runs.select("run_key").left_join(keyed, [("run_key", "at_run")])
    return joined.select("run_key", value=joined.found.fill_null(0.0), reason=ibis.null("string"))


def spotted(found: Table, spans: Table, quote: Column) -> Table:
    """Finish findings that start at one span: `first` is its sequence, `quote` the text of `spans` to show."""
    texts = spans.select(at_run="run_key", at_seq="seq", spot="span_id", text=quote.substr(0, QUOTED))
    joined = found.inner_join(texts, [("run_key", "at_run"), ("first", "at_seq")])
    key = joined.key if "key" in found.columns else joined.spot
    return findings(joined.select("run_key", "value", "spans", "resolved", key=key, quote=joined.text))


def once(values: Table, recorded: Recorded, spans: Table | None = None) -> Table:
    """Make at most one finding a run, with the spans given as `run_key, spans`."""
    raised = values.filter(values.value >= recorded.at)
    if spans is None:
        listed_spans = ibis.literal([], type=f"array<{recorded.spans[recorded.label].type()}>")
    else:
        lists = spans.select(at_run="run_key", listed="spans")
        raised = raised.left_join(lists, [("run_key", "at_run")])
        listed_spans = raised.listed
    quote = raised.quote if "quote" in raised.columns else ibis.null("string")
    return findings(raised.mutate(key=ibis.literal(""), spans=listed_spans, quote=quote, resolved=NO))


def findings(table: Table) -> Table:
    """Bring the columns of findings into their order."""
    return table.select(
        "run_key",
        "key",
        "spans",
        "quote",
        "resolved",
        value=table.value.cast("float64"),
    ).select("run_key", "key", "value", "spans", "quote", "resolved")


def listed(value: Column) -> Column:
    """Make a list of one."""
    return ibis.array([value])


def complaint(spans: Table) -> StringColumn:
    """Return what a failed span said: its error text, or else its output."""
    return spans.error.nullif("").fill_null(spans.output)


def ended(spans: Table) -> TimestampColumn:
    """Return when a span ended: as recorded, or its start plus its duration."""
    known = spans.duration_ms.between(0, LONGEST_MS)
    length = ibis.ifelse(known, spans.duration_ms * 1000, ibis.null("float64")).cast("int64")
    return spans.ended_at.fill_null(spans.started_at + length.as_interval("us"))
