"""DataFrames out of and into tables, without losing a digit."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError, UnknownNameError
from check_workbench.store.schema import table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import duckdb
    import pandas as pd
    import pyarrow as pa


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_CONTROL = re.compile(r"((?<!\\)(?:\\\\)*\\u00)([01][0-9a-f])")
"""A control character as Python writes it; DuckDB writes capitals."""


def query(connection: duckdb.DuckDBPyConnection, text: str, params: Any = None) -> pd.DataFrame:
    """Run a query; whole-number columns with missing values come as `Int64`, never as floating point.

    Parameters
    ----------
    connection
        A cursor of the calling thread.
    text
        The SQL.
    params
        Values for its placeholders: a list for `?`, a mapping for `$name`.
    """
    import pandas as pd

    relation = connection.sql(text, params=params)
    if relation is None:
        return pd.DataFrame()
    return to_pandas(relation.to_arrow_table())


def arrow_types(columns: Mapping[str, str]) -> dict[str, Any]:
    """Return the Arrow type of each column of a table's description."""
    import pyarrow as pa

    kinds = {
        "VARCHAR": pa.large_string(),
        "JSON": pa.large_string(),
        "TIMESTAMP": pa.timestamp("us"),
        "BIGINT": pa.int64(),
        "INTEGER": pa.int32(),
        "DOUBLE": pa.float64(),
        "BOOLEAN": pa.bool_(),
    }
    return {name: kinds[kind] for name, kind in columns.items()}


def to_arrow(name: str, rows: pd.DataFrame) -> pa.Table:
    """Turn a DataFrame into Arrow with the types of a store's table.

    Raises
    ------
    UnknownNameError
        If the table has no such column.
    InputError
        If a value does not fit its column.
    """
    import pyarrow as pa

    known = table(name).columns
    types = arrow_types(known)
    arrays = {}
    for column in map(str, rows.columns):
        if column not in known:
            raise UnknownNameError.of(f"column of {name}", column, known)
        values = rows[column]
        try:
            arrays[column] = _array(values, kind=known[column], type_=types[column])
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise InputError(f"{name}.{column} must hold {known[column]}: {error}") from error
    return pa.table(arrays)


def json_text(value: Any) -> str:
    """Write a value as compact JSON, as DuckDB does; NaN and infinity are refused with a ValueError."""
    text = _ENCODER.encode(value)
    return _CONTROL.sub(lambda found: found[1] + found[2].upper(), text) if "\\u00" in text else text


def _array(values: pd.Series[Any], *, kind: str, type_: pa.DataType) -> pa.Array:
    import pyarrow as pa

    if kind == "JSON":
        return pa.array([v if isinstance(v, str) else _json_or_none(v) for v in values], type=type_)
    if kind == "TIMESTAMP" and getattr(values.dtype, "tz", None) is not None:
        values = values.dt.tz_convert("UTC").dt.tz_localize(None)
    array = pa.Array.from_pandas(values)
    return array.combine_chunks().cast(type_) if isinstance(array, pa.ChunkedArray) else array.cast(type_)


def _json_or_none(value: Any) -> str | None:
    missing = value is None or (isinstance(value, float) and value != value)  # noqa: PLR0124
    return None if missing else json_text(value)


def to_pandas(rows: pa.Table) -> pd.DataFrame:
    """Turn Arrow rows into a DataFrame; whole-number columns with missing values become `Int64`."""
    import pandas as pd
    import pyarrow as pa

    whole = [f.name for f in rows.schema if pa.types.is_integer(f.type)]
    if len(set(rows.column_names)) < rows.num_columns or not whole:
        return _plain(rows)
    gaps: Sequence[str] = [name for name in whole if rows[name].null_count]
    frame = _plain(rows.drop_columns(list(gaps)) if gaps else rows)
    for name in gaps:
        values = rows[name].to_pandas(types_mapper=lambda _: pd.Int64Dtype())
        frame.insert(rows.column_names.index(name), name, values.astype("Int64"))
    return frame


def _plain(rows: pa.Table) -> pd.DataFrame:
    frame: pd.DataFrame = rows.to_pandas()
    return frame
