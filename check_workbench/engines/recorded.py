"""Tables of records in Spark: their columns, their order, and what a store would refuse.

Digests, failures and the text of MCP results are not computed anew: workers run the store's own staging over the
records, so that equal content has equal columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.engines.sessions import SPARK_TYPES, described, fetched
from check_workbench.engines.staged import OUTPUT, stage_records
from check_workbench.errors import InputError
from check_workbench.records import Run, Span, columns
from check_workbench.store.schema import SQL_TYPES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from check_workbench.records import Column

_ACCEPTED = {
    "text": ("string", "void"),
    "json": ("string", "void"),
    "time": ("timestamp", "timestamp_ntz", "void"),
    "integer": ("byte", "short", "integer", "long", "void"),
    "number": ("byte", "short", "integer", "long", "float", "double", "decimal", "void"),
}
_EARLIEST, _LATEST = "timestamp_ntz '1970-01-01'", "timestamp_ntz '2201-01-01'"


def staged_records(spans: Any, runs: Any) -> tuple[Any, tuple[str, ...]]:
    """Let workers stage records, whole runs at a time.

    Parameters
    ----------
    spans, runs
        Spark DataFrames with the fields of spans and runs.

    Returns
    -------
    tuple
        The staged rows, see `staged.OUTPUT`, and what was not read.

    Raises
    ------
    InputError
        If a column is missing or of another type, or a store would refuse the records.
    """
    from pyspark.sql import functions as F  # noqa: N812

    notes = (_unread("spans", spans, Span), _unread("runs", runs, Run))
    span_rows, run_rows = _ordered(_fields("spans", spans, Span)), _fields("runs", runs, Run)
    _check_records(span_rows, run_rows)
    parts = F.struct("file_place", "seq", *(column.name for column in columns(Span)))
    lists = span_rows.groupBy("run_id").agg(F.collect_list(parts).alias("spans"))
    rows = run_rows.join(lists, "run_id", "left").mapInArrow(stage_records, described(OUTPUT)).persist()
    try:
        fetched(rows.groupBy().count())  # now, and in one stage: of several that fail Spark keeps no reason
    except BaseException:
        rows.unpersist()
        raise
    return rows, tuple(filter(None, notes))


def _unread(what: str, rows: Any, record: type[Run | Span]) -> str:
    known = {column.name for column in columns(record)} | {"run_id", "seq"}
    strange = [name for name in rows.columns if name not in known]
    return f"{what}: columns that are no field were not read: {several(strange)}" if strange else ""


def _fields(what: str, rows: Any, record: type[Run | Span]) -> Any:
    """Return the fields of a record as columns of their types; those that a table lacks are empty."""
    from pyspark.sql import functions as F  # noqa: N812

    required = {"run_id", *(column.name for column in columns(record) if column.required)}
    missing = sorted(required - set(rows.columns))
    if missing:
        raise InputError(f"{what} must have the columns {several(sorted(required))}; missing are {several(missing)}")
    kinds = dict(rows.dtypes)
    wrong = [_mismatch(column, rows) for column in columns(record) if column.name in kinds]
    if any(wrong):
        raise InputError(f"{what}: " + "; ".join(filter(None, wrong)))
    wanted = {column.name: SPARK_TYPES[SQL_TYPES[column.kind]] for column in columns(record)}
    fields = [
        (typed(rows, name, kind) if name in kinds else F.lit(None).cast(kind)).alias(name)
        for name, kind in wanted.items()
    ]
    own = [rows[name].cast(kind) for name, kind in (("run_id", "string"), ("seq", "bigint")) if name in kinds]
    return rows.select(*fields, *(own if record is Span else ()))


def _mismatch(column: Column, rows: Any) -> str:
    got = rows.schema[column.name].dataType
    accepted = _ACCEPTED[column.kind]
    if got.typeName() in accepted:
        return ""
    text = "; write other values with to_json" if column.kind in {"text", "json"} else ""
    return f"{column.name} must be of type {accepted[0]}, got {got.simpleString()}{text}"


def _ordered(spans: Any) -> Any:
    """Give spans their place in the record and their sequence: by start where all of a run have one, else by place."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    every = Window.partitionBy("run_id")
    if "seq" not in spans.columns:
        if spans.where("started_at is null").limit(1).count():
            raise InputError("spans must have seq, their place in the run, since some have no started_at")
        placed = spans.withColumn("file_place", F.row_number().over(every.orderBy("started_at", "span_id")))
    else:
        placed = spans.withColumn("file_place", F.row_number().over(every.orderBy("seq", "span_id")))
    timed = F.count("started_at").over(every) == F.count(F.lit(1)).over(every)
    start = F.when(timed, F.col("started_at"))
    in_time = placed.withColumn("start", start)
    seq = F.row_number().over(every.orderBy("start", "file_place")) - 1
    named = F.coalesce("span_id", F.concat(F.lit("#"), F.col("file_place").cast("string")))
    return in_time.withColumn("seq", seq).withColumn("span_id", named)


def _check_records(spans: Any, runs: Any) -> None:
    """Refuse what a store would refuse, with counts."""
    for what, rows, record in (("spans", spans, Span), ("runs", runs, Run)):
        tests = _tests(record)
        counts = rows.selectExpr(*(f"count_if({test}) as t{place}" for place, test in enumerate(tests.values())))
        found = [f"{count} {text}" for count, text in zip(counts.first(), tests, strict=True) if count]
        if found:
            raise InputError(f"{what} cannot be used: {'; '.join(found)}")
    lost = spans.join(runs, "run_id", "left_anti").selectExpr("count(*) as n", "min(run_id) as run_id").first()
    if lost["n"]:
        raise InputError(f"{lost['n']} spans belong to no run of the table, such as those of {lost['run_id']!r}")


def _tests(record: type[Run | Span]) -> dict[str, str]:
    """Return what may be wrong with a record, and the SQL that is true where it is."""
    tests = {"have no run_id": "run_id is null or trim(run_id) = ''"}
    for column in columns(record):
        name = column.name
        if column.required and name != "run_id":
            tests[f"have no {name}"] = f"{name} is null or {name} = ''"
        if column.choices:
            tests[f"have a {name} other than {', '.join(column.choices)}"] = _other(name, column.choices)
        if column.kind == "time":
            beyond = f"{name} < {_EARLIEST} or {name} >= {_LATEST}"
            tests[f"have a {name} that does not lie between 1970 and 2200"] = beyond
        if column.kind == "number":
            tests[f"have a {name} that is no finite number"] = f"isnan({name}) or abs({name}) = double('infinity')"
    return tests


def _other(name: str, choices: Sequence[str]) -> str:
    return f"{name} not in ({', '.join(repr(choice) for choice in choices)})"


def typed(rows: Any, name: str, kind: str) -> Any:
    """Return a column of a type; a time becomes one in UTC without a zone, whatever the zone of the session."""
    from pyspark.sql import functions as F  # noqa: N812

    column = rows[name].cast(kind)
    if rows.schema[name].dataType.typeName() != "timestamp":
        return column
    return F.convert_timezone(F.current_timezone(), F.lit("UTC"), column).alias(name)


def several(names: Sequence[str]) -> str:
    """Write names one after the other."""
    return ", ".join(names)
