"""What stands behind a counted error: the words that the check quoted, and what people decided."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from check_workbench.calibration.units import decision_keys, name_of, records

if TYPE_CHECKING:
    import pandas as pd

    from check_workbench.calibration.units import Units
    from check_workbench.certificates.tested import Tested
    from check_workbench.checks import Check
    from check_workbench.evaluation import Results
    from check_workbench.store import Store

LONGEST = 300


def quotes_of(results: Results, check: Check) -> dict[str, str]:
    """Return what a check quoted or explained about each run, cut at 300 characters."""
    found: dict[str, str] = {}
    answers = results.answers[results.answers["check_id"] == check.id]
    for name in ("explanation", "quote"):
        said = answers[answers[name].notna()]
        found |= dict(zip(said["run_id"], said[name].astype(str).str.slice(0, LONGEST), strict=True))
    findings = results.findings[(results.findings["check"] == check.id) & results.findings["quote"].notna()]
    return found | dict(zip(findings["run"], findings["quote"].astype(str).str.slice(0, LONGEST), strict=True))


def counted_errors(found: Tested, units: Units, store: Store) -> list[dict[str, Any]]:
    """List every counted error with what the check quoted, and what people decided and wrote.

    Parameters
    ----------
    found
        One tested bound.
    units
        The units, with quotes.
    store
        Asked for the decisions.
    """
    rows = found.wrong
    if rows is None or rows.empty:
        return []
    keys = decision_keys(rows)
    said = store.sql(
        "select decision_key, decision, decided_by, note from decisions where list_contains(?::bigint[], decision_key)",
        [keys],
    ).set_index("decision_key")
    return [
        {
            "side": found.bound.side,
            "run": row["run_id"],
            "step": row["step_id"] or None,
            "unit": name_of(row),
            "verdict": row["verdict"],
            "score": float(row["s0"]) if np.isfinite(row["s0"]) else None,
            "quote": units.quotes.get(row["run_id"]),
            "decisions": [_said(said, int(key)) for key in row["decision_keys"]],
        }
        for row in records(rows.sort_values(["run_id", "step_id", "attempt"]))
    ]


def _said(said: pd.DataFrame, key: int) -> dict[str, Any]:
    row = said.loc[key]
    return {name: row[name] if isinstance(row[name], str) else None for name in ("decision", "decided_by", "note")}
