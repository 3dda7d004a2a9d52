"""The tables of a store as tables in Spark, and what a store and Spark say of the same checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa

import check_workbench as cw
from check_workbench.checks import AtLeast, Check, Item
from tests.rules.battery import every_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from check_workbench.checks import Rule
    from check_workbench.engines import Connected
    from check_workbench.store import Store

DERIVED = "run_key, seq, mcp_text, failed, input_digest, output_digest"
RECORDS = {
    "records_spans": f"select r.run_id, s.seq, s.* exclude ({DERIVED}) from spans s join runs r using (run_key)",
    "records_runs": "select * exclude (run_key, source_key, digest, span_count) from runs",
}


def show(session: Any, store: Store, name: str) -> None:
    """Show the spans and runs of a store to Spark: as exported, times without a zone; as records, times with one."""
    queries = {"spans": "select * from spans order by hash(run_key, seq)", "runs": "select * from runs"} | RECORDS
    for suffix, query in queries.items():
        with store.hold() as cursor:
            rows = cursor.sql(query).to_arrow_table()
        if "records" in suffix:
            zoned = [
                pa.field(f.name, pa.timestamp("us", "UTC") if pa.types.is_timestamp(f.type) else f.type)
                for f in rows.schema
            ]
            rows = rows.cast(pa.schema(zoned))
        session.createDataFrame(rows).createOrReplaceTempView(f"{name}_{suffix}")


def checks_of(rules: Sequence[tuple[Rule, float]]) -> list[Check]:
    """Make a check of each rule with a message that names what was called."""
    return [
        Check(
            id=f"check {place:02}",
            dialect="neatroots",
            guidance="{tool} {args} {count}",
            items=(Item(asks=rule, cut=AtLeast(value=at)),),
        )
        for place, (rule, at) in enumerate(rules)
    ]


def assert_same(store: Store, connected: Connected, *, required: str, requiring: str, step: int = 1) -> int:
    """Assert that store and Spark measure and find the same; return how many settings were compared."""
    checks = checks_of(every_type(required=required, requiring=requiring)[::step])
    here, there = cw.evaluate(checks, store), cw.evaluate(checks, connected)
    for name in ("verdicts", "scores", "findings"):
        pd.testing.assert_frame_equal(getattr(there, name), getattr(here, name))
    assert there.notes == here.notes
    measured = "select asked, run_id, value, reason from measurements join runs using (run_key) order by all"
    pd.testing.assert_frame_equal(connected.sql(measured), store.sql(measured))
    return len(checks)
