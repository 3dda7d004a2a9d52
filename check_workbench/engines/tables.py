"""Tables of runs and spans in Spark, brought into the form of the store's tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from check_workbench.engines.recorded import several, staged_records, typed
from check_workbench.engines.sessions import SPARK_TYPES, fetched, view_name
from check_workbench.errors import InputError, hint
from check_workbench.store.schema import table


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """Runs and spans in the form of the store's tables, as temporary views in Spark."""

    spans: str
    runs: str
    kept: Any = None
    """The DataFrame that holds what workers computed, until it is let go."""
    notes: tuple[str, ...] = ()


def prepare(session: Any, *, spans: str, runs: str) -> Prepared:
    """Bring two tables into the form of the store's tables `spans` and `runs`.

    Parameters
    ----------
    session
        A Spark session.
    spans, runs
        Names of tables.

    Raises
    ------
    InputError
        If a table or column is missing or of another type, or records cannot be used.
    """
    span_rows, run_rows = _read(session, spans, "spans"), _read(session, runs, "runs")
    exported = "run_key" in span_rows.columns and "run_key" in run_rows.columns
    prepared = _exported(span_rows, run_rows) if exported else _records(span_rows, run_rows)
    _check_runs(session, prepared)
    return prepared


def _read(session: Any, name: str, what: str) -> Any:
    from pyspark.errors import AnalysisException, ParseException

    try:
        return session.table(name)
    except (AnalysisException, ParseException) as error:
        known = [found.name for found in session.catalog.listTables()]
        raise InputError(f"{what} must name a table that Spark knows, got {name!r}.{hint(name, known)}") from error


def _exported(spans: Any, runs: Any) -> Prepared:
    for what, rows in (("spans", spans), ("runs", runs)):
        missing = [name for name in table(what).columns if name not in rows.columns]
        if missing:
            raise InputError(
                f"{what} has run_key, so it must have all columns of a store's table; missing are {several(missing)}. "
                "Export the store anew, or leave run_key out and give records."
            )
    return Prepared(spans=_view(_cast(spans, "spans")), runs=_view(_cast(runs, "runs")))


def _records(spans: Any, runs: Any) -> Prepared:
    staged, notes = staged_records(spans, runs)
    own, every = staged.where("seq is not null"), staged.where("seq is null")
    return Prepared(spans=_view(_cast(own, "spans")), runs=_view(_cast(every, "runs")), kept=staged, notes=notes)


def _cast(rows: Any, what: str) -> Any:
    return rows.select(*(typed(rows, name, SPARK_TYPES[kind]) for name, kind in table(what).columns.items()))


def _view(rows: Any) -> str:
    name = view_name()
    rows.createOrReplaceTempView(name)
    return name


_TWICE = {
    "runs are there twice, such as": "select first(run_id) as it from {runs} group by run_id having count(*) > 1",
    "runs share their run_key, such as": "select first(run_id) as it from {runs} group by run_key having count(*) > 1",
    "spans belong to no run of the table, such as": (
        "select span_id as it from {spans} left anti join {runs} using (run_key)"
    ),
    "spans are there twice in their run, such as": (
        "select span_id as it from {spans} group by run_key, span_id having count(*) > 1"
    ),
}


def _check_runs(session: Any, prepared: Prepared) -> None:
    """Refuse runs and spans that are there twice, and spans whose run is missing."""
    asked = (
        f"select '{text}' as text, count(*) as n, min(it) as it from ({query})".format(
            runs=prepared.runs, spans=prepared.spans
        )
        for text, query in _TWICE.items()
    )
    rows = fetched(session.sql(" union all ".join(asked))).to_pylist()
    found = [f"{row['n']} {row['text']} {row['it']!r}" for row in rows if row["n"]]
    if found:
        raise InputError("; ".join(found))
