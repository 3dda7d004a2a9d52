from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

import check_workbench as cw
from check_workbench.errors import InputError
from check_workbench.plans import Bound, read_plan


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
    ]
    assert len({base.digest, *(other.digest for other in others)}) == 6


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


def test_a_plan_file_explains_its_less_known_settings() -> None:
    text = cw.plan("enforce").to_yaml()
    for name in ("start", "blind_share", "cluster"):
        assert re.search(rf"^{name}: .*  # \w+", text, re.MULTILINE)
