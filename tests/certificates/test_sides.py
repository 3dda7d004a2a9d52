from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from check_workbench.calibration.composite import just_above
from check_workbench.certificates.sides import Region
from check_workbench.checks import (
    AtLeast,
    Check,
    Choice,
    Count,
    FlagAt,
    Item,
    PassBand,
    PassNames,
    YesNo,
    with_threshold,
)
from check_workbench.results import Answer, judge, worst

if TYPE_CHECKING:
    from check_workbench.results import Status


def table(*columns) -> pd.DataFrame:
    scores = {f"s{place}": np.asarray(values, dtype=float) for place, values in enumerate(columns)}
    return pd.DataFrame({**scores, "verdict": "pass", "positive": False, "labelled": False})


def check(*items: Item) -> Check:
    return Check(id="c", dialect="check-1", items=items)


def region(of: Check, rows: pd.DataFrame, side="false_pass") -> Region:
    return Region(check=of, side=side, reference=rows, everything=rows)


CLAIM = Item(asks=YesNo(ask="It holds."), cut=PassBand(pass_at=0.9, fail_below=0.5))
FLAG = Item(asks=YesNo(ask="It failed."), cut=FlagAt(value=0.5))
RULE = Item(asks=Count(), cut=AtLeast(value=3))


def passes(of: Check, rows: pd.DataFrame, side: str) -> np.ndarray:
    """Judge every row at the numbers of the document, as an evaluation does."""
    wanted = "pass" if side == "false_pass" else "fail"
    found = []
    for values in rows.filter(regex=r"^s\d").to_numpy():
        statuses: list[Status] = []
        for item, value in zip(of.items, values, strict=True):
            if isinstance(item.cut, AtLeast):
                statuses.append("fail" if value >= item.cut.value else "pass")
            elif isinstance(item.cut, PassNames):
                said = Answer(check_id="c", run_id="r", choice="yes" if value else "no", confidence=value or 1.0)
                statuses.append(judge(item, said).status)
            else:
                statuses.append(judge(item, Answer(check_id="c", run_id="r", probability=value)).status)
        found.append(worst(statuses) == wanted)
    return np.array(found)


def written(of: Check, changes) -> Check:
    from check_workbench.calibration.outcome import in_order

    for change in in_order(of, list(changes)):
        of = with_threshold(of, item=change.item, key=change.key, value=change.value)
    return of


def reproduces(of: Check, rows: pd.DataFrame, side="false_pass") -> None:
    """Each cut of the path, written into the document, passes exactly the rows that the path passes."""
    one = region(of, rows, side)
    path = one.cuts(start=0.4)
    for cut in path.at.tolist():
        inside = one.scores(rows) >= cut
        assert (passes(written(of, one.changes(cut)), rows, side) == inside).all(), cut


def test_each_cut_maps_back_to_the_document():
    rng = np.random.default_rng(1)
    reproduces(check(FLAG), table(rng.random(120)))
    reproduces(check(FLAG), table(rng.random(120)), "false_fail")
    reproduces(check(CLAIM), table(rng.random(120)))
    reproduces(check(CLAIM), table(rng.random(120)), "false_fail")
    reproduces(check(RULE), table(rng.integers(0, 30, 120)))


def test_the_composite_path_maps_back_to_each_question():
    rng = np.random.default_rng(2)
    first = rng.random(120)
    second = np.clip(0.6 * first + 0.4 * rng.random(120), 0, 1)
    names = np.where(rng.random(120) < 0.2, 0.0, rng.random(120))
    options = (("yes", "It does."), ("no", "It does not."))
    choice = Item(asks=Choice(ask="Which?", options=options), cut=PassNames(passing=("yes",), confidence=0.5))
    reproduces(check(CLAIM, CLAIM), table(first, second))
    reproduces(check(CLAIM, choice, CLAIM), table(first, names, second))


def test_an_answer_that_does_not_pass_never_comes_inside():
    names = np.concatenate([np.zeros(40), np.linspace(0.3, 1, 60)])
    options = (("yes", "It does."), ("no", "It does not."))
    choice = Item(asks=Choice(ask="Which?", options=options), cut=PassNames(passing=("yes",), confidence=0.5))
    path = region(check(choice), table(names)).cuts(start=0.4)
    assert path.coverage.max() == 0.6
    assert path.at.min() > 0


def test_fails_of_several_questions_have_no_path():
    rng = np.random.default_rng(3)
    rows = table(rng.random(100), rng.random(100))
    assert region(check(CLAIM, CLAIM), rows).walkable
    assert not region(check(CLAIM, CLAIM), rows, "false_fail").walkable
    assert not region(check(FLAG), table([0.1, 0.9] * 50)).walkable
    assert not region(check(FLAG), table([])).walkable


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.data())
def test_the_written_number_parts_what_the_cut_parts(scores, data):
    values = np.array(scores)
    number = data.draw(st.sampled_from(scores))
    found = just_above(number, values)
    assert found > number
    assert not ((values > number) & (values < found)).any()
