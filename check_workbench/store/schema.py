"""The tables of a store, derived from the records, and how an older file becomes a present one."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from check_workbench.errors import StoreError, UnknownNameError
from check_workbench.records import Decision, Run, Span, Step, columns
from check_workbench.results import Answer
from check_workbench.store.names import quote

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import duckdb
    import ibis

VERSION = 3
SQL_TYPES = {
    "text": "VARCHAR",
    "json": "JSON",
    "time": "TIMESTAMP",
    "integer": "BIGINT",
    "number": "DOUBLE",
    "flag": "BOOLEAN",
}
_ANSWER_TYPES = {
    "item": "BIGINT",
    "attempt": "BIGINT",
    "probability": "DOUBLE",
    "probabilities": "JSON",
    "level": "DOUBLE",
    "passed": "BOOLEAN",
    "score": "DOUBLE",
    "value": "JSON",
    "findings": "JSON",
    "confidence": "DOUBLE",
    "at": "TIMESTAMP",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table: its columns with their SQL types, in order, and its constraints."""

    columns: Mapping[str, str]
    constraints: tuple[str, ...] = ()

    def create(self, name: str, *, temporary: bool = False) -> str:
        """Return the statement that creates the table."""
        parts = [f"{quote(column)} {kind}" for column, kind in self.columns.items()]
        inside = ", ".join([*parts, *(() if temporary else self.constraints)])
        return f"create {'temp ' if temporary else ''}table {quote(name)} ({inside})"


def _of(record: type[Run | Span | Step | Decision]) -> dict[str, str]:
    return {column.name: SQL_TYPES[column.kind] for column in columns(record)}


def _answer() -> dict[str, str]:
    fields = {field.name: _ANSWER_TYPES.get(field.name, "VARCHAR") for field in dataclasses.fields(Answer)}
    own = {"answer_key": "BIGINT", "source_key": "BIGINT", "run_id": "VARCHAR", "run_digest": "BIGINT"}
    return {**own, "stale": "BOOLEAN", **{name: kind for name, kind in fields.items() if name not in own}}


TABLES: dict[str, Table] = {
    "sources": Table(
        columns={
            "source_key": "BIGINT",
            "path": "VARCHAR",
            "format": "VARCHAR",
            "digest": "BIGINT",
            "loaded_at": "TIMESTAMP",
            **dict.fromkeys(("runs", "spans", "steps", "decisions", "answers"), "BIGINT"),
        },
        constraints=('primary key ("source_key")',),
    ),
    "runs": Table(
        columns={
            "run_key": "BIGINT",
            "run_id": "VARCHAR",
            "source_key": "BIGINT",
            "digest": "BIGINT",
            "span_count": "INTEGER",
            **{name: kind for name, kind in _of(Run).items() if name != "run_id"},
        },
        constraints=('primary key ("run_key")', 'unique ("run_id")'),
    ),
    "spans": Table(
        columns={
            "run_key": "BIGINT",
            "seq": "INTEGER",
            **_of(Span),
            "mcp_text": "VARCHAR",
            "failed": "BOOLEAN",
            "input_digest": "BIGINT",
            "output_digest": "BIGINT",
        },
    ),
    "steps": Table(columns={"run_key": "BIGINT", "place": "INTEGER", **_of(Step)}),
    "decisions": Table(
        columns={
            "decision_key": "BIGINT",
            "source_key": "BIGINT",
            "asserted_blind": "BOOLEAN",
            "asked": "VARCHAR",
            **_of(Decision),
        },
        constraints=('primary key ("decision_key")',),
    ),
    "checks": Table(
        columns={
            "check_id": "VARCHAR",
            "asked": "VARCHAR",
            "document": "VARCHAR",
            "dialect": "VARCHAR",
            "file": "VARCHAR",
            "first_seen": "TIMESTAMP",
        },
        constraints=('primary key ("check_id", "document")',),
    ),
    "answers": Table(columns=_answer()),
    "measurements": Table(
        columns={"asked": "VARCHAR", "run_key": "BIGINT", "value": "DOUBLE", "reason": "VARCHAR"},
        constraints=('primary key ("asked", "run_key")',),
    ),
    "looks": Table(
        columns={
            "look": "BIGINT",
            "at": "TIMESTAMP",
            **dict.fromkeys(("call", "check_id", "asked", "document", "change", "plan_digest"), "VARCHAR"),
            **dict.fromkeys(("cutoffs", "labels", "runs", "result"), "JSON"),
        },
    ),
    "triage": Table(
        columns={
            "entry": "BIGINT",
            "at": "TIMESTAMP",
            **dict.fromkeys(("check_id", "asked", "run_id", "step_id"), "VARCHAR"),
            "attempt": "BIGINT",
            "decisions": "JSON",
            **dict.fromkeys(("cause", "triaged_by", "note"), "VARCHAR"),
            "run_digest": "BIGINT",
        },
    ),
    "meta": Table(columns={"key": "VARCHAR", "value": "VARCHAR"}, constraints=('primary key ("key")',)),
}


def _add_triage(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute(TABLES["triage"].create("triage"))


def _add_work_of_triage(connection: duckdb.DuckDBPyConnection) -> None:
    """Make room for what the work was when somebody triaged it; of earlier entries nobody knows."""
    connection.execute("alter table triage add column if not exists run_digest bigint")


MIGRATIONS: dict[int, Callable[[duckdb.DuckDBPyConnection], None]] = {1: _add_triage, 2: _add_work_of_triage}
"""What turns a store of this version into one of the next."""


def table(name: str) -> Table:
    """Return a table's description.

    Raises
    ------
    UnknownNameError
        If the store has no such table.
    """
    if name not in TABLES:
        raise UnknownNameError.of("table of the store", name, TABLES)
    return TABLES[name]


def prepare(connection: duckdb.DuckDBPyConnection, *, where: str, read_only: bool) -> None:
    """Create the tables in an empty database, or bring an older store up to the present version.

    Parameters
    ----------
    connection
        An open connection.
    where
        The file, for messages.
    read_only
        Whether nothing may be written.

    Raises
    ------
    StoreError
        If the file is no store, is of a newer version, or is older and may not be written.
    """
    version = version_of(connection, where)
    if version == VERSION:
        return
    if version > VERSION:
        raise StoreError(
            f"{where} is a store of version {version}; this check_workbench reads up to version {VERSION}. "
            "Install a newer check_workbench to open it.",
        )
    if read_only:
        found = "is empty" if version == 0 else f"is a store of version {version}, older than {VERSION}"
        way = "Open it once without read_only" + (", or merge it into a new store." if version else ".")
        raise StoreError(f"{where} {found} and was opened to read only. {way}")
    connection.begin()
    try:
        _raise_to_present(connection, version, where)
    except BaseException:
        connection.rollback()
        raise
    connection.commit()


def _raise_to_present(connection: duckdb.DuckDBPyConnection, version: int, where: str) -> None:
    if version == 0:
        for name, description in TABLES.items():
            connection.execute(description.create(name))
    for step in range(version, VERSION) if version else ():
        if step not in MIGRATIONS:
            raise StoreError(f"{where} is a store of version {step}, and no way from there to {VERSION} is known.")
        MIGRATIONS[step](connection)
    connection.execute("delete from meta where key = 'schema_version'")
    connection.execute("insert into meta values ('schema_version', ?)", [str(VERSION)])


def version_of(connection: duckdb.DuckDBPyConnection, where: str) -> int:
    """Return the version of a store, 0 for an empty database.

    Raises
    ------
    StoreError
        If the database holds tables, but is no store.
    """
    found: set[Any] = {name for (name,) in connection.execute("select table_name from duckdb_tables()").fetchall()}
    if not found:
        return 0
    if "meta" in found:
        rows = connection.execute("select value from meta where key = 'schema_version'").fetchall()
        if rows and str(rows[0][0]).isdecimal():
            return int(rows[0][0])
    raise StoreError(
        f"{where} is a DuckDB file, but no store of check_workbench: it holds {len(found)} other tables "
        "and no schema version. Name a new file.",
    )


def unbound(name: str) -> ibis.Table:
    """Return a table as an unbound Ibis table."""
    import ibis
    from ibis.backends.sql.datatypes import DuckDBType

    kinds = {column: DuckDBType.from_string(kind) for column, kind in table(name).columns.items()}
    return ibis.table(ibis.schema(kinds), name=name)
