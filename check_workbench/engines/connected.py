"""`Connected`: a store whose runs and spans stay in Spark."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NoReturn

from check_workbench.engines.sessions import described, fetched, shown, view_name
from check_workbench.errors import StoreError
from check_workbench.store import Store
from check_workbench.store.frames import to_pandas
from check_workbench.store.names import listed
from check_workbench.store.schema import TABLES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import ibis
    import pandas as pd
    import pyarrow as pa

    from check_workbench.engines.sessions import Work
    from check_workbench.engines.tables import Prepared

STAYS = "spans and steps are not here: they stay in Spark, where execute(...) reads spans"
_MISSING = re.compile("Table with name (spans|steps) does not exist")
INDEX = (
    "run_key", "run_id", "source_key", "digest", "span_count", "workflow", "session_id", "mode", "status",
    "started_at", "ended_at", "metrics",
)  # fmt: skip
"""What of the runs is fetched when connecting; long texts are not."""


class Connected(Store):
    """What `connect` returns: a store in memory whose runs and spans stay in Spark.

    Parameters
    ----------
    session
        The Spark session.
    prepared
        Runs and spans in the form of the store's tables.
    """

    def __init__(self, session: Any, prepared: Prepared) -> None:
        super().__init__()
        self.notes = prepared.notes
        """What of the tables was not read."""
        self._session = session
        self._prepared = prepared
        self._views = {"spans": prepared.spans, "runs": prepared.runs}
        index = fetched(session.table(prepared.runs).select(*INDEX).orderBy("run_key"))
        with self.transaction() as cursor:
            cursor.register("index_rows", index)
            cursor.execute(f"insert into runs ({listed(INDEX)}) select {listed(INDEX)} from index_rows")
            cursor.unregister("index_rows")
            for name in ("spans", "steps"):
                cursor.execute(f"drop table {name}")

    def __repr__(self) -> str:
        return "\n".join([f"<Connected to Spark{'' if self._open else ', closed'}>", *self.notes])

    def close(self) -> None:
        """Let go of the views in Spark, and of what is kept in memory here."""
        if self._open:
            for name in self._views.values():
                self._session.catalog.dropTempView(name)
            if self._prepared.kept is not None:
                self._prepared.kept.unpersist()
        super().close()

    def execute(self, expr: ibis.Expr) -> pd.DataFrame:
        """Run an unbound Ibis expression and return its rows: in Spark if it reads runs or spans, else here.

        Parameters
        ----------
        expr
            An expression over `table(...)`; tables in memory (`ibis.memtable`) may take part.

        Returns
        -------
        pandas.DataFrame
            As a store returns it.
        """
        from check_workbench.engines.spark_form import reads

        if not reads(expr, self._views):
            return super().execute(expr)
        table = expr.as_table()
        return to_pandas(self._in_spark(table).cast(table.schema().to_pyarrow()))

    def sql(self, text: str, params: Sequence[Any] | dict[str, Any] | None = None) -> pd.DataFrame:
        """Run DuckDB SQL over what is kept here: runs without their texts, measurements, answers, decisions.

        Parameters
        ----------
        text
            DuckDB SQL.
        params
            Values for its placeholders.

        Raises
        ------
        StoreError
            If it reads spans or steps.
        """
        from duckdb import CatalogException

        try:
            return super().sql(text, params)
        except CatalogException as error:
            if _MISSING.search(str(error)):
                raise StoreError(STAYS) from error
            raise

    def insert(self, name: str, rows: pd.DataFrame | ibis.Table, *, replace_on: tuple[str, ...] = ()) -> int:
        """Add rows to a table that is kept here; an expression over runs or spans is computed in Spark."""
        from pandas import DataFrame

        return super().insert(name, rows if isinstance(rows, DataFrame) else self.execute(rows), replace_on=replace_on)

    def over_rows(self, expr: ibis.Table, work: Work, columns: Mapping[str, str]) -> pa.Table:
        """Run a function over the rows of an expression in Spark's workers, once a partition.

        Parameters
        ----------
        expr
            An expression that reads runs or spans.
        work
            Is given Arrow batches and yields others.
        columns
            The columns that it yields, with their SQL types.
        """
        return self._in_spark(expr, work=work, columns=columns)

    def over_runs(self, run_ids: Sequence[str], work: Work, columns: Mapping[str, str]) -> pa.Table:
        """Run a function over whole runs in Spark's workers, once a partition.

        Parameters
        ----------
        run_ids
            The runs.
        work
            Is given Arrow batches of runs, each with its spans in order as a list, and yields others.
        columns
            The columns that it yields, with their SQL types.
        """
        import pyarrow as pa
        from pyspark.sql import functions as F  # noqa: N812

        view = view_name()
        with shown(self._session, {view: pa.table({"run_id": pa.array(run_ids, pa.string())})}):
            runs = self._session.table(self._views["runs"]).join(self._session.table(view), "run_id", "left_semi")
            spans = self._session.table(self._views["spans"]).join(runs, "run_key", "left_semi")
            parts = F.sort_array(F.collect_list(F.struct("seq", *(c for c in TABLES["spans"].columns if c != "seq"))))
            whole = runs.join(spans.groupBy("run_key").agg(parts.alias("spans")), "run_key", "left")
            spread = whole.repartition(int(self._session.conf.get("spark.sql.shuffle.partitions")), "run_key")
            return fetched(spread.mapInArrow(work, described(columns)))

    def _in_spark(
        self, expr: ibis.Table, work: Work | None = None, columns: Mapping[str, str] | None = None
    ) -> pa.Table:
        import ibis

        from check_workbench.engines.spark_form import spark_form

        local: dict[str, pa.Table] = {}

        def view_of(table: ibis.Table) -> str:
            name = view_name()
            local[name] = _plain(super(Connected, self).execute(table), table)
            return name

        form = spark_form(expr, self._views, session=self._session, view_of=view_of)
        text = ibis.to_sql(form, dialect="pyspark", pretty=False)
        with shown(self._session, local):
            frame = self._session.sql(text)
            return fetched(frame if work is None else frame.mapInArrow(work, described(columns or {})))

    def load(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse: runs come from Spark."""
        raise StoreError("runs come from Spark: add them to the tables there, and connect again")

    def delete(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse: runs come from Spark."""
        raise StoreError("runs come from Spark: delete them from the tables there, and connect again")

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise StoreError(STAYS)

    doctor = export = merge = _refuse


def _plain(rows: pd.DataFrame, table: ibis.Table) -> pa.Table:
    import pyarrow as pa

    return pa.Table.from_pandas(rows, schema=table.schema().to_pyarrow(), preserve_index=False)
