"""What a mapping leaves out, and what it tells of a file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.sources.mapping.making import through

if TYPE_CHECKING:
    from pathlib import Path

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


def test_a_part_may_be_for_some_records_only(tmp_path: Path) -> None:
    found = through(
        tmp_path,
        """\
        parts:
          - {files: a.jsonl, when: {kind: run}, run: {run_id: id}}
          - {files: a.jsonl, when: {kind: label}, unless: {id: 2}, decisions: {run_id: id, decision: is}}
        """,
        {
            "a.jsonl": "\n".join(
                map(
                    json.dumps,
                    [
                        {"kind": "run", "id": 1},
                        {"kind": "label", "id": 1, "is": "approved"},
                        {"kind": "label", "id": 2, "is": "nonsense"},
                        {"kind": ["odd"], "id": 3},
                    ],
                )
            ),
        },
    )
    assert ([run.run_id for run in found.runs], [d.run_id for d in found.decisions]) == (["1"], ["1"])
    assert found.notes == [
        "2 of the records were left out by when or unless (mapping, line 2)",
        "2 of the records were left out by when or unless (mapping, line 3)",
    ]
    assert [(r.line, r.reason) for r in found.rejected] == [
        (4, "when or unless: 'kind': it must be one value, got a list"),
        (4, "when or unless: 'kind': it must be one value, got a list"),
    ]


def test_when_and_unless(tmp_path: Path) -> None:
    found = through(
        tmp_path,
        """\
        parts:
          - files: a.csv
            run:
              when: {kind: [run, Run]}
              unless: {n: 0, id: null}
              run_id: id
            decisions: {unless: {label: null}, decision: label}
        """,
        {"a.csv": "id,kind,n,label\na,run,1,approved\nb,Run,0.0,approved\n,run,2,approved\nd,other,1,\n"},
    )
    assert [run.run_id for run in found.runs] == ["a"]
    assert [d.run_id for d in found.decisions] == ["a", "b"]
    assert "3 of the run were left out by when or unless (mapping, line 4)" in found.notes
    assert [rejected.line for rejected in found.rejected] == [4]


@pytest.mark.parametrize(
    ("condition", "taken"),
    [
        ("when: {x: null}", ["a", "b"]),
        ("unless: {x: null}", ["c", "d"]),
        ("when: {x: [1, null]}", ["a", "b", "c"]),
        ("when: {n: 7, x: null}", ["a"]),
        ("when: {n: 7}, unless: {x: 1}", ["a"]),
    ],
)
def test_conditions_on_what_is_there_or_not(tmp_path: Path, condition: str, taken: list[str]) -> None:
    records = [{"id": "a", "n": 7}, {"id": "b", "x": None}, {"id": "c", "x": 1, "n": "7.0"}, {"id": "d", "x": 2}]
    found = through(
        tmp_path,
        f"parts: [{{files: a.jsonl, {condition}, run: {{run_id: id}}}}]",
        {"a.jsonl": "\n".join(map(json.dumps, records))},
    )
    assert [run.run_id for run in found.runs] == taken
    assert not any("was found in none" in note for note in found.notes)


def test_a_condition_may_ask_whether_an_object_is_there(tmp_path: Path) -> None:
    found = through(
        tmp_path,
        "parts: [{files: a.jsonl, unless: {call: null}, run: {run_id: call.name}}]",
        {"a.jsonl": '{"call": {"name": "x"}}\n{"text": "y"}'},
    )
    assert found.run.run_id == "x"


def test_a_path_that_finds_nothing_names_near_keys(tmp_path: Path) -> None:
    found = through(
        tmp_path,
        """\
        parts:
          - files: a.json
            run: {run_id: id, input: tsk, workflow: {from: gone, default: w}, final_output: turns[0].txt}
        """.replace("turns[0].txt", "'{turns[0].txt}'"),
        {"a.json": json.dumps(RUN)},
    )
    assert found.notes == [
        "'tsk' was found in none of 1 record. Did you mean 'task'?",
        "'turns[0].txt' was found in none of 1 record. Did you mean 'text'?",
    ]


def test_of_several_paths_only_the_last_must_find_something(tmp_path: Path) -> None:
    found = through(
        tmp_path,
        "parts: [{files: a.json, run: {run_id: {from: [uid, id]}, input: {from: [gone, lost]}, attributes: {}}}]",
        {"a.json": json.dumps({"id": 1})},
    )
    assert found.run.run_id == "1"
    assert found.notes == ["'lost' was found in none of 1 record. Known: 'id'."]


def test_records_that_are_not_there_name_what_is(tmp_path: Path) -> None:
    found = through(
        tmp_path,
        "parts: [{files: a.json, records: 'runs[]', run: {run_id: id}}]",
        {"a.json": json.dumps({"results": [], "version": 1})},
    )
    assert found.notes == ["no record was found at 'runs[]' (mapping, line 1). Known: 'results', 'version'."]


def test_a_missing_zone_is_told_once(tmp_path: Path) -> None:
    found = through(
        tmp_path,
        "parts: [{files: a.csv, decisions: {run_id: id, decision: = approved, decided_at: at}}]",
        {"a.csv": "id,at\na,2026-03-01T10:00:00\nb,2026-03-01T11:00:00\n"},
    )
    assert found.notes == ["decided_at has no time zone in 2 rows; they count as UTC"]
