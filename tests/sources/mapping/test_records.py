from __future__ import annotations

import gzip
import json
import sqlite3
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from check_workbench.errors import InputError
from tests.sources.mapping.making import Found, through

if TYPE_CHECKING:
    from pathlib import Path

ROWS = [{"id": "a", "n": 1}, {"id": "b", "n": 2}]


def ids(folder: Path, files: dict[str, str | bytes], **keys: str) -> list[tuple[str, Any]]:
    """Return the ids and the input of the runs that a part with these keys makes."""
    lines = "\n".join(f"    {key}: {value}" for key, value in keys.items())
    found = through(folder, f"parts:\n  - files: '*.*'\n{lines}\n    run: {{run_id: id, input: n}}\n", files)
    assert found.rejected == []
    return [(run.run_id, run.input) for run in found.runs]


def as_parquet(folder: Path) -> bytes:
    path = folder / "made.parquet"
    parquet.write_table(pa.Table.from_pylist(ROWS), path)
    return path.read_bytes()


def as_sqlite(folder: Path, *tables: str) -> bytes:
    path = folder / "made.db"
    base = sqlite3.connect(path)
    for table in tables:
        quoted = '"' + table.replace('"', '""') + '"'
        base.execute(f"create table {quoted} (id text, n integer, blob)")
        base.executemany(f"insert into {quoted} values (:id, :n, null)", ROWS)
    base.commit()
    base.close()
    return path.read_bytes()


@pytest.mark.parametrize(
    ("name", "content", "keys"),
    [
        ("a.jsonl", "\n".join(map(json.dumps, ROWS)), {}),
        ("a.json", json.dumps(ROWS), {}),
        ("a.json.gz", gzip.compress(json.dumps(ROWS).encode(), mtime=0), {}),
        ("a.json", json.dumps({"rows": ROWS}), {"records": "'rows[]'"}),
        ("a.json", json.dumps({"rows": ROWS}), {"records": "rows"}),
        ("a.json", json.dumps({"rows": ROWS}, indent=1), {"records": "'rows[]'"}),
        ("a.json", json.dumps({"x": {"rows": ROWS}}, indent=1), {"records": "'x.rows[]'"}),
        ("a.json", json.dumps({"x": ROWS[:1], "y": ROWS[1:]}, indent=1), {"records": "'{key}[]'"}),
        ("a.json", json.dumps({row["id"]: row for row in ROWS}, indent=1), {"records": "'*'"}),
        ("a.json", json.dumps({"by": {row["id"]: row for row in ROWS}}, indent=1), {"records": "by.*"}),
        ("a.csv", "id,n\na,1\nb,2\n", {}),
        ("a.tsv", "id\tn\na\t1\nb\t2\n", {}),
        ("a.txt", "id;n\na;1\nb;2\n", {}),
    ],
)
def test_records_of_text(tmp_path: Path, name: str, content: Any, keys: dict[str, str]) -> None:
    assert [(one, int(n)) for one, n in ids(tmp_path, {name: content}, **keys)] == [("a", 1), ("b", 2)]


def test_records_of_parquet(tmp_path: Path) -> None:
    assert ids(tmp_path, {"a.parquet": as_parquet(tmp_path)}) == [("a", 1), ("b", 2)]


def test_records_of_sqlite(tmp_path: Path) -> None:
    assert ids(tmp_path, {"a.db": as_sqlite(tmp_path, "one")}) == [("a", 1), ("b", 2)]
    assert ids(tmp_path, {"a.db": as_sqlite(tmp_path, "two", 'od"d; drop')}, table="'od\"d; drop'")[0] == ("a", 1)


@pytest.mark.parametrize("indent", [None, 1])
def test_what_lies_around_records(tmp_path: Path, indent: int | None) -> None:
    whole = {"model": "m", "results": [{"id": "a"}, {"id": "b"}], "version": 2}
    found = through(
        tmp_path,
        "parts: [{files: a.json, records: 'results[]', run: {run_id: '{^model}/{id}', workflow: '{^version}'}}]",
        {"a.json": json.dumps(whole, indent=indent)},
    )
    assert [(run.run_id, run.workflow) for run in found.runs] == [("m/a", "2"), ("m/b", "2")]


@pytest.mark.parametrize("indent", [None, 1])
def test_a_path_keeps_keys_and_places(tmp_path: Path, indent: int | None) -> None:
    whole = {"judge": {"web": {"m1": [0, 1], "m2": [1]}, "shop": {"m1": []}}}
    found = through(
        tmp_path,
        "parts: [{files: a.json, records: 'judge.{b}.{model}[{n}]', run: {run_id: '{$b}/{$model}/{$n}', input: .}}]",
        {"a.json": json.dumps(whole, indent=indent)},
    )
    assert [(run.run_id, run.input) for run in found.runs] == [("web/m1/0", 0), ("web/m1/1", 1), ("web/m2/0", 1)]


def lists(folder: Path, record: Any) -> Found:
    text = """\
        parts:
          - files: a.json
            records: {in: "{set}", lists: {did: actions, saw: seen.all}}
            run: {run_id: "{$set}/{$index}", input: did, final_output: saw}
        """
    return through(folder, text, {"a.json": json.dumps(record)})


def test_parallel_lists(tmp_path: Path) -> None:
    found = lists(tmp_path, {"x": {"actions": [1, 2], "seen": {"all": ["p", "q"]}}})
    assert [(r.run_id, r.input, r.final_output) for r in found.runs] == [("x/0", 1, "p"), ("x/1", 2, "q")]
    assert found.notes == []


def test_parallel_lists_of_different_length_are_told(tmp_path: Path) -> None:
    found = lists(tmp_path, {"x": {"actions": [1, 2], "seen": {"all": ["p"]}}})
    assert [(r.input, r.final_output) for r in found.runs] == [(1, "p"), (2, None)]
    assert found.notes == ["parallel lists differ in length, 1 times; what the shorter ones lack is missing"]


@pytest.mark.parametrize(
    ("way", "names"),
    [
        (r"{in: text, split: '(?m)^\d+\. '}", ["open(x)\n", "close(y)\nEND z"]),
        (r"{in: text, split: '(?m)^\d+\. ', before: END}", ["open(x)\n", "close(y)\n"]),
        (r"{in: text, split: '\d+\. ', after: 'History:'}", ["open(x)\n", "close(y)\nEND z"]),
        (r"{in: text, split: '\d+\. ', after: 'Gone:'}", []),
        (r"{in: text, find: '(\w+)\('}", ["open", "close"]),
        (r"{in: text, find: '\w+\(.\)'}", ["open(x)", "close(y)"]),
        (r"{in: gone, find: 'a'}", []),
        (r"{in: text, split: 'q*'}", []),
    ],
)
def test_pieces_of_a_text(tmp_path: Path, way: str, names: list[str]) -> None:
    text = "History:\n1. open(x)\n2. close(y)\nEND z"
    found = through(
        tmp_path,
        f"parts:\n  - files: a.json\n    run: {{run_id: id}}\n    spans: {{each: {way}, type: = tool, input: .}}\n",
        {"a.json": json.dumps({"id": "r", "text": text})},
    )
    assert [span.input for span in found.run.spans] == names


def test_named_groups_are_members(tmp_path: Path) -> None:
    spans = r"{each: {in: text, find: '(?P<name>\w+)\((?P<arg>\w*)\)'}, type: = tool, name: name, input: arg}"
    found = through(
        tmp_path,
        f"parts: [{{files: a.json, run: {{run_id: id}}, spans: {spans}}}]",
        {"a.json": json.dumps({"id": "r", "text": "open(x) close(y)"})},
    )
    assert [(span.name, span.input) for span in found.run.spans] == [("open", "x"), ("close", "y")]


def test_group_gathers_rows_wherever_they_stand(tmp_path: Path) -> None:
    found = through(
        tmp_path,
        """\
        parts:
          - files: steps.csv
            group: run
            run: {run_id: "rows[0].run"}
            spans: {each: rows, type: = tool, name: tool}
        """.replace('"rows[0].run"', "'{rows[0].run}'"),
        {"steps.csv": "run,tool\nr1,open\nr2,read\nr1,close\n,lost\n"},
    )
    assert [(r.run_id, [s.name for s in r.spans]) for r in found.runs] == [("r1", ["open", "close"]), ("r2", ["read"])]
    assert [(r.line, r.reason) for r in found.rejected] == [(5, "it has nothing to be grouped by")]


JOINED = """\
parts:
  - files: "{judge}/runs.jsonl"
    join:
      label: {file: labels.csv, on: {task: task, judge: $judge}%s}
    run: {run_id: task, workflow: %s}
"""


def test_join(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "j1/runs.jsonl": '{"task": 4}\n{"task": "5"}\n{"task": null}',
        "labels.csv": "task,judge,label\n4.0,j1,good\n5,j2,bad\n",
        "other.txt": "x",
    }
    found = through(tmp_path, JOINED % ("", "$label.label"), files)
    assert [(run.run_id, run.workflow) for run in found.runs] == [("4", "good"), ("5", None)]
    assert found.skipped == ["other.txt"]


def test_join_of_many(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "j1/runs.jsonl": '{"task": 4}',
        "labels.csv": "task,judge,label\n4,j1,good\n4,j1,bad\n",
    }
    many = "{from: '$label[].label', join: '+'}"
    assert through(tmp_path, JOINED % (", many: true", many), files).run.workflow == "good+bad"
    assert "2 records of labels.csv belong to it" in through(tmp_path, JOINED % ("", "$label.label"), files).reason


def test_a_join_tells_what_is_wrong_with_the_second_file(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"j1/runs.jsonl": '{"task": 4}', "labels.csv": "tusk,judge\n4,j1\n"}
    told = through(tmp_path, JOINED % ("", "$label.label"), files).notes
    assert "labels.csv, which is joined: 'task' was found in no record; it has 'tusk', 'judge'" in told
    (tmp_path / "data" / "labels.csv").unlink()
    del files["labels.csv"]
    told = through(tmp_path, JOINED % ("", "$label.label"), files).notes
    assert any("the file labels.csv, which is joined, is not there" in note for note in told)


def test_second_files_that_are_not_there_cost_no_record_and_are_told_once(tmp_path: Path) -> None:
    names = ["labels.csv", "../m.yaml", "/etc/passwd", "..", "", ".gz", "a\0b", "x" * 5_000, "\ud800"]
    lines = [json.dumps({"run": place, "file": name, "task": 4}) for place, name in enumerate(names)]
    found = through(
        tmp_path,
        """\
        parts:
          - files: a.jsonl
            join: {label: {file: '{file}', on: {task: task}}}
            run: {run_id: run, workflow: $label.judge}
        """,
        {"a.jsonl": "\n".join(lines), "labels.csv": "task,judge\n4,j1\n"},
    )
    assert [run.workflow for run in found.runs] == ["j1"] + [None] * (len(names) - 1)
    (told,) = found.notes
    assert told.startswith("the 8 files ../m.yaml, /etc/passwd, .. and 5 more, which are joined, are not there under ")


def test_a_join_reads_records_inside_an_object_by_their_keys(tmp_path: Path) -> None:
    found = through(
        tmp_path,
        """\
        parts:
          - files: runs.jsonl
            join: {label: {file: labels.json, records: "{task}", on: {$task: task}}}
            run: {run_id: task, workflow: $label.by}
        """,
        {"runs.jsonl": '{"task": "t1"}', "labels.json": json.dumps({"t1": {"by": "ann"}})},
    )
    assert found.run.workflow == "ann"


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.jsonl", '{"id": 1}\n{"id": \n{"id": 3}', "not valid JSON"),
        ("a.csv", "id,n\na,1\nb\nc,3\n", "must have 2 cells like the header, but has 1"),
        ("a.json", '{"id": 1', "not valid JSON"),
        ("a.parquet", b"PAR1 and nothing more", "must be Parquet"),
        ("a.db", b"SQLite format 3\0" + b"x" * 200, "the SQLite file cannot be read"),
        ("a.json.gz", gzip.compress(b'{"id": 1}', mtime=0)[:-9], "compressed file"),
        ("a.csv", "id,id\n1,2\n", "each column must be there once"),
        ("a.json", "5", "run_id must be there, but nothing was found"),
    ],
)
def test_what_cannot_be_read_is_rejected_with_the_file(tmp_path: Path, name: str, content: Any, reason: str) -> None:
    found = through(tmp_path, "parts: [{files: '*', run: {run_id: id}}]", {name: content})
    assert any(reason in rejected.reason for rejected in found.rejected)
    assert all(rejected.file.endswith(name) for rejected in found.rejected)


def test_a_table_that_is_not_there_names_the_ones_that_are(tmp_path: Path) -> None:
    content: dict[str, str | bytes] = {"a.db": as_sqlite(tmp_path, "events", "sessions")}
    found = through(tmp_path, "parts: [{files: a.db, table: event, run: {run_id: id}}]", content)
    assert found.reason == "it has no table 'event'. Did you mean 'events'?"
    found = through(tmp_path, "parts: [{files: a.db, run: {run_id: id}}]", content)
    assert found.reason == "table must name one of its tables. Known: 'events', 'sessions'."


def cells(folder: Path, content: str, word: str) -> Found:
    text = f"parts: [{{files: 'a.*', cells: {word}, run: {{run_id: id, input: n}}}}]"
    return through(folder, text, {"a.tsv": content})


@pytest.mark.parametrize(
    ("word", "cell", "meant"),
    [
        ("quoted", '"a ""b"""', 'a "b"'),
        ("plain", '"a" b', '"a" b'),
        ("plain", r"C:\\temp\new", r"C:\\temp\new"),
        ("escaped", '"a" b', '"a" b'),
        ("escaped", r"1\n2\r3\t4", "1\n2\r3\t4"),
        ("escaped", r"C:\\temp", r"C:\temp"),
        ("escaped", r"\\\n", "\\\n"),
        ("escaped", r"\x \.", r"\x \."),
    ],
)
def test_cells_as_they_are_written(tmp_path: Path, word: str, cell: str, meant: str) -> None:
    assert cells(tmp_path, f"id\tn\na\t{cell}\n", word).run.input == meant


def test_an_opening_quotation_mark_takes_no_further_lines_where_there_are_no_quotes(tmp_path: Path) -> None:
    found = cells(tmp_path, 'id\tn\na\t"open\nb\t2\n', "escaped")
    assert [(run.run_id, run.input) for run in found.runs] == [("a", '"open'), ("b", "2")]


def test_cells_of_a_joined_file(tmp_path: Path) -> None:
    text = """\
        parts:
          - files: a.csv
            join: {more: {file: more.tsv, cells: escaped, on: {id: id}}}
            run: {run_id: id, input: $more.text}
        """
    found = through(tmp_path, text, {"a.csv": "id\na\n", "more.tsv": 'id\ttext\na\t"1\\n2\n'})
    assert found.run.input == '"1\n2'


def test_two_parts_may_read_the_cells_of_a_file_in_two_ways(tmp_path: Path) -> None:
    text = """\
        parts:
          - {files: a.tsv, cells: plain, run: {run_id: id, input: n}}
          - {files: a.tsv, cells: escaped, run: {run_id: "{id}2", input: n}}
        """
    found = through(tmp_path, text, {"a.tsv": "id\tn\na\t1\\n2\n"})
    assert [run.input for run in found.runs] == [r"1\n2", "1\n2"]


def test_a_file_without_cells_is_refused(tmp_path: Path) -> None:
    text = "parts: [{files: a.json, cells: plain, run: {run_id: id}}]"
    found = through(tmp_path, text, {"a.json": '[{"id": "a"}]'})
    assert found.reason == "the mapping says that its cells are plain, but it is no CSV or TSV file"


def test_words_for_cells_are_few(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cells must be one of quoted, plain, escaped, got 'escape'"):
        cells(tmp_path, "", "escape")
