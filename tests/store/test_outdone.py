"""Runs that came again with other content and less in them: counted as there already, and told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from check_workbench.store import open_store
from check_workbench.store.arrivals import OUTDONE_SHOWN
from tests.store.making import write

if TYPE_CHECKING:
    from pathlib import Path

STAYS = "the copy with more spans stays, of equal ones the copy with more steps or the later end"


def run(run_id: str, spans: int, **more: Any) -> dict[str, Any]:
    return {"run_id": run_id, "spans": [{"type": "tool"}] * spans, **more}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return files of which the later ones bring shorter copies, other ones of the same length, and the same."""
    (tmp_path / "runs").mkdir()
    ended = {"ended_at": "2026-05-01T10:00:00Z"}
    write(tmp_path / "runs" / "a.jsonl", run("b'1", 3), run("a", 2, **ended), run("same", 1))
    write(tmp_path / "runs" / "b.jsonl", run("b'1", 1), run("same", 1), run("new", 1))
    write(tmp_path / "runs" / "c.jsonl", run("a", 2), run("b'1", 2))
    return tmp_path / "runs"


@pytest.mark.parametrize("dry_run", [False, True])
@pytest.mark.parametrize("small", [1 << 20, -1])
def test_copies_with_less_in_them_are_told(store, folder, monkeypatch, dry_run, small):
    for name in ("SMALL_BYTES", "SMALL_OWN_BYTES"):
        monkeypatch.setattr(f"check_workbench.store.loading.{name}", small)
    report = store.load(folder, dry_run=dry_run)
    assert (report.runs, report.already, report.replaced) == (4, 4, 0)
    told = f"2 runs came again with other content; {STAYS} (run ids 'a', \"b'1\")"
    assert report.notes == (told,)
    assert f"  {told}" in repr(report).splitlines()


@pytest.mark.parametrize("kept", ["memory", "file"])
def test_a_dry_run_compares_with_what_is_in_the_store(tmp_path, folder, kept):
    with open_store(None if kept == "memory" else tmp_path / "s.duckdb") as store:
        store.load(folder / "a.jsonl")
        told = f'1 run came again with other content; {STAYS} (run id "b\'1")'
        assert store.load(folder / "b.jsonl", dry_run=True).notes == (told,)
        assert store.load(folder / "b.jsonl").notes == (told,)


def test_runs_that_are_the_same_new_replaced_or_repeated_are_not_told(store, tmp_path):
    store.load(write(tmp_path / "a.jsonl", run("same", 2), run("grows", 1)))
    again = write(tmp_path / "b.jsonl", run("same", 2), run("grows", 2), run("new", 1), run("new", 0))
    report = store.load(again)
    assert (report.runs, report.already, report.replaced, len(report.rejected)) == (1, 1, 1, 1)
    assert report.notes == ()


def test_many_copies_with_less_in_them_are_counted_and_some_named(store, tmp_path):
    ids = [f"r-{place:04}" for place in range(1_200)]
    store.load(write(tmp_path / "a.jsonl", *(run(one, 1) for one in ids)))
    (told,) = store.load(write(tmp_path / "b.jsonl", *(run(one, 0) for one in ids))).notes
    named = ", ".join(map(repr, ids[:OUTDONE_SHOWN]))
    assert told == f"1,200 runs came again with other content; {STAYS} (run ids {named} and 1,190 more)"


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_real_trace_that_is_there_twice(realdata, store, dry_run):
    report = store.load(realdata / "langfuse_traces", dry_run=dry_run)
    assert (report.runs, report.replaced) == (16, 1)
    assert "  1 replaced by a longer or later record" in repr(report).splitlines()
    assert not any("came again" in note for note in report.notes)


def test_answers_count_again_when_the_run_to_which_they_were_given_comes_back(store, tmp_path):
    first, second = (write(tmp_path / f"{out}.jsonl", run("r", 1, final_output=out)) for out in ("first", "second"))
    store.load([first, second])
    answered = write(tmp_path / "answers.jsonl", {"run_id": "r", "check_id": "c", "probability": 0.5})
    store.load_answers(answered)
    stale = []
    for path in (second, first, second):
        store.load(path)
        stale += store.sql("select stale from answers")["stale"].tolist()
    assert stale == [False, True, False]
