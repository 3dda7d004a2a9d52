"""What a check does now, in counts that a later run can be compared with."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from check_workbench.calibration.units import KEY, clusters, decided, decision_keys, digest, unequal
from check_workbench.errors import UndefinedError
from check_workbench.stats.curves import auc

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from check_workbench.calibration.units import Units

Counts = tuple[int, int]
NUMBERS = {
    "bad among passed": ("pass", None),
    "good among failed": ("fail", None),
    "problems missed": (None, True),
}
"""By number: the verdict, or the label, of the units that it is a share of."""
SIDES = {"bad among passed": "false_pass", "good among failed": "false_fail"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One check on all work of a store."""

    units: Units
    kind: str
    """Whether the labels are of the check, or decisions about the `work`."""
    blind: bool
    """Whether only blind decisions on first submissions count, as they do for a certificate."""
    labelled: pd.DataFrame
    """The labelled units that count."""
    silent: Counts
    """Units without a verdict that decides, of all that the check applies to."""
    answered_by: tuple[str, ...]

    @property
    def keys(self) -> list[int]:
        """The decisions behind the labels."""
        return decision_keys(self.labelled)

    def split(self, locked: set[int]) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Part the labels into those of the lock and those that came since, on work of other sessions."""
        known = np.array([locked.issuperset(map(int, keys)) for keys in self.labelled["decision_keys"]], dtype=bool)
        old, new = self.labelled[known], self.labelled[~known]
        return old, new[~new["session"].isin(set(old["session"]))]

    def to_entry(self) -> dict[str, Any]:
        """Return what the lock keeps of it."""
        return {
            "answered_by": list(self.answered_by),
            "figures": self._figures(),
            "labels": {
                "blind": self.blind,
                "digest": digest(self.keys),
                "kind": self.kind,
                "n": len(self.labelled),
            },
            "numbers": {name: _plain(counted(self.labelled, name)) for name in NUMBERS},
            "silent": _plain(self.silent),
        }

    def _figures(self) -> dict[str, Any]:
        """Return figures for whoever reviews the lock: all labels, one for one."""
        bad = self.labelled["positive"].astype(bool)
        failed = self.labelled["verdict"] == "fail"
        found = {"flagged": int(failed.sum()), "problems": int(bad.sum())}
        caught = int((failed & bad).sum())
        shares = {"precision": _share(caught, found["flagged"]), "recall": _share(caught, found["problems"])}
        return {**found, **shares, "auc": self._auc()}

    def _auc(self) -> float | None:
        if len(self.units.check.items) != 1:
            return None
        scored = self.labelled[np.isfinite(self.labelled["s0"].to_numpy(dtype=np.float64))]
        sign = 1 if self.units.check.items[0].means == "problem" else -1
        try:
            return round(auc(sign * scored["s0"].to_numpy(), scored["positive"].to_numpy(dtype=bool)).value, 4)
        except UndefinedError:
            return None


def measured(units: Units, *, kind: str, blind: bool) -> Measured:
    """Measure a check.

    Parameters
    ----------
    units
        Its scores and labels.
    kind
        Which labels they are: `check`, or `work`.
    blind
        Whether only blind decisions on first submissions count.
    """
    table = units.table
    live = table[(table["mode"].fillna("live") != "test") & (table["verdict"] != "not_applicable")]
    answered = live[decided(live)]
    labelled = answered[answered["labelled"]]
    if blind:
        labelled = labelled[labelled["blind"].astype(bool) & (labelled["attempt"] == 1)]
    names = answered[["method", "model"]].fillna("").drop_duplicates().itertuples(index=False, name=None)
    return Measured(
        units=units,
        kind=kind,
        blind=blind,
        labelled=labelled.assign(session=clusters(labelled)),
        silent=(len(live) - len(answered), len(live)),
        answered_by=tuple(sorted({" ".join(part for part in pair if part) or "unknown" for pair in names})),
    )


def counted(rows: pd.DataFrame, name: str) -> Counts:
    """Count the errors of one of the `NUMBERS`, and what they are errors of: one label a session, drawn alike.

    Where labels were drawn with differing probabilities, they are thinned by the digest of their unit, so that the
    same labels stay whatever comes beside them.
    """
    verdict, positive = NUMBERS[name]
    bad = rows["positive"].astype(bool)
    mine = rows[rows["verdict"] == verdict] if verdict else rows[(bad == positive) & (rows["verdict"] != "unsure")]
    alike = _alike(mine).drop_duplicates("session")
    wrong = alike["verdict"].eq("pass") == alike["positive"].astype(bool)
    return int(wrong.sum()), len(alike)


def _alike(rows: pd.DataFrame) -> pd.DataFrame:
    if not unequal(rows):
        return rows
    known = rows[rows["probability_sampled"].notna()]
    drawn = known["probability_sampled"].to_numpy(dtype=np.float64)
    chance = np.array([_uniform(key) for key in known[KEY].itertuples(index=False, name=None)])
    kept: pd.DataFrame = known[chance * drawn < drawn.min()]
    return kept


def _uniform(key: tuple[Any, ...]) -> float:
    """Return a number from 0 to 1 that a unit always has."""
    return int(hashlib.sha256(repr([str(part) for part in key]).encode()).hexdigest()[:13], 16) / 16**13


def _plain(of: Counts) -> Mapping[str, int]:
    return {"k": of[0], "n": of[1]}


def _share(k: int, n: int) -> float | None:
    return round(k / n, 4) if n else None
