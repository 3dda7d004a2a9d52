"""The bets of all looks after the first: one test however often one looks, and however often the cut moves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.calibration.looks import cutoffs_of
from check_workbench.calibration.units import records
from check_workbench.certificates.replanning import choosing, chosen_by

if TYPE_CHECKING:
    import pandas as pd

    from check_workbench.checks import Check
    from check_workbench.plans import Plan, Side


def capital(looks: pd.DataFrame, check: Check, side: Side, plan: Plan) -> float:
    """Return what is left to bet on the present cut, at most 1.

    Bets begin anew when the cut moves, or when the plan chooses labels otherwise, with what the bets before had left,
    never with what they had won. So a false certificate, ever, has the chance that one sequence of bets has.

    Parameters
    ----------
    looks
        The looks that tested what the check asks, oldest first.
    check
        The check as it stands.
    side
        The side that is bet on.
    plan
        The plan as it stands.
    """
    left, last, now = 1.0, 1.0, None
    for row in records(looks):
        wealth = _wealth(row["result"], side)
        if wealth is None:
            continue
        cut = (row["check_id"], row["cutoffs"], chosen_by(row["result"], plan))
        if now is not None and cut != now:
            left = min(left, last)
        now, last = cut, wealth
    moved = now is not None and now != (check.id, cutoffs_of(check), choosing(plan))
    return min(left, last) if moved else left


def _wealth(result: dict[str, Any], side: Side) -> float | None:
    found = result.get("certificate", {}).get("details", {}).get("bounds", [])
    return next((bound.get("wealth") for bound in found if bound["side"] == side), None)
