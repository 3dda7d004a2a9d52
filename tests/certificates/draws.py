"""Labels drawn by hand for the decision beneath `trust`: what hygiene leaves of them, and how one bound decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import check_workbench as cw
from check_workbench.calibration.units import Units
from check_workbench.certificates import bounds, hygiene
from check_workbench.certificates.sides import Region
from check_workbench.certificates.tested import Look
from check_workbench.checks import Check, FlagAt, Item, YesNo
from check_workbench.plans import Bound
from check_workbench.stats.certify import p_value

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from check_workbench.certificates.hygiene import Sample
    from check_workbench.certificates.tested import Tested
    from check_workbench.store import Store

DRAWS = 1000
ALPHA = DELTA = 0.10
ALLOWED = DELTA + 3 * (DELTA * (1 - DELTA) / DRAWS) ** 0.5
"""What a share of false certificates in 1,000 draws may come to by chance: 12.8 %."""
BOUND = Bound(side="false_pass", target=ALPHA, delta=DELTA)
PLAN = cw.plan(change="replace_approval", max_false_pass=ALPHA, confidence=1 - DELTA)
CHECK = Check(id="c", dialect="neatroots", items=(Item(asks=YesNo(ask="Did it fail?"), cut=FlagAt(value=0.5)),))
LOOK = {"call": "trust", "check_id": "c", "asked": CHECK.asked, "document": CHECK.document, "change": PLAN.change}
COLUMNS = ("look", "at", *LOOK, "plan_digest", "cutoffs", "labels", "runs", "result")


def rows(scores: ArrayLike, bad: ArrayLike, *, cut: float = 0.5, **columns: Any) -> pd.DataFrame:
    """Return labelled work as hygiene hands it on; the score means a problem."""
    values = np.asarray(scores, dtype=np.float64)
    defaults = {
        "run_id": [f"r{place:04d}" for place in range(len(values))],
        "step_id": "",
        "attempt": 1,
        "cluster": np.arange(len(values)),
        "fresh": True,
        "probability_sampled": np.nan,
        "workflow": "w",
        "decided_at": pd.NaT,
        "labelled": True,
        "edited": False,
        **dict.fromkeys(("read", "shown", "arrived"), pd.NaT),
    }
    verdict = np.where(values < cut, "pass", "fail")
    return pd.DataFrame(
        {"s0": values, "positive": np.asarray(bad, dtype=bool), "verdict": verdict, **defaults, **columns}
    )


def unlabelled(rng: np.random.Generator, *, cut: float = 0.5, size: int = 400) -> pd.DataFrame:
    """Return work with uniform scores that nobody has judged."""
    found = rows(rng.random(size), np.zeros(size), cut=cut)
    return found.assign(labelled=False, run_id="u" + found["run_id"])


def decide(usable: pd.DataFrame, reference: pd.DataFrame, *, first: bool = True) -> Tested:
    """Test one bound on labels, as one look of `trust` does."""
    sample = hygiene.Sample(usable=usable, taken=usable.iloc[:0], population=reference, excluded={})
    return of_sample(sample, first=first)


def of_sample(sample: Sample, *, first: bool = True) -> Tested:
    """Test one bound on what hygiene left."""
    region = Region(check=CHECK, side=BOUND.side, reference=sample.measured_on, everything=sample.population)
    return bounds.tested(region, BOUND, sample, Look(first=first, start=PLAN.start))


def sorted_out(store: Store, labels: pd.DataFrame, looks: list[dict[str, Any]], plan: cw.Plan = PLAN) -> Sample:
    """Let hygiene say which labels may certify, given what was looked at before."""
    defaults: dict[str, Any] = {
        "mode": "live", "reason": None, "method": "reported", "model": "judge-1", "session_id": None, "run_length": 1,
        "started_at": pd.NaT, "answered_at": pd.NaT, "blind": True, "reason_not_blind": None, "n_rows": 1,
        "decision_keys": [[place] for place in range(len(labels))],
    }  # fmt: skip
    table = labels.assign(**{name: value for name, value in defaults.items() if name not in labels})
    seen = pd.DataFrame([{"look": place, **LOOK, **look} for place, look in enumerate(looks)], columns=COLUMNS)
    return hygiene.sample(Units(check=CHECK, table=table), store, plan, seen)


def naive(bad: NDArray[np.bool_]) -> bool:
    """Say what the exact test says of labels that nobody asked where they came from."""
    return bool(p_value(int(bad.sum()), len(bad), ALPHA) <= DELTA)
