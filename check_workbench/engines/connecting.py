"""`connect`: the verbs of a store over tables of runs and spans in Spark."""

from __future__ import annotations

import importlib.util
import os
import shutil
from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError

if TYPE_CHECKING:
    from check_workbench.engines.connected import Connected

EXTRA = "pip install 'check-workbench[spark]'"


def connect(backend: Any, *, spans: str = "spans", runs: str = "runs") -> Connected:
    """Connect to tables of runs and spans in Spark, and get what has the verbs of a store.

    Rules run in Spark, questions in its workers. Runs, measurements, answers and decisions are kept in memory here;
    spans and long texts stay in Spark. The workers need the same `check-workbench` installed.

    Parameters
    ----------
    backend
        An Ibis backend of Spark: `ibis.pyspark.connect(session)`.
    spans
        The name of the table of spans, as Spark knows it. Either the table of a store, as `export` wrote it; or
        records: `run_id` and `type`, any other field of a span under its name, and `seq`, the place in the record.
        Without `seq` every span needs `started_at`, and of equal times the lower `span_id` comes first.
    runs
        The name of the table of runs: as exported, or `run_id` and any other field of a run.

    Returns
    -------
    Connected
        For `evaluate`, and whatever else reads no spans by SQL.

    Raises
    ------
    InputError
        If the backend is not Spark's, a table or column is missing or of another type, or records cannot be used.

    Examples
    --------
    >>> connect("spans.duckdb")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    check_workbench.errors.InputError: backend must be an Ibis backend of Spark, ...
    """
    if getattr(backend, "name", None) != "pyspark" or not hasattr(backend, "raw_sql"):
        raise InputError(_not_spark(backend))
    from check_workbench.engines.connected import Connected
    from check_workbench.engines.tables import prepare

    session = backend.raw_sql("select 1").sparkSession
    return Connected(session, prepare(session, spans=spans, runs=runs))


def _not_spark(backend: Any) -> str:
    name = getattr(backend, "name", None)
    got = f"that of {name}" if isinstance(name, str) and hasattr(backend, "raw_sql") else type(backend).__name__
    hints = [f"backend must be an Ibis backend of Spark, such as ibis.pyspark.connect(session), got {got}."]
    if name == "duckdb":
        hints.append("What DuckDB holds needs no connection: load the runs into a store, with cw.open(...).load(...).")
    if importlib.util.find_spec("pyspark") is None:
        hints.append(f"PySpark is not installed: {EXTRA}.")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        hints.append("Spark needs Java 17 or newer: install a headless runtime, or set JAVA_HOME.")
    return " ".join(hints)
