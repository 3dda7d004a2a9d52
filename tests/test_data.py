"""The sample data: the same bytes from the same seed, small, and in the forms that it claims."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from check_workbench import samples
from check_workbench.errors import InputError
from check_workbench.records import DECISIONS, PROVENANCES

if TYPE_CHECKING:
    from pathlib import Path

DATA = samples.sample_data()
GENERATED = (
    "refunds/runs.jsonl",
    "refunds/answers.jsonl",
    "refunds/labels.csv",
    "vendors/runs.jsonl",
    "vendors/decisions.csv",
    "vendors-after/runs.jsonl",
    "vendors-after/labels.csv",
    "tickets/tickets.tsv",
    "tickets/trace.jsonl",
    "tickets/reviews.csv",
    "tickets/screen.csv",
)
CALL_COLUMNS = ("tool", "args", "res", "ok", "ms")


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


def rows(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def ticket_rows() -> list[dict[str, str]]:
    head, *rest = (DATA / "tickets" / "tickets.tsv").read_text(encoding="utf-8").splitlines()
    return [dict(zip(head.split("\t"), row.split("\t"), strict=True)) for row in rest]


@pytest.fixture(scope="module")
def again(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("again")
    subprocess.run([sys.executable, "-B", DATA / "generate.py", folder], check=True, capture_output=True)
    return folder


@pytest.mark.parametrize("name", GENERATED)
def test_the_seed_gives_the_same_bytes(again: Path, name: str) -> None:
    assert (again / name).read_bytes() == (DATA / name).read_bytes()


def test_nothing_else_is_generated(again: Path) -> None:
    assert sorted(p.relative_to(again).as_posix() for p in again.rglob("*") if p.is_file()) == sorted(GENERATED)


def test_the_picture_is_that_of_the_data(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-B", DATA / "picture.py", tmp_path / "again.svg"], check=True, capture_output=True)
    assert (tmp_path / "again.svg").read_bytes() == (DATA / "picture.svg").read_bytes()


def test_the_seed_stands_in_the_readme() -> None:
    seed = re.search(r"^SEED = (\d+)$", (DATA / "generate.py").read_text(encoding="utf-8"), re.MULTILINE)
    assert seed
    assert f"with seed {seed.group(1)} " in (DATA / "README.md").read_text(encoding="utf-8")


def test_it_is_small() -> None:
    assert sum(p.stat().st_size for p in DATA.rglob("*") if p.is_file()) < 3_000_000


def test_run_ids_are_unique_and_every_decision_and_answer_finds_its_run() -> None:
    for folder, decisions in (("refunds", "labels.csv"), ("vendors", "decisions.csv"), ("vendors-after", "labels.csv")):
        ids = [run["run_id"] for run in lines(f"{folder}/runs.jsonl")]
        assert len(ids) == len(set(ids))
        assert {row["run_id"] for row in rows(f"{folder}/{decisions}")} <= set(ids)
    assert {a["run_id"] for a in lines("refunds/answers.jsonl")} <= {r["run_id"] for r in lines("refunds/runs.jsonl")}


def test_decisions_use_the_words_of_the_contract() -> None:
    for row in [*rows("refunds/labels.csv"), *rows("vendors/decisions.csv"), *rows("vendors-after/labels.csv")]:
        assert row["decision"] in DECISIONS
        assert row["provenance"] in PROVENANCES
        assert (row["provenance"] == "blind") == (row["verdict_seen"] == "false")


def test_recorded_answers_pile_up_at_the_cap() -> None:
    given = Counter(a["probability"] for a in lines("refunds/answers.jsonl") if "probability" in a)
    assert max(given) == 0.9
    assert given[0.9] >= 10
    assert len(given) >= 30


def test_some_pairs_of_approvers_disagree() -> None:
    said: dict[tuple[str, str, str], list[str]] = {}
    for row in rows("vendors/decisions.csv"):
        said.setdefault((row["run_id"], row["step_id"], row["attempt"]), []).append(row["decision"])
    pairs = [decisions for decisions in said.values() if len(decisions) == 2]
    assert len(pairs) >= 20
    assert 2 <= sum(first != second for first, second in pairs) <= 10


def test_a_decision_comes_after_the_submission_that_it_is_about() -> None:
    submitted = {
        (run["run_id"], step["step_id"], str(step["attempt"])): step["at"]
        for run in lines("vendors/runs.jsonl")
        for step in run["steps"]
    }
    about = {"approve_vendor": "check_vendor", "approve_terms": "write_terms"}
    for row in rows("vendors/decisions.csv"):
        assert submitted[row["run_id"], about[row["step_id"]], row["attempt"]] < row["decided_at"]


def test_what_auditors_say_is_about_work_that_passed_and_comes_after_it() -> None:
    steps = {
        (run["run_id"], str(step["attempt"])): step
        for run in lines("vendors-after/runs.jsonl")
        for step in run["steps"]
    }
    passed = {key for key, step in steps.items() if step["check"]["verdict"] == "pass"}
    said = rows("vendors-after/labels.csv")
    assert {(row["run_id"], row["attempt"]) for row in said} == passed
    assert all(steps[row["run_id"], row["attempt"]]["at"] < row["decided_at"] for row in said)
    assert max(row["decided_at"] for row in rows("vendors/decisions.csv")) < min(s["at"] for s in steps.values())


def test_recorded_verdicts_follow_from_the_process_file() -> None:
    from check_workbench.dialects import read_checks
    from check_workbench.results import Answer, judge

    checks = {check.step_id: check for check in read_checks(DATA / "vendors" / "PROCESS.md")}
    for run in [*lines("vendors/runs.jsonl"), *lines("vendors-after/runs.jsonl")]:
        for step in run["steps"]:
            for question in step.get("check", {}).get("questions", []):
                (item,) = checks[step["step_id"]].items
                assert getattr(item.asks, "ask", None) == question["ask"]
                kind = "probability" if question["kind"] == "yes_no" else "level"
                answer = Answer(
                    check_id="c", run_id="r", confidence=question.get("confidence"), **{kind: question["answer"]}
                )
                assert judge(item, answer).status == question["result"] == step["check"]["verdict"]


def test_the_recorded_question_is_the_one_in_the_check_file() -> None:
    from check_workbench.dialects import read_checks

    (check,) = read_checks(DATA / "refunds" / "checks" / "refund-without-ownership.check.yaml")
    assert {a["ask"] for a in lines("refunds/answers.jsonl")} == {getattr(check.items[0].asks, "ask", None)}


def test_tickets_are_few_and_described_column_by_column() -> None:
    assert sum(p.stat().st_size for p in (DATA / "tickets").iterdir()) < 60_000
    described = set(re.findall(r"`(\w+)`", (DATA / "tickets" / "README.md").read_text(encoding="utf-8")))
    recorded = [ticket_rows()[0], lines("tickets/trace.jsonl")[0]]
    recorded += [rows("tickets/reviews.csv")[0], rows("tickets/screen.csv")[0]]
    assert {name for record in recorded for name in record} <= described


def test_the_arrays_of_a_trace_are_parallel() -> None:
    traces = lines("tickets/trace.jsonl")
    assert all(len({len(trace[column]) for column in CALL_COLUMNS}) == 1 for trace in traces)
    flags = Counter(flag for trace in traces for flag in trace["ok"])
    assert flags == {1: 163, 0: 31}
    times = [[ms for ms in trace["ms"] if ms is not None] for trace in traces]
    assert all(ms == sorted(ms) for ms in times)
    assert sum(map(len, times)) == 163 + 31 - 1


def test_some_tickets_repeat_a_call() -> None:
    most = {
        trace["ticket"]: max(Counter(zip(trace["tool"], map(json.dumps, trace["args"]), strict=True)).values())
        for trace in lines("tickets/trace.jsonl")
        if trace["tool"]
    }
    assert [ticket for ticket, count in most.items() if count >= 3] == ["T-00038", "T-00039", "T-00057", "T-00058"]


def test_tickets_have_the_flaws_that_the_readme_tells() -> None:
    tickets = ticket_rows()
    numbers = [row["no"] for row in tickets]
    assert numbers == [str(number) for number in range(1, 61)]
    assert [row["no"] for row in tickets if not row["requester_group"]] == ["9"]
    assert [row["no"] for row in tickets if not row["closed"]] == ["60"]
    assert [row["no"] for row in tickets if "\\n" in row["request"]] == ["14"]
    assert [row["no"] for row in tickets if row["request"].startswith('"')] == ["38"]
    spelled = {f"T-{int(number):05d}" for number in numbers}
    assert spelled - {trace["ticket"] for trace in lines("tickets/trace.jsonl")} == {"T-00031"}
    scores = {row["ticket"]: row["p_unkept"] for row in rows("tickets/screen.csv")}
    assert spelled - set(scores) == {"T-00046"}
    assert [ticket for ticket, score in scores.items() if not score] == ["T-00020"]


def test_reviews_of_tickets() -> None:
    given = rows("tickets/reviews.csv")
    known = [row for row in given if row["ticket"] in {ticket["no"] for ticket in ticket_rows()}]
    assert [row["ticket"] for row in given if row not in known] == ["77"]
    assert Counter(row["code"] for row in known) == {"0": 36, "1": 18, "9": 5}
    assert Counter(row["score_shown"] for row in known) == {"n": 48, "y": 10, "": 1}
    codes: dict[str, set[str]] = {}
    for row in known:
        codes.setdefault(row["ticket"], set()).add(row["code"])
    assert [ticket for ticket, said in codes.items() if len(said) > 1] == ["23"]
    scored = {int(row["ticket"][2:]) for row in rows("tickets/screen.csv") if row["p_unkept"]}
    assert {int(row["ticket"]) for row in known if row["score_shown"] == "y"} <= scored


def test_sample_data_is_found_in_a_wheel_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "check_workbench"
    monkeypatch.setattr("importlib.resources.files", lambda _: package)
    with pytest.raises(InputError, match="sample data is missing"):
        samples.sample_data()
    for place in (tmp_path / "data", package / "_data"):
        (place / "refunds").mkdir(parents=True)
        (place / "refunds" / "runs.jsonl").touch()
        assert samples.sample_data() == place
