"""Several questions of one step: each with its own verdict."""

from __future__ import annotations

import json

import pytest

import check_workbench as cw

PROCESS = """\
---
name: review
steps:
  - id: write
    agent: Write it.
    output: {{ text: string }}
    advisory: true
    check:
      - ask: Is it short?
        pass: 0.8
        fail: 0.3
      - ask: {ask}
        pass: 0.8
        fail: 0.3
  - id: sign
    person: boss
    approve: Approve it.
    on_reject: write
    next: done
  - id: done
    finish: signed
---
"""
ASK = "Is it right?"
# run, short, right, what the boss decided, about which question
CASES = [
    ("a", 0.9, 0.9, "approved", None),
    ("b", 0.9, 0.1, "rejected", None),
    ("c", 0.1, 0.9, "approved", None),
    ("d", 0.9, 0.9, "problem", 1),
    ("e", 0.5, 0.9, "approved", None),
    ("f", 0.1, 0.1, "no_problem", 0),
]


@pytest.fixture
def found(store, tmp_path):
    (tmp_path / "PROCESS.md").write_text(PROCESS.format(ask=ASK), encoding="utf-8")
    lines, decisions = [], []
    for run, short, right, decision, question in CASES:
        asked = [("Is it short?", short), (ASK, right)]
        results = [{"ask": ask, "kind": "yes_no", "answer": answer, "result": "pass"} for ask, answer in asked]
        check = {"verdict": "pass", "questions": results, "at": "2026-01-01T00:00:00Z"}
        step = {"step_id": "write", "attempt": 1, "output": {"text": run}, "at": "2026-01-01T00:00:00Z", "check": check}
        lines.append(json.dumps({"run_id": run, "workflow": "review", "steps": [step]}))
        said = {"run_id": run, "decision": decision, "verdict_seen": False, "decided_by": "boss"}
        about = {"step_id": "sign"} if question is None else {"check_id": "review/write", "question": question}
        decisions.append(json.dumps({**said, **about}))
    (tmp_path / "runs.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "said.jsonl").write_text("\n".join(decisions), encoding="utf-8")
    store.load(tmp_path / "runs.jsonl")
    store.load_decisions(tmp_path / "said.jsonl")
    return cw.compare(tmp_path / "PROCESS.md", store)


def test_each_question_has_its_own_verdict_and_the_labels_that_speak_of_it(found):
    groups = {row["group"]: row for row in found.groups if row["by"] == "question"}
    short, right = groups["0: Is it short?"], groups[f"1: {ASK}"]
    assert [(row["good"]["k"], row["bad"]["k"]) for row in short["counts"]] == [(1, 1), (1, 0), (2, 0)]
    assert [(row["good"]["k"], row["bad"]["k"]) for row in right["counts"]] == [(3, 1), (0, 0), (0, 1)]
    assert (short["n"], right["n"]) == (5, 5)
    assert short["good_failed"]["k"] == 2


def test_the_check_as_a_whole_takes_the_worst(found):
    assert [(row["verdict"], row["good"]["k"], row["bad"]["k"]) for row in found.counts] == [
        ("pass", 1, 1), ("unsure", 1, 0), ("fail", 1, 1),
    ]  # fmt: skip
    [bad, good] = found.disagreements
    assert (bad["run"], good["run"]) == ("d", "c")
    assert good["scores"] == [0.1, 0.9]
    assert [one["answer"] for one in good["answers"]] == ["no (0.1)", "yes (0.9)"]
    assert [one["message"] for one in good["findings"]] == ["check: Is it short? → no (0.1)"]


def test_the_text_and_the_page_name_the_questions(found):
    assert f"question 1: {ASK}: 5 (1 said of it, the others of all questions), agreement 4 of 5" in repr(found)
    assert "By question (2)" in found._repr_html_()


def test_questions_stand_in_their_own_order(store, tmp_path):
    asks = [f"Is it {place}?" for place in range(11)]
    items = "\n".join(f"      - {{ask: {ask}, pass: 0.8, fail: 0.3}}" for ask in asks)
    text = PROCESS.format(ask=ASK)
    before, after = text.split("      - ask", 1)[0], text[text.index("  - id: sign") :]
    (tmp_path / "PROCESS.md").write_text(f"{before}{items}\n{after}", encoding="utf-8")
    results = [{"ask": ask, "kind": "yes_no", "answer": 0.9, "result": "pass"} for ask in asks]
    check = {"verdict": "pass", "questions": results, "at": "2026-01-01T00:00:00Z"}
    step = {"step_id": "write", "attempt": 1, "output": {"text": "x"}, "at": "2026-01-01T00:00:00Z", "check": check}
    (tmp_path / "runs.jsonl").write_text(json.dumps({"run_id": "a", "workflow": "review", "steps": [step]}), "utf-8")
    (tmp_path / "said.csv").write_text("run_id,step_id,decision\na,sign,approved\n", encoding="utf-8")
    store.load(tmp_path / "runs.jsonl")
    store.load_decisions(tmp_path / "said.csv")
    found = cw.compare(tmp_path / "PROCESS.md", store)
    names = [row["group"] for row in found.groups if row["by"] == "question"]
    assert names == [f"{place}: {ask}" for place, ask in enumerate(asks)]
    assert "a question is named by 0 of 1 labels (0: Is it 0?)" in found._repr_html_()
