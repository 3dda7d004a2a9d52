"""Real sessions of coding agents: counts taken from the raw files, and what the store and the rules make of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import check_workbench as cw
from check_workbench import rules
from check_workbench.checks import Count, Errors, Metric, Repeat, Rule, RunEnd, Selector, Slow, UnrecoveredError
from check_workbench.cli import main
from tests import reference_rules
from tests.rules.battery import assert_agree, every_type, rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from check_workbench.store import Store

TOOLS = Selector(types=("tool", "mcp_tool"))
LONG, SHORT, SPLIT = (
    "fe5e1c67-53e7-4862-81ae-d0e013e3270b",
    "1af7fc5e-8455-4414-9ccd-011d40f70b2a",
    "5c0375b4-57a5-4f26-b12d-d022ee4e51b7",
)


@pytest.fixture(scope="module")
def coding(realdata: Path) -> Iterator[Store]:
    codex = sorted((realdata / "otel_traces" / "strands_evals").glob("codex_*.json"))
    assert len(codex) == 2
    with cw.open() as store:
        report = store.load([realdata / "coding_agent_sessions", *codex])
        assert (report.runs, report.rejected, report.notes) == (29, (), ())
        assert all("LICENSE" in name for name in report.skipped)
        yield store


@pytest.fixture(scope="module")
def raw(realdata: Path) -> dict[str, list[dict[str, Any]]]:
    folder = realdata / "coding_agent_sessions" / "claude_code"
    return {
        path.stem: [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
        for path in folder.glob("*.jsonl")
    }


def measured(store: Store, rule: Rule) -> dict[str, float]:
    values = store.execute(rules.measure(rule, store.table("spans"), store.table("runs")))
    known = values.dropna(subset=["value"]).merge(store.sql("select run_key, run_id from runs"), on="run_key")
    return {str(name): float(value) for name, value in zip(known["run_id"], known["value"], strict=True)}


def blocks(lines: list[dict[str, Any]], type_: str) -> list[tuple[dict[str, Any], str]]:
    return [
        (block, line["timestamp"])
        for line in lines
        for block in (line.get("message") or {}).get("content") or ()
        if isinstance(block, dict) and block.get("type") == type_
    ]


def test_runs_and_spans_of_each_format(coding: Store) -> None:
    found = coding.sql(
        "select format, count(*) as runs, sum(span_count) as spans, "
        "from runs join sources using (source_key) group by format order by format"
    )
    assert list(found.itertuples(index=False, name=None)) == [
        ("atif", 4, 32),
        ("claude_code", 5, 415),
        ("codex", 1, 4),
        ("codex_exec", 1, 3),
        ("mini_swe_agent", 1, 5),
        ("swe_agent", 17, 381),
    ]


def test_every_tool_result_of_the_sessions_is_there(coding: Store, raw: dict[str, Any]) -> None:
    results = [block for lines in raw.values() for block, _ in blocks(lines, "tool_result")]
    assert (len(results), sum(one.get("is_error") is True for one in results)) == (200, 27)
    found = coding.sql(
        "select count(*), count(output), count(*) filter (failed), count(duration_ms) from spans "
        "where run_key in (select run_key from runs where workflow = 'claude-code') and type = 'tool'"
    )
    assert found.iloc[0].tolist() == [200, 200, 27, 200]


def test_tokens_of_a_message_in_several_lines_count_once(coding: Store, raw: dict[str, Any]) -> None:
    for name in (LONG, SHORT, SPLIT):
        last: dict[str, tuple[int, int]] = {}
        for line in raw[name]:
            message = line.get("message") or {}
            if "usage" in message:
                used = message["usage"]
                read = sum(used[key] for key in used if key.endswith("input_tokens"))
                written = max(used["output_tokens"], last.get(message["id"], (0, 0))[1])
                last[message["id"]] = (read, written)
        total = sum(read + written for read, written in last.values())
        assert measured(coding, Metric(metric="total_tokens"))[name] == total
    assert measured(coding, Metric(metric="total_tokens"))[LONG] == 3_838_581


def test_streaks_of_errors_in_the_order_of_the_calls(coding: Store, raw: dict[str, Any]) -> None:
    streaks = measured(coding, Errors(span=TOOLS))
    for name in (LONG, SHORT, SPLIT):
        failed = {one["tool_use_id"]: one.get("is_error") is True for one, _ in blocks(raw[name], "tool_result")}
        longest = length = 0
        for call, _ in sorted(blocks(raw[name], "tool_use"), key=lambda found: found[1]):
            length = length + 1 if failed[call["id"]] else 0
            longest = max(longest, length)
        assert streaks[name] == longest
    assert {name: streaks[name] for name in (LONG, SHORT, SPLIT)} == {LONG: 4, SHORT: 1, SPLIT: 1}


def test_side_chains_lie_in_the_calls_that_began_them(coding: Store) -> None:
    found = coding.sql(
        "select parent.name, count(distinct parent.span_id) as calls, count(*) as spans from spans as inside "
        "join spans as parent on parent.run_key = inside.run_key and parent.span_id = inside.parent_id "
        "where inside.run_key in (select run_key from runs where workflow = 'claude-code') group by all"
    )
    assert found.values.tolist() == [["Task", 7, 342]]
    sides = coding.sql("select count(*) as n from spans where attributes->>'sidechain' = 'true'")
    assert sides["n"].tolist() == [342]
    agents = coding.sql(f"select run_id from runs where session_id = '{SPLIT}' order by run_id")
    assert agents["run_id"].tolist() == [SPLIT, f"{SPLIT}/test-hash-123", f"{SPLIT}/test-hash-456"]


def test_how_long_calls_took(coding: Store, raw: dict[str, Any]) -> None:
    longest = measured(coding, Slow(span=TOOLS))
    assert (longest[LONG], longest[SHORT], longest[SPLIT]) == (271_637, 1_299, 38_636)
    [call] = coding.sql("select span_id from spans where duration_ms = 271637")["span_id"]
    [begun] = [at for block, at in blocks(raw[LONG], "tool_use") if block["id"] == call]
    [ended] = [at for block, at in blocks(raw[LONG], "tool_result") if block["tool_use_id"] == call]
    assert (begun[11:23], ended[11:23]) == ("00:56:38.374", "01:01:10.011")


def test_other_rules(coding: Store) -> None:
    assert sum(measured(coding, Count(span=TOOLS)).values()) == 397
    assert sum(value >= 3 for value in measured(coding, Repeat(span=TOOLS)).values()) == 3
    assert sum(value >= 2 for value in measured(coding, Errors(span=TOOLS)).values()) == 3
    assert {name for name, value in measured(coding, RunEnd()).items() if value} == {
        "codex_session_rollout#1",
        "mini_swe_agent/local.traj#1",
    }
    left = coding.execute(rules.left_failed(UnrecoveredError(span=TOOLS), coding.table("spans")))
    assert left["run_key"].nunique() == 5


def test_swe_agent_steps(coding: Store, realdata: Path) -> None:
    paths = sorted((realdata / "coding_agent_sessions" / "swe_agent").glob("*.traj"))
    steps = [step for path in paths for step in json.loads(path.read_text())["trajectory"]]
    assert (len(paths), len(steps)) == (17, 190)
    found = coding.sql(
        "select count(*) filter (type = 'llm') as replies, count(*) filter (type = 'tool') as calls, "
        "count(*) filter (failed) as failed, count(duration_ms) as timed, "
        "from spans where run_key in (select run_key from runs where workflow = 'swe-agent')"
    )
    timed = sum("execution_time" in step for step in steps)
    assert found.iloc[0].tolist() == [190, 190, 14, timed]
    assert timed == 22
    metrics = measured(coding, Metric(metric="total_cost"))
    assert [value for name, value in metrics.items() if name.startswith("swe_agent/")] == [1.26719]


def test_a_continuation_shares_the_session_and_no_id(coding: Store) -> None:
    found = coding.sql(
        "select session_id, status, final_output is null as open from runs where run_id like 'atif/term%' "
        "order by length(run_id)"
    )
    assert found["session_id"].nunique() == 1
    assert found["open"].tolist() == [True, False]
    assert (found["status"].isna().tolist(), found["status"].tolist()[1]) == ([True, False], "ok")


def test_queries_and_reference_agree_on_these_runs(coding: Store) -> None:
    with coding.hold() as cursor:
        recorded = rows(cursor)
        for rule, at in every_type(required="Read", requiring="Edit")[::4]:
            assert_agree(cursor, rule, at, recorded)
        assert all(reference_rules.measure(Count(), run, spans)[0] == len(spans) for run, spans in recorded.values())


def test_the_command_line_rejects_nothing(realdata: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = realdata / "coding_agent_sessions"
    assert main(["load", str(folder), "--db", str(tmp_path / "c.duckdb"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["runs"], told["spans"], told["rejected"]) == (27, 833, [])


def test_loading_again_finds_all_already_there(coding: Store, realdata: Path) -> None:
    again = coding.load(realdata / "coding_agent_sessions" / "claude_code")
    assert (again.runs, again.already, again.replaced) == (0, 5, 0)
