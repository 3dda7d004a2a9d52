"""What else changed since the certificate: coverage, unsure answers, scores, the errors of one workflow.

These warn. None of them is evidence about the certified risk, so none voids a certificate or raises the alarm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from check_workbench.certificates.sides import Region
from check_workbench.certificates.wording import many
from check_workbench.results import DECIDED
from check_workbench.stats.guards import LIMIT, Guard, drift, halves, segments
from check_workbench.stats.intervals import percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from check_workbench.calibration.units import Units
    from check_workbench.monitoring.granted import Granted
    from check_workbench.monitoring.work import Work

FEWEST = 10
"""Labels that a workflow needs before its errors are tested."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """One comparison of the work since the certificate with that before it."""

    name: str
    said: str
    p: float
    warns: bool
    """Whether p is below .001, divided by the number of signals that could be tested."""


def signals(units: Units, work: Work, certificate: Granted) -> tuple[Signal, ...]:
    """Test first submissions since the certificate against those before it.

    Parameters
    ----------
    units
        The check with its scores.
    work
        The work before and after.
    certificate
        What the check stands on.
    """
    before, after = (rows[rows["attempt"] == 1] for rows in (work.before, work.after))
    region = Region(check=units.check, side=certificate.side, reference=before, everything=units.table)
    found = [*_shares(region, before, after), *_scores(region, before, after), *_workflows(after, certificate)]
    return tuple(
        Signal(name=name, said=said, p=test.p, warns=test.p < LIMIT / len(found)) for name, said, test in found
    )


def _shares(region: Region, before: pd.DataFrame, after: pd.DataFrame) -> Iterator[tuple[str, str, Guard]]:
    if before.empty or after.empty:
        return
    left = ~before["verdict"].isin(DECIDED), ~after["verdict"].isin(DECIDED)
    named = {"coverage": region.verdict, "unsure": "unsure"}
    pairs = {name: (before["verdict"] == value, after["verdict"] == value) for name, value in named.items()}
    for name, (one, other) in {**pairs, "without a verdict": left}.items():
        counts = (int(one.sum()), len(one)), (int(other.sum()), len(other))
        (k, n), (m, total) = counts
        what = f"{region.verdict}ed" if name == "coverage" else name
        if 0 < k + m < n + total:
            yield name, f"{what}: {percent(k / n)} of the work before, {percent(m / total)} since", halves(*counts)


def _scores(region: Region, before: pd.DataFrame, after: pd.DataFrame) -> Iterator[tuple[str, str, Guard]]:
    one, other = (region.scores(region.scored(rows)) for rows in (before, after))
    if not len(one) or not len(other):
        return
    test = drift(one, other)
    yield "scores", f"scores: their distributions lie {test.statistic:.2f} apart (Kolmogorov-Smirnov)", test


def _workflows(after: pd.DataFrame, certificate: Granted) -> Iterator[tuple[str, str, Guard]]:
    asked = after[after["state"] == "done"]
    names, place = np.unique(asked["workflow"].fillna("(none)").astype(str), return_inverse=True)
    positive = asked["positive"].to_numpy(dtype=bool)
    errors = np.bincount(place, weights=positive if certificate.side == "false_pass" else ~positive)
    n = np.bincount(place)
    if len(names) < 2:
        return
    large = n >= FEWEST
    tests = segments(errors[large], n[large], alpha=certificate.target) if large.any() else ()
    for name, e, total, test in zip(names[large], errors[large], n[large], tests, strict=True):
        said = f"workflow {name}: {many(int(e), 'error')} in {total}, tested against twice the target"
        yield f"workflow {name}", said, test
