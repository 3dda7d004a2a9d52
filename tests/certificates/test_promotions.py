from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path

import pytest

import check_workbench as cw
from check_workbench.dialects import read_checks
from check_workbench.errors import InputError
from tests.certificates.processes import PROCESS, good_and_bad, load, unit
from tests.scenario import uniform

ENFORCE = cw.plan("enforce", max_false_fail=0.1)
REPLACE = cw.plan("replace_approval", max_false_pass=0.1)
SIGN = "  - id: sign # who pays signs\n    person: boss\n    approve: Approve it.\n    on_reject: screen\n"
CLOSE = "  - id: close\n    person: boss\n    approve: Close it.\n    on_reject: pay\n    next: done\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "PROCESS.md").write_bytes(PROCESS.encode())
    return tmp_path


def file() -> str:
    return Path("PROCESS.md").read_bytes().decode()


def screen():
    return next(check for check in cw.read_checks("PROCESS.md") if check.id == "buy/screen")


def looks(store):
    return [
        json.loads(text) for text in store.sql("select result from looks where call = 'trust' order by look")["result"]
    ]


def test_enforcing_drops_the_flag_and_nothing_else(store, folder):
    load(store, folder, good_and_bad(200))
    cert = cw.trust("PROCESS.md#buy/screen", store, plan=ENFORCE)
    wanted = PROCESS.replace("    advisory: true # until people trust it\n", "")
    assert cert.outcome == "ready"
    assert "-    advisory: true # until people trust it\n" in cert.patch()
    assert cert[0].details["promotion"]["patch"] == cert.patch()
    assert any("pay (agent) reads steps.screen.check: it says pass or unsure" in reason for reason in cert.reasons)
    assert (cert.apply(), file()) == (("PROCESS.md",), wanted)
    assert (cert.patch(), cert.apply()) == ("", ())


def test_replacing_takes_the_approval_out_of_the_process(store, folder):
    load(store, folder, good_and_bad(200))
    cert = cw.trust("PROCESS.md#buy/screen", store, plan=REPLACE)
    cert.apply()
    assert file() == PROCESS.replace("    advisory: true # until people trust it\n", "").replace(SIGN, "")
    assert any("a rejection at sign went back to screen" in reason for reason in cert.reasons)
    assert {check.id for check in cw.read_checks("PROCESS.md")} == {"buy/screen", "buy/pay"}


def test_the_ledger_knows_the_document_before_and_after(store, folder):
    load(store, folder, good_and_bad(200))
    cert = cw.trust("PROCESS.md#buy/screen", store, plan=REPLACE)
    (kept,) = looks(store)
    assert kept["certified_document"] is None, "no number moves"
    assert kept["promoted_document"] != screen().document
    cert.apply()
    assert kept["promoted_document"] == screen().document


def test_what_is_not_ready_promises_no_document(store, folder):
    load(store, folder, good_and_bad(8))
    cert = cw.trust("PROCESS.md#buy/screen", store, plan=REPLACE)
    assert (cert.outcome, cert.patch(), cert.apply()) == ("need_labels", "", ())
    assert [(one["certified_document"], one["promoted_document"]) for one in looks(store)] == [(None, None)]
    assert file() == PROCESS


@pytest.mark.parametrize("plan", [ENFORCE, REPLACE], ids=lambda plan: plan.change)
def test_the_promoted_check_keeps_its_certificate(store, folder, plan):
    load(store, folder, good_and_bad(200))
    cert = cw.trust("PROCESS.md#buy/screen", store, plan=plan)
    cert.apply()
    again = cw.trust("PROCESS.md#buy/screen", store, plan=plan)
    assert again[0].repeated
    assert again.to_json() == cert.to_json()
    assert again.patch() == ""
    assert len(looks(store)) == 1


def test_a_replaced_approval_comes_back_with_its_decisions(store, folder):
    """Of a certificate whose approve step is gone, a changed threshold or a new label takes the repetition away."""
    load(store, folder, good_and_bad(200))
    cw.trust("PROCESS.md#buy/screen", store, plan=REPLACE).apply()
    Path("PROCESS.md").write_text(file().replace("pass: 0.8 # a guess", "pass: 0.7 # a guess"), encoding="utf-8")
    assert not cw.trust("PROCESS.md#buy/screen", store, plan=REPLACE)[0].repeated


def test_two_checks_of_one_file_are_promoted_together(store, folder):
    units = good_and_bad(200)
    load(store, folder, [*units, *({**one, "step": "pay"} for one in units)])
    cert = cw.trust("PROCESS.md", store, plan=REPLACE)
    assert [entry.outcome for entry in cert] == ["ready", "ready"]
    cert.apply()
    wanted = PROCESS.replace("    advisory: true # until people trust it\n", "").replace("    advisory: true\n", "")
    assert file() == wanted.replace(SIGN, "").replace(CLOSE, "")
    assert cert.patch() == ""


def test_of_several_checks_only_the_ready_ones_are_promoted(store, folder):
    load(store, folder, good_and_bad(200))
    cert = cw.trust("PROCESS.md", store, plan=REPLACE)
    assert (cert["buy/screen"].outcome, cert["buy/pay"].outcome) == ("ready", "need_labels")
    cert.apply()
    assert file() == PROCESS.replace("    advisory: true # until people trust it\n", "").replace(SIGN, "")


def test_a_certified_number_and_the_promotion_stand_in_one_patch(store, folder):
    answers = [round(0.05 + 0.9 * place / 599, 4) for place in range(600)]
    units = [
        unit(place, answer=answer, bad=answer < 0.5 if place % 2 else None) for place, answer in enumerate(answers)
    ]
    load(store, folder, units)
    cw.compare("PROCESS.md#buy/screen", store)
    Path("PROCESS.md").write_text(file().replace("pass: 0.8 # a guess", "pass: 0.95 # a guess"), encoding="utf-8")
    cert = cw.trust("PROCESS.md#buy/screen", store, plan=REPLACE)
    (moved, *_) = [change for change in cert[0].changes() if change.key == "pass"]
    assert cert.outcome == "ready"
    kept = looks(store)[-1]
    cert.apply()
    assert f"        pass: {moved.value} # a guess\n" in file()
    assert "id: sign" not in file()
    assert "until people trust it" not in file()
    assert kept["promoted_document"] == screen().document != kept["certified_document"]


def test_a_refused_patch_is_told_and_none_of_it_is_written(store, folder):
    shared = PROCESS.replace("    agent: Screen it.\n", "    agent: Screen it.\n    next: [sign, sort]\n").replace(
        "  - id: sign #", "  - id: sort\n    agent: Sort it.\n  - id: sign #"
    )
    Path("PROCESS.md").write_text(shared, encoding="utf-8")
    load(store, folder, good_and_bad(200))
    cert = cw.trust("PROCESS.md#buy/screen", store, plan=REPLACE)
    words = "it also approves what comes from sort, which no check judges"
    assert cert.outcome == "ready"
    assert words in (cert[0].refused or "")
    assert any(reason.startswith("no patch: PROCESS.md: the approve step sign") for reason in cert.reasons)
    for act in (cert.patch, cert.apply):
        with pytest.raises(InputError, match=words):
            act()
    assert file() == shared
    assert looks(store)[0]["promoted_document"] is None
    Path("PROCESS.md").write_text(shared.replace("next: [sign, sort]", "next: sign"), encoding="utf-8")
    mended = cw.trust("PROCESS.md#buy/screen", store, plan=REPLACE)
    assert "cannot be taken away" in (mended[0].refused or ""), "sort still leads to sign"


def test_a_file_that_changed_since_is_not_written(store, folder):
    load(store, folder, good_and_bad(200))
    cert = cw.trust("PROCESS.md#buy/screen", store, plan=ENFORCE)
    Path("PROCESS.md").write_text(PROCESS.replace("pass: 0.8 # a guess", "pass: 0.9"), encoding="utf-8")
    with pytest.raises(InputError, match="changed since it was read"):
        cert.apply()


def test_a_check_that_has_no_flag_says_what_its_promotion_is(store, team):
    team.load(store, uniform(400, labelled=250, risk=lambda s: 0.01 if s < 0.5 else 0.95))
    cert = cw.trust(team.check, store, plan=REPLACE)
    assert cert.outcome == "ready"
    assert any("nothing in a neatroots file is advisory" in reason for reason in cert.reasons)
    assert any("take it away where it is" in reason for reason in cert.reasons)
    assert (cert.patch(), cert.apply()) == ("", ())


def test_line_ends_and_marks_of_the_file_stay(store, folder):
    text = "\ufeff" + PROCESS.replace("\n", "\r\n")
    Path("PROCESS.md").write_bytes(text.encode())
    load(store, folder, good_and_bad(200))
    cw.trust("PROCESS.md#buy/screen", store, plan=REPLACE).apply()
    wanted = PROCESS.replace("    advisory: true # until people trust it\n", "").replace(SIGN, "")
    assert file() == "\ufeff" + wanted.replace("\n", "\r\n")


def test_of_several_files_all_are_promoted_or_none(store, folder, monkeypatch):
    load(store, folder, good_and_bad(200))
    cert = cw.trust("PROCESS.md#buy/screen", store, plan=ENFORCE)
    other = folder / "OTHER.md"
    other.write_text(PROCESS.replace("name: buy", "name: sell"), encoding="utf-8")
    second = next(check for check in read_checks(other) if check.id == "sell/screen")
    moved = dataclasses.replace(cert[0], subject=second)
    both = dataclasses.replace(cert, entries=(*cert.entries, moved))
    before, access = other.read_bytes(), os.access
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "OTHER.md" and access(path, mode))
    with pytest.raises(InputError, match=r"OTHER\.md: cannot be written: it is read-only\. As before: PROCESS\.md, "):
        both.apply()
    assert (file(), other.read_bytes()) == (PROCESS, before)
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    assert both.apply() == ("PROCESS.md", str(other))
    promoted = PROCESS.replace("    advisory: true # until people trust it\n", "")
    assert (file(), other.read_text()) == (promoted, promoted.replace("name: buy", "name: sell"))
