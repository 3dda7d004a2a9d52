from __future__ import annotations

import gzip
import json
from typing import Any

import pandas as pd
import pytest

from check_workbench.errors import InputError
from check_workbench.store import open_store
from check_workbench.store.blocks import blocks
from tests.store.making import contents, load_slowly, write

pytestmark = pytest.mark.usefixtures("alone")
"""Files of our own lines are read by the database; small ones that are stored together are in `test_gathered`."""

RUN: dict[str, Any] = {
    "run_id": "r",
    "workflow": "w",
    "status": "ok",
    "started_at": "2026-01-01T00:00:00Z",
    "metrics": {"total_tokens": 12},
    "spans": [
        {"type": "tool", "name": "get", "input": {"b": 1.0, "a": [1, None]}, "output": "done", "status": "ok"},
        {"type": "llm", "name": "model", "tokens_in": 3, "duration_ms": 1.5},
    ],
    "steps": [{"step_id": "s", "output": {"x": 1}, "accepted": True}],
}


def test_a_run_comes_in_with_its_parts(store, tmp_path):
    report = store.load(write(tmp_path / "runs.jsonl", RUN))
    assert (report.runs, report.spans, report.steps, report.already, report.replaced) == (1, 2, 1, 0, 0)
    assert report.rejected == ()
    spans = store.sql("from spans order by seq")
    assert spans["span_id"].tolist() == ["#1", "#2"]
    assert spans["input"].tolist()[0] == '{"b":1.0,"a":[1,null]}'
    assert spans["tokens_in"].tolist() == [pd.NA, 3]
    assert store.sql("select attempt, output, accepted from steps").to_dict("records") == [
        {"attempt": 1, "output": '{"x":1}', "accepted": True},
    ]
    assert store.sql("select path, format, runs, spans, steps from sources").to_dict("records") == [
        {"path": str(tmp_path / "runs.jsonl"), "format": "workbench", "runs": 1, "spans": 2, "steps": 1},
    ]


def test_loading_again_adds_nothing(store, tmp_path):
    path = write(tmp_path / "runs.jsonl", RUN, {"run_id": "other", "note": "kept"})
    store.load(path)
    before = store.sql("from spans")
    report = store.load([path, path])
    assert (report.runs, report.spans, report.already, report.replaced) == (0, 0, 2, 0)
    pd.testing.assert_frame_equal(store.sql("from spans"), before)


def test_the_digest_is_of_content_not_of_bytes(store, tmp_path):
    store.load(write(tmp_path / "a.jsonl", RUN))
    other = {key: RUN[key] for key in reversed(RUN)} | {"started_at": "2026-01-01T01:00:00+01:00"}
    other["spans"] = [dict(reversed(span.items())) for span in RUN["spans"]]
    other["spans"][0]["input"] = {"a": [1, None], "b": 1.0}
    (tmp_path / "b.jsonl").write_text("\n\n" + json.dumps(other, separators=(" ,", " : ")) + "\r\n  \n")
    assert store.load(tmp_path / "b.jsonl").already == 1


def test_gzip_and_a_byte_order_mark(store, tmp_path):
    text = b"\xef\xbb\xbf" + json.dumps(RUN).encode()
    (tmp_path / "runs.jsonl.gz").write_bytes(gzip.compress(text, mtime=0))
    (tmp_path / "same.jsonl").write_bytes(text)
    report = store.load(tmp_path)
    assert (report.runs, report.already, report.rejected) == (1, 1, ())


def test_a_cut_gzip_file_keeps_what_came_before(store, tmp_path):
    whole = gzip.compress("".join(json.dumps({"run_id": f"r{i}"}) + "\n" for i in range(50_000)).encode(), mtime=0)
    (tmp_path / "cut.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    report = store.load(tmp_path / "cut.jsonl.gz")
    assert [r.reason for r in report.rejected if "compressed file is broken" in r.reason]


def _grown(**changes):
    return RUN | changes


@pytest.mark.parametrize(
    ("again", "wins"),
    [
        (_grown(spans=[*RUN["spans"], {"type": "tool"}]), True),
        (_grown(spans=RUN["spans"][:1]), False),
        (_grown(steps=[*RUN["steps"], {"step_id": "t"}]), True),
        (_grown(steps=[]), False),
        (_grown(ended_at="2026-01-02T00:00:00Z"), True),
        (_grown(final_output="later load"), True),
        (_grown(spans=RUN["spans"][:1], steps=[*RUN["steps"], {"step_id": "t"}], ended_at="2027-01-01"), False),
    ],
)
def test_the_fuller_record_of_a_run_wins(store, tmp_path, again, wins):
    if "ended_at" in again and len(again["ended_at"]) == 10:
        again = again | {"ended_at": "2027-01-01T00:00:00Z"}
    store.load(write(tmp_path / "a.jsonl", RUN))
    before = store.sql("select run_id, digest from runs")["digest"][0]
    report = store.load(write(tmp_path / "b.jsonl", again))
    assert (report.runs, report.replaced, report.already) == (0, int(wins), int(not wins))
    after = store.sql("select run_id, digest from runs")
    assert len(after) == 1
    assert (after["digest"][0] != before) == wins
    expected = again if wins else RUN
    assert store.sql("select count(*) as n from spans")["n"][0] == len(expected["spans"])
    assert store.sql("select count(*) as n from steps")["n"][0] == len(expected["steps"])


def test_of_two_ends_the_later_wins(store, tmp_path):
    store.load(write(tmp_path / "a.jsonl", _grown(ended_at="2026-01-02T00:00:00Z")))
    assert store.load(write(tmp_path / "b.jsonl", _grown(ended_at="2026-01-01T12:00:00Z"))).already == 1
    assert store.load(write(tmp_path / "c.jsonl", _grown(ended_at="2026-01-03T12:00:00Z"))).replaced == 1


def test_a_replaced_run_loses_measurements_keeps_decisions_and_its_answers_are_stale(store, tmp_path):
    store.load(write(tmp_path / "a.jsonl", RUN, {"run_id": "other"}))
    key = int(store.sql("select run_key from runs where run_id = 'r'")["run_key"][0])
    other = int(store.sql("select run_key from runs where run_id = 'other'")["run_key"][0])
    store.insert("measurements", pd.DataFrame({"asked": "x", "run_key": [key, other], "value": [1.0, 2.0]}))
    (tmp_path / "d.csv").write_text("run_id,decision\nr,approved\nother,rejected\n")
    store.load_decisions(tmp_path / "d.csv")
    write(tmp_path / "answers.jsonl", {"run_id": "r", "check_id": "c", "probability": 0.5})
    store.load_answers(tmp_path / "answers.jsonl")
    report = store.load(write(tmp_path / "b.jsonl", _grown(spans=[*RUN["spans"], {"type": "tool"}])))
    assert report.replaced == 1
    assert store.sql("select run_key from measurements")["run_key"].tolist() == [other]
    assert store.sql("select decision from decisions order by 1")["decision"].tolist() == ["approved", "rejected"]
    assert store.sql("select stale from answers")["stale"].tolist() == [True]


def test_a_run_id_repeated_in_a_file_is_rejected_unless_identical(store, tmp_path):
    path = write(tmp_path / "a.jsonl", RUN, RUN, _grown(final_output="other"), {"run_id": "x", "extra": 1})
    report = store.load(path)
    assert (report.runs, report.already) == (2, 1)
    assert [(r.line, r.reason) for r in report.rejected] == [
        (3, "run_id 'r' must be there once in a file, but line 1 has it with other content"),
    ]


def test_a_repeated_run_id_is_seen_across_blocks(store, tmp_path, monkeypatch):
    monkeypatch.setattr("check_workbench.store.native.blocks", lambda stream: blocks(stream, size=64))
    path = write(tmp_path / "a.jsonl", RUN, {"run_id": "x"}, RUN, _grown(final_output="other"))
    report = store.load(path)
    assert (report.runs, report.already, [r.line for r in report.rejected]) == (2, 1, [4])


@pytest.mark.parametrize("size", [1, 7, 100, 1 << 20])
def test_every_record_has_a_fate_whatever_the_block(tmp_path, monkeypatch, size):
    monkeypatch.setattr("check_workbench.store.native.blocks", lambda stream: blocks(stream, size=size))
    records = [RUN | {"run_id": f"r{i % 7}", "n": i // 7 % 2} for i in range(20)]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(json.dumps(r) for r in records) + '\n{"run_id"\n\n[1]')
    with open_store() as store:
        report = store.load(path)
    assert report.runs + report.already + report.replaced + len(report.rejected) == 22
    assert (report.runs, report.already) == (7, 6)
    assert [r.line for r in report.rejected][-2:] == [21, 23]


def test_keys_that_are_no_field_go_into_attributes(store, tmp_path):
    run = {
        "run_id": "r",
        "attributes": {"team": "red"},
        "team": "blue",
        "spans": [{"type": "tool", "cost": 0.5, "attributes": {"a": 1}}],
        "steps": [{"step_id": "s", "extra": [1]}],
    }
    store.load(write(tmp_path / "a.jsonl", run))
    found = [json.loads(store.sql(f"select attributes from {t}")["attributes"][0]) for t in ("runs", "spans", "steps")]
    assert found == [{"team": "red", "team_": "blue"}, {"a": 1, "cost": 0.5}, {"extra": [1]}]


def test_spans_are_ordered_by_start_or_else_as_in_the_file(store, tmp_path):
    def span(name, at):
        return {"type": "tool", "name": name, "started_at": at}

    timed = [span("c", "2026-01-01T00:00:03Z"), span("a", 1767225601), span("b", "2026-01-01T01:00:02+01:00")]
    gap = [span("c", "2026-01-01T00:00:03Z"), {"type": "tool", "name": "a"}, span("b", "2026-01-01T00:00:01Z")]
    tie = [span("x", 1), span("y", 1), span("w", 0)]
    records = [{"run_id": n, "spans": s} for n, s in (("timed", timed), ("gap", gap), ("tie", tie))]
    store.load(write(tmp_path / "a.jsonl", *records))
    found = store.sql("select run_id, name, span_id from spans join runs using (run_key) order by run_key, seq")
    order = {run: list(zip(g["name"], g["span_id"], strict=True)) for run, g in found.groupby("run_id")}
    assert order["timed"] == [("a", "#2"), ("b", "#3"), ("c", "#1")]
    assert order["gap"] == [("c", "#1"), ("a", "#2"), ("b", "#3")]
    assert order["tie"] == [("w", "#3"), ("x", "#1"), ("y", "#2")]
    assert store.sql("from spans")[["run_key", "seq"]].apply(tuple, axis=1).is_monotonic_increasing


@pytest.mark.parametrize(
    ("span", "failed"),
    [
        ({}, False),
        ({"status": "ok"}, False),
        ({"status": "error"}, True),
        ({"error": "boom"}, True),
        ({"error": ""}, False),
        ({"attributes": {"is_error": True}}, True),
        ({"attributes": {"isError": True}}, True),
        ({"attributes": {"tool.is_error": True}}, True),
        ({"attributes": {"result": {"is_error": True}}}, True),
        ({"attributes": {"is_error": False}}, False),
        ({"attributes": {"is_error": "true"}}, False),
        ({"attributes": {"text": '{"is_error":true}'}}, False),
        ({"attributes": {"not_is_error": True}}, False),
        ({"is_error": True}, True),
        ({"output": {"isError": True, "content": []}}, True),
        ({"output": {"isError": False}}, False),
        ({"output": 'says "isError" in words'}, False),
        ({"output": '{"isError": broken'}, False),
    ],
)
def test_a_call_failed_by_its_status_or_any_explicit_flag(store, tmp_path, span, failed):
    store.load(write(tmp_path / "a.jsonl", {"run_id": "r", "spans": [{"type": "mcp_tool", **span}]}))
    assert store.sql("select failed from spans")["failed"].tolist() == [failed]


def test_the_text_of_mcp_results(store, tmp_path):
    outputs = [
        {"content": [{"type": "text", "text": "one"}, {"type": "image", "data": "x"}, {"type": "text", "text": "two"}]},
        {"content": [{"type": "text", "text": "é" * 300_000}]},
        {"content": "plain"},
        {"content": []},
        "content",
    ]
    spans = [{"type": "mcp_tool", "output": output} for output in outputs]
    store.load(write(tmp_path / "a.jsonl", {"run_id": "r", "spans": spans}))
    texts = store.sql("select mcp_text from spans order by seq")["mcp_text"].tolist()
    assert texts[0] == "one\ntwo"
    assert texts[1] == "é" * 200_000
    assert [text != text or text is None for text in texts[2:]] == [True] * 3  # noqa: PLR0124


def test_digests_compare_json_canonically(store, tmp_path):
    inputs = [{"a": 1, "b": 2}, {"b": 2, "a": 1}, '{"b":2,"a":1}', "text", "text ", None, " [1, 2]", [1, 2], 5, "5"]
    spans = [{"type": "tool", "input": value} for value in inputs]
    store.load(write(tmp_path / "a.jsonl", {"run_id": "r", "spans": spans}))
    found = store.sql("select input_digest from spans order by seq")["input_digest"].tolist()
    assert found[0] == found[1] == found[2] != found[3] != found[4]
    assert found[5] is pd.NA
    assert found[6] == found[7]
    assert found[8] == found[9]


def test_digests_stay_the_same_for_ever(store, tmp_path):
    store.load(write(tmp_path / "a.jsonl", RUN))
    assert store.sql("select digest from runs")["digest"].tolist() == [DIGEST]
    assert store.sql("select input_digest from spans where seq = 0")["input_digest"].tolist() == [INPUT_DIGEST]


DIGEST = 3835114429178039593
INPUT_DIGEST = 4153634475796653373


def test_durations_are_filled_from_times(store, tmp_path):
    def span(start, end, **more):
        return {"type": "tool", "started_at": start, "ended_at": end, **more}

    spans = [span(1, 2.5), span(2, 1), span(3, 4, duration_ms=7)]
    store.load(write(tmp_path / "a.jsonl", {"run_id": "r", "spans": spans}))
    found = store.sql("select duration_ms from spans order by seq")["duration_ms"].tolist()
    assert (found[0], found[2]) == (1500.0, 7.0)
    assert found[1] != found[1]


def test_times_without_a_zone_are_utc_and_noted(store, tmp_path):
    naive = write(tmp_path / "naive.jsonl", {"run_id": "n", "started_at": "2026-03-01T12:00:00"})
    zoned = write(tmp_path / "zoned.jsonl", {"run_id": "z", "started_at": "2026-03-01 13:00:00+01:00"})
    assert store.load(zoned).notes == ()
    assert store.load(naive).notes == (f"{naive}: times without a zone were read as UTC",)
    assert store.sql("select distinct started_at::varchar as t from runs")["t"].tolist() == ["2026-03-01 12:00:00"]


def test_progress_goes_from_nothing_to_all(store, tmp_path):
    for i in range(3):
        write(tmp_path / f"{i}.jsonl", {"run_id": f"r{i}"})
    seen: list[float] = []
    store.load(tmp_path, progress=lambda _, share: seen.append(share))
    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (0.0, 1.0)


def test_a_long_load_says_where_it_is_on_stderr(store, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("check_workbench.store.progress.QUIET_SECONDS", 0.0)
    store.load(write(tmp_path / "a.jsonl", RUN))
    out, err = capsys.readouterr()
    assert out == ""
    assert "a.jsonl" in err


def test_an_unknown_format_gets_a_hint(store, tmp_path):
    with pytest.raises(InputError, match="Did you mean 'workbench'"):
        store.load(write(tmp_path / "a.jsonl", RUN), format="workbnch")


def test_both_ways_of_loading_agree(store, tmp_path):
    store.load(write(tmp_path / "a.jsonl", RUN))
    with open_store() as slow:
        assert load_slowly(slow, RUN).runs == 1
        for name in ("runs", "spans", "steps"):
            assert contents(slow, name) == contents(store, name)
