"""Which labels may certify: blind, first submissions, one version and method, never used to make the check.

Every label that may not has one named reason; nothing is dropped in silence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from check_workbench.calibration import looks as ledger
from check_workbench.calibration.units import KEY, decided, unequal
from check_workbench.certificates.reach import drawn_last
from check_workbench.certificates.replanning import read_by_others
from check_workbench.certificates.showing import arrivals, first_read

if TYPE_CHECKING:
    import pandas as pd

    from check_workbench.calibration.units import Units
    from check_workbench.checks import Check
    from check_workbench.plans import Plan
    from check_workbench.store import Store

NOT_BLIND = ("saw_verdict", "verdict_seen_unknown", "decided_after_verdict", "prefilled", "about_a_finding")
REGAINABLE = (*NOT_BLIND, "other_version", "other_method", "test_run")
"""Reasons which make the evidence unusable where it would decide with the labels that they took."""
OTHER_VERSION_WORDS = ("differs from the present", "another version", "the run changed")
CONTENT = """
    with wanted as (select * from runs where run_id in (select unnest(?::varchar[]))),
    parts as (
        select run_key, md5(string_agg(concat_ws('|', coalesce(type, ''), coalesce(name, ''),
            coalesce(input_digest::varchar, ''), coalesce(output_digest::varchar, '')), '\n' order by seq)) as part
        from spans semi join wanted using (run_key) group by run_key
        union all
        select run_key, md5(string_agg(concat_ws('|', step_id, coalesce(attempt, 1)::varchar, coalesce(input, ''),
            coalesce(output, ''), coalesce(summary, '')), '\n' order by place)) as part
        from steps semi join wanted using (run_key) where coalesce(input, output, summary) is not null group by run_key
    )
    select wanted.run_id, md5(concat_ws('|', string_agg(parts.part, '|' order by parts.part),
        coalesce(any_value(wanted.input), ''), coalesce(any_value(wanted.final_output), ''))) as content
    from wanted join parts using (run_key) group by wanted.run_id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The labels that may certify, those that hygiene took, and the work that the check would judge."""

    usable: pd.DataFrame
    """With `cluster`, and `fresh`: no call read the label before the cut, and what chooses labels in the plan, got
    their present values. `arrived` in the store, and first `read` by a call. In order of time."""
    taken: pd.DataFrame
    """Labels that only hygiene took (see `REGAINABLE`), with `why`."""
    population: pd.DataFrame
    """First live submissions that the check applies to, labelled or not."""
    excluded: dict[str, int]
    taken_unseen: int = 0
    """Further decisions that hygiene took before they met a verdict."""
    method: str | None = None
    model: str | None = None
    read_by: tuple[str, ...] = ()
    """The calls that read labels before the cut got its present value."""
    drawn_last: frozenset[tuple[str, str, int]] = frozenset()
    """Work that was drawn from what earlier sheets for recall had left."""

    @property
    def unlabelled(self) -> pd.DataFrame:
        """The work without a label."""
        return self.population[~self.population["labelled"]]

    @property
    def measured_on(self) -> pd.DataFrame:
        """The work on which coverage is measured: without labels where there is enough of it, else all."""
        return self.unlabelled if len(self.unlabelled) >= 50 else self.population


def sample(units: Units, store: Store, plan: Plan, looks: pd.DataFrame) -> Sample:
    """Sort the labels of a check into those that may certify and those that may not.

    Parameters
    ----------
    units
        Units with scores and labels.
    store
        The store, asked for content twins and for since when the check is as it is.
    plan
        Window and cluster key.
    looks
        All looks in the store.
    """
    table = units.table.assign(cluster=_clusters(units.table, plan.cluster))
    method, model = _present_method(table)
    labelled = table[table["labelled"]].copy()
    labelled["why"] = _reasons(labelled, (method, model), plan)
    fit = _fit(labelled, looks, ledger.asked_since(store, units.check, looks), units.check)
    labelled.loc[labelled["why"].isna() & fit, "why"] = "fit"
    labelled = labelled.sort_values(["decided_at", *KEY], kind="stable", na_position="last", ignore_index=True)
    _mark_twins(labelled, store)
    if unequal(labelled[labelled["why"].isna()]):
        unknown = labelled["probability_sampled"].isna() & labelled["why"].isna()
        labelled.loc[unknown, "why"] = "probability_unknown"
    since = ledger.cut_since(store, units.check, looks)
    read = ledger.read_before(looks, since) | read_by_others(looks, units.check, plan)
    labelled["fresh"] = [read.isdisjoint(keys) for keys in labelled["decision_keys"]]
    labelled["read"], labelled["arrived"] = first_read(labelled, looks), arrivals(store, labelled, units.check)
    return Sample(
        usable=labelled[labelled["why"].isna()].reset_index(drop=True),
        taken=labelled[labelled["why"].isin(REGAINABLE)].reset_index(drop=True),
        population=_population(table, (method, model)),
        excluded=_counts(labelled, units),
        taken_unseen=sum(units.excluded.get(why, 0) for why in ("test_run", "other_version")),
        method=method,
        model=model,
        read_by=ledger.readers(looks, since, labelled),
        drawn_last=drawn_last(units.check, looks),
    )


def _counts(labelled: pd.DataFrame, units: Units) -> dict[str, int]:
    counts = dict(units.excluded)
    for why, count in labelled["why"].value_counts().items():
        counts[str(why)] = counts.get(str(why), 0) + int(count)
    if units.unmatched:
        counts["not_evaluated"] = counts.get("not_evaluated", 0) + units.unmatched
    return dict(sorted(counts.items()))


def _clusters(table: pd.DataFrame, key: str) -> pd.Series[Any]:
    own = "run:" + table["run_id"].astype(str)
    if key == "run_id":
        return own
    named = table[key].astype(object)
    return (f"{key}:" + named.astype(str)).where(named.notna(), own)


def _present_method(table: pd.DataFrame) -> tuple[str | None, str | None]:
    """Return the method and model whose answers are newest; without times, those with most answers."""
    answered = table[decided(table)]
    if answered.empty:
        return None, None
    groups = answered.fillna({"method": "", "model": ""}).groupby(["method", "model"])
    ranked = groups.agg(newest=("answered_at", "max"), size=("run_id", "size")).reset_index()
    ranked = ranked.sort_values(["newest", "size", "method", "model"], na_position="first")
    last = ranked.iloc[-1]
    return last["method"] or None, last["model"] or None


def _is_method(table: pd.DataFrame, present: tuple[str | None, str | None]) -> pd.Series[bool]:
    same = (table["method"].fillna("") == (present[0] or "")) & (table["model"].fillna("") == (present[1] or ""))
    return same.astype(bool)


def _reasons(labelled: pd.DataFrame, present: tuple[str | None, str | None], plan: Plan) -> pd.Series[Any]:
    """Return the first reason against each label, or None."""
    why = labelled["reason"].fillna("").astype(str)
    outdated = np.logical_or.reduce([why.str.contains(words, regex=False) for words in OTHER_VERSION_WORDS])
    is_decided = decided(labelled)
    rules: list[tuple[str, Any]] = [
        ("outside_window", _outside(labelled, plan)),
        ("test_run", labelled["mode"].fillna("live") == "test"),
        ("rework", labelled["attempt"] > 1),
        ("not_applicable", labelled["verdict"] == "not_applicable"),
        ("other_version", ~is_decided & outdated),
        ("not_checked", ~is_decided),
        ("other_method", ~_is_method(labelled, present)),
    ]
    blind = labelled["blind"].astype(bool)
    found = labelled["reason_not_blind"].astype(object).fillna("verdict_seen_unknown").mask(blind, None)
    for name, hit in reversed(rules):
        found = found.mask(np.asarray(hit, dtype=bool), name)
    return found


def _outside(labelled: pd.DataFrame, plan: Plan) -> Any:
    outside = np.zeros(len(labelled), dtype=bool)
    at = labelled["decided_at"]
    if plan.window_start:
        outside |= ~(at >= np.datetime64(plan.window_start)).to_numpy()
    if plan.window_end:
        outside |= ~(at < np.datetime64(plan.window_end)).to_numpy()
    return outside


def _fit(labelled: pd.DataFrame, looks: pd.DataFrame, asked_since: Any, check: Check) -> Any:
    """Say which labels helped to make the check: their run was previewed, or they were read before it was reworded."""
    previews = looks[(looks["call"] == "preview") & ((looks["check_id"] == check.id) | (looks["asked"] == check.asked))]
    shown = {run for runs in previews["runs"] for run in runs}
    read = ledger.read_before(looks, asked_since)
    by_key = [not read.isdisjoint(keys) for keys in labelled["decision_keys"]]
    return labelled["run_id"].isin(shown).to_numpy() | np.array(by_key, dtype=bool)


def _mark_twins(labelled: pd.DataFrame, store: Store) -> None:
    """Keep the first decided of the runs that have the same content; runs without content are no twins."""
    content = store.sql(CONTENT, [sorted(set(labelled["run_id"]))]).set_index("run_id")["content"]
    same = labelled["run_id"].map(content)
    kept = labelled["why"].isna() & same.notna()
    keys = labelled.assign(same=same)[["same", "step_id"]]
    twins = keys[kept].duplicated()
    labelled.loc[twins.index[twins], "why"] = "duplicate"


def _population(table: pd.DataFrame, present: tuple[str | None, str | None]) -> pd.DataFrame:
    live = (table["mode"].fillna("live") != "test") & (table["attempt"] == 1) & (table["verdict"] != "not_applicable")
    ours = _is_method(table, present) | ~decided(table)
    return table[live & ours].reset_index(drop=True)
