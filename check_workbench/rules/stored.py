"""Rules over a store: measure what is not yet measured, and fetch the findings of what was."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ibis

from check_workbench import checks, patterns
from check_workbench.rules import searched, shape
from check_workbench.rules.table import TYPES

if TYPE_CHECKING:
    import pandas as pd

    from check_workbench.store import Store

OF_ONE_SPAN = (checks.Slow, checks.Match, checks.RequiresBefore)
"""Rules whose findings are about one span, and keyed by its id."""
COLUMNS = ("run_id", "key", "value", "spans", "quote", "resolved")


def asked_of(rule: checks.Rule) -> str:
    """Return the asked digest of a rule, the same as of an item that asks it."""
    item = checks.Item(asks=rule, cut=checks.AtLeast(value=1))
    return checks.Check(id="rule", dialect="neatroots", items=(item,)).asked_items[0]


def measure_into(store: Store, rule: checks.Rule, asked: str) -> int:
    """Measure the runs of a store that have no measurement yet, and keep what was measured.

    Parameters
    ----------
    store
        The store; its `measurements` grow by one row a run.
    rule
        What to measure.
    asked
        The digest under which the measurements are kept.

    Returns
    -------
    int
        How many runs were measured; 0 where all of them were before.

    A second evaluation pays only for what is new.
    """
    recorded = _unmeasured(store, asked)
    if recorded is None:
        return 0
    if isinstance(rule, checks.Match) and _in_python(rule):
        return searched.measure_into(store, rule, asked, recorded)
    measured = TYPES[type(rule)].measure(rule, recorded)
    rows = measured.select("run_key", "value", "reason", asked=ibis.literal(asked))
    return store.insert("measurements", rows)


def findings(store: Store, rule: checks.Rule, at: float, *, asked: str | None = None) -> pd.DataFrame:
    """Fetch what a rule raises at a cut, in the runs whose stored measurement reaches it.

    Parameters
    ----------
    store
        The store.
    rule
        What to look for.
    at
        Findings are raised from this measurement on.
    asked
        The digest given to `measure_into`; without one, that of the rule. A rule that was never measured is looked for
        in all runs.

    Returns
    -------
    pandas.DataFrame
        `run_id key value spans quote resolved`, ordered by run and key; `spans` are lists of span ids.
    """
    import pandas as pd

    recorded = _raised(store, asked or asked_of(rule), at)
    if recorded is None:
        return pd.DataFrame([], columns=list(COLUMNS))
    if isinstance(rule, checks.Match) and _in_python(rule):
        return searched.findings(store, rule, recorded)
    search = TYPES[type(rule)].find(rule, recorded).order_by("run_key", "key")
    if isinstance(rule, OF_ONE_SPAN):
        found = store.execute(search.drop("spans"))
        found.insert(3, "spans", [[key] for key in found["key"]])
    else:
        found = store.execute(search)
        found["spans"] = [spans.tolist() for spans in found["spans"]]
    names = store.execute(recorded.runs.select("run_key", "run_id"))
    found.insert(0, "run_id", found["run_key"].map(names.set_index("run_key")["run_id"]))
    return found.drop(columns="run_key")


def first_spans(store: Store, found: pd.DataFrame) -> pd.DataFrame:
    """Fetch name and input of the first span of each finding.

    Parameters
    ----------
    store
        The store.
    found
        Findings with `run_id` and `spans`.

    Returns
    -------
    pandas.DataFrame
        `run_id span_id name input`; findings without spans have no row.
    """
    listed = zip(found["run_id"], found["spans"], strict=True)
    firsts = {(run, spans[0]) for run, spans in listed if spans is not None and len(spans)}
    wanted = ibis.memtable(sorted(firsts), schema={"of_run": "string", "first": "string"})
    spans, runs = store.table("spans"), store.table("runs")
    own = runs.inner_join(wanted, runs.run_id == wanted.of_run).select("run_key", "run_id", "first")
    named = own.inner_join(spans, [own.run_key == spans.run_key, own["first"] == spans.span_id])
    return store.execute(named.select("run_id", "span_id", "name", "input"))


def _unmeasured(store: Store, asked: str) -> shape.Recorded | None:
    """Return the tables cut down to runs without a measurement, or None where there are none."""
    spans, runs, done = (store.table(name) for name in ("spans", "runs", "measurements"))
    count = store.sql(
        "select count(*) as all_runs, count(*) filter (run_key in (select run_key from measurements where asked = ?)) "
        "as measured from runs",
        [asked],
    )
    total, measured = int(count["all_runs"][0]), int(count["measured"][0])
    if measured == total:
        return None
    if measured:
        runs = runs.filter(runs.run_key.notin(done.filter(done.asked == asked).run_key))
        spans = spans.filter(spans.run_key.isin(runs.run_key))
    return shape.Recorded(spans=spans, runs=runs)


def _raised(store: Store, asked: str, at: float) -> shape.Recorded | None:
    """Return the tables cut down to runs that reach the cut, or None where no measured run does."""
    spans, runs, done = (store.table(name) for name in ("spans", "runs", "measurements"))
    count = store.sql(
        "select count(*) as measured, count(*) filter (value >= ?) as raised from measurements where asked = ?",
        [at, asked],
    )
    if not count["measured"][0]:
        return shape.Recorded(spans=spans, runs=runs, at=at, label="span_id")
    if not count["raised"][0]:
        return None
    raised = done.filter(done.asked == asked, done.value >= at).run_key
    return shape.Recorded(
        spans=spans.filter(spans.run_key.isin(raised)),
        runs=runs.filter(runs.run_key.isin(raised)),
        texts=spans,
        at=at,
        label="span_id",
    )


def _in_python(rule: checks.Match) -> bool:
    return not patterns.runs_in_re2(patterns.require(rule.pattern))
