"""What the Inspect reader makes of samples, and of archives that are no good."""

from __future__ import annotations

import copy
import json
import tempfile
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from check_workbench.records import RUN_STATUSES, Run
from check_workbench.results import Answer
from check_workbench.sources import Note, Recognised, Rejected, recognise
from check_workbench.sources.inspect import archive as inspect_archive
from tests.sources.inspect_log import SAMPLE, TASK, write_archive, write_object
from tests.sources.reading import one_run, only, read

if TYPE_CHECKING:
    from check_workbench.store import Store


@pytest.fixture(params=["a.eval", "a.json"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / str(request.param)


def write(path: Path, *samples: Any, **members: Any) -> Path:
    return (write_archive if path.suffix == ".eval" else write_object)(path, *samples, **members)


def run_of(path: Path, **changes: Any) -> Run:
    return one_run(read("inspect", write(path, {**SAMPLE, **changes})))


def at(seconds: float) -> datetime:
    return datetime.fromtimestamp(datetime(2026, 3, 1, 10, tzinfo=UTC).timestamp() + seconds, UTC)


def test_a_sample(path: Path) -> None:
    run = run_of(path)
    assert (run.run_id, run.workflow, run.status) == ("run-1/task-1/1/2", "capture", "ok")
    assert (run.system_prompt, run.input, run.final_output) == ("Rules.", "Find the flag.", "flag")
    assert (run.started_at, run.ended_at) == (at(1), at(9))
    assert run.state == {"notes": ["a.txt"]}
    assert run.metrics == {
        "total_tokens": 132,
        "prompt_tokens": 110,
        "completion_tokens": 22,
        "total_cost": 0.5,
        "duration_ms": 9500.0,
        "working_ms": 4000.0,
    }


def test_what_no_field_takes_is_kept(path: Path) -> None:
    attributes = run_of(path).attributes or {}
    assert attributes["scores"] == {"includes": {"answer": "flag"}}
    assert attributes["events"] == {"span_begin": 4, "model": 2, "tool": 3, "logger": 1, "score": 1}
    assert attributes["eval"] == {key: TASK[key] for key in ("run_id", "task_id", "model", "created")}
    assert (attributes["target"], attributes["metadata"], attributes["output"]) == (
        "flag",
        {"level": 3},
        {"model": "m-1"},
    )
    assert "error_retries" not in attributes


def test_its_messages_and_events(path: Path) -> None:
    spans = run_of(path).spans
    assert [(s.type, s.name, s.input, s.output, s.status) for s in spans] == [
        ("user", None, "Find the flag.", None, None),
        ("llm", None, None, "I look.", None),
        ("tool", "bash", {"cmd": "ls"}, "a.txt", "ok"),
        ("tool", "python", {"code": "1"}, "", "error"),
        ("llm", None, None, "flag", None),
        ("tool", "submit", {"answer": "flag"}, "sent", "ok"),
        ("tool", "search", {"q": "flag"}, "", "error"),
    ]
    assert [s.error for s in spans if s.error] == ["timeout: Too slow.", "unknown: Offline."]
    assert spans[6].attributes == {"in_messages": False, "agent": "helper"}


def test_its_times_and_tokens(path: Path) -> None:
    spans = run_of(path).spans
    reply, call = spans[1:3]
    assert (reply.started_at, reply.ended_at, reply.duration_ms) == (at(2), at(4), None)
    assert (reply.tokens_in, reply.tokens_out, reply.model) == (60, 8, "m-1-2026")
    assert reply.attributes == {
        "id": "m1",
        "reasoning": [{"type": "reasoning", "reasoning": "I should look."}],
        "stop_reason": "tool_calls",
    }
    assert (call.started_at, call.ended_at) == (at(4), at(4.5))
    assert (spans[4].started_at, spans[4].tokens_in) == (None, None)


@pytest.mark.parametrize(
    ("asked", "read_tokens"),
    [
        ({"output": {"usage": {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}}}, 100),
        ({"output": {"usage": {"input_tokens": 10, "total_tokens": 12}}, "cache": "read"}, 110),
        ({"output": {"usage": {"input_tokens": 111, "total_tokens": 112}}}, 110),
        ({"output": {"usage": "none"}}, 110),
        ({"output": None}, 110),
    ],
)
def test_what_scorers_used_is_not_the_runs(tmp_path: Path, asked: dict[str, Any], read_tokens: int) -> None:
    scorer = {"event": "span_begin", "id": "g1", "type": "scorer", "name": "graded"}
    events = [*SAMPLE["events"], scorer, {"event": "model", "span_id": "g1", **asked}]
    run = one_run(read("inspect", write_archive(tmp_path / "a.eval", {**SAMPLE, "events": events})))
    assert (run.metrics or {})["prompt_tokens"] == read_tokens
    assert (run.attributes or {})["model_usage"] == SAMPLE["model_usage"]


def test_older_logs_place_model_calls_and_know_only_how_long_they_took(path: Path) -> None:
    sample = copy.deepcopy(SAMPLE)
    steps = [{"event": "step", "type": "scorer", "name": "includes", "action": action} for action in ("begin", "end")]
    asked = [{"event": "model", "timestamp": f"2026-03-01T10:00:0{n}Z", "output": {"time": n}} for n in (1, 2)]
    judged = {"event": "model", "model": "judge"}
    sample["events"] = [*asked, steps[0], judged, {"event": "score", "timestamp": "2026-03-01T10:00:05Z"}, steps[1]]
    for message in sample["messages"]:
        message.pop("id", None)
    records = read("inspect", write(path, sample))
    replies = [span for span in one_run(records).spans if span.type == "llm"]
    assert [(span.started_at, span.duration_ms) for span in replies] == [(at(1), 1000.0), (at(2), 2000.0)]
    [answer] = only(records, Answer)
    assert (answer.model, answer.at) == ("judge", at(5))
    sample["events"].pop(0)
    assert [s.started_at for s in one_run(read("inspect", write(path, sample))).spans if s.type == "llm"] == [
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("changes", "field", "value"),
    [
        ({"uuid": "u-1"}, "run_id", "u-1"),
        ({"id": "a/b", "epoch": 1}, "run_id", "run-1/task-1/a/b/1"),
        ({"error": {"message": "crashed"}}, "status", "error"),
        ({"limit": {"type": "message", "limit": 50}}, "status", "interrupted"),
        ({"output": {}, "messages": []}, "status", "no_output"),
        ({"output": {"completion": "done", "choices": []}}, "final_output", "done"),
        ({"output": None}, "final_output", "flag"),
        ({"input": [{"role": "system", "content": "S"}, {"role": "user", "content": "Go."}]}, "input", "Go."),
        ({"input": None}, "input", "Find the flag."),
        ({"store": {}}, "state", None),
        ({"started_at": "2026-03-01T09:00:00Z"}, "started_at", at(-3600)),
        ({"model_usage": {}, "total_time": None, "working_time": True}, "metrics", None),
    ],
)
def test_fields(path: Path, changes: dict[str, Any], field: str, value: Any) -> None:
    assert getattr(run_of(path, **changes), field) == value


@pytest.mark.parametrize(
    ("sample", "reason"),
    [
        ("text", "a sample must be an object, got str"),
        ({**SAMPLE, "id": None}, "must have a uuid, or an id and an epoch"),
        ({**SAMPLE, "messages": "x"}, "must be a list, got str"),
        ({**SAMPLE, "messages": ["x"]}, "must be an object with a role"),
        ({**SAMPLE, "scores": []}, None),
        ({**SAMPLE, "scores": [1]}, "scores by name"),
        ({**SAMPLE, "scores": {"a": 1}}, "scores by name"),
        ({**SAMPLE, "started_at": "soon"}, "is no time"),
    ],
)
def test_what_is_no_sample_is_rejected_and_the_next_one_read(path: Path, sample: Any, reason: str | None) -> None:
    text = json.dumps(sample) if path.suffix == ".eval" else sample
    records = read("inspect", write(path, text, {**SAMPLE, "id": 2}))
    rejected = [record.reason for record in only(records, Rejected)]
    assert len(rejected) == (reason is not None)
    assert all(reason in why for why in rejected if reason is not None)
    assert only(records, Run)[-1].run_id == "run-1/task-1/2/2"


def test_samples_that_the_log_only_counts_are_noted(path: Path) -> None:
    records = read("inspect", write(path, SAMPLE, results={"completed_samples": 790}))
    assert [note.text for note in only(records, Note)] == ["the log counts 790 samples, but only 1 are in it"]


def test_a_log_without_samples_is_recognised(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"eval": TASK, "samples": None}))
    recognised = recognise(tmp_path / "a.json")
    assert isinstance(recognised, Recognised)
    assert read("inspect", tmp_path / "a.json") == []


def test_samples_before_their_task_are_rejected(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"samples": [SAMPLE, {**SAMPLE, "uuid": "u"}], "eval": TASK}))
    rejected, run, _ = read("inspect", tmp_path / "a.json")
    assert isinstance(rejected, Rejected)
    assert isinstance(run, Run)
    assert (rejected.reason[-40:], run.run_id) == ("id and an epoch behind an eval with run_id and task_id"[-40:], "u")


def test_several_logs_in_one_file(tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = [
        {"eval": {**TASK, "task_id": task}, "results": {"total_samples": 2}, "samples": [SAMPLE]} for task in "ab"
    ]
    (tmp_path / "a.json").write_text("\n".join(map(json.dumps, lines)))
    records = read("inspect", tmp_path / "a.json")
    assert [run.run_id for run in only(records, Run)] == ["run-1/a/1/2", "run-1/b/1/2"]
    assert len(only(records, Note)) == 2


def test_an_evaluation_that_has_not_ended(tmp_path: Path) -> None:
    path = write_archive(tmp_path / "a.eval", SAMPLE, names=("_journal/start.json",))
    recognised = recognise(path)
    assert isinstance(recognised, Recognised)
    assert recognised.format.name == "inspect"
    records = read("inspect", path)
    assert one_run(records).run_id == "run-1/task-1/1/2"
    assert [note.text for note in only(records, Note)] == ["it has no header.json: the evaluation has not ended"]


def test_a_broken_header_is_rejected_and_the_journal_used(tmp_path: Path) -> None:
    path = write_archive(tmp_path / "a.eval", SAMPLE, names=("_journal/start.json",))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("header.json", "{")
    records = read("inspect", path)
    assert [r.reason for r in only(records, Rejected)] == [
        "header.json: not valid JSON: Expecting property name enclosed in double quotes at character 2"
    ]
    assert one_run(records).workflow == "capture"


def test_a_member_that_unpacks_too_large_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_archive(tmp_path / "a.eval", " " * 3_000_000 + "{}", SAMPLE)
    assert path.stat().st_size < 10_000
    monkeypatch.setattr(inspect_archive, "LARGEST", 1_000_000)
    records = read("inspect", path)
    [rejected] = only(records, Rejected)
    assert (rejected.line, "unpacks to more than 1,000,000 bytes" in rejected.reason) == (1, True)
    assert only(records, Run)


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [(10, 93, "packed with Zstandard, which this Python cannot unpack"), (10, 77, "method 77"), (8, 1, "encrypted")],
)
def test_members_that_cannot_be_unpacked(tmp_path: Path, field: int, value: int, reason: str) -> None:
    path = write_archive(tmp_path / "a.eval", SAMPLE)
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        name = archive.infolist()[-1].filename.encode()
    local, central = data.find(name), data.rfind(name)
    data[local - 30 + field - 2 : local - 30 + field] = value.to_bytes(2, "little")
    data[central - 46 + field : central - 46 + field + 2] = value.to_bytes(2, "little")
    path.write_bytes(data)
    [rejected] = only(read("inspect", path), Rejected)
    assert reason in rejected.reason


def test_a_damaged_member_is_rejected(tmp_path: Path) -> None:
    path = write_archive(tmp_path / "a.eval", SAMPLE, {**SAMPLE, "id": 2})
    data = bytearray(path.read_bytes())
    start = data.find(b"samples/1_") + 60
    data[start : start + 20] = bytes(20)
    path.write_bytes(data)
    records = read("inspect", path)
    assert [("damaged" in r.reason, r.line) for r in only(records, Rejected)] == [(True, 1)]
    assert one_run(records).run_id == "run-1/task-1/2/2"


def test_nan_in_an_archive_is_null_and_noted(tmp_path: Path) -> None:
    sample = {**SAMPLE, "scores": {"f1": {"value": float("nan")}}, "total_time": float("inf")}
    records = read("inspect", write_archive(tmp_path / "a.eval", sample))
    [answer] = only(records, Answer)
    assert (answer.score, answer.value) == (None, None)
    assert "duration_ms" not in (one_run(records).metrics or {})
    assert ["NaN" in note.text for note in only(records, Note)] == [True]


def test_nan_in_many_samples_is_noted_once(tmp_path: Path) -> None:
    samples = [{**SAMPLE, "epoch": epoch, "total_time": float("nan")} for epoch in (1, 2, 3)]
    records = read("inspect", write_archive(tmp_path / "a.eval", *samples))
    assert (len(only(records, Run)), len(only(records, Note))) == (3, 1)


@pytest.mark.parametrize("keep", [0, 10, 300, -30])
def test_a_cut_archive_is_rejected(tmp_path: Path, store: Store, keep: int) -> None:
    path = write_archive(tmp_path / "a.eval", SAMPLE)
    path.write_bytes(path.read_bytes()[:keep])
    report = store.load(path)
    assert (report.runs, len(report.rejected)) == (0, 1)


def test_other_archives_and_objects_are_not_taken(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("header.json", "{}")
    (tmp_path / "a.json").write_text('{"eval": {"task": "x"}, "version": 1}')
    assert [recognise(tmp_path / name) for name in ("a.zip", "a.json")] == [None, None]


@given(
    key=st.sampled_from(sorted(SAMPLE)),
    value=st.none() | st.booleans() | st.integers(0) | st.text() | st.lists(st.none()),
)
def test_nothing_vanishes(key: str, value: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        records = read("inspect", write_archive(Path(folder, "a.eval"), {**SAMPLE, key: value}))
    assert len(only(records, Run)) + len(only(records, Rejected)) == 1
    assert all(run.status in RUN_STATUSES for run in only(records, Run))


def test_the_real_logs(realdata: Path, store: Store) -> None:
    report = store.load(realdata / "inspect_logs")
    assert (report.runs, report.answers, report.decisions, report.rejected) == (251, 251, 0, ())
    [note] = report.notes
    assert note.endswith("docent/log.eval: the log counts 790 samples, but only 15 are in it")
    grades = store.sql(
        "select workflow, passed, count(*) as n from answers join runs using (run_id) "
        "group by runs.source_key, workflow, passed having n > 4 order by all",
    )
    assert grades.to_numpy().tolist() == [
        ["inspect_evals/luce_intercode_ctf", False, 6],
        ["inspect_evals/luce_intercode_ctf", True, 9],
        ["popularity", False, 37],
        ["popularity", True, 8],
        ["popularity", True, 63],
        ["security_guide", False, 5],
        ["security_guide", True, 11],
        ["theory_of_mind", False, 17],
        ["theory_of_mind", True, 83],
    ]
    calls = store.sql(
        "select count(*) as calls, count(*) filter (failed) as failed, count(distinct run_key) as runs from spans "
        "join runs using (run_key) where spans.type = 'tool' and workflow = 'inspect_evals/luce_intercode_ctf'",
    )
    assert calls.to_numpy().tolist() == [[121, 6, 15]]
    referring = store.sql(
        "select count(*) as n from spans where input like '%attachment://%' or output like '%attachment://%'"
    )
    assert referring["n"].item() == 0
    judges = store.sql("select distinct model from answers where check_id = 'model_graded_fact'")
    assert judges["model"].tolist() == ["gpt-4o-mini-2024-07-18"]


def test_tokens_of_real_runs_are_those_of_their_own_model_calls(realdata: Path) -> None:
    told = [
        ((run.metrics or {}).get("prompt_tokens"), sum(tokens))
        for path in sorted((realdata / "inspect_logs").rglob("*.eval"))
        for run in only(read("inspect", path), Run)
        if (tokens := [one.tokens_in for one in run.spans if one.tokens_in is not None])
    ]
    assert len(told) > 100
    assert [pair for pair in told if pair[0] is not None and pair[0] != pair[1]] == []


def test_a_task_and_tokens_of_odd_types(tmp_path: Path) -> None:
    events = [
        {**event, "output": {**event["output"], "usage": {"input_tokens": 10**30, "output_tokens": 8.0}}}
        if event.get("event") == "model" and isinstance(event.get("output"), dict)
        else event
        for event in SAMPLE["events"]
    ]
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"eval": {**TASK, "task": {"a": 1}}, "samples": [{**SAMPLE, "events": events}]}))
    run = one_run(read("inspect", path))
    assert run.workflow == '{"a": 1}'
    assert {one.tokens_in for one in run.spans} == {None}
    assert 8 in {one.tokens_out for one in run.spans}
