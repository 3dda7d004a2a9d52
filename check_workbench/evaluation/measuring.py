"""Rules: what they measured, and the findings beyond their cut."""

from __future__ import annotations

import difflib
from collections import Counter
from typing import TYPE_CHECKING, Any

from check_workbench import patterns
from check_workbench.checks import AtLeast, Match, Metric
from check_workbench.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from check_workbench.checks import Check
    from check_workbench.store import Store

FEW_RUNS = 500
METRICS_SHOWN = 10
UNMEASURED = "the rule has no value for the run"
READ_ONLY = (
    "the pattern runs in Python, whose result is kept, and the store is open to read only; "
    "evaluate the check once where the store can be written"
)
KEPT = "select run_key, value, reason from measurements where asked = ?"
KEPT_BEFORE = """
    select run_key, value, case when asked is null then ? else reason end as reason
    from runs left join (select * from measurements where asked = ?) using (run_key)
"""


def measured_key(check: Check, place: int) -> str:
    """Return the digest under which an item's measurements are kept.

    A check with one item uses its own asked digest, so that its earlier versions lead to what they measured.
    """
    return check.asked if len(check.items) == 1 else check.asked_items[place]


def cut_of(check: Check, place: int) -> float:
    """Return the number from which a rule raises findings.

    Raises
    ------
    InputError
        If the item is no rule.
    """
    cut = check.items[place].cut
    if not isinstance(cut, AtLeast):
        raise InputError(f"item {place} of {check.id} is a question and has no at_least")
    return cut.value


def measured(check: Check, place: int, units: pd.DataFrame, store: Store, *, keep: bool) -> pd.DataFrame:
    """Measure a rule on units and cut.

    Parameters
    ----------
    check
        The check.
    place
        Place of the rule among its items.
    units
        Rows of `units_of`.
    store
        Where the spans are.
    keep
        Measure every run that was not measured yet and keep that; else measure these units only and keep nothing.

    Returns
    -------
    DataFrame
        `score status reason method model answered_at` on the index of the units.
    """
    import pandas as pd

    values = (
        _kept(check, place, store) if _keeps(check, place, store, keep=keep) else _fresh(check, place, units, store)
    )
    found = units[["run_key"]].merge(values, on="run_key", how="left").set_index(units.index)
    value = found["value"].astype("Float64")
    status = (value >= cut_of(check, place)).map({True: "fail", False: "pass"}).astype(object)
    missing = value.isna()
    status[missing] = "not_checked"
    reason = found["reason"].astype(object).where(missing, None)
    reason[missing & reason.isna()] = UNMEASURED
    table = pd.DataFrame({"score": value.astype("float64"), "status": status, "reason": reason}, index=units.index)
    return table.assign(method="rule", model=None, answered_at=pd.Series(pd.NaT, index=units.index))


def notes_of(check: Check, place: int, scores: pd.DataFrame, store: Store) -> Counter[str]:
    """Return a warning, with a count, if a rule could be measured in none of its runs, or the store forbade it."""
    own = scores[scores["status"] != "not_applicable"]
    if unread := int((own["reason"] == READ_ONLY).sum()):
        return Counter({f"not measured: {READ_ONLY}": unread})
    if not len(own) or not bool((own["status"] == "not_checked").all()):
        return Counter()
    rule = check.items[place].asks
    wanted = f"the metric {_metric(rule.metric, store)}" if isinstance(rule, Metric) else "what the rule measures"
    return Counter({f"not one of the runs has {wanted}": len(own)})


def _metric(name: str, store: Store) -> str:
    """Name a metric that no run has, and those that runs have, the likeliest first."""
    from check_workbench.rules.threshold import COUNTED, DERIVED

    rows = store.sql(
        "select key from (select unnest(json_keys(metrics)) as key from runs where json_type(metrics) = 'OBJECT') "
        "group by all order by count(*) desc, key limit 30",
    )
    recorded = [str(key) for key in rows["key"]]
    near = difflib.get_close_matches(name, [*recorded, *DERIVED], n=3, cutoff=0.6)
    known = [one for one in dict.fromkeys([*near, *recorded, *COUNTED]) if one != name]
    return f"{name!r}; known are {', '.join(known[:METRICS_SHOWN])}{', …' if len(known) > METRICS_SHOWN else ''}"


def _keeps(check: Check, place: int, store: Store, *, keep: bool) -> bool:
    """Say whether kept measurements count: where a pattern runs in Python always, else not in a store to read only."""
    rule = check.items[place].asks
    if isinstance(rule, Match) and not patterns.runs_in_re2(patterns.require(rule.pattern)):
        return True
    return keep and not store.read_only


def _kept(check: Check, place: int, store: Store) -> pd.DataFrame:
    """Measure what was not measured yet; a store to read only says what it holds, and which runs it lacks."""
    from check_workbench import rules

    key = measured_key(check, place)
    rule: Any = check.items[place].asks
    if store.read_only:
        return store.sql(KEPT_BEFORE, [READ_ONLY, key])
    rules.measure_into(store, rule, key)
    return store.sql(KEPT, [key])


def _fresh(check: Check, place: int, units: pd.DataFrame, store: Store) -> pd.DataFrame:
    from check_workbench import rules

    rule: Any = check.items[place].asks
    spans, runs = _tables_of(units, store)
    return store.execute(rules.measure(rule, spans, runs))


def _tables_of(units: pd.DataFrame, store: Store) -> tuple[Any, Any]:
    """Return the spans and runs of a few units; of many, all, since a long list costs more than a scan."""
    runs, spans = store.table("runs"), store.table("spans")
    keys = [int(key) for key in units["run_key"]]
    if len(keys) > FEW_RUNS:
        return spans, runs
    return spans.filter(spans.run_key.isin(keys)), runs.filter(runs.run_key.isin(keys))


def rule_findings(check: Check, place: int, failed: pd.DataFrame, store: Store, *, keep: bool) -> pd.DataFrame:
    """Return the findings of a rule in the runs that it failed.

    Parameters
    ----------
    check
        The check.
    place
        Place of the rule among its items.
    failed
        The units that failed, rows of `units_of`.
    store
        Where the spans are.
    keep
        Whether all runs were measured, or only some.

    Returns
    -------
    DataFrame
        `run_id key value spans quote resolved`.
    """
    from check_workbench import rules

    rule: Any = check.items[place].asks
    if _keeps(check, place, store, keep=keep):
        found = rules.findings(store, rule, cut_of(check, place), asked=measured_key(check, place))
        return found[found["run_id"].isin(failed["run_id"])]
    spans, runs = _tables_of(failed, store)
    found = store.execute(rules.find(rule, cut_of(check, place), spans, runs, label="span_id"))
    return found.merge(failed[["run_key", "run_id"]], on="run_key")
