"""How far two sources of judgement agree: raw, beyond chance, and by class.

No one of these numbers decides anything: raw agreement is carried by the commoner class, and kappa falls and AC1 rises
as a class becomes rare, at the same raw agreement. So they are computed, and to be shown, together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from check_workbench.errors import InputError, UndefinedError
from check_workbench.stats.intervals import Estimate, clopper_pearson

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
    kappa, ac1, alpha = _beyond_chance(table)
    return Agreement(
        n=n,
        raw=Estimate(alike / n, *clopper_pearson(alike, n)),
        kappa=kappa,
        ac1=ac1,
        alpha=alpha,
        prevalence=dict(zip(names.tolist(), (totals / (2 * n)).tolist(), strict=True)),
        by_class=dict(zip(names.tolist(), (2 * np.diag(table) / totals).tolist(), strict=True)),
    )


def _beyond_chance(table: Floats) -> tuple[float | None, float | None, float | None]:
    n = table.sum()
    raw = np.trace(table) / n
    rows, columns = table.sum(axis=1) / n, table.sum(axis=0) / n
    share = (rows + columns) / 2
    pooled = share * 2 * n
    by_chance = float(rows @ columns)
    if len(table) < 2:
        return None, None, None
    gwet = float((share * (1 - share)).sum() / (len(table) - 1))
    krippendorff = float((pooled * (pooled - 1)).sum() / (2 * n * (2 * n - 1)))
    return _above(raw, by_chance), _above(raw, gwet), _above(raw, krippendorff)


def _above(raw: float, chance: float) -> float | None:
    return None if chance >= 1 else float((raw - chance) / (1 - chance))
