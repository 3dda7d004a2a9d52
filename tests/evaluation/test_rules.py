from __future__ import annotations

import json
from typing import Any

import pytest

from check_workbench.checks import AtLeast, Errors, Item, Match, Metric, RequiresBefore, Selector, Slow, with_threshold
from check_workbench.errors import InputError
from check_workbench.evaluation import evaluate
from check_workbench.evaluation.findings import finding_id, message_of
from check_workbench.store import open_store
from tests.workshop import call, loop, put_answers, put_decisions, put_runs, question, run


def verdicts(results) -> dict[str, str]:
    return dict(zip(results.verdicts["run"], results.verdicts["status"], strict=True))


def test_a_rule_is_a_measurement_and_a_cut(store):
    put_runs(store, run("a", calls=3), run("b", calls=2), run("c", calls=0))
    results = evaluate(loop(), store)
    assert verdicts(results) == {"a": "fail", "b": "pass", "c": "pass"}
    assert results.scores["score"].tolist() == [3.0, 2.0, 0.0]
    assert results.scores["method"].tolist() == ["rule"] * 3
    assert results.scores["key"].tolist() == ["at_least"] * 3
    assert results.scores["run_length"].tolist() == [3, 2, 0]
    assert results.left_out == {}


def test_a_finding_names_its_spans_and_fills_the_guidance(store):
    put_runs(store, run("a", calls=3))
    check = loop(guidance="{tool} was called {count} times with {args}; {other} {args.__class__}")
    results = evaluate(check, store)
    finding = results.findings.iloc[0]
    assert finding["spans"] == ["#1", "#2", "#3"]
    assert finding["message"] == 'search was called 3 times with {"q":1}; {other} {args.__class__}'
    assert finding["id"] == evaluate(check, store).findings.iloc[0]["id"]


def test_what_a_tool_is_called_is_not_filled_in_again():
    assert message_of(loop(guidance="{tool}"), tool="{args}", count=1, args="secret") == "{args}"
    assert len(message_of(loop(guidance="{args}"), tool="", count=1, args="x" * 999)) == 201


def test_ids_of_findings_are_apart():
    assert len({finding_id("a", "b", "c"), finding_id("ab", "", "c"), finding_id("a", "bc", "")}) == 3


def test_a_metric_that_is_missing_is_not_checked(store):
    put_runs(store, run("a", metrics={"total_tokens": 10}), run("b"))
    item = Item(asks=Metric(metric="total_tokens"), cut=AtLeast(value=10))
    results = evaluate(loop(items=(item,)), store)
    assert verdicts(results) == {"a": "fail", "b": "not_checked"}
    assert sum(results.left_out["not_checked"].values()) == 1
    assert not results.notes
    nowhere = evaluate(loop(items=(Item(asks=Metric(metric="no_such"), cut=AtLeast(value=10)),)), store)
    assert any("not one of the runs" in note and "(2)" in note for note in nowhere.notes)


@pytest.mark.parametrize(
    ("rule", "at", "status"),
    [
        (Errors(), 2, "fail"),
        (Errors(), 3, "pass"),
        (Slow(), 5000, "fail"),
        (RequiresBefore(requires=Selector(names=("lookup",)), span=Selector(names=("refund",))), 1, "fail"),
        (Match(pattern="sk-[0-9]+"), 1, "fail"),
        (Match(pattern=r"sk-(?=[0-9])"), 1, "fail"),
        (Match(pattern="nothing of the kind"), 1, "pass"),
    ],
)
def test_rule_types(store, rule, at, status):
    failed = [call("refund", status="error", duration_ms=5000, output="sk-123"), call("refund", status="error")]
    put_runs(store, {"run_id": "a", "spans": failed})
    results = evaluate(loop(items=(Item(asks=rule, cut=AtLeast(value=at)),)), store)
    assert verdicts(results) == {"a": status}
    assert (len(results.findings) > 0) == (status == "fail")


def test_rules_of_other_workflows_raise_nothing(store):
    put_runs(store, run("a", calls=5, workflow="w"), run("b", calls=5, workflow="v"))
    results = evaluate(loop(workflow="w"), store)
    assert verdicts(results) == {"a": "fail", "b": "not_applicable"}
    assert results.findings["run"].tolist() == ["a"]


def test_a_second_evaluation_measures_new_runs_only(store):
    put_runs(store, run("a", calls=3), run("b"))
    evaluate(loop(), store)
    store.sql("update measurements set value = 7")
    put_runs(store, run("c"))
    again = evaluate(loop(), store)
    assert again.scores["score"].tolist() == [7.0, 7.0, 1.0]
    assert store.sql("select count(*) as n from measurements")["n"][0] == 3


def test_moving_a_threshold_keeps_every_answer_label_and_measurement(store):
    from check_workbench.labels import labels_for

    put_runs(store, run("a", calls=3), run("b"))
    asked = question()
    put_answers(store, {"run_id": "a", "check_id": "q", "probability": 0.7, "asked": asked.asked_items[0]})
    put_decisions(store, {"run_id": "a", "check_id": "q", "decision": "problem", "asked": asked.asked})
    before = evaluate([loop(), asked], store)
    moved = [
        with_threshold(loop(), item=0, key="at_least", value=2),
        with_threshold(asked, item=0, key="flag_at", value=0.6),
    ]
    store.sql("update measurements set value = value + 10")
    after = evaluate(moved, store)
    assert (after.scores["score"] - before.scores["score"]).dropna().tolist() == [10.0, 10.0, 0.0]
    assert dict(after.left_out) == dict(before.left_out)
    assert not [note for note in after.notes if "stale" in note]
    assert len(labels_for(moved[1], store)) == 1
    assert store.sql("select count(*) as n from checks")["n"][0] == 4


def test_editing_the_question_makes_its_answers_stale_and_says_how_many(store):
    put_runs(store, run("a", calls=3), run("b"), run("c"))
    old = question("Did it fail?")
    put_answers(
        store,
        {"run_id": "a", "check_id": "q", "probability": 0.7, "ask": "Did it fail?"},
        {"run_id": "b", "check_id": "q", "probability": 0.7, "asked": old.asked_items[0]},
    )
    first = evaluate([loop(), old], store)
    assert not first.notes
    edited = loop(items=(Item(asks=Errors(), cut=AtLeast(value=3)),))
    after = evaluate([edited, question("Did it fail badly?")], store)
    assert after.left_out["not_checked"]["the recorded question differs from the present one"] == 2
    assert "q: what it asks was edited since an earlier version; 2 answers made for that are stale" in after.notes
    assert (
        "loop: what it asks was edited since an earlier version; 3 measurements made for that are stale" in after.notes
    )


def test_a_store_to_read_only_is_evaluated_and_left_as_it_is(tmp_path):
    with open_store(tmp_path / "w.duckdb") as store:
        put_runs(store, run("a", calls=3))
    with open_store(tmp_path / "w.duckdb", read_only=True) as store:
        results = evaluate([loop(), question()], store)
        assert sorted(results.verdicts["status"]) == ["fail", "not_checked"]
        assert len(results.findings) == 1
        assert store.sql("select count(*) as n from checks")["n"][0] == 0


def test_a_pattern_that_runs_in_python_is_not_checked_where_it_was_not_measured(tmp_path):
    looks_ahead = loop(items=(Item(asks=Match(pattern="(?=sea)search", fields=("name",)), cut=AtLeast(value=1)),))
    with open_store(tmp_path / "w.duckdb") as store:
        put_runs(store, run("a", calls=1))
        assert verdicts(evaluate(looks_ahead, store)) == {"a": "fail"}
        put_runs(store, run("b", calls=1))
    with open_store(tmp_path / "w.duckdb", read_only=True) as store:
        results = evaluate(looks_ahead, store)
    assert verdicts(results) == {"a": "fail", "b": "not_checked"}
    assert results.findings["run"].tolist() == ["a"]
    (reason,) = results.left_out["not_checked"]
    assert reason.endswith("evaluate the check once where the store can be written")
    assert results.notes == (f"loop: not measured: {reason} (1)",)


def test_same_input_same_bytes(store):
    put_runs(store, run("b", calls=3), run("a", calls=4), run("c", calls=3))
    checks = [loop(), question(), loop(id="another")]
    one, other = evaluate(checks, store), evaluate(checks[::-1], store)
    assert json.dumps(one.to_json()) == json.dumps(other.to_json())
    assert repr(one) == repr(other)
    assert one._repr_html_() == other._repr_html_()
    assert one.scores.equals(other.scores)


def test_hostile_names_stay_text(store):
    name = "'; drop table runs; --\" <script>alert(1)</script>"
    put_runs(store, run(name, calls=3, workflow=name))
    results = evaluate(loop(id=name, workflow=name, guidance="{tool} <script>"), store)
    assert verdicts(results) == {name: "fail"}
    assert "<script>alert" not in results._repr_html_()
    assert store.sql("select count(*) as n from runs")["n"][0] == 1


def test_no_check_and_two_of_one_id_are_refused(store):
    with pytest.raises(InputError, match="at least one check"):
        evaluate([], store)
    with pytest.raises(InputError, match="different ids, but 'loop'"):
        evaluate([loop(), loop(4)], store)
    with pytest.raises(InputError, match="evaluator must be a name"):
        evaluate(loop(), store, evaluator=3)  # type: ignore[arg-type]


def test_checks_are_read_from_files(store, tmp_path):
    file = tmp_path / "loop.check.yaml"
    file.write_text("id: loop\nkind: rule\nrule:\n  type: repeat\n  same: [tool, input]\n  at_least: 3\n")
    put_runs(store, run("a", calls=3))
    assert verdicts(evaluate(file, store)) == {"a": "fail"}
    assert verdicts(evaluate(f"{file}#loop", store)) == {"a": "fail"}
    assert evaluate([file, question()], store).checks == ("loop", "q")


def test_a_metric_that_no_run_has_is_named_with_those_that_runs_have(store):
    put_runs(store, run("a", metrics={"cost_usd": 1, "user_cost": 2}), run("b", metrics={"cost_usd": 1}))
    check = loop(items=(Item(asks=Metric(metric="cost_uds"), cut=AtLeast(value=1)),))
    (note,) = evaluate(check, store).notes
    assert note == (
        "loop: not one of the runs has the metric 'cost_uds'; "
        "known are cost_usd, user_cost, spans, tool_calls, errors (2)"
    )


def test_a_quote_that_was_cut_ends_behind_a_word(store):
    words = "refund " * 28 + "unfinished business"
    put_runs(store, run("a", spans=[{"type": "tool", "name": "t", "output": words}]))
    check = loop(items=(Item(asks=Match(pattern="refund.*"), cut=AtLeast(value=1)),))
    assert evaluate(check, store).findings["quote"].tolist() == [("refund " * 28).strip()]


@pytest.mark.parametrize("verb", ["evaluate", "calibrate", "trust", "compare", "preview"])
def test_the_name_of_a_store_is_no_store(verb):
    import check_workbench as cw

    more: Any = {"trust": {"plan": cw.plan()}, "preview": {"problem": ["a"], "clean": ["b"]}}.get(verb, {})
    with pytest.raises(
        InputError, match=r"must be an open store, got str: open it first, as cw\.open\('tau\.duckdb'\)"
    ):
        getattr(cw, verb)(loop(), "tau.duckdb", **more)
