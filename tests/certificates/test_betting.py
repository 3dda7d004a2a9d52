"""Moving the cut before every look wins no second chance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from check_workbench.calibration.looks import cutoffs_of
from check_workbench.certificates.betting import capital
from check_workbench.checks import Check, FlagAt, Item, YesNo
from check_workbench.stats.monitor import certifying

ALPHA, DELTA = 0.10, 0.02


def at(cut: float) -> Check:
    item = Item(asks=YesNo(ask="Did it fail?"), cut=FlagAt(value=cut))
    return Check(id="c", dialect="neatroots", items=(item,))


def look(check: Check, wealth: float | None) -> dict[str, Any]:
    bounds = [{"side": "false_pass", "wealth": wealth}]
    result = {"certificate": {"details": {"bounds": bounds}}}
    return {"check_id": check.id, "cutoffs": cutoffs_of(check), "result": result}


def left(rows: list[dict[str, Any]], check: Check) -> float:
    return capital(pd.DataFrame(rows, columns=["check_id", "cutoffs", "result"]), check, "false_pass")


def test_without_earlier_bets_or_a_moved_cut_everything_is_left() -> None:
    assert left([], at(0.5)) == 1
    assert left([look(at(0.5), None)], at(0.6)) == 1
    assert left([look(at(0.5), 0.2)], at(0.5)) == 1


def test_what_was_lost_is_gone_and_what_was_won_does_not_count() -> None:
    lost, won = look(at(0.5), 0.2), look(at(0.6), 7.0)
    assert left([lost], at(0.6)) == 0.2
    assert left([lost, won], at(0.7)) == 0.2
    assert left([won], at(0.7)) == 1
    assert left([lost, won], at(0.5)) == 0.2


def test_a_bad_judge_with_a_new_cut_at_every_look_is_seldom_certified() -> None:
    rng = np.random.default_rng(2)
    carried = naive = 0
    checks = [at(0.3 + place / 100) for place in range(12)]
    for _ in range(200):
        rows: list[dict[str, Any]] = []
        ever = [False, False]
        for check in checks:
            wrong = rng.random(60) < 1.02 * ALPHA
            capital_left = left(rows, check)
            bets = certifying(wrong, alpha=ALPHA, delta=DELTA * capital_left)
            ever[0] |= bets.reached is not None
            ever[1] |= certifying(wrong, alpha=ALPHA, delta=DELTA).reached is not None
            rows.append(look(check, capital_left * float(bets.wealth[-1])))
        carried, naive = carried + ever[0], naive + ever[1]
    assert naive / 200 > 2 * DELTA
    assert carried / 200 <= DELTA + 3 * (DELTA * (1 - DELTA) / 200) ** 0.5
