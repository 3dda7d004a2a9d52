"""Groups of work under one cut: where their rates differ, and where only their difference makes the scores rank.

Pooled over groups that have problems more and less often, scores that merely follow the group look as if they told good
work from bad (Simpson's paradox). Whoever then uses the cut within one group finds nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from check_workbench.errors import UndefinedError
from check_workbench.stats.curves import auc
from check_workbench.stats.intervals import Estimate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from check_workbench.calibration.points import Labelled

LIMIT = 0.01
"""Chance that a warning comes though no group differs, over all groups and rates together."""
FEWEST = 20
"""Labels that a group must have to be listed."""
LISTED = 8
SURE = 0.99
"""Confidence with which the ranking within groups must miss the pooled one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The labels of one group, and what the cut does to them."""

    by: str
    """What the group is one of: a workflow, a model, a method."""
    name: str
    n: int
    positives: int
    auc: Estimate | None
    flagged: int
    true: int
    """Flagged labels that are problems."""

    def to_dict(self) -> dict[str, Any]:
        """Return the group as JSON knows it."""
        named = {"by": self.by, "group": self.name, "n": self.n, "positives": self.positives}
        ranked = {"auc": self.auc.value, "auc_interval": [self.auc.low, self.auc.high]} if self.auc else {"auc": None}
        return {**named, **ranked, "flagged": self.flagged, "true": self.true}


def grouped(values: pd.Series[Any], by: str, of: Labelled, hit: NDArray[np.bool_]) -> tuple[Group, ...]:
    """Return the groups of labels, in the order of their names.

    Parameters
    ----------
    values
        The group of each label; missing ones are a group of their own.
    by
        What they are.
    of
        The labels.
    hit
        Which of them the cut flags.
    """
    names = values.astype(object).where(values.notna(), "(none)").astype(str).to_numpy()
    turned = of.scores if of.means == "problem" else -of.scores
    return tuple(
        Group(
            by=by,
            name=str(name),
            n=int(mine.sum()),
            positives=int(of.positive[mine].sum()),
            auc=ranking(turned[mine], of.positive[mine]),
            flagged=int(hit[mine].sum()),
            true=int((hit & of.positive)[mine].sum()),
        )
        for name in np.unique(names)
        for mine in [names == name]
    )


def ranking(turned: NDArray[np.float64], positive: NDArray[np.bool_], *, confidence: float = 0.95) -> Estimate | None:
    """Return the AUC of scores that mean problem, or None where one kind of label is absent."""
    try:
        return auc(turned, positive, confidence=confidence)
    except UndefinedError:
        return None


def differing(groups: Sequence[Group], at: float | None, *, recall: bool = True) -> Iterator[str]:
    """Say which rates at a cut differ between groups by more than chance explains.

    Each group is tested against all others (Fisher's exact test), at `LIMIT` over the number of tests (Bonferroni).

    Parameters
    ----------
    groups
        Groups of one kind.
    at
        The cut.
    recall
        Whether recall can be known.

    Examples
    --------
    >>> told = {"by": "workflow", "n": 60, "positives": 30, "auc": None, "flagged": 30}
    >>> list(differing([Group(name="a", true=28, **told), Group(name="b", true=12, **told)], 3.0, recall=False))
    ['precision at 3 differs between workflows: a 28/30, b 12/30; look at each on its own']
    """
    large = [group for group in groups if group.n >= FEWEST]
    rates = {"precision": [(group.true, group.flagged) for group in large]}
    if recall:
        rates["recall"] = [(group.true, group.positives) for group in large]
    against = len(large) if len(large) > 2 else 1
    place = "as it stands" if at is None else f"at {at:g}"
    for name, counts in rates.items():
        p = [_against_others(counts, mine) for mine in range(against)] if len(large) > 1 else [1.0]
        if min(p) < LIMIT / (against * len(rates)):
            order = sorted(range(len(large)), key=lambda i: (p[i] if against > 1 else 0, large[i].name))[:LISTED]
            shown = ", ".join(f"{large[i].name} {counts[i][0]}/{counts[i][1]}" for i in sorted(order))
            more = f" and {len(large) - LISTED} more" if len(large) > LISTED else ""
            yield f"{name} {place} differs between {large[0].by}s: {shown}{more}; look at each on its own"


def _against_others(counts: Sequence[tuple[int, int]], mine: int) -> float:
    from scipy.stats import fisher_exact

    hits, n = np.array(counts).sum(axis=0)
    k, of = counts[mine]
    return float(fisher_exact(np.array([[k, of - k], [hits - k, n - of - (hits - k)]])).pvalue)


def within(values: pd.Series[Any], of: Labelled) -> Estimate | None:
    """Return how well scores rank within groups: the AUC over pairs of one group only, with its interval.

    Parameters
    ----------
    values
        The group of each label.
    of
        The labels.

    Returns
    -------
    Estimate or None
        None where fewer than two groups have labels of both kinds.

    Notes
    -----
    The groups' intervals are combined by squaring and adding their arms (Zou and Donner 2008, Statistics in
    Medicine 27).
    """
    names = values.astype(object).where(values.notna(), "(none)").astype(str).to_numpy()
    turned = of.scores if of.means == "problem" else -of.scores
    found, pairs = [], []
    for name in np.unique(names):
        mine = names == name
        one = ranking(turned[mine], of.positive[mine], confidence=SURE)
        if one is not None:
            found.append(one)
            pairs.append(int(of.positive[mine].sum()) * int((~of.positive[mine]).sum()))
    if len(found) < 2:
        return None
    share = np.array(pairs) / sum(pairs)
    value = math.fsum(w * one.value for w, one in zip(share, found, strict=True))
    arms = [
        math.sqrt(math.fsum((w * (end - one.value)) ** 2 for w, end, one in zip(share, ends, found, strict=True)))
        for ends in ([one.low for one in found], [one.high for one in found])
    ]
    return Estimate(value, max(0.0, value - arms[0]), min(1.0, value + arms[1]))


def misleading(pooled: Estimate | None, inside: Estimate | None, groups: Sequence[Group]) -> Iterator[str]:
    """Say where the pooled curve ranks better, or worse, than the scores do within the groups.

    Examples
    --------
    >>> list(misleading(Estimate(0.7, 0.65, 0.75), Estimate(0.52, 0.46, 0.58), ()))
    ['the pooled curve misleads: AUC 0.700 over all, but 0.520 [0.460, 0.580] within groups, so calibrate each apart']
    """
    if pooled is None or inside is None or inside.low <= pooled.value <= inside.high:
        return
    kind = f"{groups[0].by}s" if groups else "groups"
    each = [f"{group.name} {group.auc.value:.2f}" for group in groups if group.auc and group.n >= FEWEST]
    listed = f" ({', '.join(each[:LISTED])}{', …' if len(each) > LISTED else ''})" if each else ""
    yield (
        f"the pooled curve misleads: AUC {pooled.value:.3f} over all, but {inside.value:.3f} "
        f"[{inside.low:.3f}, {inside.high:.3f}] within {kind}{listed}, so calibrate each apart"
    )
