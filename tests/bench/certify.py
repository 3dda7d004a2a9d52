"""What one trust decision costs: the test of the own cut and the walk over 50 cuts, at 3,000 labels."""

from __future__ import annotations

from tests.bench.measuring import Row, cost

LABELS, UNLABELLED, SEED = 3000, 20_000, 7
LIMIT_MS = 10.0
REPEATS = 2000


def rows(*, runs: int = 0) -> list[Row]:
    """Measure the certified test and the walk; the ratio is milliseconds of CPU per decision to one millisecond.

    Parameters
    ----------
    runs
        Not used: labels, not runs, make the cost.
    """
    del runs
    many, none = cost(decide, REPEATS), cost(decide, 0)
    each = (many.cpu_s - none.cpu_s) / REPEATS
    return [
        Row(
            work=f"certified test and walk, n = {LABELS} (milliseconds)",
            ratio=round(1000 * each, 3),
            limit=LIMIT_MS,
            cpu_s=round(each, 6),
            peak_bytes=many.peak_bytes,
        )
    ]


def decide(times: int) -> None:
    """Test the own cut and walk, so many times, on scores whose error rate falls as they rise."""
    import numpy as np

    from check_workbench.stats.certify import coverage_cuts, own_cut, walk

    rng = np.random.default_rng(SEED)
    cuts = coverage_cuts(rng.random(UNLABELLED))
    scores = rng.random(LABELS)
    bad = rng.random(LABELS) < 0.35 * (1 - scores) ** 2
    for _ in range(times):
        passing = scores >= 0.5
        own_cut(int(bad[passing].sum()), int(passing.sum()), alpha=0.05, delta=0.08)
        if walk(scores, bad, cuts, alpha=0.10, delta=0.08).certified is None:
            raise AssertionError("the walk must certify a good score")
