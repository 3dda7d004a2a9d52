"""What is asked of a Spark session: Arrow in, Arrow out, and work on its partitions."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from check_workbench.errors import WorkbenchError
from check_workbench.store.frames import arrow_types

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import pyarrow as pa

    Work = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]

SPARK_TYPES = {
    "VARCHAR": "string",
    "JSON": "string",
    "TIMESTAMP": "timestamp_ntz",
    "BIGINT": "bigint",
    "INTEGER": "int",
    "DOUBLE": "double",
    "BOOLEAN": "boolean",
}
"""The type in Spark of each type of the store's tables."""


def described(columns: Mapping[str, str]) -> str:
    """Write columns and their SQL types as Spark does.

    Examples
    --------
    >>> described({"run_id": "VARCHAR", "at": "TIMESTAMP"})
    '`run_id` string, `at` timestamp_ntz'
    """
    return ", ".join(f"`{name}` {SPARK_TYPES[kind]}" for name, kind in columns.items())


def arrow_schema(columns: Mapping[str, str]) -> pa.Schema:
    """Return the Arrow schema of columns and their SQL types, as Spark takes it from a worker."""
    import pyarrow as pa

    kinds = {
        name: pa.string() if pa.types.is_large_string(kind) else kind for name, kind in arrow_types(columns).items()
    }
    return pa.schema(list(kinds.items()))


def view_name() -> str:
    """Return a name that no other view has."""
    return f"check_workbench_{uuid4().hex}"


@contextlib.contextmanager
def shown(session: Any, tables: Mapping[str, pa.Table]) -> Iterator[None]:
    """Show Arrow tables to Spark under the given names."""
    for name, rows in tables.items():
        session.createDataFrame(rows).createOrReplaceTempView(name)
    try:
        yield
    finally:
        for name in tables:
            session.catalog.dropTempView(name)


def fetched(frame: Any) -> pa.Table:
    """Fetch the rows of a Spark DataFrame.

    Raises
    ------
    WorkbenchError
        If a worker raised one; Spark itself keeps only its text.
    """
    from pyspark.errors import PythonException

    try:
        return frame.toArrow()
    except PythonException as error:
        ours = _ours(error)
        if ours is None:
            raise
        raise ours from error


def _ours(error: Exception) -> WorkbenchError | None:
    """Return the last line of a worker's traceback if it tells of an error of ours."""
    from check_workbench import errors

    for line in reversed(str(error).splitlines()):
        kind, _, message = line.strip().partition(": ")
        module, _, name = kind.rpartition(".")
        found = getattr(errors, name, None) if module == errors.__name__ else None
        if isinstance(found, type) and issubclass(found, WorkbenchError):
            return found(message)
    return None
