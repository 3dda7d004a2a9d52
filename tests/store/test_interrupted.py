from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from check_workbench.store import open_store
from tests.store.making import write

RUNS = 3_000
LOAD = """
import signal, sys
from check_workbench.store import open_store
signal.signal(signal.SIGINT, signal.default_int_handler)
store = open_store(sys.argv[1])
def told(item, share):
    print(f"{item} {share:.3f}", flush=True)
try:
    store.load(sys.argv[2], progress=told)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    print(store.sql("select count(*) as n from runs")["n"][0], flush=True)
"""


def _big(path, prefix):
    span = {"type": "tool", "input": {"text": "x" * 200}, "output": "y" * 500}
    with path.open("w") as out:
        for i in range(RUNS):
            out.write(json.dumps({"run_id": f"{prefix}{i}", "spans": [span] * 20}) + "\n")


@pytest.fixture
def folder(tmp_path):
    runs = tmp_path / "runs"
    runs.mkdir()
    write(runs / "a.jsonl", *({"run_id": f"first{i}", "spans": [{"type": "tool"}]} for i in range(10)))
    _big(runs / "b.jsonl", "b")
    _big(runs / "c.jsonl", "c")
    return runs


def _started(store, folder, name="b.jsonl"):
    child = subprocess.Popen(
        [sys.executable, "-c", LOAD, store, folder],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert child.stdout is not None
    for line in child.stdout:
        if line.startswith(str(folder / name)):
            break
    return child


@pytest.mark.parametrize("pause", [0.0, 0.3, 0.8])
def test_a_killed_load_leaves_whole_files_and_can_be_completed(tmp_path, folder, pause):
    path = tmp_path / "store.duckdb"
    child = _started(path, folder)
    time.sleep(pause)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    child.stdout.close()
    with open_store(path) as store:
        counts = store.sql("select left(run_id, 1) as file, count(*) as n from runs group by 1")
        found = dict(zip(counts["file"], counts["n"], strict=True))
        assert found.get("f", 0) == 10
        assert set(found.values()) <= {10, RUNS}
        assert store.sql("select count(*) as n from spans anti join runs using (run_key)")["n"][0] == 0
        report = store.load(folder)
        assert report.runs + report.already == 10 + 2 * RUNS
        assert report.already == sum(found.values())
        spans = store.sql("select count(*) as n, count(distinct run_key) as runs from spans")
        assert spans.to_dict("records") == [{"n": 10 + 2 * RUNS * 20, "runs": 10 + 2 * RUNS}]


@pytest.mark.parametrize("pause", [0.0, 0.2, 0.5])
def test_a_killed_load_of_small_files_leaves_whole_files(tmp_path, pause):
    path, folder = tmp_path / "store.duckdb", tmp_path / "runs"
    folder.mkdir()
    for place in range(600):
        write(folder / f"{place:03}.jsonl", *({"run_id": f"{place:03}/{i}", "spans": [{"type": "tool"}]} for i in "ab"))
    child = _started(path, folder, "300.jsonl")
    time.sleep(pause)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    child.stdout.close()
    with open_store(path) as store:
        found = store.sql("select left(run_id, 3) as file, count(*) as n from runs group by 1 order by 1")
        assert set(found["n"]) == {2}
        assert found["file"].tolist() == [f"{place:03}" for place in range(len(found))]
        assert store.sql("select sum(runs) as n from sources")["n"][0] == 2 * len(found) >= 2
        assert store.load(folder).runs == 2 * (600 - len(found))


def test_an_interrupted_load_keeps_earlier_files_and_rolls_back_this_one(tmp_path, folder):
    path = tmp_path / "store.duckdb"
    child = _started(path, folder)
    os.kill(child.pid, signal.SIGINT)
    out, _ = child.communicate(timeout=60)
    assert child.returncode == 0
    lines = out.splitlines()
    assert "interrupted" in lines
    assert int(lines[-1]) in {10, 10 + RUNS}
    with open_store(path) as store:
        assert store.load(folder).runs == 10 + 2 * RUNS - int(lines[-1])


def test_an_error_in_the_middle_keeps_nothing_of_the_file(store, tmp_path):
    for name in "ab":
        write(tmp_path / f"{name}.jsonl", {"run_id": name})

    def fail(item: str, share: float) -> None:
        if item.endswith("b.jsonl") and share > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.load(tmp_path, progress=fail)
    assert store.sql("select run_id from runs")["run_id"].tolist() == ["a"]
    assert store.load(tmp_path).runs == 1
