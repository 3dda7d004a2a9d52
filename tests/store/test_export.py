from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from datetime import datetime

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from check_workbench.errors import InputError
from check_workbench.store import exporting, open_store, parquet, schema, sorting
from tests.store.filled import EVERY, closed_folder, counts, digests, files, fill, load, run, run_as_nobody, touch

MOMENT = datetime(2026, 1, 1)  # noqa: DTZ001 the store's times have no zone


@pytest.fixture
def filled(tmp_path):
    with open_store() as store:
        fill(store, tmp_path / "files")
        yield store


def test_every_table_becomes_a_file_that_others_can_read(filled, tmp_path):
    report = filled.export(tmp_path / "out")
    assert sorted(files(tmp_path / "out")) == sorted(["manifest.json", *(f"{name}.parquet" for name in EVERY)])
    assert dict(report.rows) == counts(filled)
    for name in EVERY:
        frame = pd.read_parquet(tmp_path / "out" / f"{name}.parquet")
        assert list(frame.columns) == list(schema.TABLES[name].columns)
        assert len(frame) == counts(filled)[name]


def test_rows_are_sorted_and_keys_fit_together(filled, tmp_path):
    filled.export(tmp_path / "out")
    runs = pq.read_table(tmp_path / "out" / "runs.parquet").to_pydict()
    assert runs["run_id"] == sorted(runs["run_id"], key=lambda name: name.encode())
    assert runs["run_key"] == list(range(len(runs["run_key"])))
    spans = pq.read_table(tmp_path / "out" / "spans.parquet").to_pydict()
    places = list(zip(spans["run_key"], spans["seq"], strict=True))
    assert places == sorted(places)
    stored = filled.sql("select run_id, seq, output from spans join runs using (run_key)")
    assert {
        (runs["run_id"][k], s, o) for k, s, o in zip(*(spans[c] for c in ("run_key", "seq", "output")), strict=True)
    } == {tuple(row) for row in stored.itertuples(index=False)}


def test_the_manifest_says_what_is_there(filled, tmp_path):
    filled.export(tmp_path / "out")
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert (manifest["kind"], manifest["schema_version"]) == ("check_workbench export", schema.VERSION)
    assert {name: table["rows"] for name, table in manifest["tables"].items()} == counts(filled)
    assert all(len(table["sha256"]) == 64 for table in manifest["tables"].values())


def test_the_same_content_makes_the_same_bytes_whatever_the_order_of_loading(tmp_path):
    runs = [run(name, spans=i) for i, name in enumerate("dbca")]
    found = []
    for number, order in enumerate(([0, 1, 2, 3], [3, 1, 0, 2])):
        with open_store(tmp_path / f"{number}.duckdb") as store:
            load(store, tmp_path / "f", *(runs[i] for i in order))
            store.delete(["d"])
            load(store, tmp_path / "f", runs[0], run("c", spans=9), name="more")
            touch(store, MOMENT)
            store.export(tmp_path / f"out{number}")
        found.append(files(tmp_path / f"out{number}"))
    assert found[0] == found[1]


def test_exporting_again_replaces_the_earlier_export_and_leaves_nothing_behind(filled, tmp_path):
    target = tmp_path / "out"
    filled.export(target)
    before = files(target)
    filled.export(f"{target}/")
    assert files(target) == before
    load(filled, tmp_path / "files", run("new"), name="new")
    filled.export(target)
    assert files(target)["runs.parquet"] != before["runs.parquet"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["files", "out"]


def test_an_empty_folder_is_taken(store, tmp_path):
    (tmp_path / "out").mkdir()
    assert repr(store.export(tmp_path / "out")) == f"Exported an empty store to {tmp_path / 'out'}."
    assert (tmp_path / "out" / "manifest.json").is_file()


@pytest.mark.parametrize("manifest", [None, "{}", '{"kind": "webpack"}', "[1", "[]", '"check_workbench export"'])
def test_what_no_export_made_is_never_replaced(store, tmp_path, manifest):
    target = tmp_path / "precious"
    target.mkdir()
    (target / "thesis.txt").write_text("years")
    if manifest is not None:
        (target / "manifest.json").write_text(manifest)
    before = files(target)
    with pytest.raises(InputError, match="holds what no export wrote"):
        store.export(target)
    assert files(target) == before
    assert [p.name for p in tmp_path.iterdir()] == ["precious"]


def test_an_export_with_something_added_is_not_replaced(store, tmp_path):
    store.export(tmp_path / "out")
    (tmp_path / "out" / "notes.md").write_text("mine")
    with pytest.raises(InputError, match=r"notes\.md.*Name a new folder"):
        store.export(tmp_path / "out")


def test_places_where_no_export_can_be(store, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="it is a file"):
        store.export(tmp_path / "file")
    with pytest.raises(InputError, match="does not exist"):
        store.export(tmp_path / "no" / "such")
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_a_link_to_a_folder_is_followed(filled, tmp_path):
    filled.export(tmp_path / "real")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    load(filled, tmp_path / "files", run("new"), name="new")
    filled.export(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert pq.read_metadata(tmp_path / "real" / "runs.parquet").num_rows == counts(filled)["runs"]


def test_a_read_only_store_is_exported_and_stays_as_it_is(tmp_path):
    path = tmp_path / "store.duckdb"
    with open_store(path) as store:
        fill(store, tmp_path / "files")
        store.export(tmp_path / "one")
    before = path.read_bytes()
    with open_store(path, read_only=True) as store:
        store.export(tmp_path / "two")
    assert path.read_bytes() == before
    assert files(tmp_path / "one") == files(tmp_path / "two")


def test_a_failing_export_leaves_the_earlier_one(filled, tmp_path, monkeypatch):
    filled.export(tmp_path / "out")
    before = files(tmp_path / "out")
    load(filled, tmp_path / "files", run("new"), name="new")

    def fail(*_: object, **__: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(parquet, "write", fail)
        with pytest.raises(InputError, match="No space left on device"):
            filled.export(tmp_path / "out")
    with monkeypatch.context() as patch:
        patch.setattr(exporting, "_put", fail)
        with pytest.raises(InputError, match="No space left"):
            filled.export(tmp_path / "out")
    assert files(tmp_path / "out") == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["files", "out"]
    assert counts(filled)["runs"] == 11


def test_an_interrupted_export_leaves_the_earlier_one(filled, tmp_path):
    filled.export(tmp_path / "out")
    before = files(tmp_path / "out")

    def told(table: str, share: float) -> None:
        if table == "spans" and share > 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        filled.export(tmp_path / "out", progress=told)
    assert files(tmp_path / "out") == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["files", "out"]
    assert filled.export(tmp_path / "out").rows["runs"] == 10


EXPORT = """
import sys
from check_workbench.store import open_store
def told(table, share):
    print(table, flush=True)
    if table == sys.argv[3]:
        sys.stdin.readline()
open_store(sys.argv[1]).export(sys.argv[2], progress=told)
"""


@pytest.mark.parametrize("table", ["sources", "spans", "meta"])
def test_a_killed_export_leaves_the_earlier_one_and_can_be_repeated(tmp_path, table):
    path, target = tmp_path / "store.duckdb", tmp_path / "out"
    with open_store(path) as store:
        fill(store, tmp_path / "files")
        store.export(target)
        before = files(target)
        load(store, tmp_path / "files", run("new"), name="new")
    command = [sys.executable, "-c", EXPORT, path, target, table]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert f"{table}\n" in iter(child.stdout.readline, "")
    os.kill(child.pid, signal.SIGKILL)
    child.communicate()
    assert files(target) == before
    left = [p.name for p in tmp_path.iterdir() if p.name.startswith(".out.")]
    assert len(left) == 1
    assert left[0].endswith(".unfinished")
    with open_store(path) as store:
        assert store.export(target).rows["runs"] == 11


def test_two_processes_export_into_one_folder(tmp_path):
    path, target = tmp_path / "store.duckdb", tmp_path / "out"
    with open_store(path) as store:
        fill(store, tmp_path / "files")
        store.export(tmp_path / "expected")
    script = "import sys\nfrom check_workbench.store import open_store\nopen_store(sys.argv[1]).export(sys.argv[2])"
    children = [subprocess.Popen([sys.executable, "-c", script, path, target], stderr=subprocess.PIPE) for _ in "ab"]
    codes = []
    for child in children:
        _, errors = child.communicate(timeout=60)
        codes.append(child.returncode)
        assert child.returncode == 0 or b"cannot be written" in errors, errors.decode()
    assert 0 in codes
    assert files(target) == files(tmp_path / "expected")


OPEN_AND_EXPORT = """
with open_store(sys.argv[1], read_only=True) as store:
    store.export(sys.argv[2])
"""


def test_a_folder_that_may_not_be_written(tmp_path):
    with open_store(tmp_path / "store.duckdb") as store:
        fill(store, tmp_path / "files")
        store.export(tmp_path / "expected")
    with closed_folder(tmp_path / "store.duckdb") as folder:
        refused = run_as_nobody(OPEN_AND_EXPORT, folder / "store.duckdb", folder / "out")
        assert refused.stderr.splitlines()[-1].endswith(f"{folder / 'out'} cannot be written: Permission denied")
        assert [p.name for p in folder.iterdir()] == ["store.duckdb"]
        with closed_folder() as elsewhere:
            elsewhere.chmod(0o777)
            done = run_as_nobody(OPEN_AND_EXPORT, folder / "store.duckdb", elsewhere / "out")
            assert done.returncode == 0, done.stderr
            assert files(elsewhere / "out") == files(tmp_path / "expected")


@given(st.lists(st.integers(-5, 40), max_size=60), st.integers(1, 9), st.integers(1, 400))
def test_any_rows_are_sorted_on_the_disk_and_none_is_lost(tmp_path_factory, keys, block, part):
    folder = tmp_path_factory.mktemp("parts")
    schema_ = pa.schema({"x": pa.large_string()})
    batches = [
        pa.record_batch({"x": [f"{key}:{i}"], sorting.KEY: pa.array([key], pa.int64())}) for i, key in enumerate(keys)
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorting, "ROWS_A_BLOCK", block)
        patch.setattr(sorting, "BYTES_A_PART", part)
        found = [x for batch in sorting.in_order(batches, schema_, folder) for x in batch["x"].to_pylist()]
    assert found == [f"{key}:{i}" for key, i in sorted((key, i) for i, key in enumerate(keys))]
    assert list(folder.iterdir()) == []


def test_a_large_export_is_the_same_whatever_fits_into_memory(filled, tmp_path, monkeypatch):
    filled.export(tmp_path / "one")
    monkeypatch.setattr(sorting, "BYTES_A_PART", 300)
    monkeypatch.setattr(sorting, "ROWS_A_BLOCK", 2)
    filled.export(tmp_path / "two")
    assert files(tmp_path / "one") == files(tmp_path / "two")


def test_row_groups_follow_from_the_rows_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "ROWS_A_PIECE", 4)
    monkeypatch.setattr(parquet, "BYTES_A_GROUP", 100)
    column = [f"key {i}" for i in range(23)]
    written = []
    for size in (1, 3, 4, 23):
        rows = pa.table({"key": column, "value": column}).to_batches(max_chunksize=size)
        assert parquet.write(tmp_path / f"{size}.parquet", "meta", rows, told=lambda _: None) == 23
        written.append((tmp_path / f"{size}.parquet").read_bytes())
    assert len(set(written)) == 1
    assert pq.read_metadata(tmp_path / "1.parquet").num_row_groups > 2


def test_the_report_shows_itself(filled, tmp_path):
    report = filled.export(tmp_path / "out")
    assert repr(report).startswith("Exported 10 runs, 14 spans, 2 steps, 10 decisions, 10 answers")
    bundle = report._repr_mimebundle_()
    assert bundle["application/vnd.check-workbench+json"]["kind"] == "export"
    assert "<dl>" in bundle["text/html"]


def test_progress_is_told(filled, tmp_path):
    said: list[tuple[str, float]] = []
    filled.export(tmp_path / "out", progress=lambda table, share: said.append((table, share)))
    assert [table for table, _ in said] == list(EVERY)
    assert said[-1] == ("meta", 1.0)


def test_real_runs_come_back_with_their_digests(realdata, tmp_path):
    with open_store() as store:
        report = store.load([realdata / "tau_bench_airline", realdata / "agentdojo_drift_runs"])
        assert (report.runs, report.already) == (1719, 56)
        store.export(tmp_path / "out")
        with open_store(tmp_path / "again.duckdb") as again:
            merged = again.merge(tmp_path / "out")
            assert (merged.runs, merged.spans) == (report.runs, report.spans)
            assert digests(again) == digests(store)
            again.export(tmp_path / "out2")
    assert files(tmp_path / "out") == files(tmp_path / "out2")
    shutil.rmtree(tmp_path / "out2")
