"""What a sheet asks: it names the answer that is a problem, of every kind of question."""

import pytest

from check_workbench.checks import (
    Check,
    Choice,
    Cutoffs,
    FlagLevel,
    FlagOn,
    Item,
    Levels,
    PassLevel,
    PassNames,
    Question,
)
from check_workbench.labelling.shown import questions

CHOICE = Choice(ask="Was it done?", options=(("success", "the task is done"), ("partly", ""), ("failure", "it is not")))
OPTIONS = "c: Was it done? One of: success (the task is done), partly, failure (it is not)."
LEVELS = Levels(ask="How was it?", levels=("first", "second"))
ANSWERS = "[problem / no_problem / unclear]"


@pytest.mark.parametrize(
    ("asks", "cut", "said"),
    [
        (CHOICE, FlagOn(names=("failure",)), f"{OPTIONS} A problem: failure."),
        (CHOICE, PassNames(passing=("success",)), f"{OPTIONS} A problem: partly, failure."),
        (CHOICE, PassNames(passing=("success",), unsure=("partly",)), f"{OPTIONS} A problem: failure."),
        (LEVELS, FlagLevel(value=0.5), "c: How was it? Levels: 0 first, 1 second. A high level is a problem."),
        (LEVELS, PassLevel(level=1), "c: How was it? Levels: 0 first, 1 second. A low level is a problem."),
    ],
)
def test_a_sheet_names_the_answer_that_is_a_problem(asks: Question, cut: Cutoffs, said: str) -> None:
    means = "good" if isinstance(cut, PassNames | PassLevel) else "problem"
    check = Check(id="c", dialect="neatroots", items=(Item(asks=asks, cut=cut),))
    assert check.items[0].means == means
    assert questions([check]) == f"{said} {ANSWERS}"
