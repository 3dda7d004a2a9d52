from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from check_workbench.checks import EvidenceRule, Item, Selector, YesNo
from check_workbench.checks import FlagAt as Cut
from check_workbench.evidence import selected, step_evidence, trace_evidence
from tests.workshop import screening

RUN = {"run_id": "a", "final_output": "All done."}


def spans(count: int, **fields: Any) -> list[dict[str, Any]]:
    base = {"type": "tool", "name": "search", "input": "q", "output": "found", "status": "ok"}
    return [{"span_id": f"#{n}", **base, **fields} for n in range(1, count + 1)]


def asking(**rule: Any) -> Item:
    return Item(asks=YesNo(ask="?"), cut=Cut(), evidence=EvidenceRule(**rule))


def test_what_is_shown_is_what_the_rule_names():
    told = [*spans(1), {"span_id": "m", "type": "llm", "name": "gpt", "input": "x", "output": "secret", "status": "ok"}]
    item = asking(spans=Selector(types=("tool",)), fields=("input", "status"))
    seen = trace_evidence(item, RUN, told)
    assert seen.text == "[#1] tool search\ninput: q\nstatus: ok\n\n"
    assert (seen.spans, seen.truncated) == (("#1",), False)


def test_the_final_answer_is_shown_on_request_only():
    assert "All done." not in trace_evidence(asking(), RUN, spans(1)).text
    assert trace_evidence(asking(final_output=True), RUN, []).text == "Final answer:\nAll done.\n"
    silent = {"run_id": "a", "final_output": None}
    assert "none was recorded" in trace_evidence(asking(final_output=True), silent, []).text


def test_last_is_a_choice_and_no_truncation():
    seen = trace_evidence(asking(last=2), RUN, spans(5))
    assert (seen.spans, seen.truncated) == (("#4", "#5"), False)
    assert trace_evidence(asking(last=0), RUN, spans(5)).spans == ()


def test_the_oldest_spans_are_cut_first_and_the_cut_is_recorded():
    whole = trace_evidence(asking(final_output=True), RUN, spans(10))
    seen = trace_evidence(asking(final_output=True), RUN, spans(10), limit=200)
    assert seen.spans == ("#8", "#9", "#10")
    assert seen.spans_cut == 7
    assert seen.characters_cut == len(whole.text) - len(seen.text)
    assert seen.text.endswith("All done.\n")


def test_one_span_that_is_too_long_loses_its_beginning():
    seen = trace_evidence(asking(), RUN, spans(1, output="x" * 500 + "END"), limit=100)
    assert len(seen.text) == 100
    assert "END" in seen.text
    assert seen.truncated


@given(st.integers(0, 12), st.integers(1, 400), st.integers(0, 5))
def test_evidence_fits_and_accounts_for_every_character(count, limit, size):
    told = spans(count, output="ab" * size)
    whole = trace_evidence(asking(final_output=True), RUN, told, limit=10**9)
    seen = trace_evidence(asking(final_output=True), RUN, told, limit=limit)
    assert len(seen.text) <= max(limit, 0)
    assert len(seen.text) + seen.characters_cut == len(whole.text)
    assert len(seen.spans) + seen.spans_cut == count
    assert whole.text.endswith(seen.text)


def test_a_span_question_sees_the_calls_before_its_span():
    told = [*spans(2), {"span_id": "m", "type": "llm", "name": "gpt", "input": "think", "output": "", "status": "ok"}]
    told.append({"span_id": "r", "type": "tool", "name": "refund", "input": "-5", "output": "", "status": "ok"})
    seen = trace_evidence(asking(spans=Selector(names=("refund",))), RUN, [*told, *spans(1)], about="r")
    assert seen.spans == ("#1", "#2", "r")
    assert "[r] tool refund (the call to judge)\ninput: -5\n" in seen.text


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        (Selector(), ["#1", "#2", "#3"]),
        (Selector(types=("tool",)), ["#1"]),
        (Selector(names=("n",), statuses=("error",)), ["#3"]),
        (Selector(types=("agent",)), []),
    ],
)
def test_an_empty_part_of_a_selector_takes_everything(selector, expected):
    told: list[dict[str, Any]] = [
        {"span_id": "#1", "type": "tool", "name": None, "status": "ok"},
        {"span_id": "#2", "type": "llm", "name": "n", "status": "ok"},
        {"span_id": "#3", "type": "llm", "name": "n", "status": "error"},
    ]
    assert [span["span_id"] for span in selected(selector, told)] == expected


def step(**fields: Any) -> dict[str, Any]:
    return {"run_id": "a", "step_id": "screen", "output": '{"cleared":true}', "summary": "Searched.", **fields}


def test_a_submission_is_shown_as_the_profile_says():
    seen = step_evidence(
        screening(), step(evidence=[{"ref": "report.pdf"}], run_data={"inputs": {"vendor": "ACME"}}), []
    )
    assert seen.text == (
        "Instructions:\nScreen the vendor.\n\nProcess:\nBe thorough.\n\n"
        'Run data:\n{"inputs": {"vendor": "ACME"}}\n\nOutput:\n{"cleared":true}\n\nSummary:\nSearched.\n\n'
        'Evidence:\n[{"ref": "report.pdf"}]\n\n'
    )


def test_what_was_recorded_with_the_submission_wins_over_the_document():
    seen = step_evidence(screening(), step(instructions="Screen it twice."), [])
    assert "Screen it twice." in seen.text
    assert "Screen the vendor." not in seen.text


def test_the_oldest_step_of_the_run_data_goes_first():
    data = {"inputs": {"v": 1}, "steps": {"new": {"at": "2026-02"}, "old": {"at": "2026-01", "output": "x" * 100}}}
    seen = step_evidence(screening(), step(run_data=json.dumps(data)), [], limit=100)
    assert '"new"' in seen.text
    assert '"old"' not in seen.text
    assert (seen.spans_cut, seen.truncated) == (1, True)


@pytest.mark.parametrize(
    "data", [["a" * 300], "ä" * 300, {"inputs": "x" * 300}, {"steps": ["x" * 300]}, {"steps": {"a": 1}}]
)
def test_run_data_of_any_shape_fits(data):
    seen = step_evidence(
        screening(), step(run_data=data if not isinstance(data, str) else json.dumps(data)), [], limit=101
    )
    shown = seen.text.split("Run data:\n")[1].split("\n\nOutput:")[0]
    assert len(shown.encode()) <= 101


def test_earlier_submissions_stand_in_for_run_data():
    seen = step_evidence(
        screening(), step(), [{"step_id": "intake", "output": "ACME", "summary": None, "evidence": None}]
    )
    assert 'Run data:\n{"steps": {"intake": {"output": "ACME"}}}' in seen.text
