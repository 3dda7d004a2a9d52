"""Labels of several sheets: each stands for the work that every sheet treated like its own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from check_workbench.calibration.sheets import Sheet, explained, placed, recorded, standing, strays, unexplained
from check_workbench.stats.curves import one_cut
from check_workbench.stats.sampling import inclusion, systematic

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Flags = NDArray[np.bool_]


def work(verdicts: str, labelled: Any = (), drawn: float | None = None) -> pd.DataFrame:
    """Return one unit per letter: p passes, f fails; `labelled` ones carry a probability."""
    told = np.isin(np.arange(len(verdicts)), list(labelled))
    return pd.DataFrame(
        {
            "run_id": [f"r{place}" for place in range(len(verdicts))],
            "step_id": "",
            "attempt": 1,
            "verdict": [{"p": "pass", "f": "fail"}[letter] for letter in verdicts],
            "labelled": told,
            "probability_sampled": np.where(told, np.nan if drawn is None else drawn, np.nan),
        }
    )


def key(place: int) -> tuple[str, str, int]:
    return (f"r{place}", "", 1)


def sheet(strata: dict[float, Any], drawn: dict[int, float], purpose: str = "recall") -> Sheet:
    return Sheet(
        purpose=purpose,
        drawn={key(place): probability for place, probability in drawn.items()},
        chances=tuple(strata),
        stratum={key(place): at for at, units in enumerate(strata.values()) for place in units},
    )


def test_by_hand_a_recall_sheet_and_then_one_for_trust() -> None:
    """Of 4 that fail 2 are labelled. Of 8 that pass 2 came on the first sheet and 2 on the next: each stands for 2."""
    units = work("ffffpppppppp", [0, 1, 4, 5, 6, 7])
    units.loc[[0, 1], "probability_sampled"] = 0.5
    units.loc[[4, 5], "probability_sampled"] = 0.25
    units.loc[[6, 7], "probability_sampled"] = 1 / 3
    sheets = (
        sheet({0.5: range(4), 0.25: range(4, 12)}, {0: 0.5, 1: 0.5, 4: 0.25, 5: 0.25}),
        sheet({1 / 3: range(4, 12), 0.0: range(4)}, {6: 1 / 3, 7: 1 / 3}, "trust"),
    )
    found = placed(units, sheets)
    assert explained(found)
    assert found["cell"].tolist() == ["/0/1"] * 4 + ["/1/0"] * 8
    assert found["chance"].tolist() == pytest.approx([0.5] * 4 + [0.5] * 8)
    assert found["covered"].tolist() == [False] * 4 + [True] * 8
    known = standing(found)
    assert known.weights is None
    naive = 1 / units["probability_sampled"].dropna()
    assert naive.sum() == pytest.approx(18)
    assert (known.recall_known, known.flagged_known, known.words) == (True, True, None)


def test_by_hand_what_did_not_come_back_is_made_up_for_within_its_cell() -> None:
    units = work("ffffpppppp", [0, 4, 5, 6], drawn=0.5)
    found = placed(units, (sheet({0.5: range(4)}, dict.fromkeys(range(4), 0.5)),))
    assert found["cell"].dropna().tolist() == ["/0"] * 4
    both = sheet({0.5: range(4), 0.50001: range(4, 10)}, dict.fromkeys(range(10), 0.5))
    known = standing(placed(units, (both,)))
    assert known.weights is not None
    assert known.weights.tolist() == [4.0, 2.0, 2.0, 2.0]
    assert known.words == "each label stands for 2 to 4 units, those that every sheet treated like its own"


def test_a_sheet_of_which_nothing_came_back_changes_nothing() -> None:
    units = work("ffpppp", [2, 3], drawn=0.5)
    told = sheet({0.5: range(2, 6), 0.0: range(2)}, dict.fromkeys(range(2, 5), 0.5), "trust")
    lost = sheet({0.4: range(6)}, {0: 0.4, 2: 0.4})
    pd.testing.assert_frame_equal(placed(units, (told, lost)), placed(units, (told,)))
    assert standing(placed(units, (told, lost))).recall_known is False


@pytest.mark.parametrize(
    ("drawn_from", "known_rates", "words"),
    [
        ("p", (False, False), "speak for 30 units that it does not pass: precision and recall are unknown"),
        ("f", (False, True), "speak for 30 units that it passes: recall is unknown"),
    ],
)
def test_a_side_that_no_sheet_drew_from_is_named(drawn_from: str, known_rates: Any, words: str) -> None:
    letters = "f" * 30 + "p" * 30
    mine = [place for place, letter in enumerate(letters) if letter == drawn_from]
    others = sorted(set(range(60)) - set(mine))
    found = placed(work(letters, mine[:10], drawn=0.5), (sheet({0.5: mine, 0.0: others}, dict.fromkeys(mine, 0.5)),))
    known = standing(found)
    assert (known.recall_known, known.flagged_known) == known_rates
    assert known.words is not None
    assert words in known.words


def test_a_cell_of_which_nothing_came_back_is_named_unless_chance_explains_it() -> None:
    letters = "p" * 100 + "f" * 20
    one = sheet({0.5: range(100), 0.4: range(100, 120)}, dict.fromkeys(range(120), 0.5))
    by_chance = standing(placed(work(letters, range(4), drawn=0.5), (one,)))
    assert by_chance.recall_known
    lost = standing(placed(work(letters, range(50), drawn=0.5), (one,)))
    assert not lost.recall_known
    assert lost.words is not None
    assert "20 units that it does not pass" in lost.words


def test_the_cell_that_speaks_for_an_empty_one_is_the_one_that_was_drawn_as_likely() -> None:
    strata = {0.8: range(10), 0.11: range(10, 60), 0.1: range(60, 62)}
    units = work("f" * 10 + "p" * 52, [*range(8), *range(10, 15)], drawn=0.5)
    known = standing(placed(units, (sheet(strata, dict.fromkeys(range(62), 0.5)),)))
    assert known.weights is not None
    assert known.weights.tolist() == pytest.approx([10 / 8] * 8 + [52 / 5] * 5)


def test_labels_that_no_sheet_drew_stand_for_themselves_or_are_strays() -> None:
    units = work("ppppppff", [0, 1, 4, 6], drawn=0.5)
    units.loc[[4, 6], "probability_sampled"] = np.nan
    found = placed(units, (sheet({0.5: range(6)}, {0: 0.5, 1: 0.5}),))
    assert strays(found).tolist() == [False] * 4 + [True] + [False] * 3
    known = standing(found.assign(labelled=found["labelled"] & ~strays(found)))
    assert known.weights is not None
    assert known.weights.tolist() == [3.0, 3.0, 1.0]
    assert known.words is not None
    assert known.words.endswith("1 unit came after every sheet, or none could draw them: the numbers are of all others")


@pytest.mark.parametrize("probability", [0.5, 1.0, 1e-300])
def test_a_probability_that_no_sheet_explains_is_not_explained(probability: float) -> None:
    units = work("ppppff", [0, 1], drawn=0.4)
    units.loc[1, "probability_sampled"] = probability
    found = placed(units, (sheet({0.4: range(6)}, {0: 0.4, 1: 0.4}),))
    assert not explained(found)
    assert unexplained(found).startswith(
        "assumed: one draw gave all probabilities that labels carry, because 1 of them"
    )


def test_without_sheets_nothing_is_explained_and_every_unit_is_there() -> None:
    found = placed(work("pf", [0]), ())
    assert not explained(found)
    assert found["cell"].isna().all()
    assert not found["on_sheet"].any()
    assert (found["chance"] == 0).all()
    old = Sheet(purpose="trust", drawn={key(0): 0.5}, chances=(), stratum={})
    assert not explained(placed(work("pf", [0], drawn=0.5), (old,)))


def test_strata_are_kept_as_json_knows_them() -> None:
    units = pd.DataFrame({"run_id": ["b", "a", "c"], "step_id": ["", "", "s"], "attempt": [1, 1, 2]})
    kept = recorded(units, pd.Series([0.5, 0.5, 0.25]), ["x", "x", "y"])
    assert kept == [{"chance": 0.5, "units": ["a", "b"]}, {"chance": 0.25, "units": [["c", "s", 2]]}]
    assert json.loads(json.dumps(kept)) == kept


@given(st.lists(st.tuples(st.sampled_from("pf"), st.integers(0, 2), st.booleans()), min_size=1, max_size=40))
def test_weights_add_up_to_all_work_that_labels_speak_for(rows: list[tuple[str, int, bool]]) -> None:
    labelled = [place for place, row in enumerate(rows) if row[2]]
    strata = {chance: [p for p, row in enumerate(rows) if row[1] == at] for at, chance in enumerate((0.6, 0.3, 0.1))}
    units = placed(work("".join(row[0] for row in rows), labelled, drawn=0.5),
                   (sheet(strata, dict.fromkeys(range(len(rows)), 0.5)),))  # fmt: skip
    if not labelled:
        assert not explained(units)
        return
    known = standing(units)
    if known.weights is not None and known.recall_known:
        assert known.weights.sum() == pytest.approx(len(rows))
    assert known.recall_known or known.words is not None


SHEETS = {"trust, recall": "tr", "recall, trust": "rt", "recall, recall": "rR", "recall, later work, recall": "r+r"}
SIZE, SHARE, DRAWS = 800, 0.8, 80
KEYS = [key(place) for place in range(SIZE)]


class Team:
    """Work whose risk falls with its score, sheets of which a fifth does not come back, and what they drew."""

    def __init__(self, seed: int, *, later: bool) -> None:
        self.rng = np.random.default_rng([seed, 5])
        self.score = self.rng.beta(2, 1.2, SIZE)
        self.bad = self.rng.random(SIZE) < 1 / (1 + np.exp(7 * self.score - 2.5))
        self.there = np.arange(SIZE) < SIZE // 2 if later else np.ones(SIZE, dtype=bool)
        self.carried = np.full(SIZE, np.nan)
        self.covered = np.zeros(SIZE, dtype=bool)
        self.sheets: list[Sheet] = []

    def draw(self, purpose: str, cut: float, n: int) -> None:
        flagged, told = self.score < cut, np.isfinite(self.carried)
        mine = self.there & ~self.covered & (~flagged if purpose == "trust" else True)
        edge = np.quantile(self.score[mine & ~flagged], 0.3) if (mine & ~flagged).any() else 0.0
        near = (self.score < edge) & ~flagged & (purpose == "recall")
        free = mine & ~told
        rows = np.flatnonzero(free)[np.argsort(self.score[free])]
        chance = np.zeros(SIZE)
        chance[rows] = inclusion(np.where(near, 1.0, 0.5)[rows], n)
        taken = rows[systematic(chance[rows], seed=int(self.rng.integers(2**31)))]
        kind = np.where(mine, near + 2 * (flagged & (purpose == "recall")), 3)
        chances = [chance[kind == at].max(initial=0.0) if at < 3 else 0.0 for at in range(4)]
        stratum = {KEYS[place]: int(kind[place]) for place in np.flatnonzero(self.there)}
        drawn = {KEYS[place]: chance[place] for place in taken}
        self.sheets.append(Sheet(purpose=purpose, drawn=drawn, chances=tuple(chances), stratum=stratum))
        back = taken[self.rng.random(len(taken)) < SHARE]
        self.carried[back] = chance[back]
        self.covered |= mine & (purpose == "trust")

    def rates(self, weights: Any, cut: float) -> list[float]:
        told = np.isfinite(self.carried)
        found = one_cut(self.score[told] < cut, self.bad[told], weights=weights)
        hit = self.score < cut
        recall, precision = (hit & self.bad).sum() / self.bad.sum(), (hit & self.bad).sum() / hit.sum()
        inside = found.recall_low[0] <= recall <= found.recall_high[0]
        also = found.precision_low[0] <= precision <= found.precision_high[0]
        return [found.recall[0] - recall, found.precision[0] - precision, float(inside), float(also)]


def drawn_by(seed: int, sheets: str) -> list[list[float]]:
    team = Team(seed, later="+" in sheets)
    for letter in sheets:
        if letter == "+":
            team.there[:] = True
        else:
            team.draw("trust" if letter == "t" else "recall", 0.5 if letter == "R" else 0.4, 120)
    told = np.isfinite(team.carried)
    units = work("".join("f" if score < 0.4 else "p" for score in team.score), np.flatnonzero(told))
    found = placed(units.assign(probability_sampled=team.carried), team.sheets)
    known = standing(found)
    assert explained(found)
    assert known.recall_known
    return [team.rates(weights, 0.4) for weights in (known.weights, 1 / team.carried[told])]


@pytest.mark.parametrize("name", SHEETS)
def test_recall_and_precision_over_two_sheets_are_unbiased_and_covered(name: str) -> None:
    rows = np.array([drawn_by(seed, SHEETS[name]) for seed in range(DRAWS)])
    by_cell, naive = rows[:, 0], rows[:, 1]
    error = by_cell[:, :2].std(axis=0) / np.sqrt(len(rows))
    assert (np.abs(by_cell[:, :2].mean(axis=0)) < 3 * error + 0.01).all()
    assert (by_cell[:, 2:].mean(axis=0) >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / len(rows))).all()
    if name == "recall, trust":
        assert naive[:, 0].mean() < -0.1
        assert naive[:, 2].mean() < 0.7
    assert np.sqrt((by_cell[:, 0] ** 2).mean()) < np.sqrt((naive[:, 0] ** 2).mean()) + 0.01
