"""Evidence that may be looked at after every decision: betting e-processes.

Each bets at fixed odds against a claim; if the claim is true, the wealth exceeds 1 / delta at any time at all with a
chance of at most delta (Ville's inequality), however often one looks.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from check_workbench.errors import InputError
from check_workbench.stats.arrays import flags, share
from check_workbench.stats.certify import MOST
from check_workbench.stats.intervals import Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import ArrayLike

    from check_workbench.stats.arrays import Flags, Floats

_TOWARDS_LOW = (1 / 16, 1 / 8, 0.25, 0.5, 0.75, 0.95)
"""Bets that the risk is low, as shares of the largest bet that keeps the wealth above 0.

Large ones win soon where errors are rare, and lose where the risk is near the target, where only small ones win.
"""
_STAKES_LOW = (0.05, 0.05, 0.2, 0.2, 0.25, 0.25)
"""What is staked on each of them, 1 in all."""
_TOWARDS_HIGH = (0.5, 1.0, 2.0, 4.0, 8.0)
_LARGEST = 0.95
"""No bet is larger than this share of the one at which the wealth could become 0."""

_LARGEST_LOG = 700.0
"""Wealth beyond its exponential is as good as this, and would not be a finite number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EProcess:
    """The wealth after each decision, and when it first reached its limit."""

    wealth: Floats
    limit: float
    reached: int | None
    """Number of decisions after which the wealth first reached the limit; None if it has not."""

    @property
    def peak(self) -> float:
        """The largest wealth so far, at least 1."""
        return float(self.wealth.max(initial=1.0))


def certifying(bad: ArrayLike, *, alpha: float, delta: float) -> EProcess:
    """Bet that the risk is below alpha; the limit reached certifies it.

    Parameters
    ----------
    bad
        Whether each decision that passes a fixed cut was an error, in the order of the decisions.
    alpha
        Target risk.
    delta
        Allowed chance that the certificate is wrong, over all looks together.

    Raises
    ------
    InputError
        Where alpha or delta is no share, or `bad` holds anything but truth values.

    Notes
    -----
    Sources: Waudby-Smith and Ramdas (2024), JRSS B 86, for betting; Robbins (1970), Annals of Mathematical Statistics
    41, for mixtures.

    A bet of share s multiplies what is staked on it by 1 - s at an error, else by 1 + s alpha / (1 - alpha): the
    likelihood ratio of the risk (1 - s) alpha against alpha. Where the next decision is an error with chance p,
    whatever came before, that is 1 - s (p - alpha) / (1 - alpha) on average, at most 1 for every p >= alpha. So what
    each stake has become, and the sum, is a supermartingale, and the sum begins at 1: Ville's inequality holds. Shares
    and stakes are the same for every check, and the wealth depends on the numbers of decisions and errors alone.

    Examples
    --------
    >>> certifying(np.zeros(100), alpha=0.05, delta=0.10).reached
    64
    """
    return _process(certifying_wealth(_in_order(bad), alpha=alpha), delta)


def alarming(bad: ArrayLike, *, alpha: float, delta: float = 0.05) -> EProcess:
    """Bet that the risk is above alpha; the limit reached means that the check must become advisory again.

    Parameters
    ----------
    bad
        Whether each audited decision was an error, in the order of the audits.
    alpha
        The risk that was certified.
    delta
        Allowed chance of a false alarm, ever.

    Raises
    ------
    InputError
        Where alpha or delta is no share, or `bad` holds anything but truth values.

    Examples
    --------
    >>> alarming(np.ones(20), alpha=0.05).reached, alarming(np.zeros(20), alpha=0.05).reached
    (2, None)
    """
    return _process(alarming_wealth(_in_order(bad), alpha=alpha), delta)


def certifying_wealth(bad: ArrayLike, *, alpha: float) -> Floats:
    """Return the wealth of `certifying` after each decision, along the last axis of any array of truth values.

    Examples
    --------
    >>> certifying_wealth([[False, False], [True, False]], alpha=0.05).round(3)
    array([[1.031, 1.063],
           [0.416, 0.424]])
    """
    return _wealth(np.asarray(bad, dtype=np.bool_), alpha, _low_bets(alpha), _STAKES_LOW)


def alarming_wealth(bad: ArrayLike, *, alpha: float) -> Floats:
    """Return the wealth of `alarming` after each decision, along the last axis of any array of truth values.

    Examples
    --------
    >>> alarming_wealth([True, False], alpha=0.5).round(3)
    array([1.72 , 0.396])
    """
    bets = np.minimum(_TOWARDS_HIGH, _LARGEST / share(alpha, "alpha"))
    return _wealth(np.asarray(bad, dtype=np.bool_), alpha, bets, np.full(len(bets), 1 / len(bets)))


def risk_bounds(bad: ArrayLike, *, delta: float = 0.05) -> Interval:
    """Return bounds of the risk that hold after every decision at once, however often they are looked at.

    Parameters
    ----------
    bad
        Whether each decision was an error, in order.
    delta
        Allowed chance that a bound is ever wrong; each has half of it.

    Raises
    ------
    InputError
        Where delta is no share, or `bad` holds anything but truth values.

    Notes
    -----
    The lower bound is the largest risk against which `alarming` reached its limit, the upper one the smallest against
    which `certifying` did.

    Examples
    --------
    >>> low, high = risk_bounds(np.arange(100) % 10 == 9)
    >>> round(low, 3), round(high, 3)
    (0.032, 0.208)
    """
    wrong, half = _in_order(bad), share(delta, "delta") / 2

    def above(alpha: float) -> bool:
        return alarming(wrong, alpha=alpha, delta=half).reached is not None

    def below(alpha: float) -> bool:
        return certifying(wrong, alpha=alpha, delta=half).reached is not None

    low, _ = _edge(above)
    _, high = _edge(lambda alpha: not below(alpha))
    return Interval(low if above(low) else 0.0, high if below(high) else 1.0)


def further_needed(bad: ArrayLike, *, alpha: float, delta: float) -> int:
    """Return how many further error-free decisions would bring `certifying` to its limit.

    Parameters
    ----------
    bad
        The decisions so far, in order.
    alpha, delta
        Target risk, and allowed chance that the certificate is wrong.

    Raises
    ------
    InputError
        Where alpha or delta is no share, or `bad` holds anything but truth values.

    Examples
    --------
    >>> further_needed([], alpha=0.05, delta=0.10), further_needed(np.zeros(60), alpha=0.05, delta=0.10)
    (64, 4)
    """
    wrong = _in_order(bad)
    if certifying(wrong, alpha=alpha, delta=delta).reached is not None:
        return 0
    good, lost = _growth(alpha, _low_bets(alpha))
    errors = int(wrong.sum())
    now = np.log(_STAKES_LOW) + errors * lost + (len(wrong) - errors) * good

    def enough(more: int) -> bool:
        return float(np.logaddexp.reduce(now + more * good)) >= math.log(1 / delta)

    high = 1
    while not enough(high):
        high *= 2
    return bisect_left(range(high), 1, lo=high // 2, key=enough)


def labels_for_power(risk: float, *, alpha: float, delta: float, power: float = 0.8) -> int | None:
    """Return about how many decisions bring `certifying` to its limit with chance `power` if the true risk is `risk`.

    Parameters
    ----------
    risk
        True share of errors, for instance the one observed.
    alpha, delta
        Target risk, and allowed chance that the certificate is wrong.
    power
        Wanted chance of a certificate.

    Returns
    -------
    int or None
        To 2 %, on the safe side; None where the risk is not below alpha, or a million decisions do not suffice.

    Raises
    ------
    InputError
        Where one of the numbers is no share.

    Examples
    --------
    >>> labels_for_power(0.02, alpha=0.05, delta=0.10), labels_for_power(0.05, alpha=0.05, delta=0.10)
    (440, None)
    """
    from scipy.stats import binom

    if not 0 <= risk <= 1:
        raise InputError(f"risk must lie between 0 and 1, got {risk}.")
    good, lost = _growth(alpha, _low_bets(alpha))
    stakes, limit = np.log(_STAKES_LOW), math.log(1 / share(delta, "delta"))
    if risk >= alpha:
        return None
    sizes = np.unique(np.geomspace(1, MOST, 700).astype(np.int64))
    low, high = np.full(len(sizes), -1), sizes + 1
    while (high - low > 1).any():
        middle = (low + high) // 2
        now = stakes + np.multiply.outer(middle, lost) + np.multiply.outer(sizes - middle, good)
        enough = np.logaddexp.reduce(now, axis=1) >= limit
        low, high = np.where(enough, middle, low), np.where(enough, high, middle)
    certain = np.asarray(binom.cdf(low, sizes, risk) >= share(power, "power"))
    return int(sizes[np.argmax(certain)]) if certain.any() else None


def _edge(holds: Callable[[float], bool]) -> tuple[float, float]:
    """Return two neighbouring shares, between which a claim that holds for small ones ceases to hold."""
    low, high = 1e-6, 1 - 1e-6
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low, high


def _in_order(bad: ArrayLike) -> Flags:
    array = np.asarray(bad)
    return flags(array, array.size, "bad")


def _low_bets(alpha: float) -> Floats:
    return -np.array(_TOWARDS_LOW) / (1 - share(alpha, "alpha"))


def _growth(alpha: float, bets: Floats) -> tuple[Floats, Floats]:
    """Return the growth of the logarithm of each bet's wealth by a good decision and by an error."""
    return np.log1p(-bets * alpha), np.log1p(bets * (1 - alpha))


def _wealth(wrong: Flags, alpha: float, bets: Floats, stakes: Iterable[float]) -> Floats:
    """Sum, over the bets, the stake times the product of 1 + bet (x - alpha) over the decisions so far."""
    errors, total = wrong.cumsum(axis=-1), np.zeros(wrong.shape)
    right = np.arange(1, wrong.shape[-1] + 1) - errors
    for good, lost, stake in zip(*_growth(alpha, bets), stakes, strict=True):
        total += stake * np.exp(np.minimum(errors * lost + right * good, _LARGEST_LOG))
    return total


def _process(wealth: Floats, delta: float) -> EProcess:
    limit = 1 / share(delta, "delta")
    there = wealth >= limit
    return EProcess(wealth=wealth, limit=limit, reached=int(np.argmax(there)) + 1 if there.any() else None)
