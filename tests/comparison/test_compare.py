from __future__ import annotations

import json
from typing import Any

import pytest

import check_workbench as cw
from check_workbench.errors import InputError
from check_workbench.samples import sample_data
from tests.scenario import Scenario, uniform


@pytest.fixture
def team(tmp_path) -> Scenario:
    return Scenario(folder=tmp_path)


def units():
    """Return 40 decided units: the check flags the last 10 of each 20."""
    found = []
    for place in range(40):
        flagged = place % 20 >= 10
        found.append(
            {
                "run": f"r-{place:02d}",
                "p": 0.9 if flagged else 0.1,
                "bad": flagged,
                "seen": "true" if place >= 20 else "false",
                "decided_by": "ana" if place % 2 else "ben",
                "decided_at": f"2026-0{1 + place // 20}-05T10:00:00",
                "workflow": "web" if place % 4 else "phone",
            },
        )
    found[0] |= {"bad": True, "note": "It lied."}
    found[19] |= {"bad": False}
    return found


def test_verdicts_stand_beside_decisions(store, team):
    team.load(store, units())
    found = cw.compare(team.check, store)
    assert found.n == 40
    assert [(row["verdict"], row["n"], row["good"]["k"], row["bad"]["k"]) for row in found.counts] == [
        ("pass", 20, 19, 1),
        ("unsure", 0, 0, 0),
        ("fail", 20, 1, 19),
    ]
    said = found.counts[0]["decisions"]
    assert {name: (one["k"], one["n"], one["share"]) for name, one in said.items()} == {
        "no_problem": (19, 20, 0.95),
        "problem": (1, 20, 0.05),
    }
    assert said["problem"]["low"] < 0.05 < said["problem"]["high"]
    assert found.frame["unit"].tolist() == [f"r-{place:02d}" for place in range(40)]
    assert "pass: 20, of which 1 of 20 (5.0 % [0.1 %, 24.9 %]) bad; 19 no_problem, 1 problem" in repr(found)


def test_what_is_neither_good_nor_bad_stands_beside(store, team, tmp_path):
    team.load(store, [*units(), {"run": "x", "p": 0.1}, {"run": "y", "p": 0.9}, {"run": "t", "p": 0.9, "mode": "test"}])
    path = tmp_path / "more.csv"
    rows = [
        ("x", "", "completed"),
        ("y", "failed", "unclear"),
        ("t", "failed", "unclear"),
        ("r-00", "failed", "unclear"),
    ]
    path.write_text("run_id,check_id,decision\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows), encoding="utf-8")
    store.load_decisions(path)
    alone, work = cw.compare(team.check, store), cw.compare(team.check, store, labels="work")
    assert [row["neither"] for row in alone.counts] == [0, 0, 1]
    assert [row["neither"] for row in work.counts] == [1, 0, 1]
    assert {name: one["k"] for name, one in work.counts[0]["decisions"].items()} == {
        "completed": 1, "no_problem": 19, "problem": 1,
    }  # fmt: skip
    assert work.counts[0]["decisions"]["completed"]["n"] == 21
    assert work.n == 40


def test_blind_and_shown_stay_apart_and_their_gap_has_an_interval(store, team):
    team.load(store, units())
    found: Any = cw.compare(team.check, store)
    assert (found.sides.blind.n, found.sides.shown.n) == (20, 20)
    assert (found.sides.blind.agreement.raw.value, found.sides.shown.agreement.raw.value) == (0.9, 1.0)
    assert found.sides.gap.value == pytest.approx(0.1)
    assert found.sides.gap.low < 0.1 < found.sides.gap.high
    assert "  agreement where the verdict was seen, or may have been, minus blind: +0.100 [" in repr(found)
    assert not found.anchored


def test_people_who_follow_the_verdict_are_named(store, team):
    blind = uniform(150, labelled=150, risk=lambda _: 0.5)
    shown = [
        {**u, "bad": u["p"] >= 0.5, "seen": "true"}
        for u in uniform(150, labelled=150, risk=lambda _: 0, seed=2, prefix="s")
    ]
    team.load(store, [*blind, *shown])
    found = cw.compare(team.check, store)
    assert found.anchored
    assert "cannot certify" in repr(found)
    assert "Warning" in found._repr_html_()


def test_a_gap_of_few_is_shown_but_names_nobody(store, team):
    shown = [{"run": f"s-{i}", "p": 0.1, "bad": False, "seen": "true"} for i in range(50)]
    team.load(store, [*shown, {"run": "b", "p": 0.1, "bad": True}])
    found: Any = cw.compare(team.check, store)
    assert found.sides.gap.low > 0.03
    assert found.sides.chance == pytest.approx(1 / 51)
    assert not found.anchored
    assert "one of the two has 1 unit with a clear verdict" in repr(found)
    assert found.to_json()["gap"]["anchored"] is False
    assert "Warning" not in found._repr_html_()


def test_each_side_says_how_many_people_call_bad_and_has_its_own_table(store, team):
    """The check's own share is not mixed into it: of 20 here people call 6 bad, and the check 10."""
    rows = [
        {"run": f"{side}-{i:02d}", "p": 0.9 if i < 10 else 0.1, "bad": i < few, "seen": seen}
        for side, seen, few in (("b", "false", 6), ("s", "true", 9))
        for i in range(20)
    ]
    team.load(store, rows)
    found = cw.compare(team.check, store)
    assert "blind: 20 units, 6 bad (30.0 %), 0 unsure, agreement 0.800" in repr(found)
    document = found.to_json()
    for side, bad in (("blind", 6), ("shown", 9)):
        assert (document[side]["bad"]["k"], document[side]["bad"]["n"]) == (bad, 20)
        assert [(row["good"]["k"], row["bad"]["k"]) for row in document[side]["counts"]] == [
            (10, 0), (0, 0), (10 - bad, bad),
        ]  # fmt: skip
        assert (document[side]["good_failed"]["k"], document[side]["good_failed"]["n"]) == (10 - bad, 20 - bad)
    assert "Each apart" in found._repr_html_()


def test_labels_that_were_read_before_the_cut_are_told(store, team):
    team.load(store, units())
    assert "were read" not in repr(cw.compare(team.check, store))
    store.sql('update looks set "at" = "at" - interval 1 day')
    store.sql("update checks set first_seen = first_seen - interval 1 day")
    team.write(0.95)
    notes = cw.compare(team.check, store).notes
    told = "40 of 40 labels were read (by compare) before the check got its present text and cuts"
    assert [note.startswith(told) for note in notes if "were read" in note] == [True]


def test_months_that_the_text_lists_are_the_latest(store, team):
    months = [f"2026-{m:02d}" for m in range(1, 9)]
    team.load(store, [{"run": m, "p": 0.1, "bad": False, "decided_at": f"{m}-15T00:00:00"} for m in months])
    text = repr(cw.compare(team.check, store))
    assert "month 2026-03" not in text
    assert "month 2026-08" in text
    assert "month: and 3 earlier" in text


def test_a_month_is_one_of_universal_time(store, team):
    team.load(store, [{"run": "a", "p": 0.1, "bad": False, "decided_at": "2026-01-31T22:30:00-05:00"}])
    assert [row["group"] for row in cw.compare(team.check, store).groups] == ["2026-02"]


def test_every_disagreement_is_listed_with_its_evidence(store, team):
    team.load(store, units())
    first, second = cw.compare(team.check, store).disagreements
    evidence = {name: first.pop(name) for name in ("said", "answers", "findings", "work", "triage")}
    assert first == {
        "unit": "r-00",
        "run": "r-00",
        "step": None,
        "attempt": 1,
        "verdict": "pass",
        "score": 0.1,
        "scores": [0.1],
        "label": "bad",
        "decision": "problem",
        "blind": True,
        "by": "ben",
        "note": "It lied.",
    }
    assert evidence["said"] == [
        {"decision": "problem", "decided_by": "ben", "note": "It lied.", "decided_at": "2026-01-05T10:00:00"},
    ]
    assert evidence["answers"][0]["ask"] == "Did the agent fail?"
    assert (evidence["findings"], evidence["triage"]) == ([], None)
    assert (second["run"], second["label"]) == ("r-19", "good")
    assert second["findings"][0]["message"] == "It failed"


def test_groups_name_approver_workflow_and_month(store, team):
    team.load(store, units())
    groups = {(row["by"], row["group"]): row for row in cw.compare(team.check, store).groups}
    assert set(groups) == {
        ("approver", "ana"), ("approver", "ben"), ("workflow", "web"), ("workflow", "phone"),
        ("month", "2026-01"), ("month", "2026-02"),
    }  # fmt: skip
    assert groups["month", "2026-01"]["blind_agreement"]["k"] == 18
    assert groups["month", "2026-02"]["blind_agreement"]["share"] is None
    ben = groups["approver", "ben"]
    assert (ben["bad_passed"]["k"], ben["bad_passed"]["n"], ben["n"], ben["blind"]) == (1, 10, 20, 10)
    assert [row["bad"]["k"] for row in ben["counts"]] == [1, 0, 10]
    assert "approver ben: 20, agreement 19 of 20" in repr(cw.compare(team.check, store))


def test_what_the_check_quoted_and_explained_stands_beside(store, team, tmp_path):
    team.load(store, [{"run": "a", "p": None, "bad": False, "decided_by": "ana", "note": "It is fine."}])
    path = tmp_path / "words.jsonl"
    words = {"explanation": "It says so.", "quote": "I have failed."}
    path.write_text(json.dumps({"run_id": "a", "check_id": "failed", "probability": 0.9, **words}), encoding="utf-8")
    store.load_answers(path)
    found = cw.compare(team.check, store)
    [one] = found.disagreements
    assert {name: one["answers"][0][name] for name in words} == words
    assert one["findings"][0]["quote"] == "I have failed."
    for text in (*words.values(), "It is fine."):
        assert text in found._repr_html_()
    assert "note: It is fine." in repr(found)


def test_a_step_shows_the_submission_that_the_verdict_speaks_of(store, tmp_path):
    process = sample_data() / "vendors" / "PROCESS.md"
    ask = "The cleared verdict follows from what the summary reports, and the summary covers the OFAC and the EU list."
    questions = [{"ask": ask, "kind": "yes_no", "answer": 0.95, "result": "pass"}]
    check = {"verdict": "pass", "questions": questions, "at": "2026-01-01T00:00:00Z"}
    step = {"step_id": "check_vendor", "attempt": 1, "summary": "Done.", "candidate": {"cleared": True}, "check": check}
    runs, said = tmp_path / "runs.jsonl", tmp_path / "said.csv"
    runs.write_text(json.dumps({"run_id": "v", "workflow": "vendor-check", "steps": [step]}), encoding="utf-8")
    said.write_text("run_id,step_id,decision\nv,approve_vendor,rejected\n", encoding="utf-8")
    store.load(runs)
    store.load_decisions(said)
    [one] = cw.compare(f"{process}#vendor-check/check_vendor", store).disagreements
    assert one["work"] == {"summary": "Done.", "candidate": '{"cleared":true}'}


def test_each_approver_is_counted_by_what_they_said_themselves(store, team):
    team.load(store, [{"run": "a", "p": 0.1, "bad": False, "decided_by": "ana"}])
    team.decide(store, [{"run": "a", "bad": bad, "decided_by": by} for bad, by in ((True, "ben"), (False, "cy"))])
    groups = {row["group"]: row["agreement"]["k"] for row in cw.compare(team.check, store).groups}
    assert groups == {"ana": 1, "ben": 0, "cy": 1}


def test_without_decisions_it_says_so(store, team):
    found = cw.compare(team.check, store)
    assert found.n == 0
    assert "blind: 0 units" in repr(found)
    assert found.sides.gap is None
    json.dumps(found._repr_mimebundle_()["application/vnd.check-workbench+json"])


def test_left_out_work_and_the_look_are_recorded(store, team):
    team.load(
        store, [*units(), {"run": "x", "p": None, "bad": True}, {"run": "t", "p": 0.2, "bad": True, "mode": "test"}]
    )
    found = cw.compare(team.check, store)
    assert found.left_out == {"not_checked": 1, "test_run": 1}
    assert store.sql("select call from looks")["call"].tolist() == ["compare"]


def test_one_check_at_a_time(store, team, tmp_path):
    other = tmp_path / "other.check.yaml"
    other.write_text(team.check.read_text(encoding="utf-8").replace("id: failed", "id: other"), encoding="utf-8")
    with pytest.raises(InputError, match="one check, got 2"):
        cw.compare(tmp_path, store)
    with pytest.raises(InputError, match="labels must be"):
        cw.compare(team.check, store, labels="both")
    for since in ("yesterday", 7):
        with pytest.raises(InputError, match="since must be a date"):
            cw.compare(team.check, store, since=since)  # type: ignore[arg-type]
