"""Counts of verdicts against labels, each share with its exact interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from check_workbench.stats.agreement import Agreement, agreement
from check_workbench.stats.guards import anchoring
from check_workbench.stats.intervals import Estimate, clopper_pearson

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd

VERDICTS = ("pass", "unsure", "fail")
FEW = 5
"""With fewer units on one side the gap's interval is too narrow: it lies above the truth in up to 14 %, not 2.5 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """The units decided blind, or those decided in sight of the verdict."""

    n: int
    bad: Mapping[str, Any]
    """How many of all these units people call bad; `prevalence` of the agreement is the mean of people and check."""
    unsure: int
    counts: Sequence[Mapping[str, Any]]
    """One row per verdict."""
    wrong: Mapping[str, Any]
    """`bad_passed` and `good_failed`."""
    agreement: Agreement | None
    """None where no unit has a clear verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """Blind and shown side by side."""

    blind: Side
    shown: Side
    gap: Estimate | None
    """By how much more often people agree with a verdict that they saw."""
    chance: float | None
    """How likely such a gap is where people do not follow the verdict: Fisher's exact test, one-sided."""

    @property
    def clear(self) -> int:
        """How many units with a clear verdict the smaller side has."""
        return min(side.n - side.unsure for side in (self.blind, self.shown))


def counted(rows: pd.DataFrame, neither: pd.DataFrame | None = None) -> list[dict[str, Any]]:
    """Count units by verdict and label, and by what was decided.

    Parameters
    ----------
    rows
        Units with a verdict and a label.
    neither
        Units with a verdict of which people only said what is neither good nor bad.

    Returns
    -------
    list of dict
        One row per verdict; the shares of the decisions are of all units with that verdict and any decision.
    """
    found = []
    for verdict in VERDICTS:
        mine = rows[rows["verdict"] == verdict]
        others = [] if neither is None else neither.loc[neither["verdict"] == verdict, "decision"].tolist()
        decisions = [str(name or "(unknown)") for name in (*mine["decision"].fillna("").tolist(), *others)]
        found.append(
            {
                "verdict": verdict,
                "n": len(mine),
                "good": share(int((mine["label"] == "good").sum()), len(mine)),
                "bad": share(int((mine["label"] == "bad").sum()), len(mine)),
                "neither": len(others),
                "decisions": {name: share(decisions.count(name), len(decisions)) for name in sorted(set(decisions))},
            },
        )
    return found


def sides(rows: pd.DataFrame) -> Sides:
    """Compare agreement where people decided blind with agreement where they saw the verdict."""
    blind = rows["blind"].astype(bool)
    one, other = _side(rows[blind]), _side(rows[~blind])
    before, after = _alike(rows[blind]), _alike(rows[~blind])
    if not before[1] or not after[1]:
        return Sides(blind=one, shown=other, gap=None, chance=None)
    return Sides(blind=one, shown=other, gap=anchoring(after, before), chance=_by_chance(after, before))


def groups(tables: Mapping[str, tuple[pd.DataFrame, str]]) -> list[dict[str, Any]]:
    """Count verdicts against labels in the groups of each table.

    Parameters
    ----------
    tables
        By what is grouped: the rows, and the column that names the group of each.
    """
    return [row for by, (rows, column) in tables.items() for row in _grouped(by, rows, column)]


def _grouped(by: str, rows: pd.DataFrame, column: str) -> Iterator[dict[str, Any]]:
    values = rows[column].where(rows[column].notna() & (rows[column] != ""))
    names = values.dropna().unique()
    for value in names if by == "question" else sorted(names):
        mine = rows[values == value]
        alike, clear = _alike(mine)
        blind = mine[mine["blind"].astype(bool)]
        yield {
            "by": by,
            "group": str(value),
            "n": len(mine),
            "blind": len(blind),
            "counts": counted(mine),
            "unsure": share(len(mine) - clear, len(mine)),
            "agreement": share(alike, clear),
            "blind_agreement": share(*_alike(blind)),
            "shown_agreement": share(*_alike(mine[~mine["blind"].astype(bool)])),
            **wrongs(mine),
            **({"named": _named(mine)} if by == "question" else {}),
        }


def _named(rows: pd.DataFrame) -> int:
    """Count the labels of which a decision names the question; the others speak of all questions at once."""
    return sum(any(one["question"] is not None for one in said) for said in rows["said"])


def wrongs(rows: pd.DataFrame) -> dict[str, Any]:
    """Count bad work among what the check passes, and good work that it fails among all good work."""
    passed, failed = rows["verdict"] == "pass", rows["verdict"] == "fail"
    bad = rows["label"] == "bad"
    return {
        "bad_passed": share(int((passed & bad).sum()), int(passed.sum())),
        "good_failed": share(int((failed & ~bad).sum()), int((~bad).sum())),
    }


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


def _alike(rows: pd.DataFrame) -> tuple[int, int]:
    clear = rows[rows["agrees"].notna()]
    return int(clear["agrees"].astype(bool).sum()), len(clear)


def _side(rows: pd.DataFrame) -> Side:
    clear = rows[rows["agrees"].notna()]
    found = None
    if len(clear):
        verdict = clear["verdict"].map({"pass": "good", "fail": "bad"})
        found = agreement(verdict.to_numpy(dtype=str), clear["label"].to_numpy(dtype=str))
    return Side(
        n=len(rows),
        bad=share(int((rows["label"] == "bad").sum()), len(rows)),
        unsure=len(rows) - len(clear),
        counts=counted(rows),
        wrong=wrongs(rows),
        agreement=found,
    )


def _by_chance(shown: tuple[int, int], blind: tuple[int, int]) -> float:
    import numpy as np
    from scipy.stats import fisher_exact

    table = np.array([[alike, n - alike] for alike, n in (shown, blind)])
    return float(fisher_exact(table, alternative="greater").pvalue)
