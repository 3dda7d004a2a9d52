"""Each unit under two versions of a check: verdict from and to, score, label; and what the labels say of the two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from check_workbench.calibration.units import KEY, decided, name_of, records
from check_workbench.results import DECIDED, WORST_FIRST
from check_workbench.stats.paired import mcnemar, paired_difference

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from check_workbench.calibration.units import Units
    from check_workbench.stats.intervals import Estimate

ORDER = [*DECIDED, *(status for status in WORST_FIRST if status not in DECIDED)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Labelled units that both versions pass or fail, by which version agrees with people."""

    both_right: int
    worse: int
    """Right before, wrong now."""
    better: int
    """Wrong before, right now."""
    both_wrong: int

    @property
    def n(self) -> int:
        """All of them."""
        return self.both_right + self.worse + self.better + self.both_wrong

    @property
    def p(self) -> float:
        """The exact two-sided p-value of McNemar's test."""
        return mcnemar(self.worse, self.better)

    @property
    def difference(self) -> Estimate | None:
        """Share of errors now minus before, with its 95 % interval; None without units."""
        return paired_difference((self.both_wrong, self.worse, self.better, self.both_right)) if self.n else None

    def to_dict(self) -> dict[str, Any]:
        """Return the counts and what follows from them."""
        change = self.difference
        return {
            "n": self.n,
            "both_right": self.both_right,
            "worse": self.worse,
            "better": self.better,
            "both_wrong": self.both_wrong,
            "p": self.p if self.n else None,
            "difference": change.value if change else None,
            "difference_interval": [change.low, change.high] if change else None,
        }


def paired(before: Units, now: Units) -> tuple[pd.DataFrame, int]:
    """Put the two verdicts of every unit side by side, and count the units of test runs, which are left out.

    Parameters
    ----------
    before, now
        The units of the two versions, with the same labels.
    """
    names = {"verdict": "from", "reason": "reason_from", "s0": "score_from"}
    old = before.table[[*KEY, *names]].rename(columns=names)
    new = now.table.rename(columns={"verdict": "to", "reason": "reason_to", "s0": "score_to"})
    both = new.merge(old, on=KEY, how="inner", validate="one_to_one")
    live = (both["mode"].fillna("live") != "test").to_numpy()
    return both[live].reset_index(drop=True), int((~live).sum())


def transitions(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Count units by verdict before and now, with their labels; nothing is left out here."""
    found = []
    for old in ORDER:
        for new in ORDER:
            mine = rows[(rows["from"] == old) & (rows["to"] == new)]
            if len(mine):
                bad = int(mine.loc[mine["labelled"], "positive"].astype(bool).sum())
                good = int(mine["labelled"].sum()) - bad
                found.append({"from": old, "to": new, "n": len(mine), "good": good, "bad": bad})
    return found


def changed(rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield every unit whose verdict differs, in order, with its label beside it."""
    for row in records(rows[rows["from"] != rows["to"]]):
        yield {
            "unit": name_of(row),
            "run": row["run_id"],
            "step": row["step_id"] or None,
            "from": row["from"],
            "to": row["to"],
            "score": _number(row["score_to"]),
            "score_before": _number(row["score_from"]),
            "label": ("bad" if row["positive"] else "good") if row["labelled"] else None,
            "blind": bool(row["blind"]) if row["labelled"] else None,
            "reason": row["reason_to"] or row["reason_from"] or None,
        }


def tallied(rows: pd.DataFrame) -> tuple[Tally, dict[str, int]]:
    """Count where the two versions agree with people, and the labels that say nothing, by reason."""
    labelled = rows[rows["labelled"]]
    sides = [labelled.rename(columns={name: "verdict"}) for name in ("from", "to")]
    known = np.logical_and.reduce([decided(side).to_numpy(dtype=bool) for side in sides])
    unsure = known & (labelled["from"].eq("unsure") | labelled["to"].eq("unsure")).to_numpy(dtype=bool)
    clear = labelled[known & ~unsure]
    bad = clear["positive"].astype(bool)
    was, now = clear["from"].eq("fail") == bad, clear["to"].eq("fail") == bad
    left_out = {"not_checked": int((~known).sum()), "unsure": int(unsure.sum())}
    counts = Tally(
        both_right=int((was & now).sum()),
        worse=int((was & ~now).sum()),
        better=int((~was & now).sum()),
        both_wrong=int((~was & ~now).sum()),
    )
    return counts, {reason: n for reason, n in left_out.items() if n}


def _number(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None
