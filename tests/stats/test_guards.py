from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from check_workbench.errors import InputError, UndefinedError
from check_workbench.stats.guards import anchoring, ceiling, drift, halves, segments


def _any_bad(errors: np.ndarray) -> bool:
    return any(guard.violated for guard in segments(errors, np.full(len(errors), 60), alpha=0.05))


def test_guards_seldom_speak_without_cause() -> None:
    rng = np.random.default_rng(1)
    spoke = [drift(rng.random(80), rng.random(80)).violated for _ in range(200)]
    assert sum(spoke) <= 3
    spoke = [_any_bad(rng.binomial(60, 0.1, 8)) for _ in range(200)]
    assert sum(spoke) <= 3
    spoke = [halves((rng.binomial(100, 0.1), 100), (rng.binomial(100, 0.1), 100)).violated for _ in range(200)]
    assert sum(spoke) <= 3


def test_a_bad_segment_is_found_among_good_ones() -> None:
    found = segments([1, 18, 0], [60, 40, 90], alpha=0.05)
    assert [guard.violated for guard in found] == [False, True, False]
    assert found[1].p == pytest.approx(binom.sf(17, 40, 0.10))
    assert found[1].statistic == pytest.approx(0.45)


def test_more_segments_ask_for_more_evidence() -> None:
    errors = int(np.flatnonzero(binom.sf(np.arange(41) - 1, 40, 0.10) < 0.001)[0])
    assert segments([errors], [40], alpha=0.05)[0].violated
    assert not segments([errors] + [0] * 30, [40] * 31, alpha=0.05)[0].violated


def test_no_segments_no_guards() -> None:
    assert segments([], [], alpha=0.05) == ()


def test_a_target_above_one_half_is_never_doubled_past_one() -> None:
    assert not segments([40], [40], alpha=0.6)[0].violated


def test_drift_is_found() -> None:
    rng = np.random.default_rng(2)
    assert drift(rng.random(300), rng.beta(3, 2, 300)).violated
    assert halves((2, 150), (30, 150)).violated


def test_the_human_ceiling_speaks_from_fifty_double_decisions_on() -> None:
    assert ceiling(20, 49, alpha=0.05, delta=0.1) is None
    assert ceiling(0, 50, alpha=0.05, delta=0.1).violated is False  # type: ignore[union-attr]
    assert ceiling(13, 106, alpha=0.05, delta=0.1).violated is True  # type: ignore[union-attr]


def test_anchoring_is_the_gap_between_shown_and_blind() -> None:
    found = anchoring((95, 100), (80, 100))
    assert found.value == pytest.approx(0.15)
    assert found.low > 0.03
    assert anchoring((9, 10), (8, 10)).low < 0


@pytest.mark.parametrize(
    "empty", [lambda: drift([], [0.5]), lambda: halves((0, 0), (1, 2)), lambda: anchoring((0, 0), (1, 2))]
)
def test_empty_halves_are_refused(empty) -> None:
    with pytest.raises(UndefinedError):
        empty()


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(InputError, match="0 <= errors <= n"):
        segments([5], [3], alpha=0.05)
