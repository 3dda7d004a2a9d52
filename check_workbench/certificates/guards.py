"""What holds a certificate back although the bounds hold: a bad workflow, drift, people who disagree too much."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from check_workbench.comparison.people import ceiling_of, each_said, opinions_on
from check_workbench.errors import UndefinedError
from check_workbench.stats.guards import LIMIT, ceiling, drift, halves, segments
from check_workbench.stats.intervals import percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from check_workbench.certificates.hygiene import Sample
    from check_workbench.certificates.sides import Region
    from check_workbench.certificates.tested import Tested
    from check_workbench.checks import Check
    from check_workbench.comparison.people import Ceiling
    from check_workbench.plans import Plan
    from check_workbench.store import Store

SEGMENT_LABELS = 30
DRIFT_TESTS = 2


def violations(region: Region, found: Tested, sample: Sample) -> list[str]:
    """Return in words every guard that strong evidence violates.

    Parameters
    ----------
    region
        The side that was tested.
    found
        The test, with the labels that it counted.
    sample
        All labels and all work.
    """
    return [*_segments(region, found), *_drift(region, found, sample)]


def human_ceiling(check: Check, store: Store, plan: Plan, sample: Sample) -> Ceiling:
    """Measure how far people agree who decided the same work, as a comparison does.

    Parameters
    ----------
    check
        The check.
    store
        Asked for every decision.
    plan
        Says which decisions count.
    sample
        The work that the check judges.
    """
    opinions = opinions_on(check, store, kind=plan.labels)
    return ceiling_of(check, sample.population, opinions, each_said(opinions))


def out_of_reach(found: Tested, people: Ceiling | None) -> Iterator[str]:
    """Yield that people who decide blind disagree more often than the check may err, if they clearly do.

    Parameters
    ----------
    found
        The test.
    people
        From `human_ceiling`.
    """
    if people is None or not people.blind or people.disagreement is None:
        return
    apart = round(people.disagreement[0] * people.n, 9) // 1
    guard = ceiling(int(apart), people.n, alpha=found.bound.target, delta=found.bound.delta)
    if guard is not None and guard.violated:
        yield (
            f"ceiling: people disagreed on {apart:.0f} of {people.n} units that several decided blind, so on at least "
            f"{percent(guard.statistic)} of all: the target {percent(found.bound.target)} is below the human ceiling. "
            "Settle what they disagree on, or raise the target"
        )


def by_workflow(region: Region, found: Tested) -> list[dict[str, Any]]:
    """Count labels and errors of each workflow, where there are several.

    Parameters
    ----------
    region
        The side that was tested.
    found
        The test, with the labels that it counted.
    """
    names, n, errors = _counts(region, found)
    return [
        {"side": found.bound.side, "workflow": str(name), "n": int(total), "errors": int(e),
         "tested": bool(total >= SEGMENT_LABELS)}
        for name, total, e in zip(names, n, errors, strict=True)
        if len(names) > 1
    ]  # fmt: skip


def _counts(region: Region, found: Tested) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    if found.labels is None or found.labels.empty:
        return np.array([]), np.array([]), np.array([])
    names, place = np.unique(found.labels["workflow"].fillna("(none)").astype(str), return_inverse=True)
    return names, np.bincount(place), np.bincount(place, weights=region.wrong(found.labels))


def _segments(region: Region, found: Tested) -> Iterator[str]:
    names, n, errors = _counts(region, found)
    large = n >= SEGMENT_LABELS
    if large.sum() < 2:
        return
    tests = segments(errors[large], n[large], alpha=found.bound.target)
    for name, e, total, test in zip(names[large], errors[large], n[large], tests, strict=True):
        if test.violated:
            yield f"segment: workflow {name} errs in {int(e)} of {total}, above twice the target (p {test.p:.2g})"


def _drift(region: Region, found: Tested, sample: Sample) -> Iterator[str]:
    rows = region.scored(sample.population)
    rows = rows[rows["started_at"].notna()].sort_values(["started_at", "run_id"])
    middle = len(rows) // 2
    tests = []
    try:
        tests.append(("the scores", drift(region.scores(rows.iloc[:middle]), region.scores(rows.iloc[middle:]))))
    except UndefinedError:
        tests = []
    labels = found.labels
    if labels is not None and len(labels) > 1:
        wrong = region.wrong(labels.sort_values(["decided_at", "run_id"]))
        half = len(wrong) // 2
        counts = [(int(part.sum()), len(part)) for part in (wrong[:half], wrong[half:])]
        tests.append(("the rate of errors", halves(counts[0], counts[1])))
    for what, test in tests:
        if test.p < LIMIT / DRIFT_TESTS:
            yield f"drift: {what} changed between the halves of the window (p {test.p:.2g})"
