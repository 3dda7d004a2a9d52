from __future__ import annotations

import pytest

import check_workbench as cw
from check_workbench.certificates.joint import in_words, joint
from check_workbench.checks import AtLeast, Check, Item, Repeat
from check_workbench.stats.intervals import upper_bound
from tests.certificates.processes import PROCESS, good_and_bad, load
from tests.scenario import Scenario

LOOP = [Item(asks=Repeat(), cut=AtLeast(value=at)) for at in (3, 4, 5)]


@pytest.fixture
def both(store, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "PROCESS.md").write_bytes(PROCESS.encode())
    units = good_and_bad(200)
    load(store, tmp_path, [*units, *({**one, "step": "pay"} for one in units)])
    return store


def test_each_check_has_its_share_of_the_allowed_error(both):
    plan = cw.plan("replace_approval", max_false_pass=0.1, checks=2)
    assert [bound.delta for bound in plan.bounds] == [0.05]
    decided = cw.trust("PROCESS.md", both, plan=plan)
    assert [entry.bound for entry in decided] == [pytest.approx(upper_bound(0, 100, delta=0.04))] * 2
    assert decided.to_json()["together"] == {"ready": 2, "tested": 2, "confidence": 0.9}
    words = "all 2 ready decisions hold together with confidence at least 90.0 % (2 checks tested, each with a 5.0 % "
    assert str(decided.together).startswith(words)
    assert repr(decided).endswith(str(decided.together))


def test_without_a_joint_plan_the_shares_add_up_and_the_way_out_is_told(both):
    decided = cw.trust("PROCESS.md", both, plan=cw.plan("replace_approval", max_false_pass=0.1))
    assert decided.to_json()["together"]["confidence"] == 0.8
    assert str(decided.together).endswith("for 90.0 %, plan for checks: 2 before any label is read")


def test_all_tested_checks_count_and_not_only_the_ready_ones(store, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "PROCESS.md").write_bytes(PROCESS.encode())
    units = good_and_bad(200)
    load(store, tmp_path, [*units, *({**one, "step": "pay"} for one in units[:20])])
    decided = cw.trust("PROCESS.md", store, plan=cw.plan("replace_approval", max_false_pass=0.1))
    assert (decided["buy/screen"].outcome, decided["buy/pay"].outcome) == ("ready", "need_labels")
    assert decided.to_json()["together"] == {"ready": 1, "tested": 2, "confidence": 0.8}
    assert str(decided.together).startswith("the one ready decision holds with confidence at least 80.0 %")


def test_many_checks_leave_no_confidence_below_zero(both):
    (first, second) = cw.trust("PROCESS.md", both, plan=cw.plan("replace_approval", confidence=0.4, max_false_pass=0.1))
    plan = cw.plan("replace_approval", confidence=0.4)
    found = joint((first, second), plan)
    assert found == {"ready": 2, "tested": 2, "confidence": 0.0}
    assert "at least 0.0 %" in str(in_words(found, plan))


def test_a_single_check_says_nothing_of_others(both):
    decided = cw.trust("PROCESS.md#buy/screen", both, plan=cw.plan("replace_approval", max_false_pass=0.1))
    assert decided.together is None
    assert "together" not in decided.to_json()
    assert "hold together" not in decided._repr_html_()


@pytest.mark.parametrize("ids", ["abc", "cab"])
def test_checks_that_ask_the_same_come_out_alike_in_whichever_order_they_are_given(store, tmp_path, ids):
    loops = {name: Check(id=name, dialect="neatroots", items=(LOOP[place],)) for place, name in enumerate("abc")}
    units = [{"run": f"r-{n}", "length": 1 + n % 6, "check_id": "", "bad": False} for n in range(90)]
    Scenario(folder=tmp_path).load(store, units)
    plan = cw.plan("replace_approval", max_false_pass=0.1, labels="work")
    found = cw.trust([loops[name] for name in ids], store, plan=plan)
    assert "".join(entry.check for entry in found) == ids
    ways = [[(entry.details["look"], bound["way"]) for bound in entry.details["bounds"]] for entry in found]
    told = dict(zip(ids, ways, strict=True))
    assert [told[name] for name in "abc"] == [[(1, "own")], [(2, "sequential")], [(3, "sequential")]]
