from __future__ import annotations

import json

import pytest

import check_workbench as cw
from check_workbench.errors import InputError
from tests.certificates.processes import PROCESS, good_and_bad, load
from tests.scenario import uniform

NASTY = '<script>alert("x")</script> | `a` \n b'


@pytest.fixture
def decided(store, team):
    units = [
        {**u, "note": NASTY, "decided_by": "ana"}
        for u in uniform(200, labelled=150, risk=lambda s: 0.1 if s < 0.5 else 0.9)
    ]
    team.load(store, units)
    return cw.trust(team.check, store, plan=cw.plan(change="replace_approval", max_false_pass=0.2, max_false_fail=0.3))


def test_a_report_lists_every_counted_error_and_the_warning(decided, tmp_path):
    for suffix in ("html", "md"):
        text = decided.report(tmp_path / f"trust.{suffix}").read_text(encoding="utf-8")
        assert "not a security boundary" in text
        assert "a person stays" in text
        assert "<script>alert" not in text
        assert decided.plan.digest[:8] in text
        for row in decided[0].details["counted_errors"]:
            assert row["run"] in text
    sides = {row["side"] for row in decided[0].details["counted_errors"]}
    assert sides == {"false_pass", "false_fail"}


def test_a_json_report_holds_the_plan_and_every_detail(decided, tmp_path):
    data = json.loads(decided.report(tmp_path / "trust.json").read_text(encoding="utf-8"))
    assert data["plan"]["max_false_pass"] == 0.2
    error = data["checks"][0]["details"]["counted_errors"][0]
    assert error["decisions"][0]["decided_by"] == "ana"
    assert error["decisions"][0]["note"] == NASTY


def test_a_markdown_table_keeps_its_columns(decided, tmp_path):
    lines = decided.report(tmp_path / "trust.md").read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| r-")]
    assert rows
    assert {line.replace("\\|", "").count("|") for line in rows} == {7}


def test_other_suffixes_and_places_are_refused_in_words(decided, tmp_path):
    with pytest.raises(InputError, match=r"\.html, \.md or \.json, got '\.pdf'"):
        decided.report(tmp_path / "trust.pdf")
    with pytest.raises(InputError, match="no suffix"):
        decided.report(tmp_path / "trust")
    with pytest.raises(InputError, match="cannot be written"):
        decided.report(tmp_path / "none" / "trust.md")


def test_the_result_shows_itself(decided):
    shown = decided._repr_mimebundle_()
    assert set(shown) == {"text/plain", "text/html", "application/vnd.check-workbench+json"}
    assert shown["text/plain"] == repr(decided)
    json.dumps(shown["application/vnd.check-workbench+json"])


@pytest.fixture
def promoted(store, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "PROCESS.md").write_bytes(PROCESS.encode())
    shown = good_and_bad(40, seen="true")
    blind = [{**one, "run": f"b-{one['run']}"} for one in good_and_bad(200, errors=2)]
    load(store, tmp_path, [*shown, *blind])
    cw.compare("PROCESS.md#buy/screen", store)
    return cw.trust("PROCESS.md#buy/screen", store, plan=cw.plan("replace_approval", max_false_pass=0.2))


def test_a_report_holds_the_patch_what_was_left_out_and_earlier_calls(promoted, tmp_path):
    text = promoted.report(tmp_path / "trust.md").read_text(encoding="utf-8")
    assert f"```diff\n{promoted.patch()}```" in text
    assert "| saw_verdict | the person had seen the verdict | 40 |" in text
    assert "Earlier calls that read labels (1):" in text
    assert "\n| 1 | compare | - | 240 | - | nothing of" in text
    assert "200 of 240 decisions were blind (83.3 %); the plan asks for at least 25.0 %" in text
    page = promoted.report(tmp_path / "trust.html").read_text(encoding="utf-8")
    assert "-  - id: sign # who pays signs" in page
    assert "Every counted error (2)" in page
    details = json.loads(promoted.report(tmp_path / "trust.json").read_text(encoding="utf-8"))["checks"][0]["details"]
    assert details["promotion"]["replaces"] == "sign"
    assert [look["call"] for look in details["looks"]] == ["compare"]


def test_a_report_tells_no_folder_of_the_machine(store, tmp_path):
    (tmp_path / "PROCESS.md").write_bytes(PROCESS.encode())
    load(store, tmp_path, good_and_bad(200))
    cert = cw.trust(f"{tmp_path}/PROCESS.md#buy/screen", store, plan=cw.plan("replace_approval", max_false_pass=0.2))
    for suffix in ("html", "md", "json"):
        text = cert.report(tmp_path / f"trust.{suffix}").read_text(encoding="utf-8")
        assert "a/PROCESS.md" in text
        assert str(tmp_path) not in text


def test_a_patch_with_code_fences_stays_in_its_own(store, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fenced = PROCESS.replace("    agent: Screen it.\n", "    agent: |\n      ````\n      Screen it.\n      ````\n")
    (tmp_path / "PROCESS.md").write_bytes(fenced.encode())
    load(store, tmp_path, good_and_bad(200))
    cert = cw.trust("PROCESS.md#buy/screen", store, plan=cw.plan("enforce", max_false_fail=0.2))
    text = cert.report(tmp_path / "trust.md").read_text(encoding="utf-8")
    assert f"`````diff\n{cert.patch()}`````" in text


def test_a_check_of_another_name_that_asks_the_same_shares_the_looks(store, team, tmp_path):
    team.load(store, uniform(120, labelled=60, risk=lambda s: 0.0 if s < 0.5 else 1.0))
    plan = cw.plan("replace_approval", max_false_pass=0.2)
    cw.trust(team.check, store, plan=plan)
    twin = team.check.with_name("twin.check.yaml")
    twin.write_text(team.check.read_text(encoding="utf-8").replace("id: failed", "id: twin"), encoding="utf-8")
    (tmp_path / "more.jsonl").write_text(
        "".join(f'{{"run_id": "r-{n:04d}", "check_id": "twin", "probability": 0.1}}\n' for n in range(60)), "utf-8"
    )
    store.load_answers(tmp_path / "more.jsonl")
    team.decide(store, [{"run": f"r-{n:04d}", "bad": False, "check_id": "twin"} for n in range(60)])
    cert = cw.trust(twin, store, plan=plan)
    assert cert[0].details["look"] == 2
    assert (
        "looks at failed, asking the same, count as looks at this check: another name is no fresh start" in cert.reasons
    )
    text = cert.report(tmp_path / "trust.md").read_text(encoding="utf-8")
    assert "| trust (replace_approval), of failed, which asks the same |" in text
