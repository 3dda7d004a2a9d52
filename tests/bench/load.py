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


def rows(*, runs: int = reference_text.RUNS) -> list[Row]:
    """Measure loading our own JSON lines, nested chats, and OTLP.

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
    json.loads(source.read_bytes())
