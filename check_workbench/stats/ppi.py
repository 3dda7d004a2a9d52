"""How much of all work is bad? Few labels made to go further by the scores of the work that nobody labelled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import stdtrit

from check_workbench.errors import InputError, UndefinedError
from check_workbench.stats.arrays import flags, floats, share
from check_workbench.stats.clusters import design_effect
from check_workbench.stats.intervals import Estimate, wilson

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from check_workbench.stats.arrays import Floats, Ints

FEWEST = 100
"""Labels below which the interval is too short."""
FEWEST_OF_EACH = 20
"""Labels of the rarer kind below which it is too short as well."""
FEWEST_SILENT = 20
"""Pieces of work without a label below which their scores add nothing that is worth naming."""
FEWEST_CLUSTERS = 20
"""Clusters with labels below which their spread is not known well enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PopulationShare:
    """The share of all work that has a property, with its interval."""

    share: Estimate
    method: Literal["ppi++", "wilson"]
    """`wilson` uses the labels alone."""
    weight: float
    """How far the scores move the share: 0 where they say nothing, below 0 where they mean the opposite."""
    labels_alone: Estimate


def population_share(
    scores: ArrayLike,
    outcome: ArrayLike,
    unlabelled: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    confidence: float = 0.95,
) -> PopulationShare:
    """Estimate a share of all work from labels and from the scores of work without labels.

    Labels and unlabelled work must be drawn with equal probability from the same work. The scores may be wrong in any
    way: that costs width, never validity. With few labels, or few of one kind, the labels alone decide.

    Parameters
    ----------
    scores
        Scores of the labelled work, on any scale.
    outcome
        Whether the labelled work has the property.
    unlabelled
        Scores of the work without labels, on the same scale.
    clusters
        What each piece of work belongs to: one key for each label, then one for each piece without; None where each
        stands alone. What belongs together widens both intervals.
    confidence
        Chance, on average, that the interval covers the true share.

    Raises
    ------
    UndefinedError
        Where there are no labels, or fewer than 20 clusters with labels while some have several.
    InputError
        Where the clusters are not as many as the scores.

    Notes
    -----
    Source: Angelopoulos, Duchi and Zrnic (2023), PPI++, the mean with its best weight; Student's quantile; clusters
    by the sums of what their members add (Liang and Zeger 1986), and by a design effect for the labels alone. With
    fewer than 100 labels, 20 of either kind or 20 pieces of work without one, the interval of Wilson on the labels.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> bad = rng.random(2200) < 0.3
    >>> score = np.where(bad, 0.8, 0.2) + rng.normal(0, 0.15, 2200)
    >>> found = population_share(score[:200], bad[:200], score[200:])
    >>> found.method, [round(value, 3) for value in found.share], [round(value, 3) for value in found.labels_alone]
    ('ppi++', [0.3, 0.266, 0.334], [0.285, 0.227, 0.351])
    """
    told, silent = floats(scores), floats(unlabelled, "unlabelled scores")
    hit = flags(outcome, len(told), "outcome").astype(np.float64)
    n, positives = len(hit), int(hit.sum())
    if not n:
        raise UndefinedError("the share has no value: there are no labels. Label some of the work, drawn at random.")
    group = _groups(clusters, n, len(silent))
    effect = 1.0 if group is None else max(1.0, design_effect(hit, group[:n]))
    alone = Estimate(positives / n, *wilson(positives / effect, n / effect, confidence=confidence))
    everything = np.concatenate([told, silent])
    few = n < FEWEST or min(positives, n - positives) < FEWEST_OF_EACH
    if few or len(silent) < FEWEST_SILENT or everything.min() == everything.max():
        return PopulationShare(share=alone, method="wilson", weight=0.0, labels_alone=alone)
    weight = float(np.cov(hit, told)[0, 1] / ((1 + n / len(silent)) * everything.var(ddof=1)))
    value = float(hit.mean() + weight * (silent.mean() - told.mean()))
    variance, free = _variance(hit - weight * told, weight * silent, group)
    half = float(stdtrit(free, (1 + share(confidence, "confidence")) / 2) * np.sqrt(variance))
    value = min(1.0, max(0.0, value))
    return PopulationShare(
        share=Estimate(value, max(0.0, value - half), min(1.0, value + half)),
        method="ppi++",
        weight=weight,
        labels_alone=alone,
    )


def _groups(clusters: ArrayLike | None, n: int, silent: int) -> Ints | None:
    """Return the clusters as numbers; None where no two pieces of work belong together."""
    if clusters is None:
        return None
    keys = np.asarray(clusters)
    if keys.shape != (n + silent,):
        raise InputError(f"clusters must have one key per score: {n + silent} scores, got shape {keys.shape}.")
    _, group, size = np.unique(keys, return_inverse=True, return_counts=True)
    if size.max() == 1:
        return None
    labelled = np.bincount(group[:n])
    several = int((labelled > 0).sum())
    if labelled.max() > 1 and several < FEWEST_CLUSTERS:
        raise UndefinedError(f"the share has no interval: the {n} labels come from {several} sessions only.")
    return group


def _variance(corrected: Floats, predicted: Floats, group: Ints | None) -> tuple[float, int]:
    """Return the variance of the difference's mean plus the prediction's mean, and its degrees of freedom."""
    n, silent = len(corrected), len(predicted)
    if group is None:
        return float(corrected.var(ddof=1) / n + predicted.var(ddof=1) / silent), n - 1
    added = np.concatenate([(corrected - corrected.mean()) / n, (predicted - predicted.mean()) / silent])
    labelled = len(np.unique(group[:n]))
    return float((np.bincount(group, weights=added) ** 2).sum() * labelled / (labelled - 1)), labelled - 1
