"""Decisions that belong together (one session, one customer) count for less than as many that do not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from check_workbench.errors import InputError, UndefinedError
from check_workbench.stats.arrays import flags, floats
from check_workbench.stats.certify import CutTest, own_cut, p_value
from check_workbench.stats.intervals import upper_bounds

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from check_workbench.stats.arrays import Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusteredTest:
    """One cut tested twice; it is certified only where both tests certify it."""

    clusters: int
    icc: float
    design_effect: float
    scaled: CutTest
    """With errors and decisions divided by the design effect."""
    single: CutTest
    """With one random decision per cluster, of small clusters rarely one."""

    @property
    def certified(self) -> bool:
        """Whether both tests certify."""
        return self.scaled.certified and self.single.certified

    @property
    def bound(self) -> float:
        """The weaker of the two upper bounds of the risk."""
        return max(self.scaled.bound, self.single.bound)


def icc(values: ArrayLike, clusters: ArrayLike) -> float:
    """Return the intraclass correlation by one-way analysis of variance, at least 0.

    Parameters
    ----------
    values
        What was observed, for instance 1 for an error.
    clusters
        One key per value.

    Raises
    ------
    UndefinedError
        Where there are fewer than two clusters, or none with two values.

    Notes
    -----
    Source: Donner (1986), International Statistical Review 54. Where no value differs it is 0: nothing was seen that
    could be alike.

    Examples
    --------
    >>> icc([1, 1, 0, 0], ["a", "a", "b", "b"]), icc([1, 0, 1, 0], ["a", "a", "b", "b"])
    (1.0, 0.0)
    """
    observed = floats(values, "values")
    group, size = _groups(clusters, len(observed))
    if len(size) < 2 or size.max() < 2:
        raise UndefinedError("the intraclass correlation needs two clusters or more, one of them with two decisions.")
    total, k = len(observed), len(size)
    means = np.bincount(group, weights=observed) / size
    between = float((size * (means - observed.mean()) ** 2).sum() / (k - 1))
    within = float(((observed - means[group]) ** 2).sum() / (total - k))
    typical = (total - float((size**2).sum()) / total) / (k - 1)
    spread = between + (typical - 1) * within
    return max(0.0, (between - within) / spread) if spread > 0 else 0.0


def design_effect(values: ArrayLike, clusters: ArrayLike) -> float:
    """Return by which factor the clusters make the decisions count for less; 1 where each stands alone.

    Raises
    ------
    UndefinedError
        Where all decisions belong to one cluster.

    Examples
    --------
    >>> design_effect([1, 1, 0, 0], ["a", "a", "b", "b"]), design_effect([1, 0], ["a", "b"])
    (2.0, 1.0)
    """
    _, size = _groups(clusters, len(floats(values, "values")))
    if not len(size) or size.max() < 2:
        return 1.0
    return 1 + (typical_size(size) - 1) * icc(values, clusters)


def one_per_cluster(clusters: ArrayLike, *, seed: int = 0) -> Ints:
    """Return the places of one random member of each cluster, in the clusters' order; small clusters are kept rarely.

    Parameters
    ----------
    clusters
        One key per value.
    seed
        For the members, and for which clusters are kept.

    Notes
    -----
    A cluster below the typical size, which is the mean that a random member sees, is kept with a chance in proportion
    to its size. So every member has the same chance, but for those of still larger clusters, and what is wrong in large
    clusters alone does not vanish among many small ones.

    Examples
    --------
    >>> one_per_cluster(["a", "b", "a", "b"], seed=1)
    array([0, 3])
    """
    group, size = _groups(clusters, np.asarray(clusters).shape[0])
    order = np.argsort(group, kind="stable")
    first = np.cumsum(size) - size
    rng = np.random.default_rng(seed)
    picked = order[first + rng.integers(0, size)]
    return np.asarray(picked[rng.random(len(size)) * typical_size(size) < size])


def typical_size(size: ArrayLike) -> float:
    """Return the mean size of the cluster that a random member belongs to.

    Examples
    --------
    >>> typical_size([3, 3]), typical_size([5, 1])
    (3.0, 4.333333333333333)
    """
    sizes = floats(size, "sizes")
    return float((sizes**2).sum() / sizes.sum()) if len(sizes) else 0.0


def equal_clusters(clusters: ArrayLike) -> float:
    """Return to how many clusters of one size these amount (Kish).

    Notes
    -----
    Source: Kish (1965), Survey sampling, effective sample size under unequal weights.

    Examples
    --------
    >>> equal_clusters(["a", "a", "b", "b"]), equal_clusters(["a", "a", "a", "b"])
    (2.0, 1.6)
    """
    _, size = _groups(clusters, np.asarray(clusters).shape[0])
    return float(size.sum() / typical_size(size)) if len(size) else 0.0


def effective_test(errors: float, n: float, effect: float, *, alpha: float, delta: float) -> CutTest:
    """Test a fixed cut with errors and decisions divided by a design effect.

    Parameters
    ----------
    errors, n
        Errors among how many labelled decisions that pass the cut.
    effect
        The design effect, at least 1.
    alpha, delta
        Target risk, and allowed chance that a certificate is wrong.

    Raises
    ------
    InputError
        Where the design effect is below 1.

    Examples
    --------
    >>> effective_test(0, 90, 1, alpha=0.05, delta=0.10).certified
    True
    >>> effective_test(0, 90, 2.5, alpha=0.05, delta=0.10).certified
    False
    """
    if effect < 1:
        raise InputError(f"a design effect is at least 1, got {effect}.")
    e, total = errors / effect, n / effect
    p = float(p_value(e, total, alpha))
    bound = float(upper_bounds(e, total, delta=delta)) if n else 1.0
    return CutTest(p=p, bound=bound, certified=p <= delta)


def clustered_test(bad: ArrayLike, clusters: ArrayLike, *, alpha: float, delta: float, seed: int = 0) -> ClusteredTest:
    """Test a fixed cut on decisions that come in clusters.

    Parameters
    ----------
    bad
        Whether each decision that passes the cut was an error.
    clusters
        One key per decision.
    alpha, delta
        Target risk, and allowed chance that a certificate is wrong.
    seed
        For the random members.

    Raises
    ------
    UndefinedError
        Where all decisions belong to one cluster.

    Examples
    --------
    >>> keys = np.repeat(np.arange(50), 4)
    >>> clustered_test(np.zeros(200), keys, alpha=0.05, delta=0.10).certified
    True
    """
    wrong = flags(bad, np.asarray(clusters).shape[0], "bad")
    single = wrong[one_per_cluster(clusters, seed=seed)]
    several = len(np.unique(np.asarray(clusters)))
    effect = design_effect(wrong, clusters)
    together = effect > 1.0
    return ClusteredTest(
        clusters=several,
        icc=icc(wrong, clusters) if together else 0.0,
        design_effect=effect,
        scaled=effective_test(int(wrong.sum()), len(wrong), effect, alpha=alpha, delta=delta),
        single=own_cut(int(single.sum()), len(single), alpha=alpha, delta=delta),
    )


def _groups(clusters: ArrayLike, length: int) -> tuple[Ints, Ints]:
    keys = np.asarray(clusters)
    if keys.shape != (length,):
        raise InputError(f"clusters must have one key per value: {length} values, got shape {keys.shape}.")
    _, group = np.unique(keys, return_inverse=True)
    return group, np.bincount(group) if length else np.zeros(0, dtype=np.int64)
