"""Did a share grow beyond chance? An exact test of two independent counts, and whether they could show it at all."""

from __future__ import annotations

from scipy.stats import hypergeom

from check_workbench.errors import UndefinedError
from check_workbench.stats.arrays import counts


def worsened(before: tuple[int, int], now: tuple[int, int]) -> float:
    """Return the chance of so large a count now if the share were what it was (Fisher's exact test, one-sided).

    Parameters
    ----------
    before, now
        (k, n) of independent units; where some are the same, the test is the more careful.

    Raises
    ------
    InputError
        Unless 0 <= k <= n.
    UndefinedError
        Where a group is empty.

    Notes
    -----
    Source: Fisher (1935), Journal of the Royal Statistical Society 98.

    Examples
    --------
    >>> round(worsened((2, 70), (12, 60)), 4), worsened((2, 70), (0, 60))
    (0.0017, 1.0)
    """
    (k0, n0), (k1, n1) = before, now
    counts(k0, n0)
    counts(k1, n1)
    if not n0 or not n1:
        raise UndefinedError("two shares cannot be compared while one of them is of nothing.")
    return min(1.0, float(hypergeom.sf(k1 - 1, n0 + n1, k0 + k1, n1)))


def could_worsen(before: tuple[int, int], n: int, *, delta: float) -> bool:
    """Say whether any outcome of `n` units would be a significantly larger share.

    Parameters
    ----------
    before
        (k, n) that the new units are compared with.
    n
        How many new units there are.
    delta
        Allowed chance of a false alarm.

    Examples
    --------
    >>> could_worsen((2, 70), 2, delta=0.05), could_worsen((2, 70), 1, delta=0.05), could_worsen((0, 2), 2, delta=0.05)
    (True, True, False)
    """
    return before[1] > 0 and n > 0 and worsened(before, (n, n)) <= delta
