"""What it costs to open a store that is kept in a file and to try one rule on ten thousand of its runs."""

from __future__ import annotations

import tempfile
from pathlib import Path

import duckdb
import ibis.backends.sql.compilers.duckdb
import pandas as pd
import pyarrow as pa

from check_workbench.checks import AtLeast, Check, Item, Repeat, Selector
from check_workbench.drafts import preview
from check_workbench.store import open_store
from tests.bench import reference_text
from tests.bench.load import load
from tests.bench.measuring import Row, cost

IMPORTED_BEFORE = (duckdb, ibis.backends.sql.compilers.duckdb, pd, pa)
"""What a program imports once is no cost of a preview."""
LIMIT_S = 1.0
RUNS = 10_000
CHECK = Check(
    id="loop",
    dialect="neatroots",
    items=(Item(asks=Repeat(span=Selector(types=("tool",)), same=("tool",)), cut=AtLeast(value=5)),),
)


def rows(*, runs: int = RUNS) -> list[Row]:
    """Measure one preview of all runs, half of them said to have the problem; the ratio is seconds of CPU to one.

    Parameters
    ----------
    runs
        Runs of the reference text, of which at most ten thousand are taken.
    """
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "reference.duckdb"
        cost(load, reference_text.write(Path(folder) / "runs.jsonl", runs=min(runs, RUNS)), database)
        ours = cost(_preview, database, min(runs, RUNS))
    return [
        Row(
            work=f"open a store in a file, preview one rule on {min(runs, RUNS):,} runs (seconds)",
            ratio=ours.cpu_s,
            limit=LIMIT_S,
            cpu_s=ours.cpu_s,
            peak_bytes=ours.peak_bytes,
        )
    ]


def _preview(database: Path, runs: int) -> None:
    ids = [f"run-{number:06d}" for number in range(runs)]
    with open_store(database) as store:
        draft = preview(CHECK, store, problem=ids[: runs // 2], clean=ids[runs // 2 :])
    if len(draft.rows) != runs:
        raise RuntimeError(f"all {runs} runs must be shown, got {draft!r}")
