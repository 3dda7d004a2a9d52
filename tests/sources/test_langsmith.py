"""What the LangSmith reader makes of runs, batches and feedback."""

from __future__ import annotations

import json
import tempfile
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings

from check_workbench.records import Decision, Run
from check_workbench.results import Answer
from check_workbench.sources import READERS, Note, Origin, Recognised, Rejected, langsmith, recognise
from check_workbench.sources.gathering import gather
from tests.sources.odd import spoiled

if TYPE_CHECKING:
    from check_workbench.sources.format import Record
    from check_workbench.store import Store

ROOT: dict[str, Any] = {
    "id": "a1",
    "trace_id": "a1",
    "dotted_order": "20260501T100000000000Za1",
    "parent_run_id": None,
    "name": "agent",
    "run_type": "chain",
    "session_name": "shop",
    "start_time": "2026-05-01T10:00:00+00:00",
    "end_time": "2026-05-01T10:00:04+00:00",
    "inputs": {"question": "go"},
    "outputs": {"answer": "gone"},
    "error": None,
    "tags": ["x"],
    "extra": {"metadata": {"thread_id": "c-1", "user": "u"}, "runtime": {"sdk": "s"}},
    "feedback_stats": {"stars": {"n": 1, "avg": 4}},
}
MODEL: dict[str, Any] = {
    "id": "b2",
    "trace_id": "a1",
    "dotted_order": "20260501T100000000000Za1.20260501T100001000000Zb2",
    "parent_run_id": "a1",
    "name": "ChatOpenAI",
    "run_type": "llm",
    "start_time": "2026-05-01T10:00:01+00:00",
    "end_time": "2026-05-01T10:00:02+00:00",
    "inputs": {"messages": [{"role": "user", "content": "go"}]},
    "outputs": {"content": "gone", "usage_metadata": {"input_tokens": 9, "output_tokens": 3, "total_tokens": 12}},
    "extra": {"metadata": {"ls_model_name": "m-1"}},
    "total_cost": "0.25",
}
TOOL: dict[str, Any] = {
    "id": "c3",
    "trace_id": "a1",
    "dotted_order": "20260501T100000000000Za1.20260501T100003000000Zc3",
    "parent_run_id": "a1",
    "name": "pay",
    "run_type": "tool",
    "start_time": "2026-05-01T10:00:03+00:00",
    "end_time": "2026-05-01T10:00:03.5+00:00",
    "inputs": {},
    "outputs": None,
    "error": "no money",
}
ROWS = [ROOT, MODEL, TOOL]
FEEDBACK: dict[str, Any] = {
    "id": "f1",
    "run_id": "a1",
    "trace_id": "a1",
    "key": "correctness",
    "score": 0.5,
    "value": None,
    "comment": "half",
    "correction": None,
    "created_at": "2026-05-01T11:00:00Z",
    "modified_at": "2026-05-01T11:00:00Z",
    "feedback_source": {"type": "model", "metadata": {}},
}
AT = datetime(2026, 5, 1, 11, tzinfo=UTC)


def read(*records: Any, text: str | None = None) -> list[Record]:
    reader = READERS["langsmith"].read
    assert reader is not None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "f.json")
        path.write_text("\n".join(map(json.dumps, records)) if text is None else text, encoding="utf-8")
        return list(reader(path, Origin(file="f.json", stem="f")))


def run_of(*records: Any) -> Run:
    [run] = read(*records)
    assert isinstance(run, Run)
    return run


def test_the_run() -> None:
    run = run_of(*ROWS)
    assert (run.run_id, run.workflow, run.session_id, run.status) == ("a1", "agent", "c-1", "ok")
    assert (run.input, run.final_output) == ({"question": "go"}, {"answer": "gone"})
    assert run.started_at == datetime(2026, 5, 1, 10, tzinfo=UTC)
    assert run.ended_at == datetime(2026, 5, 1, 10, 0, 4, tzinfo=UTC)
    assert run.attributes == {"session_name": "shop", "tags": ["x"]}
    assert run.metrics == {
        "duration_ms": 4000.0,
        "total_cost": 0.25,
        "prompt_tokens": 9,
        "completion_tokens": 3,
        "total_tokens": 12,
        "errors": 1,
    }


def test_the_spans() -> None:
    root, model, tool = run_of(*ROWS).spans
    assert (root.type, root.span_id, root.parent_id, root.status, root.tokens_in) == ("chain", "a1", None, "ok", None)
    assert root.attributes is not None
    assert root.attributes["feedback_stats"] == {"stars": {"n": 1, "avg": 4}}
    assert root.attributes["extra"]["runtime"] == {"sdk": "s"}
    assert (model.type, model.model, model.tokens_in, model.tokens_out) == ("llm", "m-1", 9, 3)
    assert model.attributes == {"extra": {"metadata": {"ls_model_name": "m-1"}}, "total_cost": "0.25"}
    assert (tool.type, tool.name, tool.parent_id) == ("tool", "pay", "a1")
    assert (tool.input, tool.output, tool.status, tool.error) == ({}, None, "error", "no money")
    assert tool.ended_at == datetime(2026, 5, 1, 10, 0, 3, 500_000, tzinfo=UTC)


def test_spans_come_in_the_order_of_the_trace() -> None:
    mixed = [TOOL, ROOT, MODEL]
    assert run_of(*mixed) == run_of(*ROWS)
    bare = [{key: value for key, value in row.items() if key != "dotted_order"} for row in (TOOL, ROOT, MODEL)]
    assert [one.span_id for one in run_of(*bare).spans] == ["c3", "a1", "b2"]


def test_patches_are_merged_into_what_was_posted() -> None:
    posted = {**MODEL, "outputs": {}, "end_time": None, "tags": ["t"]}
    patch = {
        "trace_id": "a1",
        "dotted_order": MODEL["dotted_order"],
        "end_time": MODEL["end_time"],
        "outputs": MODEL["outputs"],
        "inputs": {},
        "tags": [],
        "extra": {"metadata": {"more": 1}, "runtime": {"sdk": "s"}},
    }
    [found] = [one for one in run_of({"post": [ROOT, posted], "patch": [patch]}).spans if one.type == "llm"]
    assert (found.span_id, found.parent_id, found.output, found.status) == ("b2", "a1", MODEL["outputs"], "ok")
    assert found.input == MODEL["inputs"]
    assert found.attributes is not None
    assert found.attributes["tags"] == ["t"]
    assert found.attributes["extra"] == {"metadata": {"ls_model_name": "m-1", "more": 1}, "runtime": {"sdk": "s"}}


def test_batches_of_one_trace_may_lie_anywhere_in_a_file() -> None:
    other = [{**row, "trace_id": "z", "id": f"z{row['id']}", "dotted_order": "", "parent_run_id": None} for row in ROWS]
    found = read({"post": [MODEL]}, {"post": other}, {"patch": [TOOL], "post": [ROOT]})
    assert [(one.run_id, len(one.spans)) for one in found if isinstance(one, Run)] == [("a1", 3), ("z", 3)]
    assert found[0] == run_of(*ROWS)


def test_traces_are_gathered_beyond_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        {**row, "trace_id": f"t{n}", "id": f"{row['id']}-{n}", "dotted_order": ""} for row in ROWS for n in range(9)
    ]
    before = read(*rows)
    monkeypatch.setattr(langsmith, "gather", partial(gather, held=0))
    assert read(*rows) == before
    assert [len(run.spans) for run in before if isinstance(run, Run)] == [3] * 9


def test_runs_inside_of_runs_are_runs() -> None:
    inner = [{key: value for key, value in row.items() if key not in {"trace_id", "parent_run_id"}} for row in ROWS[1:]]
    inner[0]["child_runs"] = [{**inner[1], "id": "d4", "dotted_order": ""}]
    spans = run_of({**ROOT, "child_runs": inner}).spans
    assert {one.span_id: one.parent_id for one in spans} == {"a1": None, "b2": "a1", "c3": "a1", "d4": "b2"}


def test_where_the_trace_and_the_parent_are_said() -> None:
    bare = {"run_type": "llm", "dotted_order": MODEL["dotted_order"], "inputs": {}}
    run = run_of(bare)
    assert (run.run_id, run.workflow, run.spans[0].span_id, run.spans[0].parent_id) == ("a1", None, "b2", "a1")
    alone = run_of({"id": "x", "run_type": "llm", "inputs": {}, "name": "chat"})
    assert (alone.run_id, alone.workflow, alone.status) == ("x", "chat", None)


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"error": "broke"}, "error"),
        ({"outputs": {}}, "no_output"),
        ({"outputs": None, "end_time": None}, None),
    ],
)
def test_status(changes: dict[str, Any], status: str | None) -> None:
    assert run_of({**ROOT, **changes}).status == status


@pytest.mark.parametrize(
    ("changes", "tokens"),
    [
        ({"outputs": {"usage": {"prompt_tokens": 9, "completion_tokens": 3}}}, (9, 3)),
        ({"outputs": {"usage": {"input_tokens": 9, "output_tokens": 3}}}, (9, 3)),
        ({"outputs": {}, "prompt_tokens": 9, "completion_tokens": 3}, (9, 3)),
        ({"outputs": {"llm_output": {"token_usage": {"prompt_tokens": 9}}}}, (9, None)),
        ({"outputs": {}, "extra": {"metadata": {"usage_metadata": {"output_tokens": 3}}}}, (None, 3)),
        (
            {"outputs": {"generations": [[{"message": {"kwargs": {"usage_metadata": {"input_tokens": 9}}}}]]}},
            (9, None),
        ),
        ({"outputs": {"usage_metadata": {"input_tokens": -1}}}, (None, None)),
        ({"outputs": {"usage_metadata": {"input_tokens": "many"}}}, (None, None)),
        ({"outputs": {"usage_metadata": {"input_tokens": 10**30}}}, (None, None)),
        ({"outputs": "text"}, (None, None)),
    ],
)
def test_where_tokens_are_found(changes: dict[str, Any], tokens: tuple[int | None, int | None]) -> None:
    found = run_of({**MODEL, **changes}).spans[0]
    assert (found.tokens_in, found.tokens_out) == tokens


@pytest.mark.parametrize(
    ("changes", "model"),
    [
        ({"extra": {"invocation_params": {"model_name": "m-2"}}}, "m-2"),
        ({"extra": None, "outputs": {"model": "m-3"}}, "m-3"),
        ({"extra": None, "inputs": {"model": "m-4"}}, "m-4"),
        ({"extra": None}, None),
        ({"run_type": "tool"}, None),
    ],
)
def test_where_the_model_is_found(changes: dict[str, Any], model: str | None) -> None:
    assert run_of({**MODEL, **changes}).spans[0].model == model


def test_a_root_that_sums_up_its_trace_is_not_added_again() -> None:
    metrics = run_of({**ROOT, "prompt_tokens": 9, "completion_tokens": 3, "total_cost": 0.3}, MODEL).metrics
    assert metrics is not None
    assert (metrics["prompt_tokens"], metrics["total_tokens"], metrics["total_cost"]) == (9, 12, 0.3)


@pytest.mark.parametrize("cost", ["much", "NaN", None, True])
def test_a_cost_that_is_no_number(cost: Any) -> None:
    assert "total_cost" not in (run_of({**MODEL, "total_cost": cost}).metrics or {})


def test_tool_calls_in_outputs_are_spans_where_no_tool_ran() -> None:
    asking = {**MODEL, "outputs": {"tool_calls": [{"id": "k", "name": "look", "args": {}}]}}
    assert [one.name for one in run_of(ROOT, asking).spans] == ["agent", "ChatOpenAI", "look"]
    assert [one.name for one in run_of(ROOT, asking, TOOL).spans] == ["agent", "ChatOpenAI", "pay"]


def test_feedback_of_a_model_is_an_answer() -> None:
    assert read(FEEDBACK) == [
        Answer(check_id="correctness", run_id="a1", score=0.5, explanation="half", method="langsmith model", at=AT)
    ]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"run_id": "b2"}, {"run_id": "a1", "span_id": "b2"}),
        ({"trace_id": None, "run_id": "b2"}, {"run_id": "b2", "span_id": None}),
        ({"score": True}, {"score": 1.0, "value": True}),
        ({"score": None, "value": "rude"}, {"choice": "rude", "score": None, "value": None}),
        ({"score": 1, "value": "rude"}, {"choice": None, "score": 1.0, "value": "rude"}),
        ({"score": None, "value": {"a": 1}}, {"value": {"a": 1}, "choice": None}),
        ({"score": None}, {"score": None, "explanation": "half"}),
        ({"score": None, "comment": None, "error": True}, {"status": "error"}),
        ({"feedback_source": {"type": "api"}}, {"method": "langsmith api"}),
        ({"feedback_source": None}, {"method": "langsmith feedback"}),
    ],
)
def test_answers(changes: dict[str, Any], expected: dict[str, Any]) -> None:
    [answer] = read({**FEEDBACK, **changes})
    assert isinstance(answer, Answer)
    assert {name: getattr(answer, name) for name in expected} == expected


@pytest.mark.parametrize(
    "source",
    [
        {"type": "app", "user_id": "u", "user_name": "ann"},
        {"type": "human", "user_id": "ann"},
        {"type": "api", "user_id": "ann", "metadata": {"source": "human"}},
        {"type": "api", "user_id": "ann", "metadata": {"type": "user"}},
    ],
)
def test_feedback_of_a_person_is_a_decision(source: dict[str, Any]) -> None:
    row = {**FEEDBACK, "feedback_source": source, "value": "Correct", "correction": {"say": "gone"}, "run_id": "b2"}
    assert read(row) == [
        Decision(
            run_id="a1",
            span_id="b2",
            decision="no_problem",
            check_id="correctness",
            answer="Correct",
            decided_by="ann",
            decided_at=AT,
            provenance="imported",
            note='half\ncorrection: {"say": "gone"}',
        )
    ]


@pytest.mark.parametrize(
    ("changes", "decision", "answer"),
    [
        ({"key": "thumbs", "score": 1}, "no_problem", 1),
        ({"key": "thumbs", "score": 0, "value": "meh"}, "problem", 0),
        ({"score": False}, "problem", None),
        (
            {"score": 1, "feedback_config": {"type": "categorical", "categories": [{"value": 1, "label": "Wrong"}]}},
            "problem",
            "Wrong",
        ),
        ({"score": 4}, "unclear", 4),
        ({"score": 4, "value": "four stars"}, "unclear", "four stars"),
    ],
)
def test_what_a_person_meant(changes: dict[str, Any], decision: str, answer: Any) -> None:
    found, *notes = read({**FEEDBACK, "feedback_source": {"type": "app"}, **changes})
    assert isinstance(found, Decision)
    assert (found.decision, found.answer) == (decision, answer)
    assert [type(note) for note in notes] == ([Note] if decision == "unclear" else [])


def test_feedback_inside_of_a_run_speaks_of_it() -> None:
    said = {"key": "stars", "score": 4, "feedback_source": {"type": "model"}}
    run, first, second = read(ROOT, {**MODEL, "feedback": [said, {**said, "run_id": "b2"}]})
    assert isinstance(run, Run)
    assert run.spans[1].attributes is not None
    assert "feedback" not in run.spans[1].attributes
    assert isinstance(first, Answer)
    assert (first.run_id, first.span_id) == ("a1", "b2")
    assert first == second


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({**FEEDBACK, "run_id": None}, "must have a key and the run_id of a run"),
        ({**FEEDBACK, "key": ""}, "must have a key and the run_id of a run"),
        ({**FEEDBACK, "score": None, "comment": None}, "must have a score, a value or a comment"),
        ({**FEEDBACK, "score": "high"}, "must be a number"),
        ({**FEEDBACK, "score": None, "feedback_source": {"type": "app"}}, "must have a value or a score"),
        ({**FEEDBACK, "modified_at": "soon"}, "is no time"),
        ({**MODEL, "id": None, "dotted_order": None}, "a run must have an id"),
        ({**MODEL, "trace_id": None, "dotted_order": "x"}, "must name its trace"),
        ({**MODEL, "run_type": None}, "run_type of run 'b2' must be text"),
        ({**MODEL, "start_time": "soon"}, "trace a1: 'soon' is no time"),
        ({**MODEL, "parent_run_id": 7}, "parent_run_id of run 'b2' must be text"),
        ({**MODEL, "child_runs": 7}, "child_runs of a run must be a list"),
        ({"post": [7]}, "a run must be an object, got int"),
        ({"a": 1}, "a run must have an id"),
        (["x"], "a run must be an object, got list"),
    ],
)
def test_what_cannot_be_used_is_rejected(row: Any, reason: str) -> None:
    found = read("[]", row)
    assert len(found) == 2
    last = next(one for one in found if isinstance(one, Rejected) and reason in one.reason)
    assert (last.file, last.line) == ("f.json", 2)


def test_a_broken_child_does_not_take_the_others_along() -> None:
    run, broken, _ = sorted(
        read({**ROOT, "child_runs": [7, {**MODEL, "trace_id": None}], "feedback": [7]}), key=lambda one: str(type(one))
    )
    assert isinstance(run, Run)
    assert [one.span_id for one in run.spans] == ["a1", "b2"]
    assert isinstance(broken, Rejected)


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"post": [ROOT], "patch": []}),
        json.dumps({"post": [], "patch": [MODEL]}, indent=2),
        "\n".join(json.dumps({"post": [row]}) for row in ROWS),
        json.dumps(ROWS),
        json.dumps(ROOT, indent=1),
        "\n".join(map(json.dumps, ROWS)),
        json.dumps({"runs": ROWS, "cursors": {"next": None}}),
        json.dumps(FEEDBACK),
        json.dumps([FEEDBACK], indent=2),
    ],
)
def test_detection(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text)
    found = recognise(tmp_path / "x.json")
    assert isinstance(found, Recognised)
    assert found.format.name == "langsmith"


@pytest.mark.parametrize(
    "record",
    [{"post": []}, {"post": [1]}, {"post": [{"title": "x"}]}, {"id": 1, "run_type": "x"}, {"runs": [], "cursors": 1}],
)
def test_other_records_are_not_taken(tmp_path: Path, record: Any) -> None:
    (tmp_path / "x.json").write_text(json.dumps(record))
    assert recognise(tmp_path / "x.json") is None


def test_real_batches(realdata: Path, store: Store) -> None:
    for path in sorted((realdata / "langsmith_runs").glob("*.json")):
        assert store.load(path).rejected == ()
    rows = store.sql("""
        select r.workflow, r.status, s.type, s.model, s.tokens_in, s.tokens_out from runs r join spans s using (run_key)
        order by s.tokens_out nulls first, s.model
    """)
    assert len(rows) == 8
    assert set(rows["type"]) == {"llm"}
    assert set(rows["status"]) == {"ok"}
    assert sorted(rows["model"]) == ["gpt-4o-mini"] * 6 + ["o1-mini"] * 2
    assert sorted(rows["tokens_out"].dropna()) == [9, 9, 9, 9, 1901, 2497]


@settings(max_examples=50)
@given(odd=spoiled([{**ROOT, "feedback": [FEEDBACK]}, MODEL, TOOL, FEEDBACK], least=2))
def test_nothing_vanishes_whatever_stands_in_a_record(odd: Any) -> None:
    found = read(*odd)
    runs = [one for one in found if isinstance(one, Run)]
    rejected = [one for one in found if isinstance(one, Rejected)]
    assert sum(len(run.spans) for run in runs) >= 3 or rejected
    assert all(isinstance(span.type, str) and span.type for run in runs for span in run.spans)
    assert rejected or any(isinstance(one, Answer | Decision) for one in found)
