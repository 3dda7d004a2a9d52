"""Labels that were drawn with known probabilities, in the figures that rest on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import check_workbench as cw
from tests.scenario import Scenario, uniform

if TYPE_CHECKING:
    from pathlib import Path

    from check_workbench.store import Store
    from tests.labelling.conftest import Desk


def answered(desk: Desk, sheet: Path, units: list[dict[str, Any]]) -> Path:
    """Fill in a sheet with the truth: work with a score of 0.4 and more has the problem."""
    bad = {u["run"]: u["p"] >= 0.4 for u in units}
    return desk.fill(sheet, lambda row: "problem" if bad[row["run_id"]] else "no_problem")


def recall(store: Store, team: Scenario) -> Any:
    [found] = cw.calibrate(team.check, store)
    assert found.present is not None
    return found.present.recall


@pytest.fixture
def units() -> list[dict[str, Any]]:
    """Return work of which 100 of 600 have the problem, 60 of them above the cut at 0.5."""
    made = uniform(600, labelled=0, risk=lambda _: 0.0)
    for place, unit in enumerate(made):
        unit["p"] = (
            0.6 + place / 10_000 if place < 60 else 0.4 + place / 10_000 if place < 100 else (place - 100) / 1500
        )
    return made


def test_recall_from_a_sheet_is_that_of_all_work(
    store: Store, team: Scenario, desk: Desk, tmp_path: Path, units: Any
) -> None:
    team.load(store, units)
    cw.label_next(team.check, store, n=250, purpose="recall", sheet=tmp_path / "a.csv")
    assert store.load_decisions(answered(desk, tmp_path / "a.csv", units)).decisions == 250
    assert recall(store, team) == pytest.approx(0.6, abs=0.04)


def test_sheets_for_trust_and_recall_together_count_no_side_twice(
    store: Store, team: Scenario, desk: Desk, tmp_path: Path, units: Any
) -> None:
    team.load(store, units)
    for name, n, purpose in (("a.csv", 90, "trust"), ("b.csv", 110, "trust"), ("c.csv", 30, "recall")):
        cw.label_next(team.check, store, n=n, purpose=purpose, sheet=tmp_path / name)  # type: ignore[arg-type]
        assert store.load_decisions(answered(desk, tmp_path / name, units)).decisions == n
    weights = 1 / store.sql("select probability_sampled as p from decisions")["p"]
    assert weights.iloc[200:].sum() / weights.sum() == pytest.approx(0.1, abs=0.002)
    assert recall(store, team) == pytest.approx(0.6, abs=0.08)
