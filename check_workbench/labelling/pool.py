"""The work that a check judged, and which of it people may be asked about next."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from check_workbench.calibration.units import KEY, records
from check_workbench.certificates.hygiene import CONTENT, sample
from check_workbench.results import DECIDED

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from check_workbench.calibration.units import Units
    from check_workbench.checks import Check
    from check_workbench.plans import Plan
    from check_workbench.store import Store

UNCLEAR = """
    select run_id, coalesce(attempt, 1) as attempt from decisions
    where check_id = ? and decision = 'unclear' and verdict_seen = false and coalesce(asked, ?) = ?
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """The first live submissions on which a check has a verdict."""

    check: Check
    units: pd.DataFrame
    """`run_id step_id attempt verdict workflow`, the scores, `place` in a random order that depends on nothing but the
    unit's name and the seed, `told` (a usable blind label exists), `free` (a person may be asked), and `listed` (it
    could be drawn, or a sheet has drawn it already)."""
    silent: int
    """Submissions without a verdict: nothing is drawn from them."""
    seed: int
    """Of the random order."""


def pool(units: Units, store: Store, plan: Plan, *, looks: pd.DataFrame, seed: int) -> Pool:
    """Find the work that people may be asked about.

    Which work has labels is read, and not what they say. Left alone is: work that was labelled blind, or where somebody
    blind could not tell; work that was previewed, since its label would never count; all but one of the runs with the
    same content. Work whose label was not blind may be asked about again.

    Parameters
    ----------
    units
        Scores and labels of the check.
    store
        The store.
    plan
        What a label must be like to be usable.
    looks
        All looks in the store.
    seed
        Another seed, another random order.
    """
    labels = sample(units, store, plan, looks)
    everything = labels.population
    work = everything[everything["verdict"].isin(DECIDED)].reset_index(drop=True)
    told = _among(work, labels.usable)
    blind = (work["labelled"] & work["blind"].fillna(value=False).astype(bool)).to_numpy()
    work = work.assign(place=order(work, seed), told=told)
    previewed, unclear = _previewed(work, units.check, looks), _unclear(work, units.check, store)
    free = ~told & ~blind & ~previewed & ~unclear
    twins = _twins(work, free, store)
    work["free"] = free & ~twins
    work["listed"] = work["free"] | work["on_sheet"] | (unclear & ~previewed & ~told & ~blind)
    return Pool(check=units.check, units=work, silent=len(everything) - len(work), seed=seed)


def order(units: pd.DataFrame, seed: int) -> NDArray[np.uint64]:
    """Return a permanent random number for each unit: the same one for every check, cut and time.

    Work that is added later finds its place among the rest. So whoever reads on in this order reads an
    equal-probability sample of whatever part of the work is wanted then.

    Parameters
    ----------
    units
        With `run_id step_id attempt`.
    seed
        Another seed, other numbers.

    Notes
    -----
    Source: Ohlsson (1995), Coordination of samples using permanent random numbers.
    """
    names = (f"{seed}\0{row['run_id']}\0{row['step_id']}\0{row['attempt']}" for row in records(units[KEY]))
    digests = (hashlib.sha256(name.encode(errors="surrogatepass")).digest() for name in names)
    return np.array([int.from_bytes(digest[:8]) for digest in digests], dtype=np.uint64)


def _among(work: pd.DataFrame, some: pd.DataFrame) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = work.set_index(KEY).index.isin(some.set_index(KEY).index)
    return found


def _previewed(work: pd.DataFrame, check: Check, looks: pd.DataFrame) -> NDArray[np.bool_]:
    previews = looks[(looks["call"] == "preview") & ((looks["check_id"] == check.id) | (looks["asked"] == check.asked))]
    return work["run_id"].isin({run for runs in previews["runs"] for run in runs}).to_numpy()


def _unclear(work: pd.DataFrame, check: Check, store: Store) -> NDArray[np.bool_]:
    said = store.sql(UNCLEAR, [check.id, check.asked, check.asked])
    names = set(zip(said["run_id"], said["attempt"], strict=True))
    return np.array([pair in names for pair in zip(work["run_id"], work["attempt"], strict=True)], dtype=bool)


def _twins(work: pd.DataFrame, free: NDArray[np.bool_], store: Store) -> NDArray[np.bool_]:
    """Say which work has the content of labelled work, or of free work that comes before it."""
    content = store.sql(CONTENT, [sorted(set(work["run_id"]))]).set_index("run_id")["content"]
    keys = work.assign(content=work["run_id"].map(content), kept=~free & ~work["told"])
    ranked = keys[keys["content"].notna() & ~keys["kept"]].sort_values(["told", "place"], ascending=[False, True])
    again = ranked.index[ranked.duplicated(["content", "step_id"])]
    return work.index.isin(again)
