"""Counts on real traces of seven tools, taken by plain Python from what the readers yield."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from check_workbench.records import Run
from check_workbench.sources import Recognised, read, recognise
from check_workbench.store.validity import problem_of

if TYPE_CHECKING:
    from pathlib import Path

    from check_workbench.store import Store

COUNTS = {
    "agent_prism/rag_earnings_agent": ("otlp", 1, 18),
    "agent_prism/smol_deep_research_agent": ("otlp", 1, 8),
    "agentevals/helm": ("jaeger", 1, 96),
    "agentevals/helm_2": ("jaeger", 1, 72),
    "agentevals/helm_3": ("jaeger", 1, 125),
    "agentevals/k8s": ("jaeger", 1, 73),
    "agentevals/tempo_export_with_batches": ("otlp", 1, 86),
    "openinference_vercel/all-spans": ("js_spans", 10, 10),
    "strands_evals/adk_live_spans": ("spans", 1, 7),
    "strands_evals/autogen_live_spans": ("spans", 2, 3),
    "strands_evals/claude_adot_spans": ("spans", 1, 8),
    "strands_evals/claude_live_spans": ("spans", 1, 10),
    "strands_evals/openai_agents_genai_adot_spans": ("spans", 1, 17),
    "strands_evals/openai_agents_genai_live_spans": ("spans", 1, 17),
    "strands_evals/openai_agents_openinference_adot_spans": ("spans", 1, 16),
    "strands_evals/openai_agents_openinference_live_spans": ("spans", 1, 19),
    "strands_evals/openinference_adot_spans": ("spans", 2, 8),
    "strands_evals/openinference_live_spans": ("spans", 1, 6),
    "strands_evals/otel_genai_convention_spans": ("spans", 1, 5),
    "strands_evals/pydantic_ai_live_spans": ("spans", 1, 4),
    "strands_evals/smolagents_live_spans": ("spans", 1, 7),
}
"""File to format, traces and spans."""
FAILED = {
    "agentevals/helm": "GET",
    "agentevals/helm_2": "GET",
    "agentevals/helm_3": "GET",
    "agentevals/k8s": "GET",
    "strands_evals/openai_agents_genai_adot_spans": "agent_handoff OpenAI Agent",
    "strands_evals/openai_agents_openinference_adot_spans": "handoff to math_specialist",
    "strands_evals/otel_genai_convention_spans": "get_weather",
}


@pytest.fixture(scope="module")
def traces(realdata: Path) -> dict[str, tuple[str, list[Any]]]:
    folder = realdata / "otel_traces"
    made = {}
    for name in COUNTS:
        path = folder / f"{name}.json"
        found = recognise(path)
        assert isinstance(found, Recognised)
        made[name] = (found.format.name, list(read(path, found, root=folder)))
    return made


def test_every_span_of_every_file(traces: dict[str, tuple[str, list[Any]]]) -> None:
    assert sum(count for _, _, count in COUNTS.values()) == 615
    for name, (format_name, records) in traces.items():
        assert all(isinstance(record, Run) for record in records)
        assert (format_name, len(records), sum(len(run.spans) for run in records)) == COUNTS[name]
        assert not [problem for run in records if (problem := problem_of(run))]


def test_seven_files_have_one_failed_span_each(traces: dict[str, tuple[str, list[Any]]]) -> None:
    failed = {
        name: [span.name for run in records for span in run.spans if span.status == "error" or span.error]
        for name, (_, records) in traces.items()
    }
    assert {name: names for name, names in failed.items() if names} == {name: [one] for name, one in FAILED.items()}


def test_trees_are_those_of_the_files(traces: dict[str, tuple[str, list[Any]]], realdata: Path) -> None:
    for name in (one for one in COUNTS if one.startswith("strands_evals")):
        given = json.loads((realdata / "otel_traces" / f"{name}.json").read_text())
        spans = given["spans"] if isinstance(given, dict) else given
        expected = Counter((one["trace_id"], one["span_id"], one["parent_span_id"]) for one in spans)
        made = Counter((run.run_id, one.span_id, one.parent_id) for run in traces[name][1] for one in run.spans)
        assert made == expected


@pytest.mark.parametrize(
    ("name", "orphans", "roots"),
    [
        ("agent_prism/rag_earnings_agent", 0, 1),
        ("agentevals/helm", 0, 1),
        ("agentevals/helm_3", 0, 1),
    ],
)
def test_parents_in_base64_and_in_references_are_found(
    traces: dict[str, tuple[str, list[Any]]], name: str, orphans: int, roots: int
) -> None:
    [run] = traces[name][1]
    ids = {span.span_id for span in run.spans}
    assert sum(span.parent_id is not None and span.parent_id not in ids for span in run.spans) == orphans
    assert sum(span.parent_id is None for span in run.spans) == roots


def test_tools_have_their_own_names(traces: dict[str, tuple[str, list[Any]]]) -> None:
    names = Counter(
        span.name for _, records in traces.values() for run in records for span in run.spans if "tool" in span.type
    )
    assert not [name for name in names if name.startswith("execute_tool") or name.endswith(".tool")]
    assert (names["helm_list_releases"], names["multiply_numbers"], names["Bash"]) == (3, 5, 5)


def test_calls_of_models_count_once(traces: dict[str, tuple[str, list[Any]]]) -> None:
    for name, calls, tokens in (
        ("agentevals/helm", 2, 3906),
        ("strands_evals/adk_live_spans", 2, 463),
        ("strands_evals/smolagents_live_spans", 2, 6419),
        ("agent_prism/smol_deep_research_agent", 6, 25074),
    ):
        [run] = traces[name][1]
        assert sum(span.type == "llm" for span in run.spans) == calls
        assert (run.metrics or {})["total_tokens"] == tokens


def test_what_was_asked_and_answered(traces: dict[str, tuple[str, list[Any]]]) -> None:
    [helm] = traces["agentevals/helm"][1]
    assert (helm.workflow, helm.input, helm.status) == ("helm_agent", "list all Helm releases", "ok")
    assert helm.final_output.startswith("There are two Helm releases installed in the cluster")
    assert helm.system_prompt.startswith("# Helm AI Agent System Prompt")
    asked = {name: str(run.input) for name, (_, records) in traces.items() for run in records}
    assert asked["strands_evals/pydantic_ai_live_spans"] == "What's the weather like in Seattle right now?"
    assert asked["strands_evals/openai_agents_genai_adot_spans"].startswith("What is 42 * 7")


def test_all_of_it_through_the_store(store: Store, realdata: Path) -> None:
    report = store.load(realdata / "otel_traces")
    of_spans = [one for one in report.taken if one.format in {"otlp", "jaeger", "spans", "js_spans"}]
    assert len(of_spans) == len(COUNTS)
    assert not report.rejected
    rows = store.sql(
        "select source.path, count(*) as n, sum(failed::int) as failed from spans "
        "join runs using (run_key) join sources as source using (source_key) group by all"
    )
    names = [path.split("otel_traces/")[1].removesuffix(".json") for path in rows["path"]]
    stored = {name: n for name, n in zip(names, rows["n"], strict=True) if name in COUNTS}
    failed = {name: n for name, n in zip(names, rows["failed"], strict=True) if name in COUNTS and n}
    assert stored == {name: count for name, (_, _, count) in COUNTS.items()}
    assert failed == dict.fromkeys(FAILED, 1)
