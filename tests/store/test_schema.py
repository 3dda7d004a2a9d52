from __future__ import annotations

import duckdb
import pytest

from check_workbench.errors import StoreError, UnknownNameError
from check_workbench.records import Decision, Run, Span, Step, columns
from check_workbench.store import open_store, schema


def test_the_tables_hold_every_field_of_the_records(store):
    for name, record in {"runs": Run, "spans": Span, "steps": Step, "decisions": Decision}.items():
        stored = set(store.sql(f"describe {name}")["column_name"])
        assert {c.name for c in columns(record)} <= stored


def test_the_version_is_written(store):
    assert store.sql("select value from meta where key = 'schema_version'")["value"].tolist() == [str(schema.VERSION)]


def test_a_newer_store_is_refused_with_words(tmp_path):
    path = tmp_path / "newer.duckdb"
    with open_store(path) as store:
        store.sql("update meta set value = ? where key = 'schema_version'", [str(schema.VERSION + 1)])
    with pytest.raises(StoreError, match=rf"version {schema.VERSION + 1}.*reads up to version {schema.VERSION}"):
        open_store(path)


def test_an_older_store_is_brought_up(tmp_path, monkeypatch):
    path = tmp_path / "older.duckdb"
    open_store(path).close()
    monkeypatch.setattr(schema, "VERSION", schema.VERSION + 1)
    monkeypatch.setitem(
        schema.MIGRATIONS,
        schema.VERSION - 1,
        lambda connection: connection.execute("create table added (x integer)"),
    )
    with pytest.raises(StoreError, match="Open it once without read_only"):
        open_store(path, read_only=True)
    with open_store(path) as store:
        assert store.sql("select count(*) as n from added")["n"].tolist() == [0]
        assert store.sql("select value from meta")["value"].tolist() == [str(schema.VERSION)]


def test_a_failed_migration_changes_nothing(tmp_path, monkeypatch):
    path = tmp_path / "older.duckdb"
    open_store(path).close()

    def fail(connection: duckdb.DuckDBPyConnection) -> None:
        connection.execute("create table added (x integer)")
        raise RuntimeError("half way")

    with monkeypatch.context() as patch:
        patch.setattr(schema, "VERSION", schema.VERSION + 1)
        patch.setitem(schema.MIGRATIONS, schema.VERSION - 1, fail)
        with pytest.raises(RuntimeError, match="half way"):
            open_store(path)
    with open_store(path) as store:
        assert "added" not in store.sql("show tables")["name"].tolist()


def test_a_step_without_a_migration_is_told(tmp_path, monkeypatch):
    path = tmp_path / "older.duckdb"
    open_store(path).close()
    monkeypatch.setattr(schema, "VERSION", schema.VERSION + 5)
    with pytest.raises(StoreError, match="no way from there"):
        open_store(path)


def test_a_foreign_file_is_no_store(tmp_path):
    path = tmp_path / "foreign.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table theirs (x integer)")
    with pytest.raises(StoreError, match="no store of check_workbench"):
        open_store(path)


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"not a database", "must be the DuckDB file of a store, but is another file"),
        (b"x" * 20_000, "must be the DuckDB file of a store, but is another file"),
        (b"x" * 8 + b"DUCK" + b"x" * 20_000, "cannot be opened as a store"),
    ],
)
def test_a_broken_file_is_no_store(tmp_path, text, words, read_only):
    path = tmp_path / "broken.duckdb"
    path.write_bytes(text)
    with pytest.raises(StoreError, match=rf"broken\.duckdb {words}"):
        open_store(path, read_only=read_only)
    assert path.read_bytes() == text


def test_places_where_no_store_can_be(tmp_path):
    with pytest.raises(StoreError, match="it is a folder"):
        open_store(tmp_path)
    with pytest.raises(StoreError, match=r"the folder .* does not exist"):
        open_store(tmp_path / "no" / "such" / "store.duckdb")
    with pytest.raises(StoreError, match="does not exist, so it cannot be opened to read only"):
        open_store(tmp_path / "none.duckdb", read_only=True)


def test_an_unknown_table_gets_a_hint(store):
    with pytest.raises(UnknownNameError, match="Did you mean 'spans'"):
        store.table("span")
