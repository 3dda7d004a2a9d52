"""What loading costs beside the least that reading the same bytes costs."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa

from check_workbench.store import open_store
from tests.bench import reference_text
from tests.bench.measuring import Row, cost

IMPORTED_BEFORE = (duckdb, pd, pa, open_store)
"""What a program imports once is no cost of a load."""
JSONL_LIMIT = 2.0
NESTED_LIMIT = 5.0
CHAT_SHARE = 20
"""One in so many runs is also written as a chat."""
OTLP_SHARE = 40
"""One in so many runs is also written as a trace: about 100 MB."""
SMALL_FILES = 1_000
SMALL_LIMIT = 40.0
"""Much of it is to open and to recognise files, and to examine the store in the end."""


def rows(*, runs: int = reference_text.RUNS) -> list[Row]:
    """Measure loading our own JSON lines, nested chats, OTLP, and many small files.

    Parameters
    ----------
    runs
        Runs of the reference text.
    """
    with tempfile.TemporaryDirectory() as folder:
        lines = reference_text.write(Path(folder) / "runs.jsonl", runs=runs)
        chats = reference_text.write_chats(Path(folder) / "chats.json", runs=max(1, runs // CHAT_SHARE))
        least = cost(_read_json, lines, Path(folder) / "least.duckdb")
        ours = cost(load, lines, Path(folder) / "lines.duckdb")
        decoded = cost(_decode, chats)
        nested = cost(load, chats, Path(folder) / "chats.duckdb")
        document = reference_text.write_otlp(Path(folder) / "otlp.json", runs=max(1, runs // OTLP_SHARE))
        decoded_document = cost(_decode, document)
        traces = cost(load, document, Path(folder) / "otlp.duckdb")
        small = _small_files(Path(folder) / "small", chats)
        decoded_files = cost(_decode, small)
        files = cost(load, small, Path(folder) / "small.duckdb")
        each_ms = 1000 * files.cpu_s / len(list(small.iterdir()))
    return [
        Row(
            work="load our JSONL / create table as from read_json",
            ratio=round(ours.cpu_s / least.cpu_s, 3),
            limit=JSONL_LIMIT,
            cpu_s=ours.cpu_s,
            peak_bytes=ours.peak_bytes,
        ),
        Row(
            work="load nested chats / json.loads",
            ratio=round(nested.cpu_s / decoded.cpu_s, 3),
            limit=NESTED_LIMIT,
            cpu_s=nested.cpu_s,
            peak_bytes=nested.peak_bytes,
        ),
        Row(
            work="load OTLP / json.loads",
            ratio=round(traces.cpu_s / decoded_document.cpu_s, 3),
            limit=NESTED_LIMIT,
            cpu_s=traces.cpu_s,
            peak_bytes=traces.peak_bytes,
        ),
        Row(
            work=f"load {SMALL_FILES:,} small files / json.loads: {each_ms:.2f} ms a file",
            ratio=round(files.cpu_s / decoded_files.cpu_s, 3),
            limit=SMALL_LIMIT,
            cpu_s=files.cpu_s,
            peak_bytes=files.peak_bytes,
        ),
    ]


def _read_json(source: Path, database: Path) -> None:
    with duckdb.connect(str(database)) as connection:
        connection.execute("create table least as from read_json(?)", [str(source)]).fetchall()


def load(source: Path, database: Path) -> None:
    """Load a file into a store of its own; all of it must fit."""
    with open_store(database) as store:
        report = store.load(source)
    if report.rejected or not report.runs:
        raise RuntimeError(f"the reference text must load whole: {report!r}")


def _decode(source: Path) -> None:
    for path in sorted(source.iterdir()) if source.is_dir() else [source]:
        json.loads(path.read_bytes())


def _small_files(folder: Path, chats: Path) -> Path:
    """Write one chat a file."""
    folder.mkdir()
    for place, chat in enumerate(json.loads(chats.read_bytes())[:SMALL_FILES]):
        (folder / f"{place:04}.json").write_text(json.dumps(chat))
    return folder
