"""May a cut be trusted? Exact tests that the risk among what passes it is at most alpha.

Scores here mean *good*: what has a score at or above the cut passes. To certify the other side (good work failed),
hand in negated scores and count good work as bad.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betaincc, ndtri
from scipy.stats import nbinom

from check_workbench.errors import InputError, UndefinedError
from check_workbench.stats.arrays import counts, flags, floats, share
from check_workbench.stats.intervals import upper_bound
from check_workbench.stats.nested import limits

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from check_workbench.stats.arrays import Floats, Ints

MOST = 1_000_000
"""Labels beyond which nobody collects."""
START = 0.40
"""Coverage of the cut that speaks where no cut is certified, fixed before any label is read."""
STRICTEST = 0.5
"""Share of the start at which cuts begin to be tested."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CutTest:
    """One exact test of one cut that was fixed before the labels were read."""

    p: float
    """Chance of so few errors if the risk were exactly alpha."""
    bound: float
    """Upper bound of the risk, wrong with chance delta at most."""
    certified: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Cuts:
    """A path of cuts, strictest first, with the share of unlabelled scores that passes each."""

    at: Floats
    coverage: Floats
    start: int
    """Place of the cut that speaks where none is certified."""
    first: int
    """Place of the strictest cut that is tested."""
    labelled: bool = False
    """Whether labelled work is among the scores that made the cuts; then the label that lies at a cut does not count
    there, since it made the cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """How far the tests came: what each cut was tested with, and the loosest that passed."""

    errors: Ints
    """Labelled errors among what passes, per cut."""
    n: Ints
    """Labels among what passes, per cut."""
    p: Floats
    level: Floats
    """Delta at which each cut was last tested; 0 where it was not."""
    passed: NDArray[np.bool_]
    certified: int | None = None
    """Place of the loosest certified cut; None where no test passed."""
    at: float | None = None
    coverage: float = 0.0
    bound: float | None = None
    """Upper bound of the risk at the certified cut, for the delta at which it was tested."""


def p_value(errors: ArrayLike, n: ArrayLike, alpha: float) -> Floats:
    """Return the chance of so few errors among n if the risk were exactly alpha; fractional counts are allowed.

    Parameters
    ----------
    errors, n
        Errors among how many decisions; arrays broadcast.
    alpha
        Target risk.

    Examples
    --------
    >>> round(float(p_value(0, 45, 0.05)), 4)
    0.0994
    """
    hits, total = np.broadcast_arrays(np.asarray(errors, dtype=np.float64), np.asarray(n, dtype=np.float64))
    rest = total - hits
    inner = betaincc(hits + 1, np.where(rest > 0, rest, 1), share(alpha, "alpha"))
    return np.where(rest > 0, inner, 1.0)


def own_cut(errors: int, n: int, *, alpha: float, delta: float) -> CutTest:
    """Test one cut that was fixed beforehand for a risk of at most alpha.

    Parameters
    ----------
    errors, n
        Errors among how many labelled decisions that pass the cut.
    alpha
        Target risk.
    delta
        Allowed chance that a certificate is wrong.

    Examples
    --------
    >>> own_cut(0, 45, alpha=0.05, delta=0.10).certified, own_cut(0, 44, alpha=0.05, delta=0.10).certified
    (True, False)
    """
    counts(errors, n, "errors")
    p = float(p_value(errors, n, alpha))
    bound = upper_bound(errors, n, delta=delta) if n else 1.0
    return CutTest(p=p, bound=bound, certified=p <= share(delta, "delta"))


def distinct(scores: ArrayLike) -> int:
    """Return how many different values there are.

    Examples
    --------
    >>> distinct([0.5, 0.5, 0.9])
    2
    """
    return len(np.unique(floats(scores)))


def coverage_cuts(unlabelled: ArrayLike, *, k: int = 50, start: float = START) -> Cuts:
    """Return cuts at k equal steps of coverage over unlabelled scores, as whole groups of equal scores.

    Parameters
    ----------
    unlabelled
        Scores of recorded work, labelled or not; the labels themselves are not used.
    k
        Number of steps.
    start
        Coverage that speaks where no cut is certified; cuts are tested from half of it. Fix it before any label is
        read.

    Raises
    ------
    UndefinedError
        Where there are no scores.

    Notes
    -----
    Given such a cut, the errors among labels that pass it are exactly binomial; at a labelled score they are not.

    Examples
    --------
    >>> cuts = coverage_cuts([0.1, 0.2, 0.3, 0.4], k=4)
    >>> cuts.at, cuts.coverage
    (array([0.4, 0.3, 0.2, 0.1]), array([0.25, 0.5 , 0.75, 1.  ]))
    """
    ordered = np.sort(floats(unlabelled, "unlabelled scores"))
    if not len(ordered):
        raise UndefinedError("no cuts: there are no unlabelled scores. Evaluate the check over recorded runs first.")
    rank = np.ceil(np.arange(1, k + 1) * len(ordered) / k - 1e-9).astype(np.int64)
    at = np.unique(ordered[len(ordered) - rank])[::-1]
    passing = len(ordered) - np.searchsorted(ordered, at, side="left")
    coverage = passing / len(ordered)
    middle, first = np.searchsorted(coverage, [share(start, "start") - 1e-9, STRICTEST * start - 1e-9]).tolist()
    return Cuts(at=at, coverage=coverage, start=middle, first=first)


def walk(scores: ArrayLike, bad: ArrayLike, cuts: Cuts, *, alpha: float, delta: float) -> Walk:
    """Test all cuts together, then again, with more of delta for each, those looser than the strictest that failed.

    Nothing but the scores' order decides which limits speak for which cut, so with a chance of 1 - delta no cut is
    certified whose risk is larger than alpha, whatever the shape of the risk.

    Parameters
    ----------
    scores
        Scores of the labelled work; at or above the cut passes.
    bad
        Whether a person found the work bad.
    cuts
        From `coverage_cuts`, which also fixes which are tested.
    alpha
        Target risk among what passes.
    delta
        Allowed chance that any certified cut's risk is larger.

    Raises
    ------
    InputError
        Where scores and labels do not fit together.

    Notes
    -----
    Let T be the cuts whose risk is above alpha. Order what a labelled piece of work can be, worst first: bad at the
    strictest cut of T, ..., bad at the loosest, outside, good at the loosest, ..., good at the strictest. At a cut of T
    with a share c of the work, of which b is bad and g good, b > alpha c and g < (1 - alpha) c. So, were errors
    independent of scores with chance alpha and every c the same, every beginning of the order would hold less of the
    work. Hence each piece can be paired with one that is no worse (quantile coupling): at each cut of T errors become
    no more and good labels no fewer, and limits that want few errors and many good labels hold no less often. With
    independent errors a cut within a limit means that the errors among the first m labels, or as many as there are and
    further ones drawn at alpha, keep it; the chance that they keep any limit is exact.
    Before the first error only cuts outside T have been certified, so all of T was still tested, at a level no larger
    than that of T alone: sequential rejection, Goeman and Solari (2010), Annals of Statistics 38. Learn then Test
    (Angelopoulos, Bates, Candes, Jordan, Lei) is the framework.
    All this is for cuts that unlabelled work made. Where too little work is unlabelled and labelled work made them, the
    label at a cut is left out there, which is exact for one cut; for all together there is a simulation, and no proof.

    Examples
    --------
    >>> cuts = coverage_cuts(np.linspace(0, 1, 101), k=10)
    >>> labelled = np.linspace(0, 1, 201)
    >>> found = walk(labelled, labelled < 0.3, cuts, alpha=0.10, delta=0.10)
    >>> found.at, round(found.coverage, 2), found.bound < 0.10
    (0.3, 0.7, True)
    """
    share(alpha, "alpha")
    share(delta, "delta")
    values = floats(scores)
    errors, n = counted(values, bad, cuts)
    p = p_value(errors, n, alpha)
    level, passed = np.zeros(len(p)), np.zeros(len(p), dtype=np.bool_)
    fewest = _fewest(cuts.coverage, len(values))
    place = cuts.first
    while len(values) and place < len(p):
        allowed = limits(len(values), int(fewest[place]), alpha=alpha, delta=delta)
        within = allowed.hold(errors[place:], n[place:] - errors[place:], fewest[place:])
        level[place:] = np.where(passed[place:], level[place:], allowed.level)
        passed[place:] |= within
        if not passed[place]:
            break
        place += int(np.argmin([*passed[place:], False]))
    return _reached(Walk(errors=errors, n=n, p=p, level=level, passed=passed), cuts)


def counted(scores: ArrayLike, bad: ArrayLike, cuts: Cuts) -> tuple[Ints, Ints]:
    """Return errors and labels among what passes, per cut; the arguments are those of `walk`."""
    at, values = cuts.at[::-1], floats(scores)
    place = np.searchsorted(at, values, side="right")
    n = np.bincount(place, minlength=len(at) + 1)[:0:-1].cumsum()
    errors = np.bincount(place[flags(bad, len(values), "bad")], minlength=len(at) + 1)[:0:-1].cumsum()
    if cuts.labelled:
        n = np.maximum(n - np.isin(cuts.at, values), errors)
    return errors, n


def _fewest(coverage: Floats, labels: int) -> Ints:
    """Return how many labels pass each cut at least, but for bad luck; whatever is chosen here costs power alone."""
    expected = coverage * labels
    hardly_less = np.floor(expected - 2 * np.sqrt(expected * (1 - coverage) + 1)).astype(np.int64)
    return np.asarray(np.maximum(hardly_less, 1))


def _reached(found: Walk, cuts: Cuts) -> Walk:
    if not found.passed.any():
        return found
    last = int(np.flatnonzero(found.passed)[-1])
    return dataclasses.replace(
        found,
        certified=last,
        at=float(cuts.at[last]),
        coverage=float(cuts.coverage[last]),
        bound=upper_bound(int(found.errors[last]), int(found.n[last]), delta=float(found.level[last])),
    )


def labels_needed(errors: int, n: int, *, alpha: float, delta: float) -> int:
    """Return how many further error-free decisions would certify a fixed cut.

    Parameters
    ----------
    errors, n
        Errors among how many labelled decisions that pass the cut, so far.
    alpha, delta
        Target risk, and allowed chance that a certificate is wrong.

    Examples
    --------
    >>> labels_needed(0, 0, alpha=0.05, delta=0.10), labels_needed(1, 45, alpha=0.05, delta=0.10)
    (45, 32)
    """
    counts(errors, n, "errors")
    return max(0, int(_sizes(np.array([errors]), share(alpha, "alpha"), share(delta, "delta"))[0]) - n)


def labels_for_power(risk: float, *, alpha: float, delta: float, power: float = 0.8) -> int | None:
    """Return the fewest decisions that certify a fixed cut with chance `power` if its true risk is `risk`.

    Parameters
    ----------
    risk
        True share of errors, for instance the one observed.
    alpha, delta
        Target risk, and allowed chance that a certificate is wrong.
    power
        Wanted chance of a certificate.

    Returns
    -------
    int or None
        None where the risk is not below alpha, or so little that about a million labels do not suffice.

    Examples
    --------
    >>> labels_for_power(0.02, alpha=0.05, delta=0.10), labels_for_power(0.05, alpha=0.05, delta=0.10)
    (184, None)
    """
    share(alpha, "alpha")
    share(delta, "delta")
    share(power, "power")
    if not 0 <= risk <= 1:
        raise InputError(f"risk must lie between 0 and 1, got {risk}.")
    if risk >= alpha:
        return None
    about = _about(risk, alpha=alpha, delta=delta, power=power)
    if about > MOST:
        return None
    start, width = max(0, int(0.7 * alpha * about) - 50), 64
    while True:
        allowed = np.arange(start, start + width)
        sizes = _sizes(allowed, alpha, delta)
        chance = p_value(allowed, sizes, risk) if risk > 0 else np.ones(len(sizes))
        enough = chance >= power
        if enough.any():
            return int(sizes[np.argmax(enough)])
        start, width = start + width, width * 2


def _about(risk: float, *, alpha: float, delta: float, power: float) -> float:
    """Return the number of labels for a power by the normal approximation."""
    spread = -ndtri(delta) * np.sqrt(alpha * (1 - alpha)) + ndtri(power) * np.sqrt(risk * (1 - risk))
    return float((spread / (alpha - risk)) ** 2)


def _sizes(errors: Ints, alpha: float, delta: float) -> Ints:
    """Return the fewest decisions, per number of errors, for which the test certifies.

    The test certifies n decisions exactly if the (errors + 1)-th error would have come within n with chance 1 - delta.
    """
    sizes = (errors + 1 + nbinom.ppf(1 - delta, errors + 1, alpha)).astype(np.int64)
    sizes += p_value(errors, sizes, alpha) > delta
    sizes -= (sizes - 1 >= errors) & (p_value(errors, np.maximum(sizes - 1, errors), alpha) <= delta)
    return sizes
