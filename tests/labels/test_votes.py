from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from check_workbench.labels.blindness import Blindness, blindness
from check_workbench.labels.voting import Vote, label_of
from check_workbench.records import CLEAN_DECISIONS, PROBLEM_DECISIONS, is_problem

NOON = datetime(2026, 10, 6, 12)  # noqa: DTZ001
BLIND, SEEN = Blindness(by="said"), Blindness(reason="saw_verdict")


def vote(decision: str, blind: Blindness = BLIND, **row: Any) -> Vote:
    return Vote(row={"decision": decision, **row}, positive=bool(is_problem(decision)), blindness=blind)


@pytest.mark.parametrize(
    ("row", "visible", "expected"),
    [
        ({"verdict_seen": False}, None, ("said", None)),
        ({"verdict_seen": False, "asserted_blind": True}, None, ("asserted", None)),
        ({"asserted_blind": True}, None, ("asserted", None)),
        ({"verdict_seen": True, "asserted_blind": True}, None, (None, "saw_verdict")),
        ({"verdict_seen": True, "decided_at": NOON - timedelta(days=9)}, NOON, (None, "saw_verdict")),
        ({"provenance": "saw_verdict"}, None, (None, "saw_verdict")),
        ({"provenance": "prefilled", "decided_at": NOON - timedelta(days=9)}, NOON, (None, "prefilled")),
        ({"provenance": "blind"}, None, ("said", None)),
        ({"provenance": "imported"}, None, (None, "verdict_seen_unknown")),
        ({}, None, (None, "verdict_seen_unknown")),
        ({"decided_at": NOON}, None, (None, "verdict_seen_unknown")),
        ({}, NOON, (None, "verdict_seen_unknown")),
        ({"decided_at": NOON - timedelta(microseconds=1)}, NOON, ("time", None)),
        ({"decided_at": NOON}, NOON, (None, "decided_after_verdict")),
    ],
)
def test_when_a_decision_is_blind(row, visible, expected):
    found = blindness({"decision": "approved", **row}, visible)
    assert (found.by, found.reason) == expected


def test_whoever_judged_a_finding_saw_it():
    row = {"decision": "dismissed", "decided_at": NOON}
    assert blindness(row, NOON + timedelta(days=1)) == Blindness(reason="about_a_finding")
    assert blindness({**row, "verdict_seen": False}, None).by == "said"


@given(st.lists(st.sampled_from([*PROBLEM_DECISIONS[:5], *CLEAN_DECISIONS[:2]]), min_size=1))
def test_the_majority_decides_and_a_tie_does_not(decisions):
    label = label_of([vote(decision) for decision in decisions])
    problems = sum(bool(is_problem(decision)) for decision in decisions)
    if 2 * problems == len(decisions):
        assert label is None
    else:
        assert label is not None
        assert label.positive == (2 * problems > len(decisions))
        assert len(label.votes) == len(decisions)


def test_blind_votes_decide_alone():
    label = label_of([vote("approved", SEEN), vote("approved", SEEN), vote("problem")])
    assert label is not None
    assert (label.positive, label.blind, label.reason_not_blind, len(label.votes)) == (True, True, None, 1)


def test_without_a_blind_vote_the_most_frequent_reason_is_told():
    unknown = Blindness(reason="verdict_seen_unknown")
    label = label_of([vote("approved", SEEN), vote("approved", unknown), vote("approved", unknown)])
    assert label is not None
    assert (label.blind, label.reason_not_blind) == (False, "verdict_seen_unknown")


def test_one_true_finding_makes_the_run_a_problem():
    votes = [vote("dismissed", span_id="s1"), vote("confirmed", span_id="s2"), vote("dismissed", span_id="s3")]
    label = label_of(votes)
    assert label is not None
    assert label.positive
    assert label_of([vote("dismissed", span_id="s1"), vote("confirmed", span_id="s1")]) is None
