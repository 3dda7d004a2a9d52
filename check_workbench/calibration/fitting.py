"""From the labels of a question to what its scores mean, where there are enough of them."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Literal

import numpy as np

from check_workbench.calibration.cautions import ROUNDING, probable
from check_workbench.calibration.meaning import Meaning, Reading
from check_workbench.errors import UndefinedError
from check_workbench.stats.bands import band
from check_workbench.stats.crossfit import cross_fitted, reliability
from check_workbench.stats.recalibration import BETA_FROM, ISOTONIC_FROM, Beta, Isotonic, recalibrate
from check_workbench.stats.reliability import calibration_error
from check_workbench.stats.told import Told, counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from check_workbench.calibration.points import Labelled
    from check_workbench.checks import Check, Threshold
    from check_workbench.stats.recalibration import Recalibrated
    from check_workbench.stats.reliability import CalibrationError

    Floats = NDArray[np.float64]

FEWEST, FEWEST_OF_EACH = 50, 10
"""Labels, and labels of the rarer kind, below which a curve says next to nothing."""
FEWEST_CLUSTERS = 20
"""Sessions below which their spread is not known well enough."""
PLACES = (0.1, 0.3, 0.5, 0.7, 0.9)
MIDDLE = (0.025, 0.975)
"""No reading lies outside these quantiles of the labelled scores."""
LINE = 41
PER_BIN, MOST_BINS = 10, 10


def meaning(
    check: Check,
    threshold: Threshold,
    of: Labelled,
    clusters: NDArray[np.object_],
    before: CalibrationError | None,
) -> Meaning | None:
    """Fit a curve from what the judge says to how often people say so.

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
    before
        How far the scores as they stand lie from what people say.

    Returns
    -------
    Meaning or None
        None where the scores are no probabilities by their nature: rules, levels, confidences, questions as one.
    """
    if not probable(check, threshold):
        return None
    none = Meaning(means=of.means, labels=len(of.scores))
    reason = _refused(of, clusters)
    if reason is not None:
        return dataclasses.replace(none, reason=reason)
    said = np.minimum(of.scores, 1.0)
    meant = of.positive if of.means == "problem" else ~of.positive
    told = Told.of(said, meant, weights=of.weights, clusters=clusters.astype(str))
    curve = recalibrate(said, meant, weights=of.weights, clusters=told.group)
    try:
        unseen = cross_fitted(curve, told)
    except UndefinedError:
        return dataclasses.replace(
            none, reason="the labels of one kind, or with one of two scores, come from too few sessions"
        )
    name, why = _kind(curve, len(said))
    return dataclasses.replace(
        none,
        curve=name,
        why=why,
        readings=_read(curve, told, _places(said)),
        line=_read(curve, told, np.linspace(said.min(), said.max(), LINE)),
        bins=reliability(curve, told, bins=int(np.clip(len(said) // PER_BIN, 2, MOST_BINS))),
        before=before,
        after=calibration_error(unseen, meant, weights=of.weights, clusters=told.group),
    )


def _refused(of: Labelled, clusters: NDArray[np.object_]) -> str | None:
    """Say why no curve can be fitted."""
    scores, n = of.scores, len(of.scores)
    if not n:
        return "no labels"
    if np.isin(scores, (0, 1)).all():
        return "the answers are bare choices without a probability"
    if scores.min() < 0 or scores.max() > 1 + ROUNDING:
        return f"some scores are no probabilities, they go from {scores.min():g} to {scores.max():g}"
    rarer = min(int(of.positive.sum()), int((~of.positive).sum()))
    if n < FEWEST or rarer < FEWEST_OF_EACH:
        wanted = f"a curve needs {FEWEST}, with {FEWEST_OF_EACH} of each kind"
        return f"too few labels ({n}, {rarer} of the rarer kind): {wanted}"
    if of.weights is not None and (equal := counted(of.positive, of.weights, 1.0)[1]) < FEWEST:
        return (
            f"the {n} labels stand for so differing amounts of work that they tell no more than {equal:.0f} equal would"
        )
    several = len(np.unique(clusters.astype(str)))
    if several < min(n, FEWEST_CLUSTERS):
        return f"the {n} labels come from {several} sessions only"
    if scores.min() == scores.max():
        return f"all labelled scores are {scores[0]:g}"
    return None


def _kind(curve: Recalibrated, n: int) -> tuple[Literal["platt", "beta", "isotonic"], str]:
    match curve:
        case Isotonic():
            return "isotonic", f"the isotonic curve ({n} labels, {ISOTONIC_FROM} or more, and a smooth curve misses)"
        case Beta():
            return "beta", f"the beta curve ({n} labels, {BETA_FROM} or more)"
    if n >= BETA_FROM:
        return "platt", f"Platt's curve ({n} labels; a beta curve would not rise)"
    return "platt", f"Platt's curve ({n} labels, fewer than {BETA_FROM})"


def _places(said: Floats) -> Floats:
    """Return round scores among the labelled ones; where these lie close together, quantiles of them."""
    low, high = np.quantile(said, MIDDLE)
    inside = [place for place in PLACES if low <= place <= high]
    if len(inside) > 2:
        return np.array(inside)
    observed = np.quantile(said, PLACES, method="inverted_cdf")
    near = np.unique(np.clip(observed.round(2), said.min(), said.max()))
    return near if len(near) > 1 else np.unique(observed)


def _read(curve: Recalibrated, told: Told, at: Floats) -> tuple[Reading, ...]:
    columns = (at, curve(at), *band(curve, told, at))
    return tuple(Reading(*map(float, row)) for row in zip(*columns, strict=True))
