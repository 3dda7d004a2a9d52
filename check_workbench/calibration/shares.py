"""How much of all work has the problem, where the labels can say it, and why not where they cannot."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import hypergeom

from check_workbench.calibration.units import clusters, unequal
from check_workbench.errors import UndefinedError
from check_workbench.stats.intervals import percent
from check_workbench.stats.ppi import population_share

if TYPE_CHECKING:
    import pandas as pd

    from check_workbench.calibration.cautions import Selection
    from check_workbench.stats.intervals import Estimate

UNLIKELY = 0.05
"""A side of the work without any label is no chance below this."""
MOST_UNDECIDED = 0.05
"""Where a larger part of the labelled work is undecided, work without labels tells nothing of the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """The share of problems in work of which the evaluated work is a draw, or why it is unknown."""

    value: Estimate | None = None
    method: str | None = None
    """`ppi++` uses the scores of work without labels, `wilson` the labels alone."""
    weight: float | None = None
    """How far the scores move the share."""
    labels_alone: Estimate | None = None
    assumed: bool = False
    """Whether no label says with which probability it was drawn, so that equal ones are assumed."""
    undecided: int = 0
    """Evaluated work whose decisions came to nothing: the share speaks of the work that people can decide."""
    reason: str | None = None
    """Why the share is unknown."""

    def without(self, undecided: int, labels: int) -> Share:
        """Return the share beside so much work whose decisions came to nothing; of too much, by the labels alone."""
        found = dataclasses.replace(self, undecided=undecided)
        if self.value is None or undecided <= MOST_UNDECIDED * (labels + undecided):
            return found
        return dataclasses.replace(found, value=self.labels_alone, method="wilson", weight=0.0)

    def to_dict(self) -> dict[str, Any]:
        """Return the share as JSON knows it."""
        alone = self.labels_alone
        return {
            "value": self.value.value if self.value else None,
            "interval": [self.value.low, self.value.high] if self.value else None,
            "method": self.method,
            "weight": self.weight,
            "labels_alone": {"value": alone.value, "interval": [alone.low, alone.high]} if alone else None,
            "assumed": self.assumed,
            "undecided": self.undecided,
            "reason": self.reason,
        }

    def __str__(self) -> str:
        """Return the share in one line."""
        if self.value is None or self.labels_alone is None:
            return f"problems in all evaluated work: unknown, because {self.reason}"
        work = "all evaluated work"
        work += f" that people can decide ({self.undecided} undecided)" if self.undecided else ""
        alone = f"by labels and scores (PPI++), by the labels alone {_interval(self.labels_alone)}"
        how = alone if self.method == "ppi++" else "by the labels alone (Wilson)"
        assumed = "; the labels are assumed to be a random draw" if self.assumed else ""
        return f"problems in {work}: {_interval(self.value)} {how}{assumed}"


def share_of(kept: pd.DataFrame, column: str, known: Selection) -> Share:
    """Estimate the share of problems in all work.

    Parameters
    ----------
    kept
        The scored units of one method and model.
    column
        Which column holds their scores.
    known
        How the labelled ones came out of them.

    Returns
    -------
    Share
        Unknown where the labels are no equal-probability draw of all work, or belong to too few sessions.
    """
    labelled = kept["labelled"].to_numpy(dtype=bool)
    reason = _biased(kept, labelled, known)
    if reason is not None:
        return Share(reason=reason)
    scores, keys = kept[column].to_numpy(dtype=np.float64), clusters(kept).astype(str)
    positive = kept.loc[labelled, "positive"].to_numpy(dtype=bool)
    together = np.concatenate([keys[labelled], keys[~labelled]])
    try:
        found = population_share(scores[labelled], positive, scores[~labelled], clusters=together)
    except UndefinedError as error:
        return Share(reason=str(error).rstrip("."))
    return Share(
        value=found.share,
        method=found.method,
        weight=found.weight,
        labels_alone=found.labels_alone,
        assumed=bool(kept.loc[labelled, "probability_sampled"].isna().all()),
    )


def _biased(kept: pd.DataFrame, labelled: np.ndarray[Any, np.dtype[np.bool_]], known: Selection) -> str | None:
    """Say why the labels are no equal-probability draw of all work."""
    if not labelled.any():
        return "there are no labels"
    own = kept[labelled]
    if unequal(own):
        return "labels were drawn with differing probability"
    drawn = own["probability_sampled"].notna()
    if drawn.any() and not drawn.all():
        return "only some labels say with which probability they were drawn"
    verdicts = kept["verdict"].to_numpy(dtype=object)
    for name in sorted(set(verdicts)):
        size = int((verdicts == name).sum())
        if not (labelled & (verdicts == name)).any() and hypergeom(len(kept), size, len(own)).pmf(0) < UNLIKELY:
            return f"none of the {size} units with verdict {name} has a label"
    equal = known.weights is None or np.allclose(known.weights, known.weights[0])
    if not (equal and known.recall_known and known.flagged_known):
        flagged = verdicts != "pass"
        rates = [percent(float(labelled[side].mean())) for side in (flagged, ~flagged)]
        return f"labels are no equal draw of all work: {rates[0]} of the flagged and {rates[1]} of the rest have one"
    return None


def _interval(estimate: Estimate) -> str:
    return f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"
