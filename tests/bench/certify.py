"""What one trust decision costs, and how much work it certifies beside other ways to decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.bench.compared import compared
from tests.bench.judged import populations
from tests.bench.measuring import Row, cost
from tests.bench.rivals import AUDIT

if TYPE_CHECKING:
    from tests.bench.compared import Compared, Missing, Overall
    from tests.bench.rivals import Task

LABELS, UNLABELLED, SEED = 3000, 20_000, 7
ALPHA, DELTA = 0.10, 0.08
LIMIT_MS = 10.0
REPEATS = 2000
RIVAL_REPEATS = 5
RIVAL_LIMIT = 0.01
"""We take at most so much of the CPU time of kunko-judge-audit."""


def rows(*, runs: int = 0) -> list[Row]:
    """Measure the certified test and the walk, in milliseconds and beside kunko-judge-audit where it is installed.

    Parameters
    ----------
    runs
        Not used: labels, not runs, make the cost.
    """
    del runs
    many, none = cost(decide, REPEATS), cost(decide, 0)
    each = (many.cpu_s - none.cpu_s) / REPEATS
    found = [
        Row(
            work=f"certified test and walk, n = {LABELS} (milliseconds)",
            ratio=round(1000 * each, 3),
            limit=LIMIT_MS,
            cpu_s=round(each, 6),
            peak_bytes=many.peak_bytes,
        )
    ]
    if AUDIT.missing:
        return found
    theirs = (cost(audit, RIVAL_REPEATS).cpu_s - cost(audit, 0).cpu_s) / RIVAL_REPEATS
    beside = Row(
        work=f"certified test and walk / {AUDIT.name} {AUDIT.version} ({theirs:.2f} s a call), n = {LABELS}",
        ratio=round(each / theirs, 6),
        limit=RIVAL_LIMIT,
        cpu_s=round(each, 6),
        peak_bytes=many.peak_bytes,
    )
    return [*found, beside]


def table() -> list[Compared | Overall | Missing]:
    """Compare what is certified, how often wrongly, and at what cost."""
    return compared(populations())


def decide(times: int) -> None:
    """Test the own cut and walk, so many times, on scores whose error rate falls as they rise."""
    from check_workbench.stats.certify import coverage_cuts, own_cut, walk

    task = _task()
    cuts = coverage_cuts(task.unlabelled)
    for _ in range(times):
        passing = task.scores >= 0.5
        own_cut(int(task.bad[passing].sum()), int(passing.sum()), alpha=0.05, delta=DELTA)
        if walk(task.scores, task.bad, cuts, alpha=ALPHA, delta=DELTA).certified is None:
            raise AssertionError("the walk must certify a good score")


def audit(times: int) -> None:
    """Certify the same labels with kunko-judge-audit, so many times."""
    task = _task()
    for _ in range(times):
        AUDIT.certify(task)


def _task() -> Task:
    import numpy as np

    from tests.bench.rivals import Task

    rng = np.random.default_rng(SEED)
    unlabelled, scores = rng.random(UNLABELLED), rng.random(LABELS)
    bad = rng.random(LABELS) < 0.35 * (1 - scores) ** 2
    return Task(scores=scores, bad=bad, unlabelled=unlabelled, alpha=ALPHA, delta=DELTA)
