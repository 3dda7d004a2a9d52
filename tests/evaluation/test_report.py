from __future__ import annotations

import json

from check_workbench.evaluation import evaluate
from tests.workshop import loop, put_runs, question, run


def test_json_has_the_keys_of_the_contract(store):
    put_runs(store, run("a", calls=3), run("b"))
    found = evaluate([loop(), question()], store).to_json()
    assert list(found["findings"][0]) == ["id", "check", "run", "step", "spans", "status", "value", "quote", "message"]
    assert list(found["verdicts"][0])[:4] == ["check", "run", "step", "attempt"]
    assert found["verdicts"][0]["status"] == "fail"
    assert found["verdicts"][2] == {
        "check": "q",
        "run": "a",
        "step": None,
        "attempt": None,
        "status": "not_checked",
        "score": None,
        "reason": "no answer",
        "advisory": False,
        "blocking": False,
    }
    assert found["left_out"] == {"not_checked": {"no answer": 2}}
    assert "NaN" not in json.dumps(found)


def test_the_text_counts_what_was_left_out(store):
    put_runs(store, run("a", calls=3), run("b"))
    assert repr(evaluate([loop(), question()], store)).splitlines() == [
        "Results: 2 checks, 2 runs, 1 finding",
        "  loop: 1 fail, 0 unsure, 1 pass; 0 left out",
        "  q: 0 fail, 0 unsure, 0 pass; 2 left out",
        "  left out, not_checked: no answer (2)",
    ]


def test_an_empty_store_gives_tables_with_their_columns(store):
    results = evaluate([loop(), question()], store)
    assert results.summary()["check"].tolist() == ["loop", "q"]
    assert "score" in results.scores
    assert "quote" in results.findings
    assert "probability" in results.answers
    assert results.to_json()["verdicts"] == []


def test_the_bundle_has_text_html_and_json(store):
    put_runs(store, run("a", calls=3))
    bundle = evaluate(loop(guidance="Stop <now>"), store)._repr_mimebundle_()
    assert bundle["application/vnd.check-workbench+json"]["kind"] == "evaluation"
    assert "Stop &lt;now&gt;" in bundle["text/html"]
