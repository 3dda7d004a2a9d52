"""Labels that were drawn with known probabilities, in the figures that rest on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import check_workbench as cw
from check_workbench.calibration.sheets import sheets_of
from check_workbench.checks import Check, FlagAt, Item, YesNo
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


@pytest.mark.parametrize("purposes", ["recall, trust", "recall, recall", "recall, trust, recall"])
def test_whatever_sheets_follow_one_another_each_label_counts_its_share(
    store: Store, team: Scenario, desk: Desk, units: Any, purposes: str
) -> None:
    team.load(store, units)
    for place, purpose in enumerate(purposes.split(", ")):
        path = desk.folder / f"{place}.csv"
        cw.label_next(team.check, store, n=120, purpose=purpose, sheet=path)  # type: ignore[arg-type]
        store.load_decisions(answered(desk, path, units))
    [found] = cw.calibrate(team.check, store, goal="recall>=0.9")
    assert found.weighted
    assert recall(store, team) == pytest.approx(0.6, abs=0.05)
    assert found.chosen is not None
    assert found.chosen.recall == pytest.approx(0.9, abs=0.1)
    whole = found.curve[0]
    assert whole.flagged == pytest.approx(600)
    assert whole.true == pytest.approx(100, abs=20)


def test_a_side_of_which_no_sheet_drew_leaves_rates_unknown(
    store: Store, team: Scenario, desk: Desk, tmp_path: Path, units: Any
) -> None:
    team.load(store, units)
    cw.label_next(team.check, store, n=90, sheet=tmp_path / "a.csv")
    store.load_decisions(answered(desk, tmp_path / "a.csv", units))
    [found] = cw.calibrate(team.check, store)
    assert found.present is not None
    assert (found.present.precision, found.present.recall, found.chosen, found.met) == (None, None, None, None)
    assert found.reason == "the goal precision>=0.9 needs labels of the work that is flagged"
    assert "no sheet brought labels that speak for 60 units that it does not pass" in found.warnings[0]
    assert {(point.precision, point.recall) for point in found.curve} == {(None, None)}


def test_work_that_came_after_every_sheet_is_told_of(
    store: Store, team: Scenario, desk: Desk, tmp_path: Path, units: Any
) -> None:
    team.load(store, units[:500])
    cw.label_next(team.check, store, n=250, purpose="recall", sheet=tmp_path / "a.csv")
    store.load_decisions(answered(desk, tmp_path / "a.csv", units))
    team.load(store, units[500:])
    [found] = cw.calibrate(team.check, store)
    assert any("100 units came after every sheet" in words for words in found.warnings)
    assert found.curve[0].flagged == pytest.approx(500)
    assert recall(store, team) == pytest.approx(0.6, abs=0.06)


def test_sheets_of_an_old_text_draw_nothing_of_the_new_one(
    store: Store, team: Scenario, desk: Desk, tmp_path: Path, units: Any
) -> None:
    team.load(store, units)
    cw.label_next(team.check, store, n=120, purpose="recall", sheet=tmp_path / "a.csv")
    store.load_decisions(answered(desk, tmp_path / "a.csv", units))
    check = Check(id="failed", dialect="neatroots", items=(Item(asks=YesNo(ask="Is it bad?"), cut=FlagAt(value=0.5)),))
    assert sheets_of(check, store) == ()
    [now] = cw.read_checks(team.check)
    assert len(sheets_of(now, store)) == 1


def test_probabilities_that_no_sheet_explains_weigh_as_they_say_and_that_is_told(
    store: Store, team: Scenario, units: Any
) -> None:
    for unit in units[::3]:
        unit |= {"bad": unit["p"] >= 0.4, "probability_sampled": 0.5 if unit["p"] >= 0.5 else 0.25}
    team.load(store, units)
    [found] = cw.calibrate(team.check, store)
    assert found.weighted
    assert found.warnings[0].startswith("assumed: one draw gave all probabilities that labels carry, because 200 of")
    assert {point.flagged for point in found.curve if point.at == found.curve[0].at} == {20 * 2 + 180 * 4}
