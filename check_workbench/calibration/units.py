"""One row per judged unit: what each item measured, what the check says, and what people decided.

A unit is one first-to-last submission (run, step, attempt). Calibration, comparison and trust all start here, so they
agree on what was joined and on what was left out.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from check_workbench.calibration.further import about_further, errs_anew
from check_workbench.results import DECIDED, WORST_FIRST

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from check_workbench.checks import Check
    from check_workbench.evaluation.recorded import Key
    from check_workbench.labels import Labels
    from check_workbench.labels.reading import Reads
    from check_workbench.store import Store

KEY = ["run_id", "step_id", "attempt"]
LABEL_COLUMNS = (
    "positive",
    "blind",
    "reason_not_blind",
    "n_rows",
    "edited",
    "decided_at",
    "decision_keys",
    "probability_sampled",
)
ANY_STEP = ""
ABOUT = (
    "reason", "mode", "method", "model", "workflow", "session_id", "run_length", "started_at",
)  # fmt: skip
_RANK = {status: rank for rank, status in enumerate(WORST_FIRST)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Units:
    """The units of one check with their scores and labels, in a fixed order."""

    check: Check
    table: pd.DataFrame
    """Columns: run_id step_id attempt verdict reason mode method model workflow session_id run_length started_at
    answered_at, `s0`, `s1`, … for the items, `labelled`, the label columns, and those of `sheets.placed`."""
    unmatched: int = 0
    """Labels of units that were never evaluated."""
    excluded: dict[str, int] = field(default_factory=dict)
    """Decisions that the labels left out, by reason."""
    undecided: frozenset[Key] = frozenset()
    """Runs and attempts that people looked at and that have no label."""
    notes: tuple[str, ...] = ()
    """What the labels assume."""
    quotes: dict[str, str] = field(default_factory=dict)
    """What the check quoted or explained, by run."""

    @property
    def labelled(self) -> pd.DataFrame:
        """The units that have a label."""
        return self.table[self.table["labelled"]]

    def goodness(self, item: int = 0) -> NDArray[np.float64]:
        """Return the scores of an item turned so that high means good; NaN where there is none."""
        values = self.table[f"s{item}"].to_numpy(dtype=np.float64)
        return values if self.check.items[item].means == "good" else -values

    def answers_digest(self) -> str:
        """Return a digest of every answer that the units hold."""
        columns = [*KEY, "method", "model", *(f"s{i}" for i in range(len(self.check.items)))]
        return digest(self.table[columns].astype(str).to_numpy().tolist())


def gather(
    check: Check,
    store: Store,
    scores: pd.DataFrame,
    *,
    kind: str = "check",
    item: int | None = None,
) -> Units:
    """Join the scores of a check with its labels.

    Parameters
    ----------
    check
        The check.
    store
        The store, asked for the labels.
    scores
        `scores` of an evaluation, of this check or of several.
    kind
        `check`: labels of this check; `work`: decisions about the work count as a proxy.
    item
        Only labels that speak of this question, from 0; None takes the check as a whole.
    """
    from check_workbench.labels import labels_for

    return _gathered(check, store, scores, labels_for(check, store, kind=kind, item=item))


def gather_as_read(check: Check, store: Store, scores: pd.DataFrame, *, kind: str, reads: Reads) -> Units:
    """Join the scores of a check with its labels for a certificate: an error that a call read stays one.

    Of a blind label that was read, and changed since, the form counts that is worse for the check: the one that was
    read, unless the present one contradicts the verdict. So nobody can correct just the errors that a report showed.

    Parameters
    ----------
    check
        The check.
    store
        The store, asked for the labels.
    scores
        `scores` of an evaluation, of this check or of several.
    kind
        As for `gather`.
    reads
        What calls have read, from `looks.reads`; see `labels_for`.
    """
    from check_workbench.labels import labels_for

    labels = labels_for(check, store, kind=kind, reads=reads)
    units = _gathered(check, store, scores, labels)
    notes = tuple(about_further(units.table, labels.further))
    if worse := errs_anew(units.table, labels.further):
        labels = labels_for(check, store, kind=kind, reads=reads._replace(anew=worse))
        units = _gathered(check, store, scores, labels)
    return dataclasses.replace(units, notes=(*units.notes, *notes))


def _gathered(check: Check, store: Store, scores: pd.DataFrame, labels: Labels) -> Units:
    from check_workbench.calibration.sheets import placed, sheets_of

    units = joined(check, scores, labels.frame, excluded=dict(labels.excluded))
    table = placed(units.table, sheets_of(check, store))
    return dataclasses.replace(units, table=table, undecided=labels.undecided, notes=labels.notes)


def joined(
    check: Check,
    scores: pd.DataFrame,
    labels: pd.DataFrame,
    *,
    excluded: dict[str, int] | None = None,
) -> Units:
    """Join scores and labels, both as frames."""
    wide = _wide(check, scores[scores["check"] == check.id])
    marks = _keyed(labels)[[*KEY, *LABEL_COLUMNS]].assign(labelled=True)
    table = wide.merge(marks, on=KEY, how="left", validate="one_to_one")
    table["labelled"] = table["labelled"].notna()
    unmatched = len(marks) - int(table["labelled"].sum())
    return Units(
        check=check,
        table=table.sort_values(KEY, ignore_index=True),
        unmatched=unmatched,
        excluded=excluded or {},
    )


def decided(table: pd.DataFrame) -> pd.Series:
    """Say which units have a verdict that decides: pass, fail or unsure."""
    return table["verdict"].isin(DECIDED)


def unequal(rows: pd.DataFrame) -> bool:
    """Say whether labels were drawn with differing probabilities."""
    return len(rows["probability_sampled"].dropna().unique()) > 1


def clusters(table: pd.DataFrame) -> NDArray[np.object_]:
    """Return what belongs together: the session of each unit; without one, its run."""
    own = "run:" + table["run_id"].astype(str)
    session = table["session_id"].astype(object)
    return ("session:" + session.astype(str)).where(session.notna(), own).to_numpy(dtype=object)


def digest(value: Any) -> str:
    """Return a short digest of anything that JSON can hold."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def decision_keys(rows: pd.DataFrame) -> list[int]:
    """Return the keys of every decision behind the labels, sorted."""
    return sorted({int(key) for keys in rows["decision_keys"] for key in keys})


def name_of(row: dict[str, Any]) -> str:
    """Return a unit's name: the run, its step and its attempt where they matter.

    Examples
    --------
    >>> name_of({"run_id": "r-1", "step_id": "screen", "attempt": 2})
    'r-1/screen (attempt 2)'
    """
    step = f"/{row['step_id']}" if row["step_id"] else ""
    return f"{row['run_id']}{step}" + (f" (attempt {row['attempt']})" if row["attempt"] != 1 else "")


def records(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame as mappings by column name."""
    return rows.to_dict("records")  # type: ignore[return-value]


def _keyed(frame: pd.DataFrame) -> pd.DataFrame:
    step = frame["step_id"].astype(object)
    attempt = frame["attempt"].astype("Float64").fillna(1).astype(int)
    return frame.assign(step_id=step.where(step.notna(), ANY_STEP), attempt=attempt)


def _wide(check: Check, scores: pd.DataFrame) -> pd.DataFrame:
    """Put the items of a check side by side; the worst of them is the verdict."""
    rows = _keyed(scores)
    items = [rows[rows["item"] == place].set_index(KEY) for place in range(len(check.items))]
    first = items[0]
    wide = first[[*ABOUT]].assign(verdict=first["status"], s0=first["score"].astype(float))
    wide["answered_at"] = first["answered_at"].astype("datetime64[us]")
    for place, item in enumerate(items[1:], start=1):
        other = item.reindex(wide.index)
        status = other["status"].fillna("not_checked")
        worse = (status.map(_RANK) < wide["verdict"].map(_RANK)).to_numpy(dtype=bool)
        wide["verdict"] = wide["verdict"].mask(worse, status)
        wide["reason"] = wide["reason"].mask(worse, other["reason"])
        wide["answered_at"] = np.fmax(wide["answered_at"], other["answered_at"].astype("datetime64[us]"))
        for name in ("method", "model"):
            wide[name] = _together(wide[name], other[name])
        wide[f"s{place}"] = other["score"].astype(float)
    words = [name for name in ABOUT if name not in {"run_length", "started_at"}]
    return wide.reset_index().astype(dict.fromkeys(words, object))


def _together(one: pd.Series[Any], other: pd.Series[Any]) -> pd.Series[Any]:
    """Return the common name; where two differ, both, in alphabetical order."""
    pairs = zip(one.fillna(""), other.fillna(""), strict=True)
    names = [" + ".join(sorted({*a.split(" + "), *b.split(" + ")} - {""})) or None for a, b in pairs]
    return one.astype(object).where(one.eq(other), names)
