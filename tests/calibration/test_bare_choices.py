"""Three model judges of web agents that only chose: no probabilities, so no curve, but a share of problems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import check_workbench as cw
from check_workbench.checks import Check, Choice, FlagOn, Item

if TYPE_CHECKING:
    from pathlib import Path

JUDGES = ("webjudge_7B", "webjudge_gpt4o", "webjudge_o4_mini")


def test_bare_choices_have_no_curve_and_all_three_judges_the_same_share(realdata: Path) -> None:
    asks = Choice(ask="Did the agent complete the task?", options=(("success", "It did."), ("failure", "It did not.")))
    item = Item(asks=asks, cut=FlagOn(names=("failure",), value=0.5))
    with cw.open() as store:
        store.load(realdata / "online_mind2web_webjudge", mapping="online_mind2web_webjudge", progress=lambda *_: None)
        checks = [Check(id=judge, dialect="neatroots", items=(item,)) for judge in JUDGES]
        found: Any = cw.calibrate(checks, store, labels="work")
    assert [(one.n, one.positives, one.meaning.curve) for one in found] == [(456, 348, None)] * 3
    assert {one.meaning.reason for one in found} == {"the answers are bare choices without a probability"}
    assert {one.share.method for one in found} == {"wilson"}
    assert [found[0].share.value.value, found[0].share.value.low, found[0].share.value.high] == pytest.approx(
        [0.763, 0.722, 0.800], abs=5e-4
    )
    assert len({one.share.value for one in found}) == 1
    words = "what its scores mean is unknown: the answers are bare choices without a probability"
    assert repr(found).count(words) == 3
