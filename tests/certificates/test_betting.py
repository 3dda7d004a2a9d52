"""Moving the cut before every look wins no second chance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import check_workbench as cw
from check_workbench.calibration.looks import cutoffs_of
from check_workbench.certificates.betting import capital
from check_workbench.checks import Check, FlagAt, Item, YesNo
from check_workbench.stats.monitor import certifying_wealth

ALPHA, DELTA = 0.10, 0.02
PLAN = cw.plan(change="replace_approval")


def at(cut: float) -> Check:
    item = Item(asks=YesNo(ask="Did it fail?"), cut=FlagAt(value=cut))
    return Check(id="c", dialect="neatroots", items=(item,))


def look(check: Check, wealth: float | None) -> dict[str, Any]:
    bounds = [{"side": "false_pass", "wealth": wealth}]
    result = {"certificate": {"details": {"bounds": bounds}}}
    return {"check_id": check.id, "cutoffs": cutoffs_of(check), "result": result}


def left(rows: list[dict[str, Any]], check: Check) -> float:
    return capital(pd.DataFrame(rows, columns=["check_id", "cutoffs", "result"]), check, "false_pass", PLAN)


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
    wrong = rng.random((1000, 30, 60)) < 1.02 * ALPHA
    wealth = certifying_wealth(wrong, alpha=ALPHA)
    anew = (wealth.max(axis=2) >= 1 / DELTA).any(axis=1)
    kept = np.cumprod(np.minimum(wealth[:, :, -1], 1), axis=1)
    carried = np.concatenate([np.ones((1000, 1)), kept[:, :-1]], axis=1)
    ever = (carried[:, :, None] * wealth >= 1 / DELTA).any(axis=(1, 2))
    assert anew.mean() > 4 * DELTA
    assert ever.mean() <= DELTA + 3 * (DELTA * (1 - DELTA) / 1000) ** 0.5
