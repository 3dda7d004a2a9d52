"""What the InterCode reader makes of a record, and what the rules find in the real ones."""

from __future__ import annotations

import copy
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import check_workbench as cw
from check_workbench.records import RUN_STATUSES, Run
from check_workbench.sources import Recognised, Rejected, recognise
from tests.sources.reading import one_run, only, read

if TYPE_CHECKING:
    from check_workbench.sources.format import Record

GAME: dict[str, Any] = {
    "environment": "ic_sql",
    "dataset": "./data/shop.json",
    "task_id": 4,
    "query": "How many orders are open?",
    "turn_history": {
        "thoughts": ["Look first.", "Count them.", "Done."],
        "actions": ["execute[SHOW TABLES]", "execute[SELECT count(*) FROM order]", "submit"],
        "observations": ["[('orders',)]", "Error executing query: no such table", ""],
        "rewards": [0, 0, 0.5],
        "valid_action": [True, False, True],
    },
    "summary": {"max_reward": 0.5, "turns_taken": 3, "turns_max": 3},
    "hardness": "easy",
}
WALKED: dict[str, Any] = {
    "environment": "ic_bash",
    "query_idx": 9,
    "query": "List the files.",
    "gold": "ls",
    "reward": 1.0,
    "trajectory": [{"action": "ls -x", "observation": "Error: -x"}, {"action": "ls", "observation": "a.txt"}],
    "info": {"eval_obs": ["a.txt"]},
}


def found(tmp_path: Path, text: str) -> list[Record]:
    path = tmp_path / "f.json"
    path.write_text(text, encoding="utf-8")
    return read("intercode", path)


def run_of(tmp_path: Path, record: dict[str, Any], **changes: Any) -> Run:
    return one_run(found(tmp_path, json.dumps({"7": {**record, **changes}})))


def test_a_record(tmp_path: Path) -> None:
    run = run_of(tmp_path, GAME)
    assert (run.run_id, run.workflow, run.status) == ("may/f#7", "ic_sql", "ok")
    assert (run.input, run.final_output) == (GAME["query"], GAME["turn_history"]["observations"][1])
    assert run.metrics == {"max_reward": 0.5, "turns_taken": 3}
    assert run.attributes == {key: GAME[key] for key in ("dataset", "task_id", "summary", "hardness")}


def test_its_turns(tmp_path: Path) -> None:
    spans = run_of(tmp_path, GAME).spans
    assert [(s.type, s.name, s.status) for s in spans] == [
        ("llm", None, None),
        ("tool", "sql", "ok"),
        ("llm", None, None),
        ("tool", "sql", "error"),
        ("llm", None, None),
        ("tool", "submit", "ok"),
    ]
    assert [s.output for s in spans[::2]] == GAME["turn_history"]["thoughts"]
    assert [s.input for s in spans[1::2]] == GAME["turn_history"]["actions"]
    assert spans[3].error == spans[3].output == "Error executing query: no such table"
    assert spans[5].attributes == {"reward": 0.5, "valid_action": True}


def test_a_walk_of_a_person(tmp_path: Path) -> None:
    run = run_of(tmp_path, WALKED)
    assert (run.workflow, run.status, run.final_output, run.metrics) == ("ic_bash", "ok", "a.txt", {"reward": 1.0})
    assert [(s.name, s.input, s.status) for s in run.spans] == [("bash", "ls -x", "error"), ("bash", "ls", "ok")]
    assert (run.attributes or {})["gold"] == "ls"


@pytest.mark.parametrize(
    ("observed", "valid", "status", "error"),
    [
        ("fine", True, "ok", None),
        ("fine", None, "ok", None),
        ("Error: no", True, "error", "Error: no"),
        ("An Error", True, "ok", None),
        ("none", False, "error", "none"),
        ("", False, "error", "the action was not valid"),
        (None, False, "error", "the action was not valid"),
    ],
)
def test_a_failed_action(tmp_path: Path, observed: Any, valid: Any, status: str, error: Any) -> None:
    turns = {"actions": ["x"], "observations": [observed], "valid_action": [valid]}
    [span] = run_of(tmp_path, GAME, turn_history=turns).spans
    assert (span.status, span.error) == (status, error)


@pytest.mark.parametrize(
    ("action", "name"),
    [("submit", "submit"), ("submit flag{1}", "submit"), ("submit[x]", "submit"), ("submitted", "sql"), ("", "sql")],
)
def test_a_submission_is_a_tool_of_its_own(tmp_path: Path, action: str, name: str) -> None:
    [span] = run_of(tmp_path, GAME, turn_history={"actions": [action], "observations": ["x"]}).spans
    assert span.name == name


@pytest.mark.parametrize(
    ("last", "summary", "status"),
    [
        ("SELECT 1", {"max_reward": 0.9, "turns_taken": 10, "turns_max": 10}, "interrupted"),
        ("SELECT 1", {"max_reward": 1, "turns_taken": 10, "turns_max": 10}, "ok"),
        ("submit", {"max_reward": 0, "turns_taken": 10, "turns_max": 10}, "ok"),
        ("SELECT 1", {"max_reward": 0, "turns_taken": 3, "turns_max": 10}, "ok"),
        ("SELECT 1", {"max_reward": None, "turns_taken": "3"}, "ok"),
        ("SELECT 1", None, "ok"),
    ],
)
def test_how_a_run_ended(tmp_path: Path, last: str, summary: Any, status: str) -> None:
    turns = {"actions": [last], "observations": ["1"]}
    assert run_of(tmp_path, GAME, turn_history=turns, summary=summary).status == status


def test_a_run_that_saw_nothing_has_no_output(tmp_path: Path) -> None:
    turns: dict[str, Any] = {"actions": ["x"], "observations": [""]}
    assert run_of(tmp_path, GAME, turn_history=turns, summary=None).status == "no_output"
    assert run_of(tmp_path, WALKED, trajectory=[]).spans == ()


def test_an_observation_that_is_no_text_is_still_told_as_the_error(tmp_path: Path) -> None:
    turns = {"actions": ["ls"], "observations": [{"code": 2}], "rewards": [0], "valid_action": [False]}
    [call] = [one for one in run_of(tmp_path, GAME, turn_history=turns).spans if one.type == "tool"]
    assert (call.status, call.error) == ("error", '{"code": 2}')


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        (json.dumps({"0": GAME, "12": GAME}), ["may/f#0", "may/f#12"]),
        (json.dumps({"0": GAME, "12": GAME}, indent=2), ["may/f#0", "may/f#12"]),
        (json.dumps([GAME, WALKED]), ["may/f#1", "may/f#2"]),
        (json.dumps(GAME) + "\n" + json.dumps(WALKED), ["may/f#1", "may/f#2"]),
        (json.dumps({"turn_history": GAME["turn_history"], **GAME}), ["may/f#1"]),
    ],
)
def test_every_layout_of_a_file(tmp_path: Path, text: str, ids: list[str]) -> None:
    assert [run.run_id for run in only(found(tmp_path, text), Run)] == ids
    recognised = recognise(tmp_path / "f.json")
    assert isinstance(recognised, Recognised)
    assert recognised.format.name == "intercode"


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (5, "a run must be an object, got int"),
        ({**GAME, "environment": None}, "environment must be text"),
        ({**GAME, "turn_history": []}, "turn_history must be an object of lists"),
        ({**GAME, "turn_history": {"actions": ["a"], "observations": []}}, "lists of one length"),
        ({**GAME, "turn_history": {"observations": []}}, "must have actions"),
        ({**WALKED, "trajectory": ["ls"]}, "as objects with an action"),
        ({"environment": "ic_sql", "query": "?"}, "in turn_history, or in trajectory"),
    ],
)
def test_what_is_no_run_is_rejected_with_its_line(tmp_path: Path, record: Any, reason: str) -> None:
    good, bad = found(tmp_path, '{"a": ' + json.dumps(GAME) + ',\n"b": ' + json.dumps(record) + "}")
    assert isinstance(good, Run)
    assert isinstance(bad, Rejected)
    assert (bad.file, bad.line) == ("f.json", 2)
    assert reason in bad.reason


@pytest.mark.parametrize("cut", [3, 400, -40, -1])
def test_a_cut_file_keeps_what_came_before(tmp_path: Path, cut: int) -> None:
    whole = json.dumps({"a": GAME, "b": GAME})
    records = found(tmp_path, whole[:cut])
    assert only(records, Rejected)
    assert len(only(records, Run)) == (0 if cut in {3, 400} else 1 if cut == -40 else 2)


@given(
    key=st.sampled_from(sorted(GAME)), value=st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.none())
)
def test_nothing_vanishes(key: str, value: Any) -> None:
    odd = copy.deepcopy(GAME)
    odd[key] = value
    with tempfile.TemporaryDirectory() as folder:
        [record] = found(Path(folder), json.dumps({"a": odd}))
    assert isinstance(record, Run | Rejected)
    if isinstance(record, Run):
        assert record.status in RUN_STATUSES
        assert key in (record.attributes or {}) or value is None or key in {"query", "environment"}


CHECKS = """
id: {id}
title: {id}
kind: rule
rule: {{type: {id}, span: {{type: tool}}, {more}at_least: 3}}
"""


@pytest.mark.parametrize(
    ("model", "expected"),
    [("gpt-4", (1034, 5867, 1691, 134, 59, 762)), ("vicuna", (1033, 9812, 9224, 676, 952, 65))],
)
def test_what_the_rules_find_in_the_real_runs(
    realdata: Path, tmp_path: Path, model: str, expected: tuple[int, ...]
) -> None:
    for name, more in (("repeat", "same: [tool, input], "), ("errors", "")):
        (tmp_path / f"{name}.check.yaml").write_text(CHECKS.format(id=name, more=more))
    with cw.open() as store:
        store.load(realdata / "intercode_runs" / "sql" / model)
        checked = cw.evaluate(cw.read_checks(tmp_path), store)
        fired = checked.verdicts.query("status == 'fail'").groupby("check").size()
        counted = store.sql(
            "select (select count(*) from runs) as runs, count(*) filter (type = 'tool') as calls, "
            "count(*) filter (failed) as failed, "
            "(select count(*) from runs where (metrics->>'max_reward')::double = 1) as solved from spans",
        ).iloc[0]
    found = (counted["runs"], counted["calls"], counted["failed"], fired["repeat"], fired["errors"], counted["solved"])
    assert found == expected


def test_all_real_runs(realdata: Path) -> None:
    with cw.open() as store:
        report = store.load(realdata / "intercode_runs")
        human = store.sql("select count(*) as n from runs where attributes->>'gold' is not null")
        thoughts = store.sql("select count(*) as n from spans where type = 'llm'")
    assert (report.runs, len(report.rejected), len(report.notes)) == (5137, 0, 0)
    assert {taken.format for taken in report.taken} == {"intercode"}
    assert (human["n"].item(), thoughts["n"].item()) == (15, 6452)
