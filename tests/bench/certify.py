"""What one trust decision costs, and how much work it certifies beside other ways to decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.bench.compared import compared
from tests.bench.judged import populations
from tests.bench.measuring import Cost, Row, cost
from tests.bench.rivals import AUDIT

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.bench.compared import Compared, Missing, Overall
    from tests.bench.rivals import Task

LABELS, UNLABELLED, SEED = 3000, 20_000, 7
ALPHA, DELTA = 0.10, 0.08
LIMIT_MS = 10.0
AGAIN_MS = 1.0
REPEATS = 300
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
    each = _each(decide, REPEATS)
    again = _each(decide_again, REPEATS)
    found = [
        _row(f"certified test and walk, n = {LABELS} (milliseconds)", 1000 * each.cpu_s, LIMIT_MS, each),
        _row("the same again, where limits for as many labels are at hand", 1000 * again.cpu_s, AGAIN_MS, again),
    ]
    if AUDIT.missing:
        return found
    theirs = _each(audit, RIVAL_REPEATS).cpu_s
    work = f"certified test and walk / {AUDIT.name} {AUDIT.version} ({theirs:.2f} s a call), n = {LABELS}"
    return [*found, _row(work, each.cpu_s / theirs, RIVAL_LIMIT, each)]


def _each(work: Callable[[int], None], times: int) -> Cost:
    """Measure one call, without what is paid once."""
    many, none = cost(work, times), cost(work, 0)
    return Cost(cpu_s=round((many.cpu_s - none.cpu_s) / times, 6), peak_bytes=many.peak_bytes)


def _row(work: str, ratio: float, limit: float, spent: Cost) -> Row:
    return Row(work=work, ratio=round(ratio, 6), limit=limit, cpu_s=spent.cpu_s, peak_bytes=spent.peak_bytes)


def table() -> list[Compared | Overall | Missing]:
    """Compare what is certified, how often wrongly, and at what cost."""
    return compared(populations())


def decide(times: int) -> None:
    """Test the own cut and walk, so many times, each as if for the first time."""
    _decide(times, fresh=True)


def decide_again(times: int) -> None:
    """Test the own cut and walk, so many times, with what the first time left behind."""
    _decide(times, fresh=False)


def _decide(times: int, *, fresh: bool) -> None:
    from check_workbench.stats.certify import coverage_cuts, own_cut, walk
    from check_workbench.stats.nested import limits

    task = _task()
    cuts = coverage_cuts(task.unlabelled)
    for _ in range(times):
        if fresh:
            limits.cache_clear()
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
