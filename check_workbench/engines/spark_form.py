"""An Ibis expression over the store's tables, as Spark must be asked so that it says what DuckDB says.

Most operations mean the same in both. These do not, and are replaced:

- regular expressions, JSON, and time between two times: DuckDB computes them in Spark's workers, over Arrow. So RE2
  runs, never Java, and the zone of the session changes nothing;
- ordered lists: Spark's have no order, so they are sorted as lists of structs;
- numbers rounded to whole ones: half to even, where Spark would cut;
- an empty list, whose type Spark forgets.

Text is ordered by code point in both. Digests are columns, made by the store's own SQL.
"""

from __future__ import annotations

import hashlib
import inspect
from typing import TYPE_CHECKING, Any

import ibis
from ibis.expr import operations as ops

from check_workbench.store.expressions import compiled

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pandas as pd
    import pyarrow as pa

    Computed = Callable[[ibis.Table], pa.Table]

COMPUTED_IN_WORKERS = (ops.RegexSearch, ops.RegexExtract, ops.JSONGetItem, ops.UnwrapJSONFloat64, ops.TimestampDelta)


def reads(expr: ibis.Expr, tables: Mapping[str, str]) -> bool:
    """Say whether an expression reads one of the tables."""
    return any(node.name in tables for node in expr.op().find(ops.UnboundTable))


def spark_form(
    expr: ibis.Expr, tables: Mapping[str, str], *, session: Any, view_of: Callable[[ibis.Table], str]
) -> ibis.Expr:
    """Rewrite an expression for Spark.

    Parameters
    ----------
    expr
        An expression over unbound tables of the store.
    tables
        The view in Spark of each table that is there.
    session
        The Spark session, which learns the functions that workers compute.
    view_of
        Gives the name of a view of a table that is not in Spark.
    """

    def replaced(node: Any, changed: Mapping[str, Any] | None) -> Any:
        node = node.__recreate__(changed) if changed else node
        match node:
            case ops.UnboundTable() if node.name in tables:
                return node.copy(name=tables[node.name])
            case ops.InMemoryTable():
                return ops.UnboundTable(name=view_of(node.to_expr()), schema=node.schema)
            case ops.InSubquery() if not reads(node.rel.to_expr(), dict.fromkeys(tables.values(), "")):
                rows = ops.UnboundTable(name=view_of(node.rel.to_expr()), schema=node.rel.schema)
                return node.copy(rel=rows.to_expr().select(*node.rel.schema.names).op())
            case ops.ArrayCollect():
                return _in_order(node)
            case ops.Literal() if node.dtype.is_array() and not node.value:
                return ops.Cast(node, node.dtype)
            case ops.Cast() if node.arg.dtype.is_floating() and node.to.is_integer():
                return ops.Cast(_builtin("rint", (node.arg,), node.arg.dtype), node.to)
            case _:
                return _in_workers(node, session) if isinstance(node, COMPUTED_IN_WORKERS) else node

    return expr.op().replace(replaced).to_expr()


def _in_order(node: Any) -> Any:
    """Collect a list by sorting structs of its order and its values; no struct is missing, so no value is lost."""
    keys = {f"key{place}": key.arg.to_expr() for place, key in enumerate(node.order_by)}
    structs = ibis.struct({**keys, "value": node.arg.to_expr()})
    where = node.where.to_expr() if node.where is not None else None
    return structs.collect(where=where).sort().map(lambda each: each["value"]).op()


def _in_workers(node: Any, session: Any) -> Any:
    """Let DuckDB compute an operation in Spark's workers."""
    from ibis.backends.pyspark.datatypes import PySparkType
    from pyspark.sql.functions import pandas_udf

    given = {
        name: value
        for name, value in zip(node.__argnames__, node.__args__, strict=True)
        if isinstance(value, ops.Value) and not isinstance(value, ops.Literal)
    }
    rows = ibis.table({name: value.dtype for name, value in given.items()}, name="rows")
    text = compiled(rows.select(computed=node.copy(**{name: rows[name].op() for name in given}).to_expr()))
    name = f"check_workbench_{hashlib.sha256(text.encode()).hexdigest()[:32]}"
    session.udf.register(name, pandas_udf(computing(text, tuple(given)), returnType=PySparkType.from_ibis(node.dtype)))
    return _builtin(name, tuple(given.values()), node.dtype)


def computing(text: str, names: tuple[str, ...]) -> Callable[..., pd.Series[Any]]:
    """Return a function over columns that runs DuckDB SQL over the table `rows` of them.

    Parameters
    ----------
    text
        The query; it returns the column `computed`.
    names
        The columns of `rows`.
    """

    def computed(*columns: Any) -> Any:
        import pyarrow as pa

        from check_workbench.store.lease import connected

        rows = pa.table({name: pa.Array.from_pandas(values) for name, values in zip(names, columns, strict=True)})
        with connected(":memory:") as connection:
            connection.execute("set threads = 1")
            connection.register("rows", rows)
            return connection.sql(text).to_arrow_table()["computed"].to_pandas(integer_object_nulls=True)

    import pandas as pd

    computed.__annotations__ = {"columns": pd.Series, "return": pd.Series}
    return computed


def _builtin(name: str, args: tuple[Any, ...], dtype: Any) -> Any:
    """Call a function that Spark knows by name."""

    def called() -> None: ...

    names = [inspect.Parameter(f"value_{place}", inspect.Parameter.POSITIONAL_ONLY) for place in range(len(args))]
    called.__signature__ = inspect.Signature(names)  # type: ignore[attr-defined]
    function = ibis.udf.scalar.builtin(called, name=name, signature=(tuple(arg.dtype for arg in args), dtype))
    return function(*(arg.to_expr() for arg in args)).op()
