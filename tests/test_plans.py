from __future__ import annotations

import dataclasses
import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

import check_workbench as cw
from check_workbench.errors import InputError
from check_workbench.plans import Bound, Plan, of_mapping, read_plan


def test_each_change_has_the_bound_that_it_needs():
    assert cw.plan(change="enforce").bounds == (Bound(side="false_fail", target=0.10, delta=0.1),)
    assert cw.plan(change="replace_approval").bounds == (Bound(side="false_pass", target=0.05, delta=0.1),)


def test_two_bounds_share_delta_and_the_needed_one_comes_first():
    both = cw.plan(change="replace_approval", max_false_fail=0.2, max_false_pass=0.02, confidence=0.95)
    assert [(b.side, b.delta) for b in both.bounds] == [("false_pass", 0.025), ("false_fail", 0.025)]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"change": "replace"}, "change must be one of enforce, replace_approval"),
        ({"max_false_fail": 0}, "max_false_fail must be a share between 0 and 1"),
        ({"max_false_fail": 10}, "such as 0.1; got 10"),
        ({"max_false_pass": "0.1"}, "max_false_pass must be a share"),
        ({"max_false_pass": True}, "max_false_pass must be a share"),
        ({"confidence": 1.0}, "confidence must be a share"),
        ({"confidence": None}, "confidence must be a share"),
        ({"confidence": float("nan")}, "confidence must be a share"),
        ({"start": 0.0}, "start must be a share"),
        ({"cluster": "customer"}, "cluster must be one of session_id, run_id, workflow"),
        ({"labels": "all"}, "labels must be one of check, work"),
        ({"window_start": "soon"}, "window_start must be a time in ISO 8601"),
        ({"window_start": "2026-02-01", "window_end": "2026-01-01"}, "must lie before"),
        ({"checks": 0}, "checks must be a whole number of checks from 1 to 1000; got 0"),
        ({"checks": 2.0}, "checks must be a whole number"),
        ({"checks": True}, "checks must be a whole number"),
        ({"checks": None}, "checks must be a whole number"),
        ({"cluster": ["run_id"]}, "cluster must be one of"),
        ({"labels": {"work": 1}}, "labels must be one of"),
        ({"signed_by": 7}, "signed_by must be a name"),
        ({"window_end": 5}, "window_end must be a time in ISO 8601"),
        ({"signature_required": "yes"}, "signature_required must be true or false"),
        ({"signed_by": " "}, "signed_by must be a name"),
        ({"max_false_fial": 0.1}, "Did you mean 'max_false_fail'"),
    ],
)
def test_what_cannot_be_is_refused_with_what_would_work(settings, words):
    with pytest.raises(InputError, match=words):
        cw.plan(**settings)


def test_the_digest_knows_every_setting_and_nothing_else():
    base = cw.plan(change="enforce")
    assert base.digest == cw.plan(change="enforce", max_false_fail=0.1, confidence=0.9).digest
    others = [
        cw.plan(change="replace_approval"),
        cw.plan(change="enforce", max_false_fail=0.2),
        cw.plan(change="enforce", confidence=0.95),
        cw.plan(change="enforce", signed_by="Ana"),
        cw.plan(change="enforce", cluster="run_id"),
        cw.plan(change="enforce", checks=2),
        cw.plan(change="enforce", window_start="2026-01-01"),
        cw.plan(change="enforce", blind_share=0.5),
        cw.plan(change="enforce", signature_required=True),
    ]
    assert len({base.digest, *(other.digest for other in others)}) == 10


def test_a_plan_file_gives_the_same_plan_back(tmp_path):
    made = cw.plan(change="replace_approval", max_false_pass=0.02, window_start="2026-01-01", signed_by='Ana "A" ü: #')
    path = tmp_path / "plan.yaml"
    made.write(path)
    assert read_plan(path) == made
    path.write_text("change: enforce\nmax_false_fail: 0.2 # agreed\n", encoding="utf-8")
    assert read_plan(path).max_false_fail == 0.2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "must be a mapping"),
        ("- enforce\n", "must be a mapping"),
        ("max_false_fail: 0.1\n", "must say its change"),
        ("change: enforce\nmax_false_fail: 2\n", "must be a share"),
        ("change: enforce\nchange: enforce\n", "plan.yaml:2:1"),
        ("change: [\n", "plan.yaml:"),
        ("change: enforce\n7: 1\n", "no plan setting"),
    ],
)
def test_a_broken_plan_file_is_refused_by_name(tmp_path, text, words):
    path = tmp_path / "plan.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=words) as caught:
        read_plan(path)
    assert "plan.yaml" in str(caught.value)


def test_a_missing_or_unwritable_plan_file_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_plan(tmp_path / "none.yaml")
    with pytest.raises(InputError, match="cannot be written"):
        cw.plan(change="enforce").write(tmp_path / "none" / "plan.yaml")


def test_times_are_kept_in_utc():
    made = cw.plan(
        change="enforce", window_start="2026-01-01T02:00:00+02:00", window_end=datetime(2026, 2, 1, tzinfo=UTC)
    )
    assert (made.window_start, made.window_end) == ("2026-01-01T00:00:00", "2026-02-01T00:00:00")


def test_a_plan_reads_as_a_sentence():
    assert str(cw.plan(change="enforce")).startswith("enforce: good among failed ≤ 0.1, with confidence 0.9")


def test_a_plan_file_explains_every_setting() -> None:
    text = cw.plan("enforce").to_yaml()
    for field in dataclasses.fields(Plan):
        assert re.search(rf"^{field.name}: .*  # \w+", text, re.MULTILINE)


@pytest.mark.parametrize("name", ["plan.yaml", "plan.yml", "plan.json"])
def test_every_setting_survives_a_file(tmp_path, name):
    made = cw.plan(
        "replace_approval",
        max_false_pass=0.02,
        max_false_fail=0.3,
        confidence=0.95,
        checks=3,
        cluster="workflow",
        labels="work",
        window_start="2026-01-01",
        window_end="2026-06-01",
        start=0.5,
        blind_share=0.4,
        signature_required=True,
        signed_by='Ana: # "A" ü',
    )
    made.write(tmp_path / name)
    assert read_plan(tmp_path / name) == made


def test_several_checks_share_the_allowed_error():
    assert [bound.delta for bound in cw.plan("enforce", checks=4).bounds] == [0.025]
    two = cw.plan("replace_approval", max_false_fail=0.2, checks=2)
    assert [bound.delta for bound in two.bounds] == [0.025, 0.025]
    assert "confidence 0.9 for 2 checks together" in str(two)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@given(values=st.dictionaries(st.sampled_from([field.name for field in dataclasses.fields(Plan)]), JSON))
def test_whatever_a_file_says_is_a_plan_or_refused_in_words(values):
    try:
        made = of_mapping({"change": "enforce", **values})
    except InputError as error:
        text = str(error)
    else:
        text = made.to_yaml()
    assert text
