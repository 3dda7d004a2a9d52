"""Reasons to hold back a certificate: drift, a bad segment, the human ceiling, anchoring.

A guard speaks only on strong evidence, so that it does not veto by chance what the exact test allows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import binom, fisher_exact, ks_2samp

from check_workbench.errors import InputError, UndefinedError
from check_workbench.stats.arrays import floats, share
from check_workbench.stats.intervals import Estimate, lower_bound, newcombe

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


LIMIT = 0.001
"""A guard of several tests is violated where one has a p below this, divided by their number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """One test of a guard."""

    statistic: float
    p: float
    violated: bool


def drift(first: ArrayLike, second: ArrayLike) -> Guard:
    """Test whether the scores of two halves of a window come from one distribution (Kolmogorov-Smirnov).

    Parameters
    ----------
    first, second
        Scores of each half.

    Raises
    ------
    UndefinedError
        Where a half is empty.

    Examples
    --------
    >>> drift(np.linspace(0, 1, 200), np.linspace(0, 1, 100)).violated
    False
    >>> drift(np.linspace(0, 1, 200), np.linspace(0.4, 1.4, 100)).violated
    True
    """
    a, b = floats(first, "first"), floats(second, "second")
    if not len(a) or not len(b):
        raise UndefinedError("drift has no value: one half of the window is empty.")
    found = ks_2samp(a, b, method="asymp")
    return Guard(statistic=float(found.statistic), p=float(found.pvalue), violated=bool(found.pvalue < LIMIT))


def halves(first: tuple[int, int], second: tuple[int, int]) -> Guard:
    """Test whether the error rates of two halves of a window differ (Fisher's exact test).

    Parameters
    ----------
    first, second
        (errors, n) of each half.

    Raises
    ------
    UndefinedError
        Where a half is empty.

    Examples
    --------
    >>> halves((1, 100), (2, 100)).violated, halves((1, 100), (25, 100)).violated
    (False, True)
    """
    (e1, n1), (e2, n2) = first, second
    if not n1 or not n2:
        raise UndefinedError("a difference of error rates has no value: one half of the window has no decisions.")
    p = float(fisher_exact(np.array([[e1, n1 - e1], [e2, n2 - e2]])).pvalue)
    return Guard(statistic=e2 / n2 - e1 / n1, p=p, violated=p < LIMIT)


def segments(errors: ArrayLike, n: ArrayLike, *, alpha: float) -> tuple[Guard, ...]:
    """Test in each segment whether its risk is above twice the target.

    Parameters
    ----------
    errors, n
        Errors among how many decisions that pass, per segment; hand in segments with 30 decisions or more.
    alpha
        Target risk of the whole.

    Raises
    ------
    InputError
        Where counts cannot be.

    Examples
    --------
    >>> [guard.violated for guard in segments([3, 14], [60, 40], alpha=0.05)]
    [False, True]
    """
    e, total = floats(errors, "errors"), floats(n, "n")
    if e.shape != total.shape or (e > total).any() or (e < 0).any():
        raise InputError("errors and n must have one value per segment, with 0 <= errors <= n.")
    worst = 2 * share(alpha, "alpha")
    p = np.asarray(binom.sf(e - 1, total, min(worst, 1.0)))
    rate = np.divide(e, total, out=np.zeros(len(e)), where=total > 0)
    return tuple(
        Guard(statistic=float(r), p=float(one), violated=bool(one < LIMIT / len(p)))
        for r, one in zip(rate, p, strict=True)
    )


def ceiling(disagreements: int, n: int, *, alpha: float, delta: float) -> Guard | None:
    """Test whether two people, deciding blind on the same work, disagree more often than the target risk.

    Parameters
    ----------
    disagreements, n
        On how many of how many doubly decided units they disagreed.
    alpha, delta
        Target risk, and allowed chance of being wrong.

    Returns
    -------
    Guard or None
        None below 50 doubly decided units; the statistic is the lower bound of disagreement.

    Examples
    --------
    >>> ceiling(13, 106, alpha=0.05, delta=0.10).violated, ceiling(3, 30, alpha=0.05, delta=0.10)
    (True, None)
    """
    if n < 50:
        return None
    low = lower_bound(disagreements, n, delta=delta)
    return Guard(statistic=low, p=float(binom.sf(disagreements - 1, n, alpha)), violated=low > alpha)


def anchoring(shown: tuple[int, int], blind: tuple[int, int]) -> Estimate:
    """Return by how much more often people agree with a verdict that they have seen.

    Parameters
    ----------
    shown, blind
        (agreements, n) of decisions made after and before the verdict was seen.

    Raises
    ------
    UndefinedError
        Where a group is empty.

    Examples
    --------
    >>> value, low, high = anchoring((95, 100), (80, 100))
    >>> round(value, 2), low > 0.03
    (0.15, True)
    """
    return newcombe(shown, blind)
