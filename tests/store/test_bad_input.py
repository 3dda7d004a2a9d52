from __future__ import annotations

import json
import os

import pytest

from check_workbench.errors import InputError, StoreError
from check_workbench.store import open_store
from tests.store.making import write

pytestmark = pytest.mark.usefixtures("alone")
"""Files of our own lines are read by the database; small ones that are stored together are in `test_gathered`."""

HOSTILE = [
    "'; drop table runs; --",
    '"; drop table spans; --',
    "a\nb\tc",
    "Zürich 東京 🙂",
    "$1 ? :name {x}",
    "\\'\"`",
    "a\u0000b",
    "../../etc/passwd",
    "x" * 5_000,
    "lambda: null",
]
GOOD = {"run_id": "good", "spans": [{"type": "tool"}]}


def _bad(**changes):
    return {"run_id": "bad", **changes}


def _span(**changes):
    return _bad(spans=[{"type": "tool", **changes}])


CASES = [
    ({"spans": []}, "run_id is required"),
    ({"run_id": None}, "run_id is required"),
    ({"run_id": ""}, "run_id is required"),
    ({"run_id": "  "}, "run_id must be a text that is not empty"),
    ({"run_id": {"a": 1}}, "run_id must be a text"),
    ({"run_id": ["a"]}, "run_id must be a text"),
    (["run_id"], "a run must be an object"),
    ("run_id", "a run must be an object"),
    (None, "a run must be an object"),
    (_bad(spans=3), "spans must be a list, got 3"),
    (_bad(spans={"type": "tool"}), "spans must be a list"),
    (_bad(spans="[]"), "spans must be a list"),
    (_bad(spans=[3]), "span 1 must be an object"),
    (_bad(spans=[{"type": "tool"}, None]), "span 2 must be an object"),
    (_bad(spans=[{"name": "x"}]), "span 1: type is required"),
    (_bad(spans=[{"type": ""}]), "span 1: type is required"),
    (_bad(steps={}), "steps must be a list"),
    (_bad(steps=[{"attempt": 1}]), "step 1: step_id is required"),
    (_bad(steps=[{"step_id": "s", "accepted": "yes"}]), "step 1: accepted must be true or false"),
    (_bad(steps=[{"step_id": "s", "attempt": 1.5}]), "step 1: attempt must be a whole number"),
    (_bad(status="fine"), "status must be one of ok, error, no_output, interrupted, got 'fine'"),
    (_bad(mode="prod"), "mode must be one of live, test"),
    (_span(status="failed"), "status must be one of ok, error, got 'failed'"),
    (_bad(started_at="yesterday"), "started_at must be ISO 8601"),
    (_bad(started_at="2026-02-30T00:00:00Z"), "started_at must be ISO 8601"),
    (_bad(started_at="2026-01-01T25:00:00Z"), "started_at must be ISO 8601"),
    (_bad(started_at="infinity"), "started_at must be ISO 8601"),
    (_bad(started_at="1969-12-31T23:59:59Z"), "started_at must lie between 1970 and 2200"),
    (_bad(started_at="2201-01-01T00:00:00Z"), "started_at must lie between 1970 and 2200"),
    (_bad(started_at=-5), "started_at must lie between 1970 and 2200"),
    (_bad(started_at=1e300), "started_at must lie between 1970 and 2200"),
    (_bad(started_at=True), "started_at must be a time"),
    (_bad(started_at=[2026]), "started_at must be a time"),
    (_span(started_at="0001-01-01T00:00:00+14:00"), "must lie between 1970 and 2200"),
    (_span(ended_at="9999-12-31T23:59:59-14:00"), "must lie between 1970 and 2200"),
    (_span(duration_ms="long"), "span 1: duration_ms must be a number"),
    (_span(duration_ms=True), "span 1: duration_ms must be a number"),
    (_span(tokens_in=1.5), "span 1: tokens_in must be a whole number"),
    (_span(tokens_in=10**30), "span 1: tokens_in must be a whole number"),
    (_span(tokens_out="1_000"), "span 1: tokens_out must be a whole number"),
    (_span(attributes=[1]), "span 1: attributes must be an object"),
    (_bad(attributes="x"), "attributes must be an object"),
    (_bad(metrics=[1]), "metrics must be an object"),
    (_bad(events={"a": 1}), "events must be a list"),
    (_bad(spans=[{"type": "a", "span_id": "x"}, {"type": "b", "span_id": "x"}]), "span_id 'x' is there twice"),
    (_bad(spans=[{"type": "a"}, {"type": "b", "span_id": "#1"}]), "span_id '#1' is there twice"),
    (_bad(spans=[{"type": "a", "span_id": "x", "parent_id": "x"}]), "'x' is its own ancestor"),
    (
        _bad(spans=[{"type": "a", "span_id": s, "parent_id": p} for s, p in ("xy", "yz", "zx")]),
        "is its own ancestor by parent_id",
    ),
]


@pytest.mark.parametrize(("record", "reason"), CASES, ids=[reason[:40] for _, reason in CASES])
def test_a_bad_record_is_rejected_with_line_and_reason(store, tmp_path, record, reason):
    report = store.load(write(tmp_path / "a.jsonl", GOOD, record, GOOD | {"run_id": "good 2"}))
    assert (report.runs, report.spans) == (2, 2)
    assert [(r.file, r.line) for r in report.rejected] == [(str(tmp_path / "a.jsonl"), 2)]
    assert reason in report.rejected[0].reason


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"run_id": "bad", "spans": [{"type"', "not valid JSON"),
        (b'{"run_id": "bad"} {"run_id": "two"}', "not valid JSON"),
        (b'{"run_id": "bad", "metrics": {"x": NaN}}', "NaN is not a JSON number"),
        (b'{"run_id": "bad", "metrics": {"x": -Infinity}}', "-Infinity is not a JSON number"),
        (b'{"run_id": "bad", "metrics": {"x": nan}}', "not valid JSON"),
        (b'{"run_id": "bad", "input": NaN}', "NaN is not a JSON number"),
        (b'{"run_id": "bad", "spans": [{"type": "tool", "output": {"x": [Infinity]}}]}', "Infinity"),
        (b'{"run_id": "bad", "spans": [{"type": "tool", "duration_ms": 1e999}]}', "too large"),
        (b'{"run_id": "bad", "input": "\xff\xfe"}', "UTF-8, but byte 29 is not"),
        (b'{"run_id": "b\xe4d"}', "UTF-8"),
        ('{"run_id": "bad"}'.encode("utf-16-le"), "not valid JSON"),
        (b'{"run_id": "bad", "input": "a\x00b"}', "not valid JSON"),
        (b"\x00\x00\x00", "not valid JSON"),
        (b"}{", "not valid JSON"),
    ],
)
def test_a_broken_line_is_rejected_and_the_others_come_in(store, tmp_path, line, reason):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"run_id": "good"}\n' + line + b'\n{"run_id": "good 2"}\n')
    report = store.load(path)
    assert [(r.line, reason in r.reason) for r in report.rejected] == [(2, True)], report.rejected
    assert store.sql("select run_id from runs order by 1")["run_id"].tolist() == ["good", "good 2"]


def test_bottomless_nesting_does_no_harm(store, tmp_path):
    deep = b"[" * 100_000 + b"]" * 100_000
    (tmp_path / "a.jsonl").write_bytes(
        b'{"run_id": "r", "input": ' + deep + b'}\n{"run_id": "s", "x": ' + deep + b"}\n"
    )
    report = store.load(tmp_path / "a.jsonl")
    assert report.runs == 1
    assert "nested too deeply" in report.rejected[0].reason


def test_words_that_look_like_bad_numbers_are_words(store, tmp_path):
    spans = [{"type": "tool", "output": text} for text in ("NaN", "Infinity", "inf", '{"a": NaN}', "nan")]
    assert store.load(write(tmp_path / "a.jsonl", {"run_id": "r", "spans": spans})).runs == 1
    assert store.sql("select output from spans order by seq")["output"].tolist() == [s["output"] for s in spans]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_words_are_only_words(tmp_path, text):
    name = "".join(c for c in text if c not in "/\x00\n")[:40].replace("..", "")
    folder = tmp_path / f"d{name}"
    folder.mkdir()
    span = {"type": text, "name": text, "span_id": text, "input": {text: text}, "output": text, "attributes": {text: 1}}
    run = {"run_id": text, "workflow": text, "input": text, text: text, "spans": [span]}
    run["steps"] = [{"step_id": text, "output": text}]
    path = write(folder / f"f{name}.jsonl", run)
    kept = "".join(c for c in name if c not in "?\\")
    with open_store(tmp_path / f"s{kept}.duckdb") as store:
        assert store.load(path).runs == 1
        assert store.load(folder).already == 1
        row = store.sql("select run_id, workflow, input, attributes from runs").to_dict("records")[0]
        assert (row["run_id"], row["workflow"], row["input"]) == (text, text, text)
        assert json.loads(row["attributes"]) == {text: text}
        stored = store.sql("select type, name, span_id, output, attributes, input from spans").to_dict("records")[0]
        assert [stored[k] for k in ("type", "name", "span_id", "output")] == [text] * 4
        assert json.loads(stored["input"]) == {text: text}
        (folder / "d.csv").write_text(
            'run_id,decision,note\n"' + text.replace('"', '""').replace("\x00", "") + '",approved,x\n'
        )
        store.load_decisions(folder / "d.csv")
        assert store.delete([text]) == 1
        assert store.sql("select count(*) as n from runs")["n"][0] == 0
        assert store.sql("select count(*) as n from spans")["n"][0] == 0


@pytest.mark.slow
def test_a_line_of_a_hundred_megabytes_works(store, tmp_path):
    big = "x" * 100_000_000
    path = tmp_path / "a.jsonl"
    with path.open("w") as out:
        out.write('{"run_id": "before"}\n')
        out.write(json.dumps({"run_id": "big", "spans": [{"type": "tool", "output": big}]}) + "\n")
        out.write('{"run_id": "after"}\n')
    report = store.load(path)
    assert (report.runs, report.rejected) == (3, ())
    assert store.sql("select max(strlen(output)) as n from spans")["n"][0] == len(big)


def test_many_parents_in_a_row_are_no_circle(store, tmp_path):
    n = 3_000
    down = [{"type": "t", "span_id": str(i), **({"parent_id": str(i - 1)} if i else {})} for i in range(n)]
    up = [{"type": "t", "span_id": str(i), "parent_id": str(i + 1)} for i in range(n)]
    assert (
        store.load(write(tmp_path / "a.jsonl", {"run_id": "d", "spans": down}, {"run_id": "u", "spans": up})).runs == 2
    )


def test_places_that_are_no_files(store, tmp_path):
    (tmp_path / "x.jsonl").mkdir()
    write(tmp_path / "x.jsonl" / "y.jsonl", GOOD)
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "blank.jsonl").write_text("\n \n")
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "x.jsonl" / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "self").symlink_to(tmp_path / "self")
    (tmp_path / "gone.jsonl").symlink_to(tmp_path / "nowhere.jsonl")
    os.mkfifo(tmp_path / "pipe.jsonl")
    report = store.load(tmp_path)
    assert report.runs == 1
    told = " ".join([*report.skipped, *(r.file for r in report.rejected)])
    for name in ("empty.jsonl", "blank.jsonl", "notes.txt", "gone.jsonl", "pipe.jsonl"):
        assert name in told


@pytest.mark.parametrize("name", ["a?b.duckdb", "a\\b.duckdb", "a?access_mode=read_only"])
def test_store_names_that_mean_more_than_a_name_are_refused(tmp_path, name):
    with pytest.raises(StoreError, match="must be a path without"):
        open_store(tmp_path / name)


def test_paths_that_do_not_exist_are_an_error(store, tmp_path):
    with pytest.raises(InputError, match=r"none\.jsonl does not exist"):
        store.load(tmp_path / "none.jsonl")
    with pytest.raises(InputError, match="at least one"):
        store.load([])
    with pytest.raises(InputError, match=r"cannot be read|does not exist"):
        store.load("a\x00b")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_that_may_not_be_read_is_rejected(store, tmp_path):
    path = write(tmp_path / "a.jsonl", GOOD)
    path.chmod(0)
    assert "cannot be read" in store.load(path).rejected[0].reason


def test_a_file_that_fails_while_it_is_read_is_rejected(store, tmp_path, monkeypatch):
    path = write(tmp_path / "a.jsonl", GOOD)

    def fail(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("check_workbench.store.native.opened", fail)
    report = store.load(path)
    assert [(r.file, r.reason) for r in report.rejected] == [(str(path), "cannot be read: Permission denied")]
