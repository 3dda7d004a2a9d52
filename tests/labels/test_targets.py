from __future__ import annotations

import dataclasses

import pytest

from check_workbench.checks import Process, ProcessStep
from check_workbench.labels.targets import ELSEWHERE, UNMATCHED, leading_to, step_target
from tests.workshop import screening


def process(*steps: ProcessStep) -> Process:
    return Process(name="vendor", version="v1", steps=steps)


CHAIN = process(
    ProcessStep(id="screen", kind="agent", next=("draft",), checked=True),
    ProcessStep(id="draft", kind="agent", next=("review",)),
    ProcessStep(id="review", kind="agent", next=("sign",), checked=True),
    ProcessStep(id="sign", kind="approve", next=("pay",), on_reject="screen"),
    ProcessStep(id="pay", kind="agent", next=("release",), checked=True),
    ProcessStep(id="release", kind="approve", next=("done",), on_reject="draft"),
    ProcessStep(id="done", kind="finish"),
)


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ("sign", ("screen", "review")),
        ("release", ("pay",)),
        (None, ("screen", "review", "pay")),
        ("draft", None),
        ("nowhere", None),
    ],
)
def test_what_leads_to_an_approval_ends_at_the_approval_before(step, expected):
    assert leading_to(CHAIN, step) == expected


def test_a_rework_loop_ends():
    steps = (
        ProcessStep(id="screen", kind="agent", next=("fix",), checked=True),
        ProcessStep(id="fix", kind="agent", next=("screen", "sign")),
        ProcessStep(id="sign", kind="approve"),
    )
    assert leading_to(process(*steps), "sign") == ("screen",)


@pytest.mark.parametrize(
    ("judged", "step", "decision", "expected"),
    [
        ("screen", "screen", "rejected", None),
        ("screen", "review", "rejected", ELSEWHERE),
        ("screen", "draft", "rejected", ELSEWHERE),
        ("screen", "nowhere", "rejected", UNMATCHED),
        ("screen", "sign", "approved", None),
        ("review", "sign", "approved", None),
        ("pay", "sign", "approved", ELSEWHERE),
        ("screen", "sign", "rejected", None),
        ("review", "sign", "rejected", ELSEWHERE),
        ("screen", "sign", "failed", UNMATCHED),
        ("review", "sign", "edited", UNMATCHED),
        ("pay", "release", "rejected", None),
        ("pay", "release", "returned", None),
        ("pay", None, "approved", None),
        ("pay", None, "rejected", UNMATCHED),
    ],
)
def test_which_step_a_decision_speaks_of(judged, step, decision, expected):
    check = screening(process=CHAIN, step_id=judged, id=f"vendor/{judged}")
    assert step_target(check, step, decision) == expected


def test_the_only_checked_step_takes_every_decision_on_the_approval():
    only = process(
        ProcessStep(id="screen", kind="agent", next=("sign",), checked=True),
        ProcessStep(id="sign", kind="approve"),
    )
    check = dataclasses.replace(screening(), process=only)
    for decision in ("approved", "rejected", "failed", "returned", "edited"):
        assert step_target(check, "sign", decision) is None
        assert step_target(check, None, decision) is None
