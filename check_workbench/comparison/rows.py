"""The compared units: one row each, with verdict, label, and who decided what when."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from check_workbench.calibration.units import decided, decision_keys, name_of, records

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from check_workbench.calibration.units import Units
    from check_workbench.store import Store

SAID = """
    select decision_key, decision, decided_by, note, decided_at from decisions
    where list_contains(?::bigint[], decision_key)
"""


def compared(units: Units, store: Store) -> tuple[pd.DataFrame, dict[str, int]]:
    """Return the units that have both a verdict and a label, and how many labels lack a verdict.

    Parameters
    ----------
    units
        Scores and labels of one check.
    store
        Asked for the decisions behind the labels.

    Returns
    -------
    tuple
        Rows with `agrees` (missing for unsure), `decision`, `approver`, `month` and `said`; counts by reason.
    """
    labelled = units.labelled
    live = (labelled["mode"].fillna("live") != "test").to_numpy()
    both = decided(labelled).to_numpy() & live
    left_out = dict(units.excluded)
    for reason, hit in (("test_run", ~live), ("not_checked", live & ~both)):
        if hit.any():
            left_out[reason] = left_out.get(reason, 0) + int(hit.sum())
    if units.unmatched:
        left_out["not_evaluated"] = units.unmatched
    rows = labelled[both].reset_index(drop=True)
    said = _said(rows, store)
    positive = rows["positive"].astype(bool)
    agrees = (rows["verdict"] == "fail") == positive
    return rows.assign(
        agrees=agrees.astype(object).mask(rows["verdict"] == "unsure", None),
        label=positive.map({True: "bad", False: "good"}),
        said=_series(said),
        decision=_series([_names(entry, "decision") for entry in said]),
        approver=_series([_names(entry, "decided_by") for entry in said]),
        month=rows["decided_at"].dt.strftime("%Y-%m"),
    ), dict(sorted(left_out.items()))


def disagreements(rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield every unit on which check and people disagree, in order."""
    for row in records(rows[rows["agrees"].eq(other=False)]):
        score = float(row["s0"])
        yield {
            "unit": name_of(row),
            "run": row["run_id"],
            "step": row["step_id"] or None,
            "verdict": row["verdict"],
            "score": None if math.isnan(score) else score,
            "label": row["label"],
            "decision": row["decision"],
            "blind": bool(row["blind"]),
            "by": row["approver"],
            "note": " / ".join(entry["note"] for entry in row["said"] if entry["note"]) or None,
        }


def _said(rows: pd.DataFrame, store: Store) -> list[list[dict[str, Any]]]:
    frame = store.sql(SAID, [decision_keys(rows)])
    known = {int(row["decision_key"]): row for row in records(frame.astype(object).where(frame.notna(), None))}
    return [[known[int(key)] for key in keys if int(key) in known] for keys in rows["decision_keys"]]


def _names(said: list[dict[str, Any]], field: str) -> str | None:
    return "+".join(sorted({str(entry[field]) for entry in said if entry[field]})) or None


def _series(values: list[Any]) -> pd.Series[Any]:
    import pandas as pd

    return pd.Series(values, dtype=object)
