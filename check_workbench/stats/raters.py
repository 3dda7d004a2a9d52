"""How far several people agree who judged the same units: raw, beyond chance, and by class.

Unlike two named sources, people come and go: each unit may have other people, and more than two of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from check_workbench.errors import InputError, UndefinedError
from check_workbench.stats.agreement import Agreement, above_chance, intervals_of
from check_workbench.stats.intervals import Estimate, clopper_pearson

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from check_workbench.stats.arrays import Floats


def agreement_among(counts: ArrayLike, names: Sequence[str]) -> Agreement:
    """Compare what several people said of the same units; every unit weighs the same, however many judged it.

    Parameters
    ----------
    counts
        How many people named each class, one row per unit; at least two people judged each unit.
    names
        The classes, in the order of the columns.

    Returns
    -------
    Agreement
        `raw` is the chance that two people who judged a unit agree on it; its interval is exact for two people, and
        no narrower than exact for more. `kappa` is Fleiss', and `by_class` the chance that another person names the
        class too, where one did.

    Raises
    ------
    InputError
        Where a row has fewer than two people, or the columns do not fit the names.
    UndefinedError
        Where there are no units.

    Notes
    -----
    Sources: Fleiss (1971), Psychological Bulletin 76; Gwet (2008), British Journal of Mathematical and Statistical
    Psychology 61; Krippendorff (2011), Computing Krippendorff's alpha-reliability.

    Examples
    --------
    >>> found = agreement_among([[2, 0], [2, 0], [0, 2], [1, 1]], ["good", "bad"])
    >>> found.raw.value, round(found.kappa, 3), {name: round(share, 3) for name, share in found.by_class.items()}
    (0.75, 0.467, {'good': 0.8, 'bad': 0.667})
    """
    table = _table(counts, names)
    people, n = table.sum(axis=1), len(table)
    paired = table * (table - 1) / (people - 1)[:, None]
    agreed = float((paired.sum(axis=1) / people).mean())
    raw = Estimate(agreed, *clopper_pearson(min(agreed, 1.0) * n, n))
    share = (table / people[:, None]).mean(axis=0)
    totals = table.sum(axis=0)
    by_chance = _by_chance(share, totals)
    used = [name for name, total in zip(names, np.asarray(counts).sum(axis=0), strict=True) if total]
    return Agreement(
        n=n,
        raw=raw,
        kappa=above_chance(agreed, by_chance["kappa"]),
        ac1=above_chance(agreed, by_chance["ac1"]),
        alpha=above_chance(float(paired.sum() / totals.sum()), by_chance["alpha"]),
        prevalence=dict(zip(used, share.tolist(), strict=True)),
        by_class=dict(zip(used, (paired.sum(axis=0) / totals).tolist(), strict=True)),
        intervals=intervals_of(raw, by_chance),
    )


def _table(counts: ArrayLike, names: Sequence[str]) -> Floats:
    """Return the counts of the classes that anybody named."""
    table = np.asarray(counts, dtype=np.float64)
    if table.size == 0:
        raise UndefinedError("agreement has no value: no unit was judged by several people.")
    if table.ndim != 2 or table.shape[1] != len(names):
        raise InputError(f"counts must have one column per class, {len(names)}: got shape {table.shape}.")
    fits = np.isfinite(table).all() and (table >= 0).all() and (table == np.floor(table)).all()
    if not fits or (table.sum(axis=1) < 2).any():
        raise InputError("counts must be whole numbers, with two people or more for every unit.")
    return table[:, table.sum(axis=0) > 0]


def _by_chance(share: Floats, totals: Floats) -> dict[str, float | None]:
    n, several = totals.sum(), len(totals) - 1
    return {
        "kappa": float((share**2).sum()),
        "ac1": float((share * (1 - share)).sum() / several) if several else None,
        "alpha": float((totals * (totals - 1)).sum() / (n * (n - 1))),
    }
