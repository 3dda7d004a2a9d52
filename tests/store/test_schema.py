from __future__ import annotations

import json

import duckdb
import pandas as pd
import pytest

from check_workbench.errors import StoreError, UnknownNameError
from check_workbench.records import Decision, Run, Span, Step, columns
from check_workbench.store import manifest, open_store, schema
from tests.store.filled import add, counts, fill, triaged


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


def _of_version_1(path):
    """Make a store as version 1 wrote it: without triage."""
    with open_store(path) as store:
        fill(store, path.parent / "files")
        store.sql("drop table triage")
        store.sql("update meta set value = '1' where key = 'schema_version'")


def test_a_store_of_version_1_gets_an_empty_triage_and_keeps_the_rest(tmp_path):
    path = tmp_path / "first.duckdb"
    _of_version_1(path)
    with open_store() as other:
        fill(other, tmp_path / "others")
        whole = counts(other)
    with pytest.raises(StoreError, match=r"store of version 1, older than 3.*merge it into a new store"):
        open_store(path, read_only=True)
    with open_store(path) as store:
        assert counts(store) == {**whole, "triage": 0}
        assert store.sql("describe triage")["column_name"].tolist() == list(schema.TABLES["triage"].columns)
        add(store, "triage", triaged(1, "2026-03-01"))


def test_a_store_of_version_2_keeps_its_triage(tmp_path):
    path = tmp_path / "second.duckdb"
    with open_store(path) as store:
        fill(store, path.parent / "files")
        before = store.sql("select * exclude run_digest from triage order by entry")
        store.sql("alter table triage drop column run_digest")
        store.sql("update meta set value = '2' where key = 'schema_version'")
    with open_store(path) as store:
        pd.testing.assert_frame_equal(store.sql("select * exclude run_digest from triage order by entry"), before)
        assert store.sql("describe triage")["column_name"].tolist() == list(schema.TABLES["triage"].columns)
        assert store.sql("select count(run_digest) as n from triage")["n"].tolist() == [0]


def test_a_store_of_version_1_is_merged_through_a_copy(store, tmp_path):
    path = tmp_path / "first.duckdb"
    _of_version_1(path)
    before = path.read_bytes()
    report = store.merge(path)
    assert (report.runs, report.looks, report.triage) == (10, 2, 0)
    assert path.read_bytes() == before


def test_an_export_of_version_1_is_merged(store, tmp_path):
    with open_store() as other:
        fill(other, tmp_path / "files")
        other.export(tmp_path / "out")
    (tmp_path / "out" / "triage.parquet").unlink()
    meta = pd.read_parquet(tmp_path / "out" / "meta.parquet")
    meta.loc[meta["key"] == "schema_version", "value"] = "1"
    meta.to_parquet(tmp_path / "out" / "meta.parquet")
    document = json.loads((tmp_path / "out" / "manifest.json").read_text())
    del document["tables"]["triage"]
    document["tables"]["meta"]["sha256"] = manifest.digest_of(tmp_path / "out" / "meta.parquet")
    (tmp_path / "out" / "manifest.json").write_text(json.dumps(document | {"schema_version": 1}))
    report = store.merge(tmp_path / "out")
    assert (report.runs, report.triage) == (10, 0)


def test_triage_goes_with_its_run(store, tmp_path):
    fill(store, tmp_path / "files")
    store.delete(["a"])
    assert counts(store)["triage"] == 0


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
