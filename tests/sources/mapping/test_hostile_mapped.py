"""Records, files and mappings that mean harm."""

from __future__ import annotations

import json
import sqlite3
import time
import tracemalloc
from typing import TYPE_CHECKING

import pytest

from check_workbench.sources import Origin
from check_workbench.sources.mapping import read_mapping
from tests.sources.mapping.making import mapping_file, through

if TYPE_CHECKING:
    from pathlib import Path

    from check_workbench.store import Store


def test_patterns_take_linear_time(tmp_path: Path) -> None:
    started = time.process_time()
    found = through(
        tmp_path,
        """\
        parts:
          - files: a.json
            run: {run_id: id, workflow: {from: text, match: '(a+)+$'}, input: {from: text, match: '(a|aa)*b'}}
            spans: {each: {in: text, split: '(a*)*c|a'}, type: = tool}
        """,
        {"a.json": json.dumps({"id": "r", "text": "a" * 5_000 + "!"})},
    )
    assert len(found.run.spans) == 5_000
    assert time.process_time() - started < 20


def test_many_wildcards_cost_no_more_than_the_record_holds(tmp_path: Path) -> None:
    nested = {"a": [[[{"b": [1, 2]}] * 10] * 10] * 10}
    found = through(
        tmp_path,
        "parts: [{files: a.json, run: {run_id: = r}, spans: {each: 'a[][][].b[]', type: = t, input: .}}]",
        {"a.json": json.dumps(nested)},
    )
    assert len(found.run.spans) == 2_000


@pytest.mark.parametrize(
    "text",
    [
        '{"id": ' + "[" * 5_000 + "]" * 5_000 + "}",
        '{"id": NaN}',
        '{"id": 1e999}',
        '{"id": {"a": 1}}',
        '{"id": ""}',
        '{"id": null}',
        '{"id": true}',
    ],
)
def test_an_id_that_is_none_is_rejected(store: Store, tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(text + '\n{"id": "good"}', "utf-8")
    mapping = mapping_file(tmp_path, "parts: [{files: a.jsonl, run: {run_id: id}}]")
    report = store.load(path, mapping=mapping)
    assert (report.runs, [rejected.line for rejected in report.rejected]) == (1, [1])


def test_words_that_look_like_code_stay_words(store: Store, tmp_path: Path) -> None:
    evil = "') or 1=1 --"
    path = tmp_path / "a.csv"
    path.write_text(f'id,"{evil}"\n"{evil}","__import__(\'os\')"\n', "utf-8")
    mapping = mapping_file(
        tmp_path,
        f"""\
        parts:
          - files: a.csv
            run: {{run_id: id, workflow: '"{evil.replace("'", "''")}"'}}
        """,
    )
    report = store.load(path, mapping=mapping)
    assert report.runs == 1
    row = store.sql("select run_id, workflow from runs").to_dict("records")
    assert row == [{"run_id": evil, "workflow": "__import__('os')"}]


def test_sqlite_is_read_and_never_written_and_views_are_not_run(tmp_path: Path) -> None:
    path = tmp_path / "data" / "a.db"
    path.parent.mkdir()
    base = sqlite3.connect(path)
    base.execute("create table t (id text, body blob)")
    base.execute("insert into t values ('r', x'00ff'), ('s', null)")
    base.execute("create view v as select id from t")
    base.commit()
    base.close()
    path.chmod(0o444)
    before = path.read_bytes()
    found = through(tmp_path, "parts: [{files: a.db, table: t, run: {run_id: id}}]")
    assert [run.run_id for run in found.runs] == ["r", "s"]
    assert found.notes == ["bytes in the column body were not read"]
    found = through(tmp_path, "parts: [{files: a.db, table: v, run: {run_id: id}}]")
    assert "it has no table 'v'" in found.reason
    found = through(tmp_path, "parts: [{files: a.db, table: 't; drop table t', run: {run_id: id}}]")
    assert "it has no table 't; drop table t'" in found.reason
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == ["a.db"]


def test_a_text_with_holes_does_not_grow_without_end(tmp_path: Path) -> None:
    found = through(
        tmp_path,
        f"parts: [{{files: a.json, run: {{run_id: '{'{x}' * 50}'}}}}]",
        {"a.json": json.dumps({"x": "y" * 10_000})},
    )
    assert "a text with holes must come to at most 100,000 characters" in found.reason


def test_a_large_file_is_never_in_memory_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    with path.open("w", encoding="utf-8") as file:
        file.write('{"version": 1,\n"results": [')
        file.writelines(f'{"," if n else ""}\n{{"id": {n}, "text": "{"x" * 2_000}"}}' for n in range(5_000))
        file.write("]}")
    mapping = read_mapping(
        mapping_file(tmp_path, "parts: [{files: a.json, records: 'results[]', run: {run_id: '{^version}/{id}'}}]"),
    )
    recognised = mapping.recognise(path, path)
    assert recognised is not None
    assert recognised.format.read is not None
    tracemalloc.start()
    runs = sum(1 for _ in recognised.format.read(path, Origin.of(path)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert runs == 5_000
    assert peak < path.stat().st_size / 2
