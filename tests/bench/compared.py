"""The same labels and the same guarantee for every way to certify: coverage, broken promises and cost."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from check_workbench.stats.intervals import clopper_pearson
from tests.bench.rivals import WAYS, Task, Way

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.bench.judged import Judged

ALPHAS = (0.05, 0.10, 0.20)
DELTA = 0.10
LABELS = (100, 300)
ALL = "all"
SEED = 11


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One way on one population: means over draws of n labels, each drawn from the whole population."""

    data: str
    alpha: float
    n: int
    way: str
    draws: int
    coverage: float
    """Mean share of all work at or above the certified cut; 0 where none was certified."""
    violations: int
    """Draws whose certified cut has a true risk above alpha."""
    low: float
    high: float
    """Clopper-Pearson interval of the rate of violations, 95 %."""
    cpu_s: float
    """CPU seconds of one call."""

    def to_json(self) -> dict[str, Any]:
        """Return the line as the benchmarks print it."""
        return asdict(self)

    def line(self) -> str:
        """Return the line as text."""
        broken = f"{self.violations:4d} of {self.draws:5d} ({100 * self.low:4.1f} to {100 * self.high:5.1f} %)"
        where = f"{self.data}, alpha {self.alpha:g}, n {self.n}"
        return f"{100 * self.coverage:5.1f} % {broken} {1000 * self.cpu_s:9.2f} ms  {where}: {self.way}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """A way whose package is not installed."""

    way: str
    package: str

    def to_json(self) -> dict[str, Any]:
        """Return the line as the benchmarks print it."""
        return {**asdict(self), "missing": True}

    def line(self) -> str:
        """Return the line as text."""
        return f"not installed: {self.package} (pip install 'check-workbench[bench]'), so no figures for {self.way}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Overall:
    """One way over all targets and numbers of labels, on one population or on all."""

    way: str
    data: str
    coverage: float
    worst: float
    """Largest observed rate of violations."""
    promised: bool
    """Whether the way promises at most delta; one that does not is no rival."""

    def to_json(self) -> dict[str, Any]:
        """Return the line as the benchmarks print it."""
        return asdict(self)

    def line(self) -> str:
        """Return the line as text."""
        kind = f"promises at most {100 * DELTA:g} %" if self.promised else "promises nothing"
        worst = f"violations up to {100 * self.worst:5.1f} % ({kind})"
        return f"{100 * self.coverage:5.1f} % {worst}  mean of {self.data}: {self.way}"


def compared(
    populations: Sequence[Judged],
    *,
    ways: Sequence[Way] = WAYS,
    most: int | None = None,
) -> list[Compared | Overall | Missing]:
    """Compare ways to certify on every population, target and number of labels.

    Parameters
    ----------
    populations
        Work with scores and truth.
    ways
        What to compare.
    most
        Largest number of draws, where a way would take more.
    """
    there = [way for way in ways if not way.missing]
    found = [
        _measured(data, alpha, n, way, most)
        for data in populations
        for alpha in ALPHAS
        for n in LABELS
        for way in there
    ]
    absent = [Missing(way=way.name, package=str(way.package)) for way in ways if way.missing]
    overall = [_overall(way, found, name) for name in (*(data.name for data in populations), ALL) for way in there]
    return [*found, *overall, *absent]


def _measured(data: Judged, alpha: float, n: int, way: Way, most: int | None) -> Compared:
    draws = min(way.draws, most) if most else way.draws
    coverage, violations, spent = 0.0, 0, 0.0
    for task in _tasks(data, alpha, n, draws):
        begun = time.process_time()
        at = way.certify(task)
        spent += time.process_time() - begun
        covered, risk = data.truth(at)
        coverage += covered
        violations += risk > alpha
    interval = clopper_pearson(violations, draws)
    return Compared(
        data=data.name,
        alpha=alpha,
        n=n,
        way=way.name if way.version is None else f"{way.name} {way.version}",
        draws=draws,
        coverage=round(coverage / draws, 4),
        violations=violations,
        low=round(interval.low, 4),
        high=round(interval.high, 4),
        cpu_s=round(spent / draws, 6),
    )


def _tasks(data: Judged, alpha: float, n: int, draws: int) -> Iterator[Task]:
    """Yield the same draws for every way; fewer draws are the first ones."""
    rng = np.random.default_rng([SEED, n])
    for _ in range(draws):
        rows = rng.integers(0, len(data.scores), n)
        yield Task(scores=data.scores[rows], bad=data.bad[rows], unlabelled=data.scores, alpha=alpha, delta=DELTA)


def _overall(way: Way, found: Sequence[Compared], data: str) -> Overall:
    name = way.name if way.version is None else f"{way.name} {way.version}"
    mine = [line for line in found if line.way == name and data in {line.data, ALL}]
    return Overall(
        way=name,
        data=data,
        coverage=round(sum(line.coverage for line in mine) / len(mine), 4),
        worst=max(line.violations / line.draws for line in mine),
        promised=way.guaranteed,
    )
