"""All nine rule types with their findings over the reference text, against one scan that hashes every column."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import ibis.backends.sql.compilers.duckdb
import pandas as pd
import pyarrow as pa

from check_workbench import rules
from check_workbench.checks import (
    Count,
    Errors,
    Match,
    Metric,
    Repeat,
    RequiresBefore,
    RunEnd,
    Selector,
    Slow,
    UnrecoveredError,
)
from check_workbench.store import open_store
from tests.bench import reference_text
from tests.bench.load import load
from tests.bench.measuring import Row, cost

if TYPE_CHECKING:
    from check_workbench.checks import Rule

IMPORTED_BEFORE = (ibis.backends.sql.compilers.duckdb, pd, pa)
"""What a program imports once, on its first query, is no cost of the rules."""
LIMIT = 6.0
TOOLS = Selector(types=("tool", "mcp_tool"))
RULES: tuple[tuple[Rule, float], ...] = (
    (Repeat(span=TOOLS), 3),
    (Errors(span=TOOLS), 3),
    (Count(span=TOOLS), 30),
    (Slow(span=TOOLS), 1_000),
    (Metric(metric="total_tokens"), 80_000),
    (Match(span=TOOLS, pattern="voucher voucher [a-z]+ voucher"), 1),
    (RequiresBefore(span=Selector(names=("cancel_order",)), requires=Selector(names=("get_order",))), 1),
    (UnrecoveredError(span=TOOLS), 1),
    (RunEnd(), 1),
)


def rows(*, runs: int = reference_text.RUNS) -> list[Row]:
    """Measure the rules once and the scan three times, of which the cheapest counts.

    Parameters
    ----------
    runs
        Runs of the reference text.
    """
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "reference.duckdb"
        cost(load, reference_text.write(Path(folder) / "runs.jsonl", runs=runs), database)
        return [over(database)]


def over(database: Path) -> Row:
    """Measure over a store that holds the reference text."""
    cost(_forget, database)
    scan = min(cost(_scan, database).cpu_s for _ in range(3))
    ours = cost(measure_and_find, database)
    return Row(
        work="all nine rule types with findings / one scan that hashes all columns",
        ratio=round(ours.cpu_s / scan, 3),
        limit=LIMIT,
        cpu_s=ours.cpu_s,
        peak_bytes=ours.peak_bytes,
    )


def _forget(database: Path) -> None:
    with open_store(database) as store:
        store.sql("delete from measurements")


def _scan(database: Path) -> None:
    with duckdb.connect(str(database), read_only=True) as connection:
        connection.execute("set enable_progress_bar = false")
        names = ", ".join(f'"{row[0]}"' for row in connection.execute("describe spans").fetchall())
        connection.execute(f"select sum(hash({names})) from spans").fetchall()


def measure_and_find(database: Path) -> None:
    """Measure the runs of a store by each rule, and fetch the findings."""
    with open_store(database) as store, store.hold():
        for number, (rule, at) in enumerate(RULES):
            rules.measure_into(store, rule, f"bench {number}")
            rules.findings(store, rule, at, asked=f"bench {number}")
