"""A plan that was edited after a look: what it may still choose, and what a reader is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.calibration.looks import read_before, readers

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from check_workbench.calibration.units import Units
    from check_workbench.checks import Check
    from check_workbench.plans import Plan

CHOOSING = ("window_start", "cluster", "labels")
"""Settings that choose which labels count. The end of the window does not: bets may stop at any label."""


def choosing(plan: Plan) -> dict[str, Any]:
    """Return the settings of a plan that choose labels, as the ledger keeps them."""
    return {name: getattr(plan, name) for name in CHOOSING}


def chosen_by(result: dict[str, Any], plan: Plan) -> dict[str, Any]:
    """Return the settings that chose the labels of a recorded look; one that does not say had those of the plan."""
    found: dict[str, Any] = result.get("choosing", choosing(plan))
    return found


def trusts_of(looks: pd.DataFrame, check: Check, plan: Plan) -> pd.DataFrame:
    """Return the trust decisions about what a check asks, for the change of a plan, whichever plan they brought."""
    return looks[(looks["call"] == "trust") & (looks["asked"] == check.asked) & (looks["change"] == plan.change)]


def read_by_others(looks: pd.DataFrame, check: Check, plan: Plan) -> set[int]:
    """Return the keys of decisions that were read before the plan came to choose labels as it does.

    Who has seen where the errors lie could begin the window behind them.

    Parameters
    ----------
    looks
        All looks in the store.
    check
        The check.
    plan
        The plan as it stands.
    """
    trusts = trusts_of(looks, check, plan)
    others = [
        at
        for at, result in zip(trusts["at"], trusts["result"], strict=True)
        if _tested(result) and chosen_by(result, plan) != choosing(plan)
    ]
    return read_before(looks, max(others)) if others else set()


def about_plan(trusts: pd.DataFrame, plan: Plan) -> Iterator[str]:
    """Yield that the plan is not the one of the first look, and what follows.

    Parameters
    ----------
    trusts
        From `trusts_of`.
    plan
        The plan as it stands.
    """
    others = trusts[trusts["plan_digest"] != plan.digest]
    others = others[others["result"].map(_tested).astype(bool)]
    if others.empty:
        return
    yield (
        f"the plan was edited after labels had been read ({others['plan_digest'].iloc[-1][:8]} then, {plan.digest[:8]} "
        "now): an edited plan is no fresh start, and all looks together share the allowed error"
    )
    earlier = [chosen_by(result, plan) for result in others["result"]]
    moved = [name for name in CHOOSING if any(one[name] != getattr(plan, name) for one in earlier)]
    if moved:
        yield (
            f"the edit changes which labels count ({', '.join(moved)}), which may fit what was seen: only labels that "
            "nothing read before the edit count, and the bets begin anew with what earlier ones left"
        )


def about_namesakes(trusts: pd.DataFrame, check: Check) -> Iterator[str]:
    """Yield which other checks ask the same, since looks at them count as looks at this one.

    Parameters
    ----------
    trusts
        From `trusts_of`.
    check
        The check.
    """
    others = trusts[(trusts["check_id"] != check.id) & trusts["result"].map(_tested).astype(bool)]
    if not others.empty:
        named = " and ".join(dict.fromkeys(others["check_id"]))
        yield f"looks at {named}, asking the same, count as looks at this check: another name is no fresh start"


def about_window(units: Units, looks: pd.DataFrame, left_out: int) -> Iterator[str]:
    """Yield that a window may fit what its author saw; when a plan was made, nobody can tell from the plan.

    Parameters
    ----------
    units
        The units with their labels.
    looks
        All looks in the store.
    left_out
        How many decisions lie outside the plan's window.
    """
    read_by = [] if looks.empty else [c for c in readers(looks, looks["at"].max(), units.labelled) if c != "trust"]
    if left_out and read_by:
        yield (
            f"the window of the plan leaves out {left_out}, and {' and '.join(read_by)} had read labels before this "
            "look: the statement holds only if the window was chosen without knowledge of them"
        )


def _tested(result: dict[str, Any]) -> bool:
    return bool(result.get("tested"))
