"""No two formats fit one file, and none fits a file of something else."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from check_workbench.sources import READERS, Recognised, Rejected, recognise
from check_workbench.sources.heads import look

if TYPE_CHECKING:
    from pathlib import Path

FOLDERS = ("coding_agent_sessions", "tau_bench_airline", "otel_traces", "langsmith_runs", "online_mind2web_webjudge")


@pytest.mark.parametrize("folder", FOLDERS)
def test_at_most_one_format_fits_a_real_file(realdata: Path, folder: str) -> None:
    paths = [path for path in sorted((realdata / folder).rglob("*")) if path.is_file()]
    assert paths
    for path in paths:
        head = look(path)
        fitting = [] if isinstance(head, Rejected) else [name for name in READERS if READERS[name].detect(head)]
        assert len(fitting) <= 1, (path, fitting)


@pytest.mark.parametrize(
    "record",
    [
        {"name": "shop", "version": "1.0.0", "scripts": {"test": "x"}, "dependencies": {"a": "^1"}},
        {"name": "shop", "lockfileVersion": 3, "packages": {"": {"name": "shop"}}},
        {"compilerOptions": {"target": "es2022"}, "include": ["src"]},
        {"cells": [{"cell_type": "code", "source": ["1"], "outputs": []}], "metadata": {}, "nbformat": 4},
        {"type": "FeatureCollection", "features": [{"type": "Feature", "properties": {}}]},
        {"log": {"version": "1.2", "entries": [{"request": {"method": "GET"}, "response": {"status": 200}}]}},
        {"openapi": "3.1.0", "info": {"title": "x", "version": "1"}, "paths": {}},
        {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "lint"}}, "results": []}]},
        {"traceEvents": [{"name": "a", "ph": "B", "ts": 1}], "metadata": {}},
        {"data": [{"id": "1", "type": "articles", "attributes": {}}], "meta": {"total": 1}},
        {"info": {"run_id": "r", "experiment_id": "0"}, "data": {"metrics": [], "params": []}},
        {"schema_version": "1.4.0", "id": "GHSA-1", "published": "2026-01-01"},
        {"filePath": "a.js", "messages": [{"ruleId": "semi", "line": 1}], "errorCount": 1},
        {"guild": {"id": "1"}, "messages": [{"id": "1", "type": "Default", "content": "hi"}]},
        {"subject": "x", "messages": ["one", "two"]},
        {"traj": [[0.1, 0.2]]},
        {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"traceId": "a", "spanId": "b"}]}]}]},
        {"body": "x", "severity_number": 9, "attributes": {}, "trace_id": "0xa", "span_id": "0xb"},
        {"eval": {"task": "mmlu", "created": "2026-01-01"}, "results": {}},
        {"run_id": "r", "check_id": "c", "probability": 0.5, "span_id": "s", "trace_id": "t"},
        {"run_id": "r", "decision": "approved", "span_id": "s", "trace_id": "t"},
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_other_json_is_of_no_format(tmp_path: Path, record: dict[str, Any], indent: int | None) -> None:
    (tmp_path / "f.json").write_text(json.dumps(record, indent=indent))
    assert recognise(tmp_path / "f.json") is None


def test_one_odd_record_does_not_hide_the_chats_behind_it(tmp_path: Path) -> None:
    records = [{"messages": ["odd"]}, {"messages": [{"role": "user", "content": "Hi"}]}]
    (tmp_path / "f.jsonl").write_text("\n".join(map(json.dumps, records)))
    found = recognise(tmp_path / "f.jsonl")
    assert isinstance(found, Recognised)
    assert found.format.name == "chat"


@pytest.mark.parametrize(
    "names",
    [
        ["[Content_Types].xml", "word/document.xml"],
        ["xl/workbook.xml"],
        ["arr_0.npy"],
        ["META-INF/MANIFEST.MF"],
        ["header.json", "samples/readme.txt"],
    ],
)
def test_other_archives_are_of_no_format(tmp_path: Path, names: list[str]) -> None:
    with zipfile.ZipFile(tmp_path / "f.zip", "w") as archive:
        for name in names:
            archive.writestr(name, "{}")
    assert recognise(tmp_path / "f.zip") is None


@pytest.mark.parametrize("tables", [["cookies", "meta"], ["moz_places"], ["sessions", "events"], []])
def test_other_databases_are_of_no_format(tmp_path: Path, tables: list[str]) -> None:
    with closing(sqlite3.connect(tmp_path / "f.db")) as database:
        for table in ("x", *tables):
            database.execute(f"create table {table} (id)")
    assert recognise(tmp_path / "f.db") is None
