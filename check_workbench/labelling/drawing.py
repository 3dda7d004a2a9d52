"""What is drawn from a pool: for trust with equal probability, for recall from all work with known probabilities."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from check_workbench.calibration.sheets import recorded
from check_workbench.calibration.units import KEY, unequal
from check_workbench.certificates.sides import Region
from check_workbench.stats.sampling import inclusion, systematic
from check_workbench.store.returning import DRAW

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from check_workbench.checks import Check
    from check_workbench.labelling.pool import Pool
    from check_workbench.plans import Plan, Side

Purpose = Literal["trust", "recall"]
VERDICTS: dict[Side, str] = {"false_pass": "pass", "false_fail": "fail"}
NEAR, FAR, FLAGGED = 1.0, 0.5, 0.5
"""How often work is drawn beside other work: what passes in the three tenths next to the cut, what passes more surely,
and what does not pass. A problem that is missed moves recall by the share that is found, one that is found only by the
share that is missed, so flagged work is not drawn more often than the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """What was drawn for one check."""

    check: Check
    purpose: Purpose
    verdicts: tuple[str, ...]
    """Work with these verdicts was drawn from."""
    units: pd.DataFrame
    """`run_id step_id attempt verdict probability`, in the order of the draw."""
    free: int
    """How many units could have been drawn."""
    region: int
    """How many units there are with these verdicts, but for those that are `covered`."""
    told: dict[str, int]
    """How many of them have a usable blind label, by verdict."""
    unweighted: int
    """How many of these labels do not say with which probability they were drawn."""
    differing: bool
    """Whether these labels were drawn with differing probabilities."""
    population: int
    """Units with any verdict."""
    silent: int = 0
    covered: int = 0
    """Units that sheets for trust could draw already, so that none of them was drawn."""
    strata: list[dict[str, Any]] = field(default_factory=list)
    """What was treated alike, and how likely each of it was drawn, as the ledger keeps it."""
    by_verdict: dict[str, int] = field(default_factory=dict)
    """Drawn units by verdict."""
    behind: int = 0
    """How many must be drawn until work that came to this side since the last sheet has had the chance of the rest."""

    def __len__(self) -> int:
        return len(self.units)


def for_trust(found: Pool, plan: Plan, n: int, *, looks: pd.DataFrame) -> Drawn:
    """Draw the next units of the side that a plan bounds, each with equal probability.

    Sheets that follow one another read on in one random order, so all of them together are one equal-probability
    sample. They carry the probability of the first, because only the proportion between probabilities counts, and
    values that differ without need would be bounded one by one.

    Parameters
    ----------
    found
        The work.
    plan
        Whose bounds name the side: what passes, what fails, or both.
    n
        How many units at most.
    looks
        All looks in the store, among them earlier draws.
    """
    verdicts = tuple(VERDICTS[bound.side] for bound in plan.bounds)
    region = found.units[found.units["verdict"].isin(verdicts)]
    free = region[region["free"]].sort_values(["place", *KEY])
    taken = free.head(n)
    rate = _carried(found.check, looks) or (len(taken) / len(free) if len(free) else 1.0)
    drawn = _drawn(found, "trust", region, verdicts, taken.assign(probability=rate))
    listed = found.units[found.units["listed"]]
    chances = listed["verdict"].isin(verdicts) * (len(taken) / max(len(free), 1))
    behind = _behind(region, free, _handed_out(found, looks))
    return dataclasses.replace(drawn, behind=behind, strata=recorded(listed, chances, [""] * len(listed)))


def _behind(region: pd.DataFrame, free: pd.DataFrame, drawn: set[tuple[Any, ...]]) -> int:
    """Return how far one must read on until no work is passed over that stands before what was drawn."""
    before = region.loc[_named(region, drawn), "place"]
    if before.empty:
        return 0
    passed_over = np.flatnonzero(~_named(free, drawn) & (free["place"] < before.max()).to_numpy())
    return int(passed_over[-1]) + 1 if len(passed_over) else 0


def _named(rows: pd.DataFrame, names: set[tuple[Any, ...]]) -> NDArray[np.bool_]:
    return np.array([name in names for name in rows[KEY].itertuples(index=False, name=None)], dtype=np.bool_)


def for_recall(found: Pool, n: int, *, looks: pd.DataFrame, seed: int) -> Drawn:
    """Draw from all work, more where a label tells more, and never with probability zero.

    The list is sorted by verdict, workflow and score and read in even steps, so that each of them has its share. Only
    three rates occur beside one another: a bound over many small strata would prove nothing. What sheets for trust have
    sampled already is not drawn again; the probabilities of the rest are put in proportion to the one these carry.

    Parameters
    ----------
    found
        The work.
    n
        How many units at most.
    looks
        All looks in the store, among them earlier draws.
    seed
        Same seed, same draw.
    """
    covered, scale = _covered(found, looks)
    listed = found.units[found.units["listed"] & ~covered]
    free = listed["free"].to_numpy(dtype=bool)
    weight, scores = _weights(found, listed)
    table = listed.assign(weight=weight, score=scores, group=listed["workflow"].fillna("").astype(str))
    kinds = [table["verdict"], table["weight"]]
    table["probability"] = 0.0
    table.loc[free, "probability"] = inclusion(weight[free], n).round(12)
    table["chance"] = table["probability"].groupby(kinds).transform("max")
    order = table[free].sort_values(["verdict", "group", "score", "place", *KEY], ignore_index=True)
    taken = order.iloc[systematic(order["probability"], seed=seed)]
    taken = taken.assign(probability=(taken["probability"] * scale).clip(upper=1.0))
    left = found.units[found.units["listed"] & covered]
    strata = recorded(table, table["chance"], list(zip(*kinds, strict=True)))
    strata += recorded(left, left["place"] * 0.0, [""] * len(left))
    region = found.units[~covered]
    drawn = _drawn(found, "recall", region, tuple(sorted(set(region["verdict"]))), taken)
    return dataclasses.replace(drawn, covered=int(covered.sum()), strata=strata)


def _covered(found: Pool, looks: pd.DataFrame) -> tuple[NDArray[np.bool_], float]:
    """Return what equal draws could draw, and what their labels carry for one unit of probability."""
    carried = _carried(found.check, looks)
    covered = found.units["covered"].to_numpy(dtype=bool)
    mine = found.units["told"] & (found.units["probability_sampled"] == carried)
    if carried is None or not (mine & covered).any():
        return np.zeros(len(covered), dtype=bool), 1.0
    return covered, carried / float((mine & covered).sum() / covered.sum())


def _weights(found: Pool, listed: pd.DataFrame) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how often each unit is drawn beside the others, and how surely it passes; free work says what is near."""
    side = Region(check=found.check, side="false_pass", reference=found.units, everything=found.units)
    scores = np.nan_to_num(side.scores(listed), nan=0.0)
    weight = np.full(len(listed), FLAGGED)
    passed = (listed["verdict"] == "pass").to_numpy()
    free = passed & listed["free"].to_numpy(dtype=bool)
    if free.any():
        from scipy.stats import rankdata

        near = rankdata(scores[free]) - 0.5 < 0.3 * free.sum()
        edge = scores[free][near].max(initial=-np.inf)
        weight[passed] = np.where(scores[passed] <= edge, NEAR, FAR)
    return weight, scores


def _drawn(
    found: Pool, purpose: Purpose, region: pd.DataFrame, verdicts: tuple[str, ...], taken: pd.DataFrame
) -> Drawn:
    told = region[region["told"]]
    return Drawn(
        check=found.check,
        purpose=purpose,
        verdicts=verdicts,
        units=taken[[*KEY, "verdict", "probability"]].reset_index(drop=True),
        free=int(region["free"].sum()),
        region=len(region),
        told=_counts(told),
        unweighted=int(told["probability_sampled"].isna().sum()),
        differing=unequal(told),
        population=len(found.units),
        silent=found.silent,
        by_verdict=_counts(taken),
    )


def _counts(rows: pd.DataFrame) -> dict[str, int]:
    return {str(name): int(count) for name, count in rows["verdict"].value_counts().sort_index().items()}


def _carried(check: Check, looks: pd.DataFrame) -> float | None:
    """Return the probability that equal draws for this text of the check carry already."""
    rates = [row[-1] for draw in _equal_draws(check, looks) for row in draw["rows"][:1]]
    return rates[0] if rates else None


def _handed_out(found: Pool, looks: pd.DataFrame) -> set[tuple[Any, ...]]:
    """Return the work that equal draws in this very order have taken."""
    draws = [draw for draw in _equal_draws(found.check, looks) if draw["seed"] == found.seed]
    return {(run, step or "", attempt or 1) for draw in draws for _, run, step, attempt, _ in draw["rows"]}


def _equal_draws(check: Check, looks: pd.DataFrame) -> list[dict[str, Any]]:
    mine = looks[(looks["call"] == DRAW) & (looks["check_id"] == check.id) & (looks["asked"] == check.asked)]
    return [draw for draw in mine["result"] if draw["purpose"] == "trust"]
