"""Evidence that cannot carry a decision is refused, and a person is told why and what would work."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import check_workbench as cw
from check_workbench.cli import main
from tests.certificates.draws import PLAN
from tests.scenario import uniform

if TYPE_CHECKING:
    from pathlib import Path


def good(score: float) -> float:
    return 0.01 if score < 0.5 else 0.9


def units(n: int = 300, labelled: int = 200, risk: Any = good, **fields: Any) -> list[dict[str, Any]]:
    return [{**unit, **fields} for unit in uniform(n, labelled=labelled, risk=risk)]


def said(result: Any, words: str) -> str:
    found = [reason for reason in result.reasons if words in reason]
    assert found, result.reasons
    return str(found[0])


def test_without_fault_the_same_labels_are_ready(store, team):
    team.load(store, units())
    assert cw.trust(team.check, store, plan=PLAN).outcome == "ready"


def test_labels_made_in_sight_of_the_verdict(store, team):
    team.load(store, units(seen="true"))
    cert = cw.trust(team.check, store, plan=PLAN)
    assert (cert.outcome, cert.n, cert.excluded) == ("unusable", 0, {"saw_verdict": 200})
    assert "people had seen the verdict" in said(cert, "the decisions would settle it, but cannot be used")
    assert "decisions made without sight of the verdict" in said(cert, "what makes it usable")


def test_labels_of_runs_that_a_preview_showed(store, team):
    mine = units()
    team.load(store, mine)
    problem = [u["run"] for u in mine[:200] if u["p"] >= 0.5][:3]
    clean = [u["run"] for u in mine[:200] if u["p"] < 0.5]
    cw.preview(team.check, store, problem=problem, clean=clean)
    cert = cw.trust(team.check, store, plan=PLAN)
    assert (cert.outcome, cert.n, cert.excluded) == ("need_labels", 0, {"fit": len(clean) + 3})
    assert "its run was previewed" in said(cert, f"{len(clean) + 3} left out")


def test_labels_that_were_read_before_the_question_was_reworded(store, team):
    team.load(store, units(ask=None))
    cw.compare(team.check, store)
    team.write(0.5, ask="Did the agent fail badly?")
    cert = cw.trust(team.check, store, plan=PLAN)
    assert (cert.outcome, cert.n, cert.excluded) == ("need_labels", 0, {"fit": 200})
    assert "read before the text was changed" in said(cert, "200 left out")


def test_answers_of_two_models(store, team):
    team.load(store, [{**u, "model": "old" if place < 190 else "new"} for place, u in enumerate(units(500))])
    cert = cw.trust(team.check, store, plan=PLAN)
    assert (cert.outcome, cert.excluded) == ("unusable", {"other_method": 190})
    assert cert[0].details["model"] == "new"
    assert "another method or model than the newest" in said(cert, "cannot be used")
    assert "answers of one method and model" in said(cert, "what makes it usable")


def test_fewer_than_twenty_clusters(store, team):
    team.load(store, [{**u, "session_id": f"s{place % 19}"} for place, u in enumerate(units())])
    cert = cw.trust(team.check, store, plan=PLAN)
    assert (cert.outcome, cert.errors) == ("unusable", 0)
    assert "as 17 clusters of one size; fewer than 20 never certify" in said(cert, "labels fall into")
    assert "at least 20 clusters" in said(cert, "what makes it usable")


def test_a_score_that_is_always_the_same(store, team):
    team.load(store, units(p=0.9))
    passing = cw.trust(team.check, store, plan=PLAN)
    assert (passing.outcome, passing.labels_needed, passing.coverage) == ("need_labels", None, 0)
    assert "no number of labels certifies this bound" in said(passing, "the check passed nothing")
    failing = cw.trust(team.check, store, plan=cw.plan(change="enforce", max_false_fail=0.1))
    assert failing[0].details["bounds"][0]["way"] == "own"
    assert not any("looser" in reason for reason in failing.reasons)
    found: Any = cw.calibrate(team.check, store, goal="precision>=0.9")[0]
    assert (found.auc.value, found.chosen) == (0.5, None)
    assert found.reason.startswith("no cut meets precision>=0.9")
    assert any("100.0 % of the scores are exactly 0.9: no cut can part them" in words for words in found.warnings)


@pytest.mark.parametrize(("risk", "kind"), [(0.0, "no problem"), (1.0, "a problem")])
def test_labels_of_one_kind(store, team, risk, kind):
    team.load(store, units(risk=lambda _: risk))
    found = cw.calibrate(team.check, store)[0]
    assert (found.chosen, found.auc) == (None, None)
    assert found.reason == f"all 200 labels say {kind}: no cut can be judged without the other kind"
    outcome = cw.trust(team.check, store, plan=PLAN).outcome
    assert outcome == ("ready" if risk == 0 else "too_weak")


def test_an_edited_plan_is_no_fresh_start(store, team):
    team.load(store, units(labelled=40))
    first = cw.trust(team.check, store, plan=PLAN)
    assert not any("plan was edited" in reason for reason in first.reasons)
    looser = cw.plan(change="replace_approval", max_false_pass=0.2)
    second = cw.trust(team.check, store, plan=looser)
    words = said(second, "the plan was edited after labels had been read")
    assert f"{PLAN.digest[:8]} then, {looser.digest[:8]} now" in words
    assert "no fresh start" in words
    assert (second[0].details["look"], second[0].details["bounds"][0]["way"]) == (2, "sequential")
    assert second[0].details["bounds"][0]["delta"] == pytest.approx(0.02)
    assert not any("which labels count" in reason for reason in second.reasons)
    assert cw.trust(team.check, store, plan=PLAN)[0].repeated


@pytest.mark.parametrize("edit", [{"window_start": "2026-10-08"}, {"cluster": "run_id"}])
def test_a_plan_that_is_edited_to_choose_its_labels_counts_only_new_ones(store, team, edit):
    """All errors were made in the first week; the window is moved behind them once they are known."""
    mine = [u for u in units(700, labelled=700) if u["p"] < 0.5]
    early = [{**u, "bad": place % 3 == 0, "decided_at": "2026-10-01T10:00:00"} for place, u in enumerate(mine[:60])]
    later = [{**u, "bad": False, "decided_at": "2026-10-09T10:00:00"} for u in mine[60:260]]
    team.load(store, [*early, *later])
    assert cw.trust(team.check, store, plan=PLAN).outcome != "ready"
    moved = cw.plan(change="replace_approval", max_false_pass=0.1, **edit)
    second = cw.trust(team.check, store, plan=moved)
    assert (second.outcome, second.n) == ("need_labels", 0)
    words = said(second, "the edit changes which labels count")
    assert f"({next(iter(edit))})" in words
    assert "only labels that nothing read before the edit count" in words
    fresh = [{**u, "bad": False, "decided_at": "2026-10-10T10:00:00"} for u in mine[260:320]]
    team.load(store, fresh)
    third = cw.trust(team.check, store, plan=moved)
    assert (third.outcome, third.n, third.errors) == ("ready", 60, 0)


def test_a_window_that_ends_later_takes_no_label_away(store, team):
    mine = units()
    team.load(store, [{**u, "decided_at": f"2026-10-{1 + place % 20:02d}T10:00:00"} for place, u in enumerate(mine)])
    ends = [cw.plan(change="replace_approval", max_false_pass=0.1, window_end=f"2026-10-{day}") for day in ("05", "30")]
    first, second = (cw.trust(team.check, store, plan=plan) for plan in ends)
    assert second.n > first.n > 0
    assert not any("which labels count" in reason for reason in second.reasons)


def test_a_window_that_was_set_after_labels_were_read(store, team):
    mine = [{**u, "decided_at": f"2026-10-{1 + place % 20:02d}T10:00:00"} for place, u in enumerate(units())]
    team.load(store, mine)
    plan = cw.plan(change="replace_approval", max_false_pass=0.1, window_start="2026-10-05")
    cw.compare(team.check, store)
    words = said(cw.trust(team.check, store, plan=plan), "the window of the plan leaves out 40, and compare had read")
    assert "only if the window was chosen without knowledge of them" in words


def test_a_window_that_was_set_before_is_not_doubted(store, team):
    mine = [{**u, "decided_at": f"2026-10-{1 + place % 20:02d}T10:00:00"} for place, u in enumerate(units())]
    team.load(store, mine)
    plan = cw.plan(change="replace_approval", max_false_pass=0.1, window_start="2026-10-05")
    cert = cw.trust(team.check, store, plan=plan)
    assert (cert.outcome, cert.excluded) == ("ready", {"outside_window": 40})
    assert not any("window of the plan" in reason for reason in cert.reasons)


def kept(team, rows: list[dict[str, Any]]) -> Path:
    """Return a store in a file."""
    path: Path = team.folder / "s.duckdb"
    with cw.open(path) as store:
        team.load(store, rows)
    return path


def test_the_command_line_refuses_labels_that_saw_the_verdict(team, capsys):
    path = kept(team, units(seen="true"))
    code = main(["trust", str(team.check), "--db", str(path), "--change", "replace_approval"])
    told = capsys.readouterr()
    assert code == 12
    assert "people had seen the verdict" in told.out
    assert "what makes it usable: decisions made without sight of the verdict" in told.out


def test_the_command_line_says_that_the_plan_was_edited(team, capsys, tmp_path):
    path = kept(team, units(labelled=24))
    plan = tmp_path / "plan.yaml"
    write = ["plan", "--change", "replace_approval", "-o", str(plan), "--max-false-pass"]
    trust = ["trust", str(team.check), "--db", str(path), "--plan", str(plan), "--json"]
    assert main([*write, "0.1"]) == 0
    assert main([*write, "0.2"]) == 3
    assert "A plan is fixed before labels are read" in capsys.readouterr().err
    assert main(trust) == 10
    plan.write_text(plan.read_text(encoding="utf-8").replace("max_false_pass: 0.1", "max_false_pass: 0.2"))
    capsys.readouterr()
    assert main(trust) == 10
    reasons = json.loads(capsys.readouterr().out)["checks"][0]["reasons"]
    assert "the plan was edited after labels had been read" in reasons[0]
    assert "an edited plan is no fresh start" in reasons[0]
