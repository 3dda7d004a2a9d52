"""Decisions that come with runs, and that the caller asserts to be blind."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from check_workbench.checks import Check
from check_workbench.labels import labels_for
from check_workbench.store import open_store
from tests.sources.mapping.making import mapping_file

if TYPE_CHECKING:
    from pathlib import Path

    from check_workbench.store import Store
    from check_workbench.store.report import LoadReport

MAPPING = """\
name: judged
parts:
  - files: runs.jsonl
    run: {run_id: id}
    decisions:
      check_id: = loop
      decision: said
      decided_by: by
      provenance: {from: how, default: imported}
      verdict_seen: seen
"""
JUDGED: list[dict[str, Any]] = [
    {"id": "a", "said": "problem", "by": "ann"},
    {"id": "b", "said": "no_problem", "by": "ann"},
    {"id": "c", "said": "no_problem", "by": "ann", "seen": True},
    {"id": "d", "said": "problem", "by": "ann", "how": "saw_verdict"},
    {"id": "e", "said": "problem", "by": "ann", "how": "prefilled"},
    {"id": "f", "said": "problem", "by": "ann", "seen": False},
    {"id": "g", "said": "problem", "by": "ann", "how": "blind", "seen": True},
]
TOLD = (
    "2 of 6 decisions that came with the runs were asserted to be blind by the caller; the others say themselves how "
    "they were made"
)
NOTHING = "there are no decisions that came with the runs, so none was asserted to be blind"
SCORE = {
    "id": "s1", "traceId": "t1", "name": "toxic", "source": "ANNOTATION", "dataType": "BOOLEAN", "value": 1,
    "stringValue": None, "comment": None, "observationId": None, "authorUserId": "ann",
    "timestamp": "2026-05-01T11:00:00.000Z",
}  # fmt: skip
TRACE = {"id": "t1", "name": "agent", "timestamp": "2026-05-01T10:00:00.000Z", "input": "go", "output": "gone"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in JUDGED), "utf-8")
    return folder


def load(store: Store, folder: Path, **settings: Any) -> LoadReport:
    return store.load(folder, mapping=mapping_file(folder.parent, MAPPING), **settings)


def asserted(store: Store) -> list[str]:
    rows = store.sql("select run_id from decisions where asserted_blind order by run_id")
    return rows["run_id"].tolist()


def test_what_a_mapping_makes_is_asserted_where_it_does_not_say(store: Store, folder: Path) -> None:
    report = load(store, folder, blind=True)
    assert (report.decisions, asserted(store)) == (6, ["a", "b"])
    assert TOLD in report.notes
    assert [record.line for record in report.rejected] == [7]
    assert "provenance blind contradicts verdict_seen" in report.rejected[0].reason


def test_every_report_says_that_it_was_asserted(store: Store, folder: Path) -> None:
    report = load(store, folder, blind=True)
    assert "counted as blind only because the caller asserted it: 2 decisions" in report.examined.notes
    labels = labels_for(Check(id="loop", dialect="neatroots", items=()), store)
    assert labels.frame["blind"].tolist() == [True, True, False, False, False, True]
    assert labels.frame["reason_not_blind"].tolist()[2:5] == ["saw_verdict", "saw_verdict", "prefilled"]
    assert labels.notes == ("that nobody saw a verdict was asserted when loading (2 units)",)


def test_without_the_word_nothing_is_asserted(store: Store, folder: Path) -> None:
    report = load(store, folder)
    assert asserted(store) == []
    assert not any("asserted" in note for note in (*report.notes, *report.examined.notes))


def test_loading_again_asserts_what_is_there_already(store: Store, folder: Path) -> None:
    load(store, folder)
    again = load(store, folder, blind=True)
    assert (again.decisions, again.already, asserted(store)) == (0, 13, ["a", "b"])
    assert TOLD in again.notes
    twice = load(store, folder, blind=True)
    assert (twice.notes, asserted(store)) == (again.notes, ["a", "b"])


def test_loading_again_without_it_takes_nothing_back(store: Store, folder: Path) -> None:
    load(store, folder, blind=True)
    load(store, folder)
    assert asserted(store) == ["a", "b"]


def test_files_read_by_themselves_are_the_same(store: Store, folder: Path, alone: None) -> None:
    del alone
    assert TOLD in load(store, folder, blind=True).notes
    assert asserted(store) == ["a", "b"]


def test_the_annotations_of_a_format_are_asserted(store: Store, tmp_path: Path) -> None:
    for place in range(3):
        trace = {**TRACE, "id": f"t{place}", "scores": [{**SCORE, "id": f"s{place}", "traceId": f"t{place}"}]}
        (tmp_path / f"{place}.json").write_text(json.dumps({"trace": trace, "observations": []}), "utf-8")
    report = store.load(tmp_path, blind=True)
    assert asserted(store) == ["t0", "t1", "t2"]
    assert report.notes == ("3 of 3 decisions that came with the runs were asserted to be blind by the caller",)


def test_a_dry_run_says_what_would_be_asserted_and_asserts_nothing(store: Store, folder: Path) -> None:
    assert TOLD in load(store, folder, blind=True, dry_run=True).notes
    load(store, folder)
    assert TOLD in load(store, folder, blind=True, dry_run=True).notes
    assert asserted(store) == []


def test_a_sample_counts_the_decisions_that_it_takes(store: Store, folder: Path) -> None:
    report = load(store, folder, blind=True, sample=2)
    told = store.sql("select count(*) as n from decisions")["n"][0]
    assert told <= 2
    assert any(f"{len(asserted(store))} of {told} decisions" in note or note == NOTHING for note in report.notes)


@pytest.mark.parametrize("text", ['{"run_id": "r"}\n', "", "{broken\n"])
def test_without_decisions_that_is_said(store: Store, tmp_path: Path, text: str) -> None:
    (tmp_path / "own.jsonl").write_text(text, "utf-8")
    assert NOTHING in store.load(tmp_path, blind=True).notes


def test_a_decisions_file_without_decisions_says_so(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("run_id,decision\n", "utf-8")
    report = store.load_decisions(path, blind=True)
    assert report.notes == (f"{path}: there are no decisions, so none was asserted to be blind",)


def test_a_store_speaks_for_itself(store: Store, folder: Path, tmp_path: Path) -> None:
    with open_store(tmp_path / "hers.duckdb") as hers:
        load(hers, folder)
    report = store.load(tmp_path / "hers.duckdb", blind=True)
    assert (report.decisions, asserted(store)) == (6, [])
    assert f"{tmp_path / 'hers.duckdb'}: a store says itself which of its decisions are blind" in report.notes
    assert NOTHING in report.notes
