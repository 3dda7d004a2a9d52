"""What the Who&When reader makes of a run and of what people said of it."""

from __future__ import annotations

import copy
import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from check_workbench.checks import Check
from check_workbench.labels import labels_for
from check_workbench.records import Decision, Run
from check_workbench.sources import Note, Recognised, Rejected, recognise
from tests.sources.reading import one_run, only, read

if TYPE_CHECKING:
    from check_workbench.sources.format import Record
    from check_workbench.store import Store

NAMED: dict[str, Any] = {
    "is_correct": False,
    "question": "How many?",
    "question_ID": "q-1",
    "level": "2",
    "ground_truth": "8",
    "history": [
        {"content": "Count the rows.", "role": "assistant", "name": "Data_Expert"},
        {"content": "exitcode: 1 (execution failed)", "role": "user", "name": "Computer_terminal"},
        {"content": "exitcode: 0 (execution succeeded)", "role": "user", "name": "Computer_terminal"},
        {"content": "Seven.", "role": "user", "name": "Data_Expert", "page": 3},
    ],
    "mistake_agent": "Data_Expert",
    "mistake_step": "3",
    "mistake_reason": "It forgot the header.",
    "system_prompt": {"Data_Expert": "You count."},
}
ORCHESTRATED: dict[str, Any] = {
    "history": [
        {"content": "How many?", "role": "human"},
        {"content": "A plan.", "role": "Orchestrator (thought)"},
        {"content": "Look there.", "role": "Orchestrator (-> WebSurfer)"},
        {"content": "Nothing.", "role": "WebSurfer"},
        {"content": "Done.", "role": "Orchestrator (termination condition)"},
    ],
    "question": "How many?",
    "is_corrected": False,
    "mistake_agent": "Websurfer",
    "mistake_step": 3,
    "mistake_reason": "It did not look.",
    "question_ID": "q-1",
}


def found(tmp_path: Path, *records: Any) -> list[Record]:
    path = tmp_path / "f.json"
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    return read("who_and_when", path)


def test_a_run_of_named_agents(tmp_path: Path) -> None:
    run = one_run(found(tmp_path, NAMED))
    assert (run.run_id, run.workflow, run.status) == ("q-1/algorithm-generated", "algorithm-generated", "ok")
    assert (run.input, run.final_output) == ("How many?", "Seven.")
    assert [(s.span_id, s.type, s.name, s.status) for s in run.spans] == [
        ("0", "agent", "Data_Expert", None),
        ("1", "tool", "Computer_terminal", "error"),
        ("2", "tool", "Computer_terminal", "ok"),
        ("3", "agent", "Data_Expert", None),
    ]
    assert run.spans[1].error == run.spans[1].output == "exitcode: 1 (execution failed)"
    assert run.spans[3].attributes == {"page": 3, "role": "user"}
    assert run.attributes == {
        key: NAMED[key] for key in ("is_correct", "question_ID", "level", "ground_truth", "system_prompt")
    }


def test_a_run_of_an_orchestrator(tmp_path: Path) -> None:
    run = one_run(found(tmp_path, ORCHESTRATED))
    assert (run.run_id, run.workflow) == ("q-1/hand-crafted", "hand-crafted")
    assert [(s.type, s.name, s.input or s.output) for s in run.spans] == [
        ("user", None, "How many?"),
        ("agent", "Orchestrator", "A plan."),
        ("agent", "Orchestrator", "Look there."),
        ("agent", "WebSurfer", "Nothing."),
        ("agent", "Orchestrator", "Done."),
    ]
    assert run.spans[2].attributes == {"role": "Orchestrator (-> WebSurfer)"}


@pytest.mark.parametrize(("record", "agent", "step"), [(NAMED, "Data_Expert", "3"), (ORCHESTRATED, "Websurfer", "3")])
def test_what_people_said(tmp_path: Path, record: dict[str, Any], agent: str, step: str) -> None:
    work, mistake = only(found(tmp_path, record), Decision)
    assert (work.decision, work.check_id, work.span_id, work.provenance) == ("failed", None, None, "imported")
    assert (mistake.decision, mistake.check_id, mistake.span_id) == ("problem", "mistake", step)
    assert (mistake.answer, mistake.note, mistake.provenance) == (agent, record["mistake_reason"], "imported")
    assert mistake.run_id == work.run_id == one_run(found(tmp_path, record)).run_id


@pytest.mark.parametrize("step", ["4", -1, "first", None, 1.5, True, "²", "9" * 30])
def test_a_step_that_is_not_there_is_noted(tmp_path: Path, step: Any) -> None:
    records = found(tmp_path, {**NAMED, "mistake_step": step})
    [note] = only(records, Note)
    assert "mistake_step must be the index of a step" in note.text
    assert [d.span_id for d in only(records, Decision)] == [None, None]


@pytest.mark.parametrize(
    ("changes", "decisions"),
    [
        ({"is_correct": True}, ["approved"]),
        ({"is_correct": False}, ["failed"]),
        ({}, []),
        ({"is_correct": True, "mistake_agent": "A", "mistake_step": 0}, ["failed", "problem"]),
        ({"mistake_agent": "A", "mistake_step": 0}, ["failed", "problem"]),
    ],
)
def test_a_run_without_a_mistake(tmp_path: Path, changes: dict[str, Any], decisions: list[str]) -> None:
    plain = {key: NAMED[key] for key in ("question", "history", "question_ID")}
    assert [d.decision for d in only(found(tmp_path, {**plain, **changes}), Decision)] == decisions


def test_without_a_question_id_the_place_names_the_run(tmp_path: Path) -> None:
    nameless = {key: value for key, value in NAMED.items() if key != "question_ID"}
    runs = only(found(tmp_path, nameless, nameless), Run)
    assert [run.run_id for run in runs] == ["may/f#1", "may/f#2"]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ([[]], "a run must be an object, got list"),
        ({**NAMED, "history": "long"}, "history must be a list of objects"),
        ({**NAMED, "history": ["a"]}, "history must be a list of objects"),
        ({**NAMED, "history": [{"content": "a"}]}, "step 0 must have a role"),
    ],
)
def test_what_is_no_run_is_rejected(tmp_path: Path, record: Any, reason: str) -> None:
    [rejected] = found(tmp_path, record)
    assert isinstance(rejected, Rejected)
    assert reason in rejected.reason


@pytest.mark.parametrize(
    ("record", "taken"),
    [
        (NAMED, True),
        (ORCHESTRATED, True),
        ({"history": ORCHESTRATED["history"] + [{"content": "x" * 300_000, "role": "WebSurfer"}], **NAMED}, True),
        ({"history": [{"role": "user", "content": "x"}], "trajectory": []}, False),
        ({"history": [{"role": "user", "content": "x"}]}, False),
        ({"mistake_agent": "A", "history": {}}, False),
    ],
)
def test_recognised(tmp_path: Path, record: dict[str, Any], *, taken: bool) -> None:
    path = tmp_path / "f.json"
    path.write_text(json.dumps(record))
    recognised = recognise(path)
    assert isinstance(recognised, Recognised) is taken
    if isinstance(recognised, Recognised):
        assert recognised.format.name == "who_and_when"


VALUES = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.lists(st.none(), max_size=2)


@given(key=st.sampled_from(sorted({*NAMED, *ORCHESTRATED})), value=VALUES, base=st.sampled_from([NAMED, ORCHESTRATED]))
def test_nothing_vanishes(key: str, value: Any, base: dict[str, Any]) -> None:
    odd = copy.deepcopy(base)
    odd[key] = value
    with tempfile.TemporaryDirectory() as folder:
        records = found(Path(folder), odd)
    assert len(only(records, Run)) + len(only(records, Rejected)) == 1
    assert all(isinstance(record, Run | Rejected | Decision | Note) for record in records)


def test_the_real_runs_and_the_labels_that_they_bring(realdata: Path, store: Store) -> None:
    report = store.load(realdata / "who_and_when")
    assert (report.runs, report.spans, report.decisions, len(report.rejected)) == (148, 2347, 296, 0)
    decisions = store.sql("select * from decisions")
    assert Counter(zip(decisions["decision"], decisions["check_id"].fillna(""), strict=True)) == {
        ("failed", ""): 148,
        ("problem", "mistake"): 148,
    }
    placed = store.sql(
        "select count(*) as n from decisions d join runs r using (run_id) "
        "join spans s on s.run_key = r.run_key and s.span_id = d.span_id where d.check_id = 'mistake'",
    )
    assert placed["n"].item() == 148
    workflows = store.sql("select workflow, count(*) as n from runs group by all order by all")
    assert workflows["n"].tolist() == [116, 32]
    labels = labels_for(Check(id="mistake", dialect="neatroots", items=()), store)
    work = labels_for(Check(id="other", dialect="neatroots", items=()), store, kind="work")
    assert (len(labels), labels.frame["positive"].sum()) == (148, 148)
    assert (len(work), work.proxy) == (148, True)
