"""Intervals of shares where labels stand for differing amounts of work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from check_workbench.stats.intervals import lower_bounds, upper_bounds

if TYPE_CHECKING:
    from collections.abc import Callable

    from check_workbench.stats.arrays import Flags, Floats

TAIL = 0.025
"""Each side of the 95 % intervals."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """Sums over the labels on one side of each of many cuts."""

    weight: Floats
    squares: Floats
    """Of squared weights."""
    true: Floats
    """Of the weights of positives."""
    true_squares: Floats

    @classmethod
    def of(cls, weight: Floats, positive: Flags, summed: Callable[[Floats], Floats]) -> Sums:
        """Return the sums over labels, by what sums one number per label over one side of each cut."""
        parts = (weight, weight**2, weight * positive, weight**2 * positive)
        total, squares, true, true_squares = map(summed, parts)
        return cls(weight=total, squares=squares, true=true, true_squares=true_squares)


def effective(of: Sums) -> Floats:
    """Return how many equally weighted labels would tell the share of positives as surely.

    Parameters
    ----------
    of
        The labels.

    Returns
    -------
    array
        The smaller of two numbers, because one label of large weight can be all that is known of many units: Kish's,
        from the weights alone, and the one that gives the share its variance under the weights. 0 without labels.

    Notes
    -----
    Source: Kish (1965), Survey Sampling; Korn and Graubard (1998), Survey Methodology 24.

    Examples
    --------
    >>> one, nine = (np.array([value]) for value in (1.0, 9.0))
    >>> effective(Sums(weight=3 * one + nine, squares=3 * one + nine**2, true=one + nine, true_squares=one + nine**2))
    array([1.71428571])
    """
    kish = _over(of.weight**2, of.squares, 0.0)
    rate = _over(of.true, of.weight, 0.0)
    spread = of.true_squares * (1 - 2 * rate) + rate**2 * of.squares
    varied = _over(rate * (1 - rate) * of.weight**2, np.maximum(spread, 0.0), np.inf)
    inner = (rate > 0) & (rate < 1)
    return np.where(inner, np.minimum(kish, varied), kish)


def shares(of: Sums, n: Floats) -> tuple[Floats, Floats]:
    """Return the 95 % interval of the share of positives, exact at `n` labels; NaN without labels."""
    k = np.minimum(_over(of.true, of.weight, 0.0), 1.0) * n
    return lower_bounds(k, n, delta=TAIL), upper_bounds(k, n, delta=TAIL)


def recalls(flagged: Sums, passed: Sums) -> tuple[Floats, Floats]:
    """Return the 95 % interval of recall at each of many cuts.

    Problems that are found and problems that are missed are two totals, each known from its own labels, also where none
    of few labels of large weight is a problem. The ends of their intervals are combined by squares (MOVER).

    Parameters
    ----------
    flagged, passed
        The labels that each cut flags, and the others; some of either.

    Returns
    -------
    tuple
        Lower and upper ends.

    Notes
    -----
    Source: Donner and Zou (2012), Statistical Methods in Medical Research 21.

    Examples
    --------
    >>> none, n = np.zeros(1), np.array([60.0])
    >>> found = Sums(weight=2 * n, squares=4 * n, true=n, true_squares=2 * n)
    >>> low, high = recalls(found, Sums(weight=20 * n, squares=400 * n, true=none, true_squares=none))
    >>> low.round(2), high
    (array([0.45]), array([1.]))
    """
    found, found_low, found_high = _totals(flagged)
    missed, missed_low, missed_high = _totals(passed)
    both = found * missed
    down, up = (found - found_low) ** 2, (missed_high - missed) ** 2
    rest = np.maximum(found**2 - down, 0.0)
    low = _over(rest, rest + both + np.sqrt(missed**2 * down + up * rest), 0.0)
    up, down = (found_high - found) ** 2, (missed - missed_low) ** 2
    rest = np.maximum(missed**2 - down, 0.0)
    odds = both + np.sqrt(up * rest + found**2 * down)
    return low, _over(odds, odds + rest, 1.0)


def _totals(of: Sums) -> tuple[Floats, Floats, Floats]:
    low, high = shares(of, effective(of))
    return of.true, low * of.weight, high * of.weight


def _over(part: Floats, whole: Floats, without: float) -> Floats:
    found = np.full(np.shape(whole), without)
    np.divide(part, whole, out=found, where=whole > 0)
    return found
