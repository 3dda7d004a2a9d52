"""The work that a check has judged since its certificate, and which of it is drawn for people to look at.

A week counts from the certificate's moment. Of each week's work a tenth is drawn, or five pieces where that is more:
those whose SHA-256 of certificate, run, step and attempt is smallest, so that anybody can draw them again, and nothing
that a label or score could say has a part in it. While a week runs, only its tenth is drawn, which nothing that comes
later can undo; work that is loaded after its week was drawn can put one of the five in the place of another.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from check_workbench.calibration.units import KEY, decided
from check_workbench.evaluation.units import runs_of, units_of

if TYPE_CHECKING:
    from datetime import datetime

    import pandas as pd
    from numpy.typing import NDArray

    from check_workbench.calibration.units import Units
    from check_workbench.monitoring.granted import Granted
    from check_workbench.store import Store

SHARE = 0.10
A_WEEK = 5
WEEK = 7 * 24 * 3_600_000_000
"""In microseconds."""
A_YEAR = 52 * WEEK


DUE = ("run_id", "step_id", "attempt", "workflow", "when", "state")


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Live work before and after the certificate's moment; that after it in order of time."""

    before: pd.DataFrame
    after: pd.DataFrame
    """With `week`, `inside` (on the side that nobody looks at), `drawn`, `state` and `seen` (blind or not)."""
    others: dict[str, int]
    """How many answers after the moment came from another method or model, by name."""
    undated: int
    """Work without any time, which cannot be placed and is not drawn."""
    leap: tuple[datetime, datetime] | None = None
    """The last time that is recorded and the one before it, where more than a year lies between them."""


def since(units: Units, store: Store, certificate: Granted) -> Work:
    """Part the work at the certificate's moment, and draw from what came after it.

    Parameters
    ----------
    units
        Scores and labels of the check.
    store
        Asked for the times of submissions.
    certificate
        What the check stands on.
    """
    table = units.table.assign(when=_times(units, store))
    table = table[(table["mode"].fillna("live") != "test") & (table["verdict"] != "not_applicable")]
    read = [bool(labelled) and not certificate.read.isdisjoint(keys) for labelled, keys in
            zip(table["labelled"], table["decision_keys"], strict=True)]  # fmt: skip
    late = (table["when"] > np.datetime64(certificate.moment)).to_numpy() & ~np.array(read, dtype=bool)
    after = table[late].sort_values(["when", *KEY], ignore_index=True)
    ours = _same_model(after, certificate) | ~decided(after)
    counts = after[~ours].fillna({"method": "", "model": ""}).groupby(["method", "model"]).size()
    found = drawn(after[ours].reset_index(drop=True), certificate)
    return Work(
        before=table[~late & table["when"].notna()].reset_index(drop=True),
        after=found,
        others={" ".join(filter(None, name)) or "unknown": int(count) for name, count in counts.items()},
        undated=int((table["when"].isna() & ~np.array(read, dtype=bool)).sum()),
        leap=_leap(found, certificate),
    )


def nothing_due() -> pd.DataFrame:
    """Return the table of due work without a row."""
    import pandas as pd

    return pd.DataFrame(columns=list(DUE))


def chance(digest: str, run_id: str, step_id: str, attempt: int) -> float:
    """Return the number from 0 to 1 by which a piece of work is drawn: the smaller, the sooner.

    Examples
    --------
    >>> round(chance("c1", "r-1", "screen", 1), 4)
    0.136
    """
    text = json.dumps([digest, run_id, step_id, attempt])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big") / 2**48


def drawn(after: pd.DataFrame, certificate: Granted) -> pd.DataFrame:
    """Mark what is drawn, and what became of it.

    Parameters
    ----------
    after
        The work since the certificate with its labels, in order of time.
    certificate
        What the check stands on.

    Returns
    -------
    DataFrame
        The same rows with `week`, `inside`, `resubmitted`, `seen`, `chance`, `drawn` and `state`: `done`, `due`,
        `overdue` once a week has passed since the week of the work, or empty where it was not drawn.
    """
    inside = after["verdict"] == ("pass" if certificate.side == "false_pass" else "fail")
    began, now = _clock(after, certificate)
    week = (began // WEEK).astype(np.int64)
    ended = now >= (week + 1) * WEEK
    marked = after.assign(
        inside=inside,
        week=week,
        seen=after["labelled"] & ~after["blind"].where(after["labelled"], other=True).astype(bool),
        chance=[chance(certificate.digest, *key) for key in after[KEY].itertuples(index=False, name=None)],
        resubmitted=after["attempt"] > 1,
    )
    hit = np.zeros(len(marked), dtype=bool)
    for (_, _), rows in marked[inside].groupby(["resubmitted", "week"]):
        tenth = int((rows["chance"] < SHARE).sum())
        take = max(tenth, A_WEEK) if ended[rows.index[0]] else tenth
        hit[rows.sort_values(["chance", *KEY]).index[:take]] = True
    done = (marked["labelled"] & ~marked["seen"]).to_numpy(dtype=bool)
    late = now >= (week + 2) * WEEK
    state = np.select([~hit, done, late], ["", "done", "overdue"], "due")
    return marked.assign(drawn=hit, state=state)


def _times(units: Units, store: Store) -> pd.Series[Any]:
    """Return when each piece of work was submitted; else when its run began, else when it was answered."""
    when = units.table["started_at"].astype("datetime64[us]")
    if units.check.step_id is not None:
        rows = units_of(units.check, runs_of(store), store)[["run_id", "attempt", "submitted_at"]]
        rows = rows.assign(attempt=rows["attempt"].fillna(1).astype(int))
        joined = units.table[["run_id", "attempt"]].merge(rows, on=["run_id", "attempt"], how="left")
        when = joined["submitted_at"].astype("datetime64[us]").fillna(when)
    return when.fillna(units.table["answered_at"])


def _same_model(rows: pd.DataFrame, certificate: Granted) -> pd.Series[bool]:
    method, model = rows["method"].fillna(""), rows["model"].fillna("")
    return ((method == (certificate.method or "")) & (model == (certificate.model or ""))).astype(bool)


def _clock(after: pd.DataFrame, certificate: Granted) -> tuple[NDArray[np.int64], int]:
    """Return the microseconds from the certificate to each piece of work, and to the last that is recorded at all."""
    began = _microseconds(after["when"], certificate)
    return began, int(_known(after, certificate)[-1])


def _leap(after: pd.DataFrame, certificate: Granted) -> tuple[datetime, datetime] | None:
    """Return the last time and the one before it, where a clock may have been wrong."""
    known = _known(after, certificate)
    if len(known) < 2 or known[-1] - known[-2] <= A_YEAR:
        return None
    before, last = (certificate.moment + timedelta(microseconds=int(one)) for one in known[-2:])
    return last, before


def _known(after: pd.DataFrame, certificate: Granted) -> NDArray[np.int64]:
    """Return every time from the certificate on, that of the certificate among them, in order and each once."""
    times = [_microseconds(after[column], certificate) for column in ("when", "decided_at")]
    return np.unique(np.concatenate([np.zeros(1, np.int64), *times]).clip(min=0))


def _microseconds(times: pd.Series[Any], certificate: Granted) -> NDArray[np.int64]:
    """Return the times that there are as microseconds since the certificate."""
    moment = np.datetime64(certificate.moment, "us")
    found: NDArray[np.int64] = (times.dropna().to_numpy("datetime64[us]") - moment).astype(np.int64)
    return found
