"""Counts of verdicts against labels, each share with its exact interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from check_workbench.errors import UndefinedError
from check_workbench.stats.agreement import Agreement, agreement
from check_workbench.stats.guards import anchoring
from check_workbench.stats.intervals import Estimate, clopper_pearson

if TYPE_CHECKING:
    import pandas as pd

VERDICTS = ("pass", "unsure", "fail")
GROUPS = ("step_id", "approver", "workflow", "month")


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """The units decided blind, or those decided in sight of the verdict."""

    n: int
    unsure: int
    agreement: Agreement | None
    """None where no unit has a clear verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """Blind and shown side by side."""

    blind: Side
    shown: Side
    gap: Estimate | None
    """By how much more often people agree with a verdict that they saw."""


def counted(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Count units by verdict and label, and by what was decided."""
    found = []
    for verdict in VERDICTS:
        mine = rows[rows["verdict"] == verdict]
        decisions = mine["decision"].fillna("(unknown)").value_counts()
        found.append(
            {
                "verdict": verdict,
                "n": len(mine),
                "good": int((mine["label"] == "good").sum()),
                "bad": int((mine["label"] == "bad").sum()),
                "decisions": {str(name): int(decisions[name]) for name in sorted(decisions.index)},
            },
        )
    return found


def sides(rows: pd.DataFrame) -> Sides:
    """Compare agreement where people decided blind with agreement where they saw the verdict."""
    blind = rows["blind"].astype(bool)
    one, other = rows[blind], rows[~blind]
    try:
        gap = anchoring(_alike(other), _alike(one))
    except UndefinedError:
        gap = None
    return Sides(blind=_side(one), shown=_side(other), gap=gap)


def _alike(rows: pd.DataFrame) -> tuple[int, int]:
    clear = rows[rows["agrees"].notna()]
    return int(clear["agrees"].astype(bool).sum()), len(clear)


def _side(rows: pd.DataFrame) -> Side:
    clear = rows[rows["agrees"].notna()]
    found = None
    if len(clear):
        verdict = clear["verdict"].map({"pass": "good", "fail": "bad"})
        found = agreement(verdict.to_numpy(dtype=str), clear["label"].to_numpy(dtype=str))
    return Side(n=len(rows), unsure=len(rows) - len(clear), agreement=found)


def groups(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Count agreement by step, approver, workflow and month, blind units only where there are any."""
    found = []
    for name in GROUPS:
        values = rows[name].where(rows[name].notna() & (rows[name] != ""))
        for value in sorted(values.dropna().unique()):
            mine = rows[values == value]
            alike, clear = _alike(mine)
            blind, blind_clear = _alike(mine[mine["blind"].astype(bool)])
            found.append(
                {
                    "by": name.removesuffix("_id"),
                    "group": str(value),
                    "n": len(mine),
                    "unsure": len(mine) - clear,
                    "agreement": share(alike, clear),
                    "blind_agreement": share(blind, blind_clear),
                    "bad_passed": int(((mine["verdict"] == "pass") & (mine["label"] == "bad")).sum()),
                    "good_failed": int(((mine["verdict"] == "fail") & (mine["label"] == "good")).sum()),
                },
            )
    return found


def switched(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Count what would have happened had the check decided on its own, over blind first submissions if there are any.

    Returns
    -------
    list of dict
        For either change how much work nobody would have looked at, how much bad work would have passed, and how much
        good work would have been bounced; each with its share and exact 95 % interval.
    """
    first = rows[rows["attempt"] == 1]
    blind = first[first["blind"].astype(bool)]
    base = blind if len(blind) else first
    passed, failed = base["verdict"] == "pass", base["verdict"] == "fail"
    bad, good = base["label"] == "bad", base["label"] == "good"
    n = len(base)
    bounced = {
        "good_bounced": share(int((failed & good).sum()), int(good.sum())),
        "good_among_failed": share(int((failed & good).sum()), int(failed.sum())),
        "unsure": share(int((~passed & ~failed).sum()), n),
    }
    return [
        {"change": "enforce", "of": n, "unattended": share(int(failed.sum()), n), "bad_passed": share(0, n), **bounced},
        {
            "change": "replace_approval",
            "of": n,
            "unattended": share(int(passed.sum()), n),
            "bad_passed": share(int((passed & bad).sum()), int(passed.sum())),
            **bounced,
        },
    ]


def share(k: int, n: int) -> dict[str, Any]:
    """Return a count with its share and exact 95 % interval; the share of nothing is None.

    Examples
    --------
    >>> share(0, 0)
    {'k': 0, 'n': 0, 'share': None, 'low': None, 'high': None}
    """
    if not n:
        return {"k": k, "n": n, "share": None, "low": None, "high": None}
    low, high = clopper_pearson(k, n)
    return {"k": k, "n": n, "share": k / n, "low": low, "high": high}
