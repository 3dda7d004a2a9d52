"""Labels of several draws speak for what each was drawn from."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import pytest

import check_workbench as cw
from check_workbench.calibration import looks
from check_workbench.certificates.hygiene import Sample
from check_workbench.certificates.reach import drawn_last, in_two_draws
from check_workbench.certificates.sides import Region
from tests.certificates.draws import ALPHA, BOUND, CHECK, DELTA, of_sample, rows
from tests.scenario import uniform

if TYPE_CHECKING:
    from numpy.random import Generator

    from check_workbench.labelling.drawing import Purpose
    from check_workbench.store import Store
    from tests.scenario import Scenario

DRAWS = 300


def both(rng: Generator, *, work: int = 1000, take: int = 200) -> Sample:
    """Draw for recall all that lies near the cut and half of the rest, then for trust from what that left."""
    near = np.arange(work) < 0.3 * work
    bad = rng.random(work) < np.where(near, 1.02 * ALPHA / 0.3, 0)
    recall = rng.random(work) < np.where(near, 1.0, 0.5)
    free = np.flatnonzero(~recall)
    drawn = np.where(recall, np.where(near, 1.0, 0.5), np.nan)
    drawn[rng.choice(free, take, replace=False)] = take / len(free)
    table = rows(np.full(work, 0.1), bad, probability_sampled=drawn, labelled=~np.isnan(drawn))
    after = table.loc[~np.isnan(drawn) & ~recall, "run_id"]
    keys = frozenset((run, "", 1) for run in after)
    usable = table[table["labelled"]].reset_index(drop=True)
    return Sample(usable=usable, taken=usable.iloc[:0], population=table, excluded={}, drawn_last=keys)


@pytest.mark.slow
def test_a_sheet_for_trust_after_one_for_recall_speaks_of_what_that_left() -> None:
    rng = np.random.default_rng(31)
    theirs = ours = 0
    for _ in range(DRAWS):
        sample = both(rng)
        theirs += of_sample(dataclasses.replace(sample, drawn_last=frozenset())).certified
        ours += of_sample(sample).certified
    assert theirs / DRAWS > 0.40
    assert ours / DRAWS <= DELTA + 3 * (DELTA * (1 - DELTA) / DRAWS) ** 0.5


def test_earlier_labels_stand_for_themselves_and_the_last_ones_for_the_rest() -> None:
    sample = both(np.random.default_rng(32))
    region = Region(check=CHECK, side=BOUND.side, reference=sample.population, everything=sample.population)
    told = in_two_draws(region, sample).usable
    last = told["run_id"].isin({run for run, _, _ in sample.drawn_last})
    assert set(told.loc[~last, "probability_sampled"]) == {1.0}
    assert (1 / told["probability_sampled"]).sum() == pytest.approx(1000)


def test_the_ledger_knows_which_sheets_came_after_one_for_recall(store: Store, team: Scenario) -> None:
    team.load(store, uniform(300, labelled=0, risk=lambda _: 0.0))
    (check,) = cw.read_checks(team.check)
    drawn = []
    purposes: list[Purpose] = ["trust", "recall", "trust", "trust"]
    for place, purpose in enumerate(purposes):
        sheet = team.folder / f"sheet-{place}.csv"
        made = cw.label_next(team.check, store, n=20 + place, seed=place, purpose=purpose, sheet=sheet)
        drawn.append(set(made.units["run_id"]))
        after = {run for run, _, _ in drawn_last(check, looks.ledger(store))}
        assert after == (set() if place < 2 else set.union(*drawn[2:]))
