"""What a reader must know before believing a calibration: few labels, ties, biased labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from check_workbench.stats.curves import pile_up
from check_workbench.stats.intervals import Estimate, percent, upper_bound
from check_workbench.stats.reliability import calibration_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from check_workbench.calibration.points import Labelled, Point
    from check_workbench.checks import Check, Threshold
    from check_workbench.stats.reliability import CalibrationError

ROUNDING = 1e-6
"""By how much a sum of recorded probabilities may pass 1."""
FEW = 100
UNFLAGGED_NEEDED = 20
SUSPICIOUS = 0.001


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """How the labelled units came out of all scored ones, judged by the present cut."""

    recall_known: bool
    weights: NDArray[np.float64] | None
    words: str | None = None
    flagged_known: bool = True
    """Whether labels speak for all flagged work, so that precision can be known."""


def selection(flagged: NDArray[np.bool_], labelled: NDArray[np.bool_]) -> Selection:
    """Say whether recall can be known where no sampling probabilities were recorded.

    Decisions that exist only for flagged work say nothing of what was missed (verification bias).

    Parameters
    ----------
    flagged
        Per scored unit, whether the present cut flags it.
    labelled
        Per scored unit, whether it has a usable label.

    Returns
    -------
    Selection
        Weights are given per labelled unit where the two sides were labelled at clearly different rates.

    Examples
    --------
    >>> flagged = np.array([True] * 30 + [False] * 70)
    >>> selection(flagged, flagged).recall_known
    False
    """
    from scipy.stats import fisher_exact

    with_label = [int((flagged & labelled).sum()), int((~flagged & labelled).sum())]
    without = [int((flagged & ~labelled).sum()), int((~flagged & ~labelled).sum())]
    if not without[1] or not labelled.any():
        return Selection(recall_known=True, weights=None)
    if not with_label[1]:
        words = f"only flagged work has labels ({with_label[0]}), none of the {without[1]} others: recall is unknown"
        return Selection(recall_known=False, weights=None, words=words)
    if fisher_exact(np.array([with_label, without])).pvalue >= SUSPICIOUS:
        return Selection(recall_known=True, weights=None)
    rates = [w / (w + o) if w + o else 1.0 for w, o in zip(with_label, without, strict=True)]
    shown = f"{percent(rates[0])} of the flagged work and {percent(rates[1])} of the rest have labels"
    if with_label[1] < UNFLAGGED_NEEDED:
        return Selection(recall_known=False, weights=None, words=f"{shown}: recall is unknown")
    words = f"{shown}: each side was weighted up to its share, as if it had been drawn at random"
    weights = np.where(flagged[labelled], 1 / (rates[0] or 1.0), 1 / rates[1])
    return Selection(recall_known=True, weights=weights, words=words)


def few_labels(n: int, positives: int, chosen: Point | None) -> list[str]:
    """Say in words what few labels prove."""
    words = []
    if 0 < positives < n and positives < 30:
        miss = upper_bound(0, positives, delta=0.1)
        words.append(
            f"{positives} problems among {n} labels: even a cut that misses none of them "
            f"may miss up to {percent(miss)} of all problems (90 % sure)",
        )
    if 0 < n < FEW and chosen is not None and chosen.precision_low is not None:
        words.append(f"few labels ({n}): precision at the chosen cut may be as low as {chosen.precision_low:.2f}")
    return words


def flags_everything(chosen: Point | None, goal: str, *, others: bool) -> list[str]:
    """Say plainly where the chosen cut flags all work, so that the check finds nothing out.

    Parameters
    ----------
    chosen
        The chosen cut.
    goal
        What it was chosen for.
    others
        Whether a cut that leaves some work unflagged meets the goal as well.
    """
    if chosen is None or chosen.at is None or chosen.load < 1:
        return []
    only = "" if others else "only "
    return [
        f"{goal} is met {only}by flagging everything: at {chosen.at:g} all work is flagged, so the check says nothing"
    ]


def ties(everything: NDArray[np.float64], method: str | None) -> list[str]:
    """Warn where one value holds more than 20 % of the answers, as a cap at .90 does; counts of a rule may."""
    found = None if method == "rule" else pile_up(everything)
    if found is None:
        return []
    value, part = found
    return [f"{percent(part)} of the scores are exactly {value:g}: no cut can part them, they move as one group"]


def no_better_than_length(ranked: Estimate | None, length: Estimate | None) -> list[str]:
    """Warn where the mere length of the run tells problems as well as the scores do.

    Examples
    --------
    >>> no_better_than_length(Estimate(0.8, 0.75, 0.84), Estimate(0.89, 0.85, 0.92))
    ['counting would do as well: the length of the run alone ranks problems with AUC 0.890, the scores with 0.800']
    """
    if ranked is None or length is None or length.value < ranked.value or length.low <= 0.5:
        return []
    shown = f"ranks problems with AUC {length.value:.3f}, the scores with {ranked.value:.3f}"
    return [f"counting would do as well: the length of the run alone {shown}"]


def wrong_way(ranked: Estimate | None) -> list[str]:
    """Warn where the scores rank the wrong way round beyond chance.

    Examples
    --------
    >>> wrong_way(Estimate(0.31, 0.25, 0.38))[0][:39]
    'the scores rank the wrong way round (AU'
    """
    if ranked is None or ranked.high >= 0.5:
        return []
    shown = f"AUC {ranked.value:.3f}, at most {ranked.high:.3f}"
    return [f"the scores rank the wrong way round ({shown}): is the question, or what its labels mean, the other way?"]


def probable(check: Check, threshold: Threshold) -> bool:
    """Say whether what a threshold cuts are probabilities by their nature."""
    return threshold.item < len(check.items) and check.items[threshold.item].cut.probable


def honesty(check: Check, threshold: Threshold, of: Labelled, clusters: NDArray[np.object_]) -> CalibrationError | None:
    """Return how far probabilities lie from frequencies; None where scores are bare choices.

    Parameters
    ----------
    check
        The check.
    threshold
        Whose scores they are.
    of
        The labels.
    clusters
        What each label belongs to.
    """
    if not probable(check, threshold):
        return None
    if np.isin(of.scores, (0, 1)).all():
        return None
    if of.scores.min() < 0 or of.scores.max() > 1 + ROUNDING:
        return None
    meant = of.positive if of.means == "problem" else ~of.positive
    return calibration_error(np.minimum(of.scores, 1.0), meant, weights=of.weights, clusters=clusters.astype(str))


def dishonest(error: CalibrationError | None) -> list[str]:
    """Warn where probabilities are further from frequencies than chance explains."""
    if error is None or not error.beyond_chance:
        return []
    shown = f"{error.value:.2f} on average, by chance at most {error.band:.2f}"
    return [f"the probabilities do not say how often there is a problem (off by {shown}): they are an order, if that"]
