"""A person corrects a decision and loads it again: what the store keeps, tells and hands on."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import pytest

from check_workbench.labels import labels_for
from check_workbench.store import open_store
from tests.store.filled import load, run
from tests.workshop import question

if TYPE_CHECKING:
    from pathlib import Path

    from check_workbench.store import Store

HEADER = "run_id,decision,check_id,decided_by,decided_at,verdict_seen\n"


def says(store: Store, path: Path, *words: str, by: str = "ann", run_id: str = "r") -> Any:
    """Load a file in which one person decides about one run; a word may bring its time."""
    rows = (word.partition("@") for word in words)
    lines = [f"{run_id},{word},q,{by},{at},false" for word, _, at in rows]
    path.write_text(HEADER + "\n".join(lines) + "\n", encoding="utf-8")
    return store.load_decisions(path)


def label(store: Store) -> bool | None:
    frame = labels_for(question(), store).frame
    return bool(frame["positive"].iloc[0]) if len(frame) else None


def told(report: Any) -> list[str]:
    return [note.partition(": ")[2] for note in report.notes]


@pytest.fixture
def started(store: Store, tmp_path: Path) -> Store:
    load(store, tmp_path / "runs", run("r"))
    return store


def test_a_corrected_file_counts_and_says_so(started: Store, tmp_path: Path) -> None:
    says(started, tmp_path / "a.csv", "problem")
    report = says(started, tmp_path / "a.csv", "no_problem", by=" Ann")
    assert (report.decisions, report.already) == (1, 0)
    assert told(report) == [
        "1 decision replaces an earlier one of the same person (for trust, what a call had read blind stays)"
    ]
    assert label(started) is False
    assert labels_for(question(), started).excluded == {"superseded": 1}


def test_loading_the_old_file_again_changes_nothing_and_says_how_to_return_to_it(
    started: Store, tmp_path: Path
) -> None:
    says(started, tmp_path / "a.csv", "problem")
    says(started, tmp_path / "b.csv", "no_problem")
    report = says(started, tmp_path / "a.csv", "problem")
    assert (report.decisions, report.already, label(started)) == (0, 1, False)
    [words] = told(report)
    assert words.startswith("1 decision does not count, because the same person has decided again since")
    says(started, tmp_path / "c.csv", "problem@2026-10-01T00:00:00Z")
    assert label(started) is True


def test_what_contradicts_itself_in_one_file_is_told_and_ties(started: Store, tmp_path: Path) -> None:
    report = says(started, tmp_path / "a.csv", "problem", "no_problem")
    assert label(started) is None
    [words] = told(report)
    assert words.startswith("of 1 piece of work one person says both problem and no problem")
    report = says(started, tmp_path / "a.csv", "problem", "no_problem", "no_problem@2026-10-01T00:00:00Z")
    assert told(report)[0].startswith("1 decision replaces an earlier one")
    assert label(started) is False


def test_without_a_name_nothing_is_replaced(started: Store, tmp_path: Path) -> None:
    says(started, tmp_path / "a.csv", "problem", by="")
    assert told(says(started, tmp_path / "a.csv", "no_problem", by="")) == []
    assert labels_for(question(), started).excluded == {"annotators_disagree": 2}


def test_work_that_is_rejected_and_then_approved_is_rework(started: Store, tmp_path: Path) -> None:
    """Such events name no check: nothing is replaced, and nothing is told as a contradiction."""
    path = tmp_path / "a.csv"
    for at, word in enumerate(("rejected", "approved"), start=1):
        path.write_text(f"{HEADER}r,{word},,ann,2026-10-0{at}T00:00:00Z,false\n", encoding="utf-8")
        report = started.load_decisions(path)
        assert (report.decisions, told(report)) == (1, [])
    assert labels_for(question(), started, kind="work").excluded == {"annotators_disagree": 2}


def test_blank_names_in_lines_are_different_people(started: Store, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"run_id": "r", "check_id": "q", "decision": "problem", "decided_by": " "}\n' * 2)
    assert started.load_decisions(path).decisions == 2
    path.write_text('{"run_id": "r", "check_id": "q", "decision": "problem", "decided_by": NaN}\n')
    assert len(started.load_decisions(path).rejected) == 1


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_files_with_times_may_be_loaded_in_any_order(started: Store, tmp_path: Path, order: tuple[int, ...]) -> None:
    words = ("problem@2026-10-01T00:00:00Z", "no_problem@2026-10-03T00:00:00Z", "problem@2026-10-02T00:00:00Z")
    for place in order:
        says(started, tmp_path / f"{place}.csv", words[place])
    assert label(started) is False
    assert labels_for(question(), started).excluded == {"superseded": 2}


@pytest.mark.parametrize("first", ["mine", "hers"])
def test_merged_stores_agree_on_the_last_word_whichever_takes_the_other(tmp_path: Path, first: str) -> None:
    """Hers is loaded in between; what both have is as old as the first of the two loads."""
    names = ("mine", "hers")
    stores = {name: open_store(tmp_path / f"{name}.duckdb") for name in names}
    for name in names:
        load(stores[name], tmp_path / name, run("r"))
    says(stores["mine"], tmp_path / "1.csv", "problem")
    says(stores["hers"], tmp_path / "2.csv", "no_problem")
    says(stores["hers"], tmp_path / "1.csv", "problem")
    for one in stores.values():
        one.close()
    other = next(name for name in names if name != first)
    with open_store(tmp_path / f"{first}.duckdb") as store:
        store.merge(tmp_path / f"{other}.duckdb")
        assert label(store) is False
        store.merge(tmp_path / f"{other}.duckdb")
        assert label(store) is False
        store.export(tmp_path / "out")
    with open_store() as copy:
        copy.merge(tmp_path / "out")
        assert label(copy) is False
        assert labels_for(question(), copy).excluded == {"superseded": 1}
