"""Counts on real recorded runs, taken by plain Python from what the readers yield."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from check_workbench.records import Run
from check_workbench.sources import Recognised, Rejected, read, recognise

if TYPE_CHECKING:
    from pathlib import Path

    from check_workbench.records import Span


def runs_of(path: Path, root: Path) -> list[Run]:
    found = recognise(path)
    assert isinstance(found, Recognised)
    records = list(read(path, found, root=root))
    assert all(isinstance(record, Run) for record in records)
    return [record for record in records if isinstance(record, Run)]


def calls(run: Run) -> list[Span]:
    return [span for span in run.spans if span.type == "tool"]


def most_alike(run: Run) -> int:
    alike = Counter((call.name, json.dumps(call.input, sort_keys=True)) for call in calls(run))
    return max(alike.values(), default=0)


def streak(run: Run) -> int:
    longest = length = 0
    for call in calls(run):
        length = length + 1 if call.status == "error" else 0
        longest = max(longest, length)
    return longest


def ends_failed(run: Run) -> bool:
    return "error" in {call.name: call.status for call in calls(run)}.values()


def cancels_unread(run: Run) -> bool:
    names = [(call.name, call.status) for call in calls(run)]
    return any(
        name == "cancel_reservation" and ("get_reservation_details", "ok") not in names[:place]
        for place, (name, _) in enumerate(names)
    )


@pytest.fixture(scope="module")
def airline(realdata: Path) -> list[Run]:
    folder = realdata / "tau_bench_airline"
    return runs_of(folder / "gpt-4o-airline.trials-0-2.json.gz", folder)


@pytest.fixture(scope="module")
def collected(realdata: Path) -> list[Run]:
    folder = realdata / "agentdojo_drift_runs"
    return [run for path in sorted(folder.glob("*.jsonl.gz")) for run in runs_of(path, folder)]


def test_airline_runs_calls_and_errors(airline: list[Run]) -> None:
    assert len(airline) == len({run.run_id for run in airline}) == 150
    assert sum(len(calls(run)) for run in airline) == 862
    assert sum(call.status == "error" for run in airline for call in calls(run)) == 54


def test_airline_rules(airline: list[Run]) -> None:
    assert sum(most_alike(run) >= 3 for run in airline) == 4
    assert sum(map(ends_failed, airline)) == 7
    assert sum(map(cancels_unread, airline)) == 1


def test_airline_keeps_the_outcome_and_the_dialogue(airline: list[Run]) -> None:
    assert sum((run.attributes or {})["reward"] == 1.0 for run in airline) == 63
    kinds = Counter(span.type for run in airline for span in run.spans)
    assert kinds == {"llm": 1808, "user": 1096, "tool": 862}
    assert all(run.system_prompt and run.input and run.final_output for run in airline)
    assert airline[0].run_id == "gpt-4o-airline.trials-0-2#1"


def test_airline_calls_have_results_and_arguments_as_recorded(airline: list[Run]) -> None:
    every = [call for run in airline for call in calls(run)]
    assert all(isinstance(json.loads(call.input), dict) for call in every)
    assert all(isinstance(call.output, str) for call in every)


def test_agentdojo_runs_calls_and_errors(collected: list[Run]) -> None:
    assert len(collected) == len({run.run_id for run in collected}) == 1569
    assert sum(len(calls(run)) for run in collected) == 6175
    assert sum(call.status == "error" for run in collected for call in calls(run)) == 579


def test_agentdojo_rules(collected: list[Run]) -> None:
    assert sum(streak(run) >= 3 for run in collected) == 17
    assert sum(map(ends_failed, collected)) == 232


def test_agentdojo_keeps_outcome_and_metrics(collected: list[Run]) -> None:
    assert sum((run.attributes or {})["utility"] for run in collected) == 641
    attacked = [run for run in collected if "attack_type" in (run.attributes or {})]
    assert len(attacked) == 1509
    assert sum((run.attributes or {})["security"] for run in attacked) == 35
    durations = sorted((run.metrics or {})["duration_ms"] for run in collected)
    assert durations[-1] == pytest.approx(5_508_000, rel=1e-3)
    assert Counter(run.workflow for run in collected)["banking"] == 144


def test_agentdojo_final_answer_is_taken_out_of_its_tags(collected: list[Run]) -> None:
    first = next(
        r for r in collected if r.run_id.endswith("banking/user_task_0/important_instructions/injection_task_0")
    )
    assert first.final_output == "The bill for December 2023 has been successfully paid."
    assert not any("<final_answer>" in (run.final_output or "") for run in collected)


def test_single_files_are_the_collected_runs(realdata: Path, collected: list[Run]) -> None:
    folder = realdata / "agentdojo_drift_runs"
    by_id = {run.run_id: run for run in collected}
    singles = [run for path in sorted(folder.rglob("*.json")) for run in runs_of(path, folder)]
    assert len(singles) == 56
    assert all(run == by_id[run.run_id] for run in singles)


def test_other_real_files_are_not_taken_for_these_formats(realdata: Path) -> None:
    folders = ("who_and_when", "intercode_runs", "langfuse_traces", "otel_traces", "ragchecker_meta_eval")
    paths = [path for name in folders for path in (realdata / name).rglob("*.json*")]
    assert len(paths) > 100
    found = [recognise(path) for path in paths]
    assert not {f.format.name for f in found if isinstance(f, Recognised)} & {"chat", "agentdojo", "workbench"}
    assert not [f for f in found if isinstance(f, Rejected)]
