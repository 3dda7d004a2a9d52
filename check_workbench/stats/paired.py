"""Two judges on the same units: McNemar's exact test, and the difference of their error shares."""

from __future__ import annotations

import math

from scipy.stats import binom

from check_workbench.errors import InputError, UndefinedError
from check_workbench.stats.intervals import Estimate, wilson


def mcnemar(worse: int, better: int) -> float:
    """Return the two-sided exact p-value of McNemar's test.

    Units on which both judges are right, or both wrong, say nothing. If the judges err equally often, each of the
    others is as likely one way as the other.

    Parameters
    ----------
    worse
        Units on which the first judge is right and the second wrong.
    better
        Units on which the first judge is wrong and the second right.

    Raises
    ------
    InputError
        Where a count is negative.

    Notes
    -----
    Source: McNemar (1947), Psychometrika 12; the binomial distribution in place of its approximation.

    Examples
    --------
    >>> round(mcnemar(2, 10), 4), mcnemar(0, 0)
    (0.0386, 1.0)
    """
    _counts(worse, better)
    return min(1.0, 2 * float(binom.cdf(min(worse, better), worse + better, 0.5)))


def paired_difference(table: tuple[int, int, int, int], *, confidence: float = 0.95) -> Estimate:
    """Return the difference of two shares over the same units, first minus second, with Newcombe's score interval.

    Parameters
    ----------
    table
        Units that have the property by both, only by the first, only by the second, and by neither.
    confidence
        Chance, on average, that the interval covers the true difference.

    Raises
    ------
    InputError
        Where a count is negative.
    UndefinedError
        Where there are no units.

    Notes
    -----
    Source: Newcombe (1998), Statistics in Medicine 17, pages 2635-2650, method 10.

    Examples
    --------
    >>> value, low, high = paired_difference((36, 12, 2, 0))
    >>> round(value, 4), round(low, 4), round(high, 4)
    (0.2, 0.0569, 0.3404)
    """
    both, first, second, neither = table
    _counts(*table)
    n = sum(table)
    if not n:
        raise UndefinedError("a difference over no units has no value. Label work that both versions judge.")
    p, q = (both + first) / n, (both + second) / n
    a, b = wilson(both + first, n, confidence=confidence), wilson(both + second, n, confidence=confidence)
    alike = _correlation(both, first, second, neither)
    low = _side(p - a.low, b.high - q, alike)
    high = _side(a.high - p, q - b.low, alike)
    return Estimate(p - q, max(-1.0, p - q - low), min(1.0, p - q + high))


def _side(one: float, other: float, alike: float) -> float:
    return math.sqrt(max(0.0, one * one - 2 * alike * one * other + other * other))


def _correlation(both: int, first: int, second: int, neither: int) -> float:
    """Return phi, with Newcombe's correction towards 0 where it is positive."""
    margins = (both + first) * (second + neither) * (both + second) * (first + neither)
    if not margins:
        return 0.0
    excess = float(both * neither - first * second)
    if excess > 0:
        excess = max(excess - (both + first + second + neither) / 2, 0)
    return excess / math.sqrt(margins)


def _counts(*counts: int) -> None:
    if min(counts) < 0:
        raise InputError(f"counts must not be negative, got {min(counts)}.")
