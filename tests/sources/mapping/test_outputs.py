from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from check_workbench.records import Run
from check_workbench.sources import Origin, Rejected
from check_workbench.sources.mapping.globs import parse
from check_workbench.sources.mapping.reader import Fitting, read
from check_workbench.sources.mapping.reading import plan_of
from tests.sources.mapping.making import through

RUN: dict[str, Any] = {
    "id": "r1",
    "task": "book",
    "turns": [
        {"role": "user", "text": "hi", "extra": 1},
        {"role": "agent", "text": "thinking", "tool": "open", "args": {"x": 1}},
    ],
    "reward": 0.5,
    "labels": {"ann": 1, "bob": 0},
}


def test_spans_keep_what_no_field_reads(tmp_path: Path) -> None:
    found = through(
        tmp_path,
        """\
        parts:
          - files: a.json
            run: {run_id: id, input: task}
            spans:
              each: turns
              type: role
              output: text
        """,
        {"a.json": json.dumps(RUN)},
    )
    assert found.run.attributes == {"reward": 0.5, "labels": {"ann": 1, "bob": 0}}
    assert [span.attributes for span in found.run.spans] == [{"extra": 1}, {"tool": "open", "args": {"x": 1}}]
    assert found.notes == []


def test_attributes_that_are_given_are_all_there_is_and_the_rest_is_told(tmp_path: Path) -> None:
    found = through(
        tmp_path,
        """\
        parts:
          - files: a.json
            ignore: turns
            run: {run_id: id, attributes: {goal: task}}
        """,
        {"a.json": json.dumps(RUN)},
    )
    assert found.run.attributes == {"goal": "book"}
    assert found.notes == ["the mapping does not read 'labels', 'reward'"]


def test_parts_for_the_same_records_know_of_each_other(tmp_path: Path) -> None:
    found = through(
        tmp_path,
        """\
        parts:
          - {files: a.json, run: {run_id: id}}
          - {files: "*.json", answers: {run_id: id, check_id: = reward, score: reward}}
        """,
        {"a.json": json.dumps(RUN)},
    )
    assert found.answers[0].score == 0.5
    assert "reward" not in (found.run.attributes or {})
    assert found.notes == []


def test_spans_of_the_same_list_take_turns(tmp_path: Path) -> None:
    found = through(
        tmp_path,
        """\
        parts:
          - files: a.json
            run: {run_id: id}
            spans:
              - {each: turns, type: = llm, output: text, attributes: {}}
              - {each: turns, when: {role: agent}, type: = tool, name: tool, input: args, attributes: {}}
              - {type: = end}
        """,
        {"a.json": json.dumps(RUN)},
    )
    assert [(s.type, s.name) for s in found.run.spans] == [
        ("llm", None),
        ("llm", None),
        ("tool", "open"),
        ("end", None),
    ]
    assert found.notes == ["1 of the spans was left out by when or unless (mapping, line 6)"]


def test_spans_of_lists_in_a_list_stand_where_they_belong(tmp_path: Path) -> None:
    turns = [
        {"who": "a", "said": "one", "calls": [{"tool": "x"}, {"tool": "y"}]},
        {"who": "b", "said": "two", "calls": []},
        {"who": "c", "said": "three", "calls": [{"tool": "z"}]},
    ]
    found = through(
        tmp_path,
        """\
        parts:
          - files: a.json
            run: {run_id: id}
            spans:
              - {each: turns, type: = llm, output: said}
              - {each: "turns[].calls[]", type: = tool, name: tool, input: "{^^id}/{^who}/{$index}"}
              - {each: "turns[].calls", type: = again, name: tool, input: "{^who}"}
        """,
        {"a.json": json.dumps({"id": "r", "turns": turns})},
    )
    assert [(s.type, s.name, s.input) for s in found.run.spans if s.type != "again"] == [
        ("llm", None, None),
        ("tool", "x", "r/a/0"),
        ("tool", "y", "r/a/1"),
        ("llm", None, None),
        ("llm", None, None),
        ("tool", "z", "r/c/0"),
    ]
    assert all(span.attributes is None for span in found.run.spans)
    assert [(s.name, s.input) for s in found.run.spans if s.type == "again"] == [("x", "a"), ("y", "a"), ("z", "c")]
    assert found.notes == []


def test_null_records_are_rejected_and_null_elements_are_not_there(tmp_path: Path) -> None:
    for indent in (None, 1):
        found = through(
            tmp_path,
            """\
            parts:
              - files: a.json
                records: "runs[]"
                run: {run_id: id}
                spans: {each: steps, type: = tool, name: .}
            """,
            {"a.json": json.dumps({"runs": [{"id": 1, "steps": ["a", None, "b"]}, None]}, indent=indent)},
        )
        assert [span.name for span in found.run.spans] == ["a", "b"]
        assert found.reason.startswith("run_id must be there")


def test_chat_messages(tmp_path: Path) -> None:
    messages = [
        {"role": "system", "content": "Rules."},
        {"role": "user", "content": "Hi."},
        {"role": "assistant", "content": "Hello."},
    ]
    found = through(
        tmp_path,
        "parts: [{files: a.json, run: {run_id: id, final_output: answer}, spans: {messages: log.messages}}]",
        {"a.json": json.dumps({"id": 1, "answer": "done", "log": {"messages": messages}})},
    )
    run = found.run
    assert [span.type for span in run.spans] == ["user", "llm"]
    assert (run.input, run.system_prompt, run.final_output) == ("Hi.", "Rules.", "done")


def test_steps(tmp_path: Path) -> None:
    found = through(
        tmp_path,
        "parts: [{files: a.json, run: {run_id: id}, steps: {each: turns, step_id: role, output: text, attempt: 2}}]",
        {"a.json": json.dumps(RUN)},
    )
    assert [(step.step_id, step.attempt, step.output) for step in found.run.steps] == [
        ("user", 2, "hi"),
        ("agent", 2, "thinking"),
    ]


def test_decisions_and_answers(tmp_path: Path) -> None:
    found = through(
        tmp_path,
        """\
        parts:
          - files: a.json
            run: {run_id: "x/{id}"}
            decisions:
              - each: labels.{who}
                check_id: = fine
                question: 0
                decision: {from: ., values: {1: no_problem, 0: problem}}
                decided_by: $who
                decided_at: 1786051888
              - {run_id: = other, decision: = approved, provenance: = blind}
            answers:
              - {check_id: = fine, probability: "reward"}
              - {check_id: = level, probabilities: {low: reward, high: {from: reward}}, confidence: "{reward}"}
              - {check_id: = broken, status: = error}
              - {check_id: = judged, passed: "= yes", score: "{reward}", explanation: task}
        """,
        {"a.json": json.dumps(RUN)},
    )
    assert [(d.run_id, d.check_id, d.decision, d.decided_by, d.provenance) for d in found.decisions] == [
        ("x/r1", "fine", "no_problem", "ann", "imported"),
        ("x/r1", "fine", "problem", "bob", "imported"),
        ("other", None, "approved", None, "blind"),
    ]
    assert found.decisions[0].decided_at is not None
    fine, level, broken = found.answers[:3]
    assert (fine.run_id, fine.probability, level.probabilities) == ("x/r1", 0.5, {"low": 0.5, "high": 0.5})
    assert (level.confidence, broken.status) == (0.5, "error")
    judged = found.answers[3]
    assert (judged.passed, judged.score, judged.explanation) == (True, 0.5, "book")


def test_a_thing_that_does_not_fit_is_rejected_alone(tmp_path: Path) -> None:
    records = [{"id": 1, "label": "aproved", "p": 2}, {"id": 2, "label": "approved", "p": "0.5"}, {"label": "failed"}]
    found = through(
        tmp_path,
        """\
        parts:
          - files: a.jsonl
            run: {run_id: id}
            decisions: {decision: label}
            answers: {check_id: = c, probability: p}
        """,
        {"a.jsonl": "\n".join(map(json.dumps, records))},
    )
    assert [run.run_id for run in found.runs] == ["1", "2"]
    assert [(d.run_id, d.decision) for d in found.decisions] == [("2", "approved")]
    assert [a.probability for a in found.answers] == [0.5]
    assert [(r.line, r.reason) for r in found.rejected] == [
        (1, "decisions (mapping, line 4): decision must be a known word, got 'aproved'. Did you mean 'approved'?"),
        (1, "answers (mapping, line 5): probability must lie between 0 and 1, got 2.0"),
        (3, "run_id must be there, but nothing was found for it (mapping, line 3)"),
    ]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)
PLAN = plan_of(
    """\
parts:
  - files: a.jsonl
    run: {run_id: "{$place}", workflow: a, started_at: b, metrics: c, status: {from: d, default: ok}}
    spans: {each: b, type: a, input: ., tokens_in: c}
    steps: {each: "c.{k}", step_id: $k, output: .}
    decisions: {each: a, decision: ., answer: b}
    answers: {check_id: = c, score: a}
""",
    "own.yaml",
    name="own",
)


@given(records=st.lists(st.fixed_dictionaries({}, optional=dict.fromkeys("abcd", JSON)), min_size=1, max_size=4))
def test_each_record_becomes_a_run_or_is_rejected(records: list[Any], tmp_path_factory: Any) -> None:
    path = tmp_path_factory.mktemp("any") / "a.jsonl"
    path.write_text("\n".join(map(json.dumps, records)), "utf-8")
    fitting = (Fitting(PLAN.parts[0], path.parent, {}),)
    made = list(read(path, Origin(file="a.jsonl", stem="a"), fitting))
    runs = [int(record.run_id) for record in made if isinstance(record, Run)]
    rejected = [record for record in made if isinstance(record, Rejected)]
    refused = [record.line for record in rejected if not record.reason.startswith(("decisions", "answers"))]
    assert sorted([*runs, *refused]) == list(range(1, len(records) + 1))
    again = list(read(path, Origin(file="a.jsonl", stem="a"), fitting))
    assert repr(again) == repr(made)


def test_a_glob_keeps_what_it_names(tmp_path: Path) -> None:
    glob = parse("{set}/**/{model}-*.json")
    assert glob.match(tmp_path / "a" / "b" / "c" / "gpt-1.json.gz", tmp_path) == (
        tmp_path,
        {"set": "a", "model": "gpt"},
    )
    assert glob.match(tmp_path / "a" / "gpt-1.json", tmp_path) == (tmp_path, {"set": "a", "model": "gpt"})
    assert glob.match(tmp_path / "gpt-1.json", tmp_path) is None


def test_a_pattern_of_compressed_files_alone_takes_no_others() -> None:
    root = Path("in")
    assert parse("*.gz").match(root / "a.jsonl.gz", root) is not None
    assert parse("*.gz").match(root / "m.yaml", root) is None
    assert parse("*.jsonl.gz").match(root / "a.jsonl", root) is not None
