"""The compared units: one row each, with verdict, label, and who decided what when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.calibration.units import decided, decision_keys, name_of, records

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from check_workbench.calibration.units import Units
    from check_workbench.labels.joining import Joined
    from check_workbench.store import Store

ABOUT = ("check", "work")
"""What a decision is about: its check, or the work."""
SAID = """
    select decision_key, check_id, question, decision, decided_by, note, decided_at from decisions
    where decision_key in (select unnest(?::bigint[]))
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
        Rows with `unit`, `label`, `agrees` (missing for unsure), `decision`, `approver`, `about` (`check`, `work` or
        `check+work`), `month` and `said`; counts by reason.
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
    rows = rows.assign(
        unit=_series([name_of(row) for row in records(rows)]),
        said=_series(said),
        decision=_series([_names(entry, "decision") for entry in said]),
        approver=_series([_names(entry, "decided_by") for entry in said]),
        about=_series(["+".join(sorted({about(one) for one in entry})) for entry in said]),
        month=rows["decided_at"].dt.strftime("%Y-%m"),
    )
    return with_agreement(rows), dict(sorted(left_out.items()))


def about(row: Mapping[str, Any]) -> str:
    """Say what a decision is about.

    Examples
    --------
    >>> about({"check_id": "loop"}), about({"check_id": None})
    ('check', 'work')
    """
    return "work" if row["check_id"] is None else "check"


def with_agreement(rows: pd.DataFrame) -> pd.DataFrame:
    """Say of each row whether its label is good or bad, and whether the verdict agrees with it.

    Parameters
    ----------
    rows
        With `verdict` and `positive`.
    """
    positive = rows["positive"].astype(bool)
    agrees = ((rows["verdict"] == "fail") == positive).astype(object)
    return rows.assign(
        agrees=agrees.mask(rows["verdict"] == "unsure", None),
        label=positive.map({True: "bad", False: "good"}).astype(object),
    )


def without_label(units: Units, opinions: Joined) -> pd.DataFrame:
    """Return the units that have a verdict, but of which people only said what is neither good nor bad.

    Parameters
    ----------
    units
        Scores and labels of one check.
    opinions
        All decisions on its units.
    """
    table = units.table[decided(units.table) & ~units.table["labelled"]]
    table = table[table["mode"].fillna("live") != "test"].reset_index(drop=True)
    of_step = units.check.step_id is not None
    keys = [
        (run, int(attempt) if of_step else None) for run, attempt in zip(table["run_id"], table["attempt"], strict=True)
    ]
    only = {key: rows for key, rows in opinions.neither.items() if key not in opinions.votes}
    said = [sorted({str(row["decision"]) for row in only.get(key, ())}) for key in keys]
    return table.assign(decision=_series(["+".join(names) or None for names in said])).dropna(subset=["decision"])


def _said(rows: pd.DataFrame, store: Store) -> list[list[dict[str, Any]]]:
    frame = store.sql(SAID, [decision_keys(rows)])
    known = {int(row["decision_key"]): row for row in records(frame.astype(object).where(frame.notna(), None))}
    return [[known[int(key)] for key in keys if int(key) in known] for keys in rows["decision_keys"]]


def _names(said: list[dict[str, Any]], field: str) -> str | None:
    return "+".join(sorted({str(entry[field]) for entry in said if entry[field]})) or None


def _series(values: list[Any]) -> pd.Series[Any]:
    import pandas as pd

    return pd.Series(values, dtype=object)
