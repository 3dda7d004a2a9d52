"""How far two sources of judgement agree: raw, beyond chance, and by class.

No one of these numbers decides anything: raw agreement is carried by the commoner class, and kappa falls and AC1 rises
as a class becomes rare, at the same raw agreement. So they are computed, and to be shown, together.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from check_workbench.errors import InputError, UndefinedError
from check_workbench.stats.intervals import Estimate, Interval, clopper_pearson

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from check_workbench.stats.arrays import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Agreement of two judgements of the same units; None where a measure has no value."""

    n: int
    raw: Estimate
    """Share of units judged alike, with its exact 95 % interval."""
    kappa: float | None
    """Cohen's kappa: beyond what the two sources' own class shares would give by chance."""
    ac1: float | None
    """Gwet's AC1."""
    alpha: float | None
    """Krippendorff's alpha for named classes."""
    prevalence: Mapping[str, float]
    """Share of each class, averaged over both sources."""
    by_class: Mapping[str, float]
    """Of the judgements that name a class, the share on which the other source agrees."""
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    """About 95 % intervals of kappa, ac1 and alpha, where they have a value: that of raw agreement, with the agreement
    by chance held at what was seen."""


def agreement(first: ArrayLike, second: ArrayLike) -> Agreement:
    """Compare two judgements of the same units.

    Parameters
    ----------
    first, second
        One class per unit, in the same order; classes are compared as text.

    Raises
    ------
    UndefinedError
        Where there are no units.

    Notes
    -----
    Sources: Cohen (1960), Educational and Psychological Measurement 20; Gwet (2008), British Journal of Mathematical
    and Statistical Psychology 61; Krippendorff (2011), Computing Krippendorff's alpha-reliability.

    Examples
    --------
    >>> found = agreement(["bad", "bad", "good", "good"], ["bad", "good", "good", "good"])
    >>> found.raw.value, found.kappa, round(found.ac1, 3), found.by_class
    (0.75, 0.5, 0.529, {'bad': 0.6666666666666666, 'good': 0.8})
    >>> [round(end, 3) for end in found.intervals["kappa"]]
    [-0.612, 0.987]
    """
    a, b = np.asarray(first).astype(str), np.asarray(second).astype(str)
    if a.shape != b.shape or a.ndim != 1:
        raise InputError(f"both sources must judge the same units: got shapes {a.shape} and {b.shape}.")
    if not len(a):
        raise UndefinedError("agreement has no value: no unit was judged by both.")
    names, codes = np.unique(np.concatenate([a, b]), return_inverse=True)
    table = np.zeros((len(names), len(names)))
    np.add.at(table, (codes[: len(a)], codes[len(a) :]), 1)
    alike, n = int(np.trace(table)), len(a)
    totals = table.sum(axis=0) + table.sum(axis=1)
    raw, by_chance = Estimate(alike / n, *clopper_pearson(alike, n)), _by_chance(table)
    beyond = {name: above_chance(raw.value, chance) for name, chance in by_chance.items()}
    return Agreement(
        n=n,
        raw=raw,
        kappa=beyond["kappa"],
        ac1=beyond["ac1"],
        alpha=beyond["alpha"],
        prevalence=dict(zip(names.tolist(), (totals / (2 * n)).tolist(), strict=True)),
        by_class=dict(zip(names.tolist(), (2 * np.diag(table) / totals).tolist(), strict=True)),
        intervals=intervals_of(raw, by_chance),
    )


def above_chance(raw: float, chance: float | None) -> float | None:
    """Return agreement beyond chance; None where chance alone makes all agree.

    Examples
    --------
    >>> above_chance(0.9, 0.5), above_chance(1.0, 1.0)
    (0.8, None)
    """
    return None if chance is None or chance >= 1 else float((raw - chance) / (1 - chance))


def intervals_of(raw: Estimate, by_chance: Mapping[str, float | None]) -> dict[str, Interval]:
    """Return the interval of every measure that has a value, at least -1.

    Parameters
    ----------
    raw
        Raw agreement with its interval.
    by_chance
        Agreement by chance, by measure; None where there is none.
    """
    return {
        name: Interval(max(-1.0, (raw.low - chance) / (1 - chance)), (raw.high - chance) / (1 - chance))
        for name, chance in by_chance.items()
        if chance is not None and chance < 1
    }


def _by_chance(table: Floats) -> dict[str, float | None]:
    n = table.sum()
    if len(table) < 2:
        return dict.fromkeys(("kappa", "ac1", "alpha"))
    rows, columns = table.sum(axis=1) / n, table.sum(axis=0) / n
    share = (rows + columns) / 2
    pooled = share * 2 * n
    return {
        "kappa": float(rows @ columns),
        "ac1": float((share * (1 - share)).sum() / (len(table) - 1)),
        "alpha": float((pooled * (pooled - 1)).sum() / (2 * n * (2 * n - 1))),
    }
