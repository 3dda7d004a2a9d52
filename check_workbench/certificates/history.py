"""What stands beside a trust decision: the calls that read labels before it, and how many decisions were blind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.calibration.looks import READING
from check_workbench.calibration.units import records
from check_workbench.certificates.wording import many, share

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from check_workbench.calibration.units import Units
    from check_workbench.checks import Check
    from check_workbench.plans import Plan


def history(looks: pd.DataFrame, check: Check, change: str) -> list[dict[str, Any]]:
    """List every earlier call that read labels of a check, with its plan and what it spent of the allowed error.

    A check of another name that asks the same is the same check here, since looks count by what is asked. No clock is
    told, so that the same work in another hour makes the same report; the `looks` of the store have their times.

    Parameters
    ----------
    looks
        All looks in the store.
    check
        The check.
    change
        The change that is decided now; looks at another change spend nothing of its error.
    """
    mine = looks[(looks["check_id"] == check.id) | (looks["asked"] == check.asked)]
    return [
        {
            "place": place,
            "call": row["call"],
            "check": row["check_id"],
            "change": _text(row["change"]),
            "plan": _text(row["plan_digest"]),
            "labels": len(row["labels"]),
            "same_text": row["asked"] == check.asked,
            "outcome": row["result"].get("certificate", {}).get("outcome"),
            "spent": _spent(row, check, change),
        }
        for place, row in enumerate(records(mine[mine["call"].isin(READING)]), start=1)
    ]


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _spent(row: dict[str, Any], check: Check, change: str) -> float | None:
    """Return what a look spent of the error that is allowed now; None where it spent nothing of it."""
    if row["call"] != "trust" or row["change"] != change or row["asked"] != check.asked:
        return None
    bounds = row["result"].get("certificate", {}).get("details", {}).get("bounds", [])
    return sum(bound["delta"] for bound in bounds) if row["result"].get("tested") else 0.0


def blind_share(units: Units, plan: Plan) -> dict[str, Any]:
    """Count the decided work, and how much of it was decided without sight of the verdict."""
    labelled = units.labelled
    return {
        "decided": len(labelled),
        "blind": int(labelled["blind"].fillna(value=False).astype(bool).sum()),
        "planned": plan.blind_share,
    }


def blind_words(found: dict[str, Any]) -> str:
    """Compare the share of blind decisions with the plan.

    Examples
    --------
    >>> blind_words({"decided": 200, "blind": 30, "planned": 0.25})
    '30 of 200 decisions were blind (15.0 %); the plan asks for at least 25.0 %'
    """
    part = f" ({share(found['blind'] / found['decided'])})" if found["decided"] else ""
    counted = f"{found['blind']} of {many(found['decided'], 'decision')} were blind{part}"
    return f"{counted}; the plan asks for at least {share(found['planned'])}"


def too_few_blind(found: dict[str, Any]) -> Iterator[str]:
    """Yield that fewer decisions were blind than the plan asks for, if so."""
    if found["decided"] and found["blind"] < found["planned"] * found["decided"]:
        yield f"{blind_words(found)}: hide the verdict more often, since only blind decisions count"
