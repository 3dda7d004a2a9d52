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
    texts: Table | None = None
    """All spans of these runs and more, where `spans` is cut down; joining the same cut twice is dear."""
    at: float = 1.0
    """Findings are raised from this measurement on."""
    label: str = "seq"
    """The column that names spans in findings: `seq` or `span_id`."""

    @property
    def quoted(self) -> Table:
        """All spans at hand, to look things up in."""
        return self.spans if self.texts is None else self.texts


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


def spotted(found: Table, texts: Table, label: str) -> Table:
    """Finish findings that start at one span and quote it.

    `found` has the sequence of that span in `first`, and where several spans belong to a finding, `spans`; `texts` is
    made by `texts` or `complaints`. The key is the span's id where `found` has none.
    """
    joined = found.inner_join(texts, [("run_key", "at_run"), ("first", "at_seq")])
    return findings(
        joined.select(
            "run_key",
            "value",
            key=joined.key if "key" in found.columns else joined.spot,
            spans=joined.spans if "spans" in found.columns else listed(joined.first if label == "seq" else joined.spot),
            quote=joined.text,
            resolved=joined.resolved if "resolved" in found.columns else NO,
        ),
    )


def texts(spans: Table, quote: StringColumn) -> Table:
    """Return what each span is quoted with."""
    return spans.select(at_run="run_key", at_seq="seq", spot="span_id", text=quote.substr(0, QUOTED))


def complaints(spans: Table) -> Table:
    """Return what each failed span said: its error text, or else its output, which is read only where it is needed."""
    failed = spans.filter(spans.failed)
    spoken, silent = failed.filter(failed.error != ""), failed.filter(failed.error.nullif("").isnull())
    return ibis.union(texts(spoken, spoken.error), texts(silent, silent.output))


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


def ended(spans: Table) -> TimestampColumn:
    """Return when a span ended: as recorded, or its start plus its duration."""
    known = spans.duration_ms.between(0, LONGEST_MS)
    length = ibis.ifelse(known, spans.duration_ms * 1000, ibis.null("float64")).cast("int64")
    return spans.ended_at.fill_null(spans.started_at + length.as_interval("us"))
