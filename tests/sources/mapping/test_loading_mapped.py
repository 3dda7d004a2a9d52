from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from check_workbench.errors import InputError
from tests.sources.mapping.making import mapping_file, through, write

if TYPE_CHECKING:
    from pathlib import Path

    from check_workbench.store import Store

OWN = """\
name: ours
parts:
  - files: "{team}/runs.jsonl"
    join: {label: {file: labels.csv, on: {task: id}}}
    run: {run_id: "{$team}/{id}", input: goal}
    decisions: {unless: {$label.label: null}, check_id: = fine, decision: $label.label}
    answers: {check_id: = fine, probability: p}
  - {files: gone/*.json, run: {run_id: id}}
"""
FILES: dict[str, str | bytes] = {
    "a/runs.jsonl": '{"id": 1, "goal": "x", "p": 0.2}\n{"id": 2, "goal": "y", "p": "much"}',
    "b/runs.jsonl": '{"id": 1, "goal": "z", "p": 0.9}',
    "labels.csv": "task,label\n1,problem\n",
    "README.md": "words",
}


def test_a_folder_through_a_mapping(store: Store, tmp_path: Path) -> None:
    root, mapping = write(tmp_path, FILES), mapping_file(tmp_path, OWN)
    report = store.load(root, mapping=mapping)
    assert (report.runs, report.decisions, report.answers) == (3, 2, 2)
    assert [path.rpartition("/")[2] for path in report.skipped] == ["README.md"]
    assert [(r.line, r.reason) for r in report.rejected] == [
        (2, "answers (mapping, line 7): probability must be a number, got 'much'"),
    ]
    assert {(taken.format, taken.reason) for taken in report.taken} == {
        ("ours", "the mapping's files '{team}/runs.jsonl'"),
        ("ours", "a file that the mapping joins"),
    }
    assert "ours: none of the files is 'gone/*.json'" in report.notes
    assert store.sql("select distinct provenance from decisions")["provenance"].tolist() == ["imported"]
    again = store.load(root, mapping=mapping)
    assert (again.runs, again.decisions, again.answers, again.already) == (0, 0, 0, 7)


def test_a_file_by_itself_is_known_by_the_end_of_its_place(store: Store, tmp_path: Path) -> None:
    root, mapping = write(tmp_path, FILES), mapping_file(tmp_path, OWN)
    report = store.load(root / "b" / "runs.jsonl", mapping=mapping)
    assert (report.runs, report.decisions) == (1, 1)
    assert store.sql("select run_id from runs")["run_id"].tolist() == ["b/1"]


def test_a_dry_run_shows_what_the_mapping_makes(store: Store, tmp_path: Path) -> None:
    root, mapping = write(tmp_path, FILES), mapping_file(tmp_path, OWN)
    report = store.load(root, mapping=mapping, dry_run=True)
    assert (report.runs, report.decisions, report.answers) == (3, 2, 2)
    assert [record["run_id"] for record in report.first if "spans" in record] == ["a/1", "a/2", "b/1"]
    assert report.first[3:] == (
        {"run_id": "a/1", "decision": "problem", "check_id": "fine", "provenance": "imported"},
        {"run_id": "b/1", "decision": "problem", "check_id": "fine", "provenance": "imported"},
        {"run_id": "a/1", "check_id": "fine", "probability": 0.2},
        {"run_id": "b/1", "check_id": "fine", "probability": 0.9},
    )
    assert "run_id='a/1' decision='problem' check_id='fine'" in repr(report)
    assert store.sql("select count(*) as n from decisions")["n"].tolist() == [0]
    store.load(root, mapping=mapping)
    assert store.load(root, mapping=mapping, dry_run=True).first[3:] == ()


def test_nothing_is_loaded_with_a_broken_mapping(store: Store, tmp_path: Path) -> None:
    root = write(tmp_path, FILES)
    with pytest.raises(InputError, match=r"own\.yaml:1:1: the mapping must have parts"):
        store.load(root, mapping=mapping_file(tmp_path, "name: x"))
    assert store.sql("select count(*) as n from runs")["n"].tolist() == [0]


def workbench(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "check_workbench.cli", *map(str, words)]
    code = "import sys; from check_workbench.cli import main; sys.exit(main(sys.argv[1:]))"
    return subprocess.run([command[0], "-c", code, *map(str, words)], capture_output=True, text=True, check=False)


def test_the_command_line(tmp_path: Path) -> None:
    root, mapping = write(tmp_path, FILES), mapping_file(tmp_path, OWN)
    done = workbench("load", root, "--db", tmp_path / "s.duckdb", "--mapping", mapping, "--json")
    assert done.returncode == 0
    told: dict[str, Any] = json.loads(done.stdout)
    assert (told["runs"], told["decisions"], len(told["rejected"])) == (3, 2, 1)
    unknown = workbench("load", root, "--db", tmp_path / "t.duckdb", "--mapping", "llm_rubrik")
    assert (unknown.returncode, "Did you mean 'llm_rubric'?" in unknown.stderr) == (3, True)
    both = workbench("load", root, "--db", tmp_path / "t.duckdb", "--mapping", mapping, "--format", "chat")
    assert (both.returncode, "--mapping says how every PATH is read" in both.stderr) == (2, True)


def test_the_shipped_mappings_are_listed() -> None:
    listed = json.loads(workbench("formats", "--json").stdout)["formats"]
    assert "online_mind2web_webjudge" in [one["name"] for one in listed if one["of"] == "mapping"]


def test_links_out_of_the_path_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text('{"id": "secret"}', "utf-8")
    (tmp_path / "labels.csv").write_text("task,label\n1,problem\n", "utf-8")
    root = write(tmp_path, {"a/runs.jsonl": FILES["a/runs.jsonl"]})
    (root / "linked.json").symlink_to(tmp_path / "secret.json")
    (root / "labels.csv").symlink_to(tmp_path / "labels.csv")
    found = through(tmp_path, OWN.replace("gone/*.json", "'*.json'"))
    assert [run.run_id for run in found.runs] == ["a/1", "a/2"]
    assert found.decisions == []
    assert "it is a link to a file outside the PATH, which a mapping does not follow" in found.rejected[-1].reason
    assert any("labels.csv, which is joined, is not there" in note for note in found.notes)


def test_a_joined_file_named_by_a_record_stays_under_the_path(tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("task,label\n1,problem\n", "utf-8")
    names = ["../secret.csv", str(tmp_path / "secret.csv"), "x/../../secret.csv", "a\0b"]
    lines = "\n".join(json.dumps({"id": place, "at": name}) for place, name in enumerate(names))
    found = through(
        tmp_path,
        """\
        parts:
          - files: a.jsonl
            join: {label: {file: "{at}", on: {task: = 1}}}
            run: {run_id: id, workflow: $label.label}
        """,
        {"a.jsonl": lines},
    )
    assert [run.workflow for run in found.runs] == [None] * len(found.runs)
    assert len(found.runs) + len(found.rejected) == len(names)
