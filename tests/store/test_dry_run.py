from __future__ import annotations

import json
import subprocess
import sys
import time

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from check_workbench.errors import InputError, StoreError
from check_workbench.store import open_store, sampling
from check_workbench.store.own_lines import own_records
from tests.store.filled import counts, digests, fill, load, look, run
from tests.store.making import write

COUNTED = ("runs", "spans", "steps", "decisions", "answers", "already", "replaced", "rejected", "skipped", "taken")


@pytest.fixture
def folder(tmp_path):
    """Return a folder with new, known, longer, shorter, repeated, rejected and foreign records."""
    made = tmp_path / "runs"
    (made / "deep").mkdir(parents=True)
    step = {"step_id": "s", "output": "x"}
    write(made / "a.jsonl", run("known"), run("longer", 5), run("shorter", 1), run("new", 3, steps=[step]))
    write(made / "b.jsonl", run("new", 4), run("other"), run("other", 3), {"run_id": ["x"]}, run("third", started_at=1))
    write(made / "deep" / "c.jsonl", run("new", 1), run("fourth", 0, started_at="2026-01-01T00:00:00"))
    talk = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}
    write(made / "chat.jsonl", talk, talk)
    (made / "README.md").write_text("words")
    return made


def _known(store, tmp_path):
    load(store, tmp_path / "known", run("known"), run("longer", 2), run("shorter", 4))


def _files(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("kept", ["file", "memory"])
def test_a_dry_run_counts_as_the_load_does_and_writes_nothing(tmp_path, folder, kept):
    with open_store(tmp_path / "s.duckdb" if kept == "file" else None) as store:
        _known(store, tmp_path)
        before, bytes_before = {n: store.sql(f"from {n}") for n in counts(store)}, _files(tmp_path)
        rehearsed = store.load(folder, dry_run=True)
        for name, frame in before.items():
            pd.testing.assert_frame_equal(store.sql(f"from {name}"), frame)
        assert _files(tmp_path) == bytes_before
        assert rehearsed.dry_run
        loaded = store.load(folder)
    for name in COUNTED:
        assert getattr(rehearsed, name) == getattr(loaded, name), name
    assert (loaded.runs, loaded.replaced, len(loaded.rejected), len(loaded.skipped)) == (6, 2, 2, 1)
    assert set(rehearsed.notes) == set(loaded.notes)


def test_a_dry_run_shows_the_first_records_shortened(store, tmp_path):
    long = run("long", 5, input="é" * 300, metrics={"total_tokens": 12})
    load_file = write(tmp_path / "a.jsonl", long, run("b"), run("c"), run("d"))
    report = store.load(load_file, dry_run=True)
    assert [record["run_id"] for record in report.first] == ["long", "b", "c"]
    first = report.first[0]
    assert (first["input"], first["workflow"]) == ("é" * 79 + "…", "w")
    assert first["metrics"] == '{"total_tokens":12}'
    assert [(s["type"], s["name"], s["input"]) for s in first["spans"]] == [
        ("tool", f"t{i}", f'{{"i":{i}}}') for i in range(3)
    ]
    text = repr(report)
    assert text.startswith("Would load 4 runs, 11 spans. Nothing was written.\n")
    assert "The first records:\n  run_id='long'" in text
    document = report.to_json()
    assert document["dry_run"] is True
    assert json.loads(json.dumps(document))["first"][1]["run_id"] == "b"
    assert "Nothing was written" in report._repr_html_()


def test_a_load_says_nothing_of_dry_runs_and_samples(store, folder):
    report = store.load(folder)
    assert not {"dry_run", "sample", "first"} & set(report.to_json())
    assert report.first == ()


def test_a_dry_run_needs_no_right_to_write(tmp_path, folder):
    path = tmp_path / "s.duckdb"
    with open_store(path) as store:
        _known(store, tmp_path)
    with open_store(path, read_only=True) as store:
        assert store.load(folder, dry_run=True).replaced == 2
        with pytest.raises(StoreError, match="read only"):
            store.load(folder)


def test_a_dry_run_rehearses_a_merge(store, tmp_path, folder):
    with open_store(tmp_path / "hers.duckdb") as other:
        fill(other, tmp_path / "f")
        other.export(folder / "exported")
    load(store, tmp_path / "own", run("b", 3), run("a", 0))
    bytes_before = _files(folder)
    rehearsed = store.load([folder, tmp_path / "hers.duckdb"], dry_run=True)
    assert _files(folder) == bytes_before
    assert counts(store)["runs"] == 2
    loaded = store.load([folder, tmp_path / "hers.duckdb"])
    for name in COUNTED:
        assert getattr(rehearsed, name) == getattr(loaded, name), name
    assert set(rehearsed.notes) == set(loaded.notes)


def test_what_matches_nothing_is_told_by_a_dry_run_too(store, tmp_path):
    load(store, tmp_path / "own", run("r-001"))
    (tmp_path / "labels.csv").write_text("run_id,decision\nr-1,approved\n")
    store.load_decisions(tmp_path / "labels.csv")
    report = store.load(write(tmp_path / "a.jsonl", run("x")), dry_run=True)
    assert report.examined.unmatched_decisions == 1
    assert report.examined.near[0].near == ("r-001",)
    assert report.examined.supports == ()


def test_an_error_ends_a_dry_run_as_it_ends_a_load(store, tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        store.load(tmp_path / "none", dry_run=True)
    store.close()
    with pytest.raises(StoreError, match="open it again"):
        store.load(tmp_path, dry_run=True)


@pytest.fixture
def many(tmp_path):
    """Return a folder with files of 1 to 400 runs, of two formats."""
    made = tmp_path / "many"
    made.mkdir()
    for number, size in enumerate((1, 3, 400, 20, 150)):
        write(made / f"f{number}.jsonl", *(run(f"{number}-{i}", 1) for i in range(size)))
    talk = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}
    write(made / "chat.jsonl", *[talk] * 250)
    (made / "README.md").write_text("words")
    return made


def _sampled(folder, wanted, **options):
    with open_store() as store:
        report = store.load(folder, sample=wanted, **options)
        return set(digests(store)), report


def test_samples_are_the_same_each_time_spread_and_nested(many):
    before: set[str] = set()
    for wanted in (1, 5, 6, 7, 100, 333, 5_000):
        found, report = _sampled(many, wanted)
        assert len(found) == min(wanted, 824) == report.runs
        assert before <= found
        assert _sampled(many, wanted)[0] == found
        before = found
    spread = {name.split("-")[0].split("#")[0] for name in _sampled(many, 6)[0]}
    assert spread == {"0", "1", "2", "3", "4", "chat"}


def test_a_sample_does_not_depend_on_where_the_folder_lies(many, tmp_path):
    moved = tmp_path / "elsewhere" / "moved"
    moved.parent.mkdir()
    expected = _sampled(many, 20)[0]
    many.rename(moved)
    assert _sampled(moved, 20)[0] == expected


def test_a_sample_is_not_only_the_first_runs_of_a_file(many):
    found, _ = _sampled(many / "f2.jsonl", 10)
    places = sorted(int(name.split("-")[1]) for name in found)
    assert places != list(range(10))
    assert all(place < sampling.WINDOW for place in places)


def test_the_report_says_that_it_is_a_sample(many):
    _, report = _sampled(many / "f2.jsonl", 10)
    assert "A sample: 10 of 100 runs seen, from 1 of 1 file; the rest was not read." in repr(report)
    assert report.to_json()["sample"] == {"taken": 10, "seen": 100, "files": 1, "of_files": 1}
    assert "A sample: 10 of 100" in report._repr_html_()


def test_a_small_sample_reads_few_files(tmp_path, monkeypatch):
    for number in range(60):
        write(tmp_path / f"{number}.jsonl", run(f"r{number}"))
    read: list[str] = []

    def records(path, origin):
        read.append(path.name)
        return own_records(path, origin)

    monkeypatch.setattr("check_workbench.store.loading.own_records", records)
    found, report = _sampled(tmp_path, 4)
    assert (len(found), len(set(read))) == (4, 4)
    assert str(report.sample).startswith("A sample: 4 of 4 runs seen, from 4 of 60 files")


def test_a_sample_of_a_large_file_reads_its_beginning(tmp_path):
    line = json.dumps(run("r", 40, input="x" * 2_000)).replace('"r"', '"r%d"', 1)
    with (tmp_path / "large.jsonl").open("w") as out:
        out.writelines(f"{line}\n".replace("%d", str(i), 1) for i in range(20_000))
    with open_store() as store:
        began = time.process_time()
        report = store.load(tmp_path / "large.jsonl", sample=5, dry_run=True)
        assert time.process_time() - began < 5
    assert (report.runs, report.sample) == (5, (5, 100, 1, 1))


def test_what_was_read_and_is_damaged_is_told(tmp_path):
    path = write(tmp_path / "a.jsonl", run("a"), {"run_id": ["x"]}, run("b"))
    _, report = _sampled(path, 5)
    assert [r.line for r in report.rejected] == [2]
    (tmp_path / "empty.jsonl").write_text("")
    _, report = _sampled(tmp_path, 5)
    assert sorted(r.file for r in report.rejected) == [str(path), str(tmp_path / "empty.jsonl")]


def test_sampled_runs_are_the_runs_that_a_load_stores(many):
    with open_store() as store:
        store.load(many)
        whole = digests(store)
        report = store.load(many, sample=50)
        assert (report.runs, report.already, report.replaced) == (0, 50, 0)
    with open_store() as store:
        store.load(many, sample=50)
        assert digests(store).items() <= whole.items()


def test_a_dry_run_of_a_sample(many):
    found, sampled = _sampled(many, 9)
    with open_store() as store:
        rehearsed = store.load(many, sample=9, dry_run=True)
        assert counts(store)["runs"] == 0
    assert (rehearsed.runs, rehearsed.sample) == (len(found), sampled.sample)
    assert repr(rehearsed).startswith("Would load 9 runs")


def test_stores_are_not_sampled(store, tmp_path):
    (tmp_path / "in").mkdir()
    with open_store(tmp_path / "in" / "hers.duckdb") as other:
        load(other, tmp_path / "f", run("r"))
    write(tmp_path / "in" / "a.jsonl", run("a"))
    report = store.load(tmp_path / "in", sample=3)
    assert report.runs == 1
    assert any("a store is not sampled" in note for note in report.notes)


@pytest.mark.parametrize("wanted", [0, -1])
def test_a_sample_has_a_run(store, tmp_path, wanted):
    with pytest.raises(InputError, match="at least 1 run"):
        store.load(tmp_path, sample=wanted)


@given(st.lists(st.integers(0, 30), max_size=8), st.integers(1, 120), st.integers(0, 60))
def test_quotas_take_as_many_as_there_are_evenly_and_nested(sizes, wanted, more):
    def of(number):
        return sampling.quotas(range(len(sizes)), number, lambda file, most: min(sizes[file], most))

    small, large = of(wanted), of(wanted + more)
    assert sum(small.values()) == min(wanted, sum(sizes))
    assert all(small[file] <= large[file] <= sizes[file] for file in small)
    unfinished = [quota for file, quota in small.items() if quota < sizes[file]]
    assert max(small.values(), default=0) - min(unfinished, default=max(small.values(), default=0)) <= 1


DRY = """
import sys
from check_workbench.store import open_store
with open_store(sys.argv[1]) as store:
    print(store.load(sys.argv[2], dry_run=True).runs)
"""


def test_two_processes_rehearse_at_once(tmp_path, folder):
    path = tmp_path / "s.duckdb"
    with open_store(path) as store:
        _known(store, tmp_path)
    children = [
        subprocess.Popen([sys.executable, "-c", DRY, path, folder], stdout=subprocess.PIPE, text=True) for _ in "ab"
    ]
    assert [child.communicate(timeout=60)[0] for child in children] == ["6\n", "6\n"]


def test_looks_and_labels_of_an_export_come_with_a_load(store, tmp_path):
    with open_store(tmp_path / "hers.duckdb") as other:
        fill(other, tmp_path / "f")
        other.insert("looks", pd.DataFrame([look(3, "2026-04-01")]))
        other.export(tmp_path / "exported")
    report = store.load(tmp_path / "exported" / "manifest.json")
    assert (report.runs, report.decisions, report.answers) == (10, 10, 10)
    assert [one.format for one in report.taken] == ["store"]
    assert f"{tmp_path / 'exported'}: with it came 2 checks, 3 looks, 10 measurements, 2 triage" in report.notes
    assert store.load(tmp_path / "exported").runs == 0
    assert counts(store)["looks"] == 3


def test_stores_in_a_folder_are_taken_for_what_they_are(tmp_path):
    made = tmp_path / "in"
    made.mkdir()
    with open_store(made / "hers.anything") as other:
        load(other, tmp_path / "f", run("hers"), run("both", 3))
        load(other, tmp_path / "f", run("exported"), name="more")
        other.export(made / "parquet")
    write(made / "runs.jsonl", run("plain"))
    (made / "broken.duckdb").write_bytes((made / "hers.anything").read_bytes()[:5_000])
    (made / "words.duckdb").write_text("words")
    with open_store(made / "mine.duckdb") as store:
        load(store, tmp_path / "own", run("both"))
        report = store.load(made)
        assert set(digests(store)) == {"hers", "both", "exported", "plain"}
    assert (report.runs, report.replaced, report.already) == (3, 1, 3)
    assert sorted(one.format for one in report.taken) == ["store", "store", "workbench"]
    assert [r.file for r in report.rejected] == [str(made / "broken.duckdb")]
    assert str(made / "words.duckdb") in report.skipped
    assert str(made / "mine.duckdb") in report.skipped
    assert any("run 'both': here 2 spans" in note for note in report.notes)


def test_a_store_given_by_name_that_cannot_be_merged_is_an_error(store, tmp_path):
    with open_store(tmp_path / "hers.duckdb") as other:
        other.export(tmp_path / "out")
    (tmp_path / "out" / "runs.parquet").unlink()
    with pytest.raises(InputError, match=r"runs\.parquet, which is not there"):
        store.load(tmp_path / "out")
    assert len(store.load(tmp_path, dry_run=True).rejected) == 1


def test_a_small_sample_of_all_real_runs_is_quick(realdata):
    with open_store() as store:
        began = time.process_time()
        report = store.load(realdata, sample=5, dry_run=True)
        assert time.process_time() - began < 20
    assert report.runs + report.already + report.replaced == 5
    assert report.sample is not None
    assert report.sample.files == 5


def test_a_dry_run_over_real_runs_counts_as_the_load_does(realdata):
    paths = [realdata / "tau_bench_airline", realdata / "agentdojo_drift_runs"]
    with open_store() as store:
        rehearsed = store.load(paths, dry_run=True)
        loaded = store.load(paths)
    for name in COUNTED:
        assert getattr(rehearsed, name) == getattr(loaded, name), name
    assert (loaded.runs, loaded.already) == (1719, 56)


def test_first_records_show_nothing_of_the_staging(folder):
    with open_store() as store:
        first = store.load(folder, dry_run=True).first
    assert first
    assert {"row", "line", "source", "step_count"}.isdisjoint(name for record in first for name in record)
