"""Small stores with a row in every table."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from tests.store.making import write

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from check_workbench.store import Store

EVERY = (
    "sources",
    "runs",
    "spans",
    "steps",
    "decisions",
    "checks",
    "answers",
    "measurements",
    "looks",
    "triage",
    "meta",
)
HOSTILE = (
    "'; drop table runs; --",
    '"; delete from spans; --',
    "Zürich 東京 🙂",
    "$1 ? :name {x}",
    "a\nb\tc",
    "a\u0000b",
    "%s' || 'x",
)


def run(run_id: str, spans: int = 2, **changes: Any) -> dict[str, Any]:
    made = [{"type": "tool", "name": f"t{i}", "input": {"i": i}, "output": f"out {i}"} for i in range(spans)]
    return {"run_id": run_id, "workflow": "w", "spans": made, **changes}


def load(store: Store, folder: Path, *runs: dict[str, Any], name: str = "runs") -> None:
    folder.mkdir(exist_ok=True)
    store.load(write(folder / f"{name}.jsonl", *runs))


def look(number: int, at: str, **changes: Any) -> dict[str, Any]:
    row = {
        "look": number,
        "at": pd.Timestamp(at),
        "call": "calibrate",
        "check_id": "loop",
        "asked": "asked-1",
        "document": "doc-1",
        "cutoffs": "[]",
        "labels": "[1, 2]",
        "runs": "[]",
        "result": "{}",
    }
    return {**row, **changes}


def triaged(entry: int, at: str, **changes: Any) -> dict[str, Any]:
    row = {"entry": entry, "at": pd.Timestamp(at), "check_id": "loop", "asked": "asked-1", "run_id": "a", "attempt": 1}
    return {**row, "decisions": "[1, 2]", "cause": "person_wrong", "triaged_by": "kim", "note": None, **changes}


def check(document: str, first_seen: str, **changes: Any) -> dict[str, Any]:
    row = {"check_id": "loop", "asked": "asked-1", "document": document, "dialect": "neatroots", "file": "loop.yaml"}
    return {**row, "first_seen": pd.Timestamp(first_seen), **changes}


def add(store: Store, table: str, *rows: dict[str, Any]) -> None:
    store.insert(table, pd.DataFrame(list(rows)))


def fill(store: Store, folder: Path, *, prefix: str = "") -> None:
    """Put rows into every table."""
    folder.mkdir(exist_ok=True)
    step = {"step_id": "s", "output": {"x": 1}, "accepted": True}
    ids = [f"{prefix}{name}" for name in ("b", "a", *HOSTILE)]
    runs = [run(name, spans=i % 4, ended_at="2026-01-01T00:00:00Z") for i, name in enumerate(ids)]
    load(store, folder, *runs, run(f"{prefix}c", steps=[step, step | {"attempt": 2}]))
    said = {"decision": "approved", "decided_by": "ann", "decided_at": "2026-02-01T10:00:00Z"}
    write(folder / "labels.jsonl", *({"run_id": name, **said} for name in ids), {"run_id": "lost", **said})
    store.load_decisions(folder / "labels.jsonl", blind=True)
    answers = [{"run_id": name, "check_id": "loop", "probability": 0.25, "model": "m"} for name in ids]
    write(folder / "answers.jsonl", *answers, answers[0] | {"probability": 0.75, "at": "2026-01-05T00:00:00Z"})
    store.load_answers(folder / "answers.jsonl")
    keys = store.sql("select run_key from runs order by run_id")["run_key"]
    add(store, "measurements", *({"asked": "asked-1", "run_key": k, "value": i / 3} for i, k in enumerate(keys)))
    add(store, "checks", check("doc-1", "2026-01-01"), check("doc-2", "2026-01-02"))
    add(store, "looks", look(1, "2026-03-01"), look(2, "2026-03-02", call="trust", change="enforce"))
    add(store, "triage", triaged(1, "2026-03-03", note=HOSTILE[0]), triaged(2, "2026-03-04", cause=None))
    add(store, "meta", {"key": "process_version:p/s:1", "value": "asked-1"})


def touch(store: Store, moment: datetime) -> None:
    """Let all that a store holds have been loaded at one moment."""
    with store.transaction() as cursor:
        cursor.execute("update sources set loaded_at = ?", [moment])


def digests(store: Store) -> dict[str, int]:
    rows = store.sql("select run_id, digest from runs")
    return dict(zip(rows["run_id"], rows["digest"], strict=True))


def counts(store: Store) -> dict[str, int]:
    return {name: int(store.sql(f"select count(*) as n from {name}")["n"][0]) for name in EVERY}


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@contextmanager
def closed_folder(*paths: Path) -> Iterator[Path]:
    """Yield a folder with copies of files and folders, in which nothing may be written."""
    if os.name == "nt":
        pytest.skip("folders have no owner there")
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    try:
        for path in paths:
            (shutil.copytree if path.is_dir() else shutil.copy)(path, folder / path.name)
        folder.chmod(0o555)
        yield folder
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


WARM_UP = """
import os, sys, tempfile
import check_workbench.stats.intervals
from check_workbench.store import open_store
with tempfile.TemporaryDirectory() as folder, open_store() as store:
    store.export(f"{folder}/out")
    store.merge(f"{folder}/out")
if os.geteuid() == 0:
    os.setgroups([])
    os.setegid(65534)
    os.seteuid(65534)
"""


def run_as_nobody(script: str, *words: object) -> subprocess.CompletedProcess[str]:
    """Run a script that knows `open_store` and `sys` as a user who may write nothing here, where we may become one."""
    command = [sys.executable, "-c", WARM_UP + script, *map(str, words)]
    return subprocess.run(command, check=False, capture_output=True, text=True)
