"""One fixed cut tested on labels that were drawn with a different probability in each stratum."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from check_workbench.errors import InputError
from check_workbench.stats.arrays import floats, share
from check_workbench.stats.certify import CutTest, p_value
from check_workbench.stats.intervals import upper_bounds

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def strata(errors: ArrayLike, n: ArrayLike, shares: ArrayLike, *, alpha: float, delta: float) -> CutTest:
    """Test one fixed cut on labels drawn with a different probability in each stratum.

    Each of H strata is bounded at delta / H; the bounds are combined by the strata's shares of unlabelled work.

    Parameters
    ----------
    errors, n
        Errors among how many labelled decisions, per stratum.
    shares
        Share of each stratum among the unlabelled work that passes the cut; they sum to 1.
    alpha, delta
        Target risk, and allowed chance that a certificate is wrong.

    Raises
    ------
    InputError
        Where the shares do not sum to 1.

    Examples
    --------
    >>> strata([0, 0], [100, 100], [0.5, 0.5], alpha=0.05, delta=0.10).certified
    True
    """
    weight = floats(shares, "shares")
    if not np.isclose(weight.sum(), 1) or (weight < 0).any():
        raise InputError(f"the strata's shares must be at least 0 and sum to 1, got {weight.sum():.6g} in all.")
    e, total = floats(errors, "errors"), floats(n, "n")
    bounds = upper_bounds(e, total, delta=share(delta, "delta") / len(weight))
    bound = float(weight @ np.nan_to_num(bounds, nan=1.0))
    pooled = float(p_value(e.sum(), total.sum(), alpha))
    return CutTest(p=pooled, bound=bound, certified=bound <= alpha)
