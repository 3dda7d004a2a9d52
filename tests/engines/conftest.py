"""A Spark session on this machine, and made-up runs as a store and as tables in Spark."""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from check_workbench.store import open_store
from tests.engines.tables import show

if TYPE_CHECKING:
    from collections.abc import Iterator

    from check_workbench.store import Store

TEXTS = [
    None, "", "x", "not found", "é\nb\n1", "x" * 300 + "b1", "b\U0001f6a8 1" * 90, "a|b\\c", "'; drop table runs; --",
    {"a": 1, "b": 2}, {"a": {"d": 1, "c": [1, 2]}}, [1, 2], "[2, 1]", '{"b": 2, "a": 1}', "{broken", "\\N", "$1 %s \\1",
    {"content": [{"text": "b 1"}, {"text": "é"}]}, {"isError": True}, "line\r\nend",
]  # fmt: skip
ANSWERS = [None, "", " \n", "All done.", "It FAILED", "I couldn\u2019t", "unfailing", "no \u0130ssue", "\u00a0"]
METRICS = [
    None, {}, {"total_tokens": 7, "spans": None}, {"a.b/c~d": 101.5, "errors": "many", "llm_calls": True},
    {"'; drop table runs": 100, "duration_ms": 1e3, "tool_calls": [1]}, {"total_tokens": 12345678901234567890123456789},
]  # fmt: skip
BEFORE_SUMMER = datetime(2026, 3, 8, 1, 59, 59)  # noqa: DTZ001
"""A second before clocks in New York jump."""


def made_span(draw: random.Random, start: datetime) -> dict[str, Any]:
    moment = start + timedelta(microseconds=draw.choice([0, 1, 500_000, 1_000_000, 2_000_001]))
    span = {
        "type": draw.choice(["tool", "tool", "mcp_tool", "llm"]),
        "name": draw.choice(["look", "act", "act", None, "a|b", "É"]),
        "input": draw.choice(TEXTS),
        "output": draw.choice(TEXTS),
        "status": draw.choice([None, "ok", "error"]),
        "error": draw.choice([None, None, "", "not found"]),
        "started_at": draw.choice([moment, moment, moment, moment, None]),
        "ended_at": draw.choice([None, moment + timedelta(seconds=draw.choice([0, 1, 2]))]),
        "duration_ms": draw.choice([None, 0.0, 0.0005, 0.0015, 499.5, 500.0, 1000.0005, 1e300]),
        "tokens_in": draw.choice([None, 3, 90]),
        "tokens_out": draw.choice([3, 90]),
        "model": draw.choice([None, "m"]),
        "attributes": draw.choice([None, {"is_error": True}, {"n": 1.50, "of": {"tool.isError": True}}]),
    }
    return {name: value.isoformat() + "Z" if isinstance(value, datetime) else value for name, value in span.items()}


def made_run(number: int) -> dict[str, Any]:
    draw = random.Random(number)  # noqa: S311 - made-up runs, no secrets
    start = draw.choice([datetime(2026, 5, 4, 12), BEFORE_SUMMER])  # noqa: DTZ001
    times = [start, start + timedelta(microseconds=draw.choice([0, 1_500, 4_000_001, 3_602_000_000]))]
    return {
        "run_id": f"run {number}",
        "workflow": draw.choice(["refunds", "travel"]),
        "status": draw.choice([None, "ok", "error", "no_output", "interrupted"]),
        "started_at": draw.choice([None, times[0].isoformat() + "Z"]),
        "ended_at": times[1].isoformat() + "Z",
        "final_output": draw.choice(ANSWERS),
        "metrics": draw.choice(METRICS),
        "spans": [made_span(draw, start) for _ in range(draw.choice([0, 1, 3, 9, 14]))],
    }


@pytest.fixture(scope="session")
def session() -> Iterator[Any]:
    """Yield a Spark session, or skip."""
    pytest.importorskip("pyspark", reason="PySpark is not installed: pip install -e '.[spark]'")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java 17 or newer: no java is on the path and JAVA_HOME is not set")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable  # else the workers take python3 of the path
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.timestampType": "TIMESTAMP_NTZ",
        "spark.driver.memory": "2g",
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    yield spark
    spark.stop()


@pytest.fixture(scope="session")
def backend(session: Any) -> Any:
    """Return the Ibis backend of a session that is not in UTC, though Ibis set it so."""
    import ibis

    connected = ibis.pyspark.connect(session)
    session.conf.set("spark.sql.session.timeZone", "America/New_York")
    return connected


@pytest.fixture(scope="session")
def made(session: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Yield a store of made-up runs that Spark knows as `made_spans` and `made_runs`, and as records."""
    path = tmp_path_factory.mktemp("made") / "runs.jsonl"
    path.write_text("".join(json.dumps(made_run(number)) + "\n" for number in range(120)), "utf-8")
    with open_store() as store:
        report = store.load(path)
        assert not report.rejected
        show(session, store, "made")
        yield store
