from __future__ import annotations

import dataclasses

import pytest

from check_workbench.checks import (
    FIXED_RULES,
    RULE_TYPES,
    AtLeast,
    Check,
    Choice,
    Count,
    Errors,
    EvidenceRule,
    FlagAt,
    FlagLevel,
    FlagOn,
    Item,
    Levels,
    Match,
    Metric,
    PassBand,
    PassLevel,
    PassNames,
    Repeat,
    RequiresBefore,
    Rule,
    RunEnd,
    Selector,
    Slow,
    UnrecoveredError,
    YesNo,
    kind_of,
    thresholds,
    with_threshold,
)
from check_workbench.errors import InputError, UnknownNameError

RULES: list[Rule] = [
    Repeat(),
    Errors(),
    Count(),
    Slow(),
    Metric(metric="total_tokens"),
    Match(pattern="x"),
    RequiresBefore(requires=Selector(names=("lookup",))),
    UnrecoveredError(),
    RunEnd(),
]
CUTS = [
    (YesNo(ask="?"), FlagAt(), "flag_at"),
    (Choice(ask="?", options=(("a", ""), ("b", ""))), FlagOn(names=("a",)), "flag_at"),
    (Levels(ask="?", levels=("x", "y")), FlagLevel(value=1), "flag_at_level"),
    (YesNo(ask="?"), PassBand(), "pass"),
    (YesNo(ask="?"), PassBand(fail_below=0.5), "fail"),
    (Choice(ask="?", options=(("a", ""), ("b", ""))), PassNames(passing=("a",)), "confidence"),
    (Levels(ask="?", levels=("x", "y")), PassLevel(level=1), "confidence"),
    (Repeat(), AtLeast(value=3), "at_least"),
    (Slow(), AtLeast(value=900), "at_least_ms"),
]


def check(*items: Item, **changes) -> Check:
    return Check(**{"id": "c", "dialect": "neatroots", "items": items} | changes)


def test_every_rule_type_has_a_name_and_a_setting() -> None:
    assert [kind_of(rule) for rule in RULES] == list(RULE_TYPES)


@pytest.mark.parametrize(("asks", "cut", "key"), CUTS)
def test_moving_a_threshold_changes_the_document_and_never_what_is_asked(asks, cut, key) -> None:
    before = check(Item(asks=asks, cut=cut))
    after = with_threshold(before, item=0, key=key, value=0.85)
    assert after.asked == before.asked
    assert after.asked_items == before.asked_items
    assert after.document != before.document
    assert next(t.value for t in thresholds(after) if t.key == key) == 0.85


@pytest.mark.parametrize("rule", RULES)
def test_rules_that_are_cut_at_one_hit_offer_no_threshold(rule) -> None:
    offered = thresholds(check(Item(asks=rule, cut=AtLeast(value=1))))
    assert (not offered) == isinstance(rule, FIXED_RULES)


@pytest.mark.parametrize(
    "changed",
    [
        {"asks": YesNo(ask="Was it late?")},
        {"scope": "span"},
        {"evidence": EvidenceRule(final_output=True)},
        {"evidence": EvidenceRule(last=3)},
        {"evidence": EvidenceRule(spans=Selector(names=("refund",)))},
    ],
)
def test_what_is_asked_covers_text_scope_and_evidence(changed) -> None:
    item = Item(asks=YesNo(ask="Was it wrong?"), cut=FlagAt())
    assert check(dataclasses.replace(item, **changed)).asked != check(item).asked


@pytest.mark.parametrize("name", ["title", "guidance", "action", "advisory", "group", "file", "when"])
def test_what_is_asked_ignores_what_people_read(name) -> None:
    item = Item(asks=YesNo(ask="Was it wrong?"), cut=FlagAt())
    value = {"advisory": True, "action": "halt", "when": "live"}.get(name, "other words")
    assert check(item, **{name: value}).asked == check(item).asked


@pytest.mark.parametrize(("name", "changes_document"), [("advisory", True), ("title", False), ("file", False)])
def test_the_document_digest_covers_flags_and_no_titles(name, changes_document) -> None:
    item = Item(asks=YesNo(ask="Was it wrong?"), cut=FlagAt())
    other = check(item, **{name: True if name == "advisory" else "x"})
    assert (other.document != check(item).document) == changes_document


def test_check_1_questions_are_asked_with_instructions_and_body() -> None:
    item = Item(asks=YesNo(ask="The verdict matches."), cut=PassBand())
    step = check(item, dialect="check-1", instructions="Check the vendor.", body="Policy")
    assert dataclasses.replace(step, body="Other policy").asked != step.asked
    assert dataclasses.replace(step, instructions="Check it.").asked != step.asked
    assert dataclasses.replace(check(item), body="Other policy").asked == check(item).asked


def test_editing_one_question_leaves_the_other_answers_valid() -> None:
    first, second = Item(asks=YesNo(ask="A?"), cut=PassBand()), Item(asks=YesNo(ask="B?"), cut=PassBand())
    edited = dataclasses.replace(second, asks=YesNo(ask="C?"))
    assert check(first, second).asked_items[0] == check(first, edited).asked_items[0]
    assert check(first, second).asked_items[1] != check(first, edited).asked_items[1]


def test_digests_are_stable_across_releases() -> None:
    fixed = check(Item(asks=Repeat(span=Selector(types=("tool", "mcp_tool"))), cut=AtLeast(value=3)))
    assert fixed.asked == "69f12dbc4fd12e7f9b332a1db9dc91fc"
    assert fixed.document == "2bde2b691abc92e9cb6069226fe458a7"


def test_an_unknown_threshold_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'flag_at'"):
        with_threshold(check(Item(asks=YesNo(ask="?"), cut=FlagAt())), item=0, key="flagat", value=0.5)


def test_a_band_cannot_be_turned_upside_down() -> None:
    with pytest.raises(InputError, match="fail must be at most pass"):
        with_threshold(check(Item(asks=YesNo(ask="?"), cut=PassBand())), item=0, key="fail", value=0.95)


def test_only_fail_can_be_taken_away() -> None:
    band = check(Item(asks=YesNo(ask="?"), cut=PassBand(fail_below=0.5)))
    assert with_threshold(band, item=0, key="fail", value=None).items[0].cut == PassBand()
    with pytest.raises(InputError, match="pass must be a number"):
        with_threshold(band, item=0, key="pass", value=None)
