"""Ways to certify a cut, ours and others', each called as its documentation says."""

from __future__ import annotations

import importlib.metadata
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from check_workbench.stats.certify import coverage_cuts, p_value, walk

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

ANCHORS = 10
"""Cuts that Holm's procedure tests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Labelled work, all scores, and what must hold of the work at or above the cut."""

    scores: NDArray[np.float64]
    bad: NDArray[np.bool_]
    unlabelled: NDArray[np.float64]
    alpha: float
    delta: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way to certify: the loosest certified cut of a task, or None."""

    name: str
    certify: Callable[[Task], float | None]
    draws: int
    """Draws that it is worth waiting for."""
    package: str | None = None
    """What must be installed for it."""
    guaranteed: bool = True
    """Whether it claims that the risk exceeds alpha with a chance of delta at most."""

    @property
    def version(self) -> str | None:
        """The version of its package that is installed; None where none is, or none is needed."""
        try:
            return importlib.metadata.version(self.package) if self.package else None
        except importlib.metadata.PackageNotFoundError:
            return None

    @property
    def missing(self) -> bool:
        """Whether its package is not installed."""
        return self.package is not None and self.version is None


def ours(task: Task) -> float | None:
    """Test cuts of unlabelled scores together, as the product does."""
    cuts = coverage_cuts(task.unlabelled)
    return walk(task.scores, task.bad, cuts, alpha=task.alpha, delta=task.delta).at


def holm(task: Task) -> float | None:
    """Test ten cuts at equal steps of coverage, with Holm's correction."""
    cuts = coverage_cuts(task.unlabelled, k=ANCHORS)
    passing = task.scores >= cuts.at[:, None]
    p = p_value((passing & task.bad).sum(axis=1), passing.sum(axis=1), task.alpha)
    order = np.argsort(p, kind="stable")
    kept = np.logical_and.accumulate(p[order] <= task.delta / np.arange(len(p), 0, -1))
    return float(cuts.at[order[kept]].min()) if kept.any() else None


def naive(task: Task) -> float | None:
    """Take the loosest cut whose labels show no more errors than allowed: what teams do."""
    cuts = coverage_cuts(task.unlabelled)
    passing = task.scores >= cuts.at[:, None]
    good = (passing & task.bad).sum(axis=1) <= task.alpha * passing.sum(axis=1)
    good &= passing.any(axis=1)
    return float(cuts.at[good].min()) if good.any() else None


def judge_audit(task: Task, *, start_errors: int = 0) -> float | None:
    """Certify with kunko-judge-audit: a walk over labelled scores, from the strictest cut that could pass."""
    from judge_audit.metrics.selective import certify_threshold

    found = certify_threshold(
        task.scores.tolist(),
        (~task.bad).tolist(),
        task.alpha,
        delta=task.delta,
        start_errors=start_errors,
    )
    return None if found["threshold"] is None else float(found["threshold"])


def judge_audit_later(task: Task) -> float | None:
    """Certify with kunko-judge-audit from the strictest cut that could pass with two errors."""
    return judge_audit(task, start_errors=2)


def mapie(task: Task) -> float | None:
    """Certify the precision of what passes with MAPIE, its thresholds and its correction as they come."""
    from mapie.risk_control import BinaryClassificationController

    controller = BinaryClassificationController(
        predict_function=lambda scores: np.column_stack([1 - scores, scores]),
        risk="precision",
        target_level=1 - task.alpha,
        confidence_level=1 - task.delta,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # it warns where no threshold holds
        controller.calibrate(task.scores, (~task.bad).astype(int))
    return None if controller.best_predict_param is None else float(controller.best_predict_param)


AUDIT = Way(name="kunko-judge-audit", certify=judge_audit, draws=50, package="kunko-judge-audit")
WAYS = (
    Way(name="ours", certify=ours, draws=1000),
    AUDIT,
    Way(
        name="kunko-judge-audit, start_errors=2",
        certify=judge_audit_later,
        draws=50,
        package="kunko-judge-audit",
    ),
    Way(name="mapie", certify=mapie, draws=300, package="mapie"),
    Way(name="Holm, ten cuts", certify=holm, draws=1000),
    Way(name="naive", certify=naive, draws=1000, guaranteed=False),
)
