"""What runs in a worker: the store's staging over records that came as Arrow, and stores of a few runs."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError
from check_workbench.records import Run, Span, columns
from check_workbench.store import open_store
from check_workbench.store.digests import signed
from check_workbench.store.names import listed, quote
from check_workbench.store.schema import TABLES
from check_workbench.store.staging import Raw, stage

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb
    import pyarrow as pa

    from check_workbench.store import Store

OUTPUT = {**TABLES["spans"].columns, **TABLES["runs"].columns}
"""Columns of staged rows: of a span, with the fields of its own, or of a run, which has no `seq`."""
_KEY = signed("md5_number_lower(run_id)")
_OBJECTS, _LISTS = ("attributes", "metrics"), ("events",)


def stage_records(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Turn rows of runs, each with the list of its spans, into staged rows.

    Parameters
    ----------
    batches
        The fields of `Run`, and `spans`: lists of `file_place`, `seq` and the fields of `Span`.

    Raises
    ------
    InputError
        If a JSON field holds none, or of another kind.
    """
    with open_store() as store, store.hold() as cursor:
        for batch in batches:
            with _shown(cursor, batch):
                _check_json(cursor)
                stage(cursor, Raw(runs=f"({_runs()})", spans=f"({_spans()})", steps=""))
                for rows in (_output("stage_spans", "spans"), _output("stage_runs", "runs")):
                    yield from cursor.sql(rows).to_arrow_table().to_batches()


@contextlib.contextmanager
def store_of(batch: pa.RecordBatch) -> Iterator[Store]:
    """Open a store in memory that holds some runs.

    Parameters
    ----------
    batch
        The columns of the store's runs, and `spans`: lists with the columns of its spans.
    """
    with open_store() as store:
        with store.hold() as cursor, _shown(cursor, batch):
            own = listed(list(TABLES["runs"].columns))
            cursor.execute(f"insert into runs ({own}) select {own} from records")
            cursor.execute(
                "insert into spans by name select * from "
                "(select unnest(part) from (select unnest(spans) as part from records)) order by run_key, seq"
            )
        yield store


@contextlib.contextmanager
def _shown(cursor: duckdb.DuckDBPyConnection, batch: pa.RecordBatch) -> Iterator[None]:
    import pyarrow as pa

    cursor.register("records", pa.Table.from_batches([batch]))
    try:
        yield
    finally:
        cursor.unregister("records")


def _runs() -> str:
    return f"select {_KEY} as row, 0 as line, {_fields(Run)} from records"


def _spans() -> str:
    return (
        f"select row, seq, {_fields(Span)} from (select row, unnest(part) from "
        f"(select {_KEY} as row, unnest(spans) as part from records))"
    )


def _fields(record: type[Run | Span]) -> str:
    """Return the fields of a record, its JSON without blanks, as loading leaves it."""
    return ", ".join(
        f"json({quote(c.name)}) as {quote(c.name)}" if c.kind == "json" else quote(c.name) for c in columns(record)
    )


def _check_json(cursor: duckdb.DuckDBPyConnection) -> None:
    spans = "(select run_id, unnest(part) from (select run_id, unnest(spans) as part from records))"
    for rows, record in (("records", Run), (spans, Span)):
        for column in columns(record):
            if column.kind != "json":
                continue
            name = quote(column.name)
            kind = "OBJECT" if column.name in _OBJECTS else "ARRAY" if column.name in _LISTS else None
            other = f" or json_type({name}) <> '{kind}'" if kind else ""
            wrong = cursor.execute(
                f"select run_id, left({name}, 60) from {rows} where {name} is not null and "
                f"case when json_valid({name}) then false{other} else true end limit 1"
            ).fetchall()
            for run_id, got in wrong:
                must = {"OBJECT": "a JSON object", "ARRAY": "a JSON list", None: "JSON"}[kind]
                raise InputError(f"{column.name} of run {run_id!r} must be {must}, got {got!r}")


def _output(staged: str, name: str) -> str:
    """Return a query for staged rows in the columns of `OUTPUT`."""
    have: dict[str, Any] = dict.fromkeys(TABLES[name].columns)
    missing = {"run_key", "source_key"}
    values = {
        column: "row" if column == "run_key" else quote(column) if column in have and column not in missing else "null"
        for column in OUTPUT
    }
    kinds = {column: "VARCHAR" if kind == "JSON" else kind for column, kind in OUTPUT.items()}
    return f"select {', '.join(f'({v})::{kinds[c]} as {quote(c)}' for c, v in values.items())} from {staged}"
