"""Intervals of shares: exact (Clopper-Pearson), Wilson, and the difference of two shares (Newcombe)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import betainccinv, betaincinv, ndtri

from check_workbench.errors import UndefinedError
from check_workbench.stats.arrays import counts, share

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from check_workbench.stats.arrays import Floats


class Interval(NamedTuple):
    """A lower and an upper end."""

    low: float
    high: float


class Estimate(NamedTuple):
    """A value with its interval."""

    value: float
    low: float
    high: float


def percent(value: float) -> str:
    """Write a share as a percentage, with one decimal.

    Examples
    --------
    >>> percent(0.1692)
    '16.9 %'
    """
    return f"{100 * value:.1f} %"


def clopper_pearson(k: float, n: float, *, confidence: float = 0.95) -> Interval:
    """Return the exact two-sided interval of a share.

    Parameters
    ----------
    k
        How many had the property; a fraction is allowed for effective counts.
    n
        How many there were.
    confidence
        Smallest chance that the interval covers the true share.

    Raises
    ------
    UndefinedError
        Where `n` is 0.

    Notes
    -----
    Source: Clopper and Pearson (1934), Biometrika 26.

    Examples
    --------
    >>> low, high = clopper_pearson(27, 30)
    >>> round(low, 3), round(high, 3)
    (0.735, 0.979)
    """
    tail = (1 - share(confidence, "confidence")) / 2
    return Interval(lower_bound(k, n, delta=tail), upper_bound(k, n, delta=tail))


def upper_bound(k: float, n: float, *, delta: float) -> float:
    """Return the exact one-sided upper bound of a share, wrong with chance `delta` at most.

    Parameters
    ----------
    k, n
        How many had the property, of how many.
    delta
        Allowed chance that the true share is larger.

    Raises
    ------
    UndefinedError
        Where `n` is 0.

    Examples
    --------
    >>> round(upper_bound(0, 59, delta=0.05), 4)
    0.0495
    """
    _some(k, n)
    return float(upper_bounds(k, n, delta=share(delta, "delta")))


def lower_bound(k: float, n: float, *, delta: float) -> float:
    """Return the exact one-sided lower bound of a share, wrong with chance `delta` at most.

    Parameters
    ----------
    k, n
        How many had the property, of how many.
    delta
        Allowed chance that the true share is smaller.

    Raises
    ------
    UndefinedError
        Where `n` is 0.

    Examples
    --------
    >>> round(lower_bound(27, 30, delta=0.05), 2)
    0.76
    """
    _some(k, n)
    return float(lower_bounds(k, n, delta=share(delta, "delta")))


def upper_bounds(k: ArrayLike, n: ArrayLike, *, delta: float) -> Floats:
    """Return exact upper bounds of many shares at once; NaN where `n` is 0."""
    hits, total = np.broadcast_arrays(np.asarray(k, dtype=np.float64), np.asarray(n, dtype=np.float64))
    misses = np.maximum(total - hits, 0)
    inner = betainccinv(hits + 1, np.where(misses > 0, misses, 1), delta)
    return np.where(total <= 0, np.nan, np.where(misses > 0, inner, 1.0))


def lower_bounds(k: ArrayLike, n: ArrayLike, *, delta: float) -> Floats:
    """Return exact lower bounds of many shares at once; NaN where `n` is 0."""
    hits, total = np.broadcast_arrays(np.asarray(k, dtype=np.float64), np.asarray(n, dtype=np.float64))
    inner = betaincinv(np.where(hits > 0, hits, 1), np.maximum(total - hits, 0) + 1, delta)
    return np.where(total <= 0, np.nan, np.where(hits > 0, inner, 0.0))


def wilson(k: float, n: float, *, confidence: float = 0.95) -> Interval:
    """Return the Wilson score interval of a share: about right on average, narrower than the exact one.

    Parameters
    ----------
    k, n
        How many had the property, of how many.
    confidence
        Chance, on average, that the interval covers the true share.

    Raises
    ------
    UndefinedError
        Where `n` is 0.

    Notes
    -----
    Source: Wilson (1927), JASA 22.

    Examples
    --------
    >>> low, high = wilson(0, 10)
    >>> round(low, 3), round(high, 3)
    (0.0, 0.278)
    """
    _some(k, n)
    z = normal_quantile(confidence)
    p, spread = k / n, z * z / n
    centre = (p + spread / 2) / (1 + spread)
    half = z * math.sqrt(p * (1 - p) / n + spread / (4 * n)) / (1 + spread)
    return Interval(0.0 if k == 0 else max(0.0, centre - half), 1.0 if k == n else min(1.0, centre + half))


def newcombe(first: tuple[float, float], second: tuple[float, float], *, confidence: float = 0.95) -> Estimate:
    """Return the difference of two independent shares, first minus second, with Newcombe's hybrid score interval.

    Parameters
    ----------
    first, second
        (k, n) of each group.
    confidence
        Chance, on average, that the interval covers the true difference.

    Raises
    ------
    UndefinedError
        Where a group is empty.

    Notes
    -----
    Source: Newcombe (1998), Statistics in Medicine 17, method 10.

    Examples
    --------
    >>> value, low, high = newcombe((56, 70), (48, 80))
    >>> round(value, 4), round(low, 4), round(high, 4)
    (0.2, 0.0524, 0.3339)
    """
    (k1, n1), (k2, n2) = first, second
    a, b = wilson(k1, n1, confidence=confidence), wilson(k2, n2, confidence=confidence)
    p, q = k1 / n1, k2 / n2
    low = p - q - math.hypot(p - a.low, b.high - q)
    high = p - q + math.hypot(a.high - p, q - b.low)
    return Estimate(p - q, max(-1.0, low), min(1.0, high))


def normal_quantile(confidence: float) -> float:
    """Return how many standard errors a two-sided normal interval extends.

    Examples
    --------
    >>> round(normal_quantile(0.95), 3)
    1.96
    """
    return float(ndtri((1 + share(confidence, "confidence")) / 2))


def _some(k: float, n: float) -> None:
    counts(k, n)
    if n <= 0:
        raise UndefinedError("a share of nothing has no value: n is 0. Collect at least one decision.")
