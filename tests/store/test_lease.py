from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import pytest

from check_workbench.errors import StoreBusyError, StoreError
from check_workbench.store import lease, open_store

QUERIES = 5_000  # of a file and again in memory: ten thousand in all
THREADS = 8
HOLD = """
import sys
from check_workbench.store import open_store
with open_store(sys.argv[1]).hold():
    print("held", flush=True)
    sys.stdin.readline()
"""
WRITE = """
import sys
import pandas as pd
from check_workbench.store import open_store
store = open_store(sys.argv[1])
for i in range(20):
    rows = pd.DataFrame({"asked": [sys.argv[2]], "run_key": [i], "value": [float(i)]})
    store.insert("measurements", rows)
    assert store.sql("select count(*) as n from measurements where asked = ?", [sys.argv[2]])["n"][0] == i + 1
"""


@pytest.fixture
def measured(tmp_path):
    path = tmp_path / "threads.duckdb"
    with open_store(path) as store:
        rows = pd.DataFrame({"asked": "a", "run_key": range(1000), "value": [float(i * i) for i in range(1000)]})
        assert store.insert("measurements", rows) == 1000
    return path


def _asks(store, expr, numbers):
    wrong = 0
    for number in numbers:
        found = store.sql("select value from measurements where run_key = ?", [number])["value"].tolist()
        wrong += found != [float(number * number)]
        if number % 100 == 0:
            wrong += store.execute(expr)["total"].tolist() != [sum(i * i for i in range(1000))]
    return wrong


@pytest.mark.parametrize("kept", ["file", "memory"])
def test_threads_ask_thousands_of_times_and_none_is_wrong(measured, kept):
    stores = [open_store(measured) for _ in range(2)] if kept == "file" else [open_store()]
    if kept == "memory":
        rows = pd.DataFrame({"asked": "a", "run_key": range(1000), "value": [float(i * i) for i in range(1000)]})
        stores[0].insert("measurements", rows)
    table = stores[0].table("measurements")
    expr = table.aggregate(total=table.value.sum())
    parts = [[(t * 7 + i) % 1000 for i in range(QUERIES // THREADS)] for t in range(THREADS)]
    with stores[0].hold(), ThreadPoolExecutor(THREADS) as pool:
        wrong = sum(pool.map(lambda n: _asks(stores[n % len(stores)], expr, parts[n]), range(THREADS)))
    assert wrong == 0


def test_threads_read_while_one_writes(measured):
    store, other = open_store(measured), open_store(measured)
    stop = threading.Event()
    failures: list[object] = []

    def read() -> None:
        while not stop.is_set():
            n = other.sql("select count(*) as n from measurements where asked = 'b'")["n"][0]
            if n % 10:
                failures.append(n)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for i in range(20):
        store.insert("measurements", pd.DataFrame({"asked": "b", "run_key": range(i * 10, i * 10 + 10)}))
    stop.set()
    for reader in readers:
        reader.join()
    assert failures == []


def test_writers_of_one_process_take_turns(measured):
    def write(number: int) -> None:
        with open_store(measured) as store:
            for i in range(10):
                rows = pd.DataFrame({"asked": "same", "run_key": [i], "value": [float(number)]})
                store.insert("measurements", rows, replace_on=("asked", "run_key"))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    with open_store(measured) as store:
        assert store.sql("select count(*) as n from measurements where asked = 'same'")["n"][0] == 10


def test_the_file_is_free_between_calls(measured):
    with open_store(measured) as store:
        store.sql("select 1")
        child = subprocess.run([sys.executable, "-c", WRITE, measured, "child"], check=False, capture_output=True)
        assert child.returncode == 0, child.stderr.decode()
        assert store.sql("select count(*) as n from measurements where asked = 'child'")["n"][0] == 20


def test_two_processes_write_and_read_the_same_file(measured):
    children = [
        subprocess.Popen([sys.executable, "-c", WRITE, measured, name], stderr=subprocess.PIPE) for name in ("a1", "a2")
    ]
    for child in children:
        _, errors = child.communicate(timeout=120)
        assert child.returncode == 0, errors.decode()
    with open_store(measured) as store:
        counts = store.sql("select asked, count(*) as n from measurements where asked like 'a_' group by 1 order by 1")
    assert counts["n"].tolist() == [20, 20]


def test_a_waiting_caller_is_told_who_holds_the_file(measured, monkeypatch):
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, measured], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdin is not None
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    monkeypatch.setattr(lease, "WAIT_SECONDS", 0.3)
    with pytest.raises(StoreBusyError, match=rf"PID {child.pid} holds it"):
        open_store(measured)
    child.stdin.write("\n")
    child.stdin.close()
    monkeypatch.setattr(lease, "WAIT_SECONDS", 30)
    with open_store(measured) as store:
        assert store.sql("select 1 as x")["x"].tolist() == [1]
    child.wait(timeout=30)
    child.stdout.close()


def test_a_read_only_store_refuses_to_write(measured):
    store = open_store(measured, read_only=True)
    assert store.sql("select count(*) as n from measurements")["n"][0] == 1000
    with pytest.raises(StoreError, match="read only"):
        store.delete(["r"])
    with pytest.raises(Exception, match=r"read.only"):
        store.sql("delete from measurements")
    with open_store(measured).hold(), pytest.raises(Exception, match=r"read.only"):
        store.sql("delete from measurements")
    assert store.sql("select count(*) as n from measurements")["n"][0] == 1000


def test_readers_and_writers_of_one_process_wait_for_each_other(measured):
    reading, writing = open_store(measured, read_only=True), open_store(measured)
    done = threading.Event()

    def write() -> None:
        writing.insert("measurements", pd.DataFrame({"asked": ["w"], "run_key": [1]}))
        done.set()

    with reading.hold():
        thread = threading.Thread(target=write)
        thread.start()
        assert not done.wait(0.2)
    thread.join(timeout=20)
    assert done.is_set()


def test_a_closed_store_says_so(store):
    store.close()
    with pytest.raises(StoreError, match="open it again"):
        store.sql("select 1")


def test_a_forked_child_does_not_share_the_lease(measured):
    with open_store(measured).hold():
        pid = os.fork()
        if pid == 0:
            os._exit(0 if not lease.held_files() else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
