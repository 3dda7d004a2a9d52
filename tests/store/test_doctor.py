from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from check_workbench.sources import Rejected
from check_workbench.store import open_store
from check_workbench.store.doctor import examine
from check_workbench.store.near import Known
from check_workbench.store.report import MIME, NEEDS_MAPPING, Examination, LoadReport, Near

if TYPE_CHECKING:
    from pathlib import Path

    from check_workbench.store import Store


NO_LABELS = "no calibrating or trusting: no decision says of a run here that it is good or bad (--decisions FILE)"
UNKNOWN = "it is not known whether the verdict was in sight"
NONE_BLIND = "no blind label yet; only labels given out of sight of the verdict prove anything"


def lines(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("\n".join(map(json.dumps, records)))
    return path


def tool(name: str, **rest: Any) -> dict[str, Any]:
    return {"type": "tool", "name": name, **rest}


def run(number: int, **rest: Any) -> dict[str, Any]:
    return {"run_id": f"r-{number:03}", "workflow": "refund", **rest}


@pytest.fixture
def filled(tmp_path: Path, store: Store) -> Store:
    runs = [
        run(n, spans=[tool("look"), tool("pay", status="error")], ended_at="2026-03-01T12:00:00Z") for n in range(20)
    ]
    store.load(lines(tmp_path / "runs.jsonl", runs))
    return store


def decide(store: Store, tmp_path: Path, rows: list[dict[str, Any]]) -> Examination:
    store.load_decisions(lines(tmp_path / "d.jsonl", rows))
    return examine(store)


def test_an_empty_store_supports_nothing(store: Store) -> None:
    found = examine(store)
    assert found.contents == {"runs": 0, "spans": 0, "steps": 0, "decisions": 0, "answers": 0}
    assert repr(found) == "The store holds nothing yet."
    assert "nothing yet" in found._repr_html_()


def test_runs_support_rules_and_say_what_is_missing(filled: Store) -> None:
    assert examine(filled).supports == (
        "rules: 20 runs with 40 spans, 40 of them tool calls, 20 failed",
        "not slow: no span has times or a duration",
        "no token thresholds: neither spans nor runs have token counts",
        NO_LABELS,
    )


def test_durations_metrics_and_steps_are_told(store: Store, tmp_path: Path) -> None:
    full = run(
        1,
        spans=[tool("a", duration_ms=5), tool("b")],
        steps=[{"step_id": "s"}],
        metrics={"total_tokens": 9, "cost": 0.1},
    )
    store.load(lines(tmp_path / "runs.jsonl", [full, run(2, metrics={"cost": 1})]))
    assert examine(store).supports == (
        "rules: 2 runs with 2 spans, 2 of them tool calls, 0 failed",
        "slow: 1 of 2 spans have a duration",
        "threshold on cost (2 runs), total_tokens (1 run)",
        "step checks: 1 step, no recorded verdict",
        NO_LABELS,
    )


def test_unmatched_ids_are_counted_and_near_ones_offered(filled: Store, tmp_path: Path) -> None:
    rows = [
        {"run_id": "r-14", "decision": "approved", "decided_by": "a"},
        {"run_id": "r-14", "decision": "rejected", "decided_by": "b"},
        {"run_id": "other", "decision": "approved"},
        {"run_id": "r-003", "decision": "approved"},
    ]
    found = decide(filled, tmp_path, rows)
    assert (found.unmatched_decisions, found.unmatched_answers) == (3, 0)
    assert found.near == (
        Near(kind="decision", what="run", id="r-14", rows=2, near=("r-014",)),
        Near(kind="decision", what="run", id="other", rows=1, near=()),
    )
    assert "  no run 'r-14', named by 2 decisions; did you mean 'r-014'?" in repr(found).splitlines()


def test_answers_of_unknown_runs_and_checks_are_seen(filled: Store, tmp_path: Path) -> None:
    answers = [{"run_id": r, "check_id": "no-refund", "probability": 0.5} for r in ("r-001", "R_002")]
    filled.load_answers(lines(tmp_path / "a.jsonl", answers))
    found = decide(filled, tmp_path, [{"run_id": "r-001", "check_id": "no_refund", "decision": "problem"}])
    assert (found.unmatched_decisions, found.unmatched_answers) == (0, 1)
    assert [(n.kind, n.what, n.id, n.near) for n in found.near] == [
        ("answer", "run", "R_002", ("r-002",)),
        ("decision", "check", "no_refund", ("no-refund",)),
    ]


def test_labels_are_units_with_a_majority(filled: Store, tmp_path: Path) -> None:
    def label(number: int, decision: str, by: str, **rest: Any) -> dict[str, Any]:
        return {"run_id": f"r-{number:03}", "check_id": "loop", "decision": decision, "decided_by": by, **rest}

    rows = [
        label(1, "problem", "a", provenance="blind"),
        label(1, "problem", "b", provenance="blind"),
        label(2, "no_problem", "a", provenance="blind"),
        label(3, "problem", "a"),
        label(4, "problem", "a"),
        label(4, "no_problem", "b"),
        label(5, "unclear", "a"),
        label(99, "problem", "a"),
    ]
    supports = decide(filled, tmp_path, rows).supports
    assert "calibrating loop: 3 usable labels, 2 of them a problem" in supports
    assert (
        "trusting loop: 2 blind labels; all on one side and without an error they would certify a risk of at most 71.7 "
        "% (90 % confidence)" in supports
    )


def test_work_decisions_are_labels_by_proxy(filled: Store, tmp_path: Path) -> None:
    rows = [
        {"run_id": f"r-{n:03}", "decision": "rejected" if n < 3 else "approved", "verdict_seen": True} for n in range(9)
    ]
    supports = decide(filled, tmp_path, rows).supports
    assert supports[-2:] == (
        "calibrating any check of refund, with --labels work: 9 usable labels, 3 of them a problem",
        f"trusting any check with --labels work: {NONE_BLIND}",
    )


def test_checks_without_a_blind_label_share_a_line(filled: Store, tmp_path: Path) -> None:
    rows = [{"run_id": "r-001", "check_id": f"c{n:02}", "decision": "problem"} for n in range(14)]
    told = [s for s in decide(filled, tmp_path, rows).supports if s.startswith("trusting")]
    named = ", ".join(f"c{n:02}" for n in range(12))
    assert told == [f"trusting {named} and 2 more: {NONE_BLIND} (load again with --blind if they were)"]


def test_labels_of_one_kind_cannot_calibrate(filled: Store, tmp_path: Path) -> None:
    rows = [{"run_id": f"r-{n:03}", "check_id": "loop", "decision": "problem"} for n in range(3)]
    supports = decide(filled, tmp_path, rows).supports
    assert "calibrating loop: 3 usable labels, 3 of them a problem; it takes labels of both kinds" in supports


def test_how_decisions_came_to_be_is_told(filled: Store, tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"run_id": "r-001", "decision": "approved", "verdict_seen": False, "decided_at": "2026-03-01T11:00:00"},
        {"run_id": "r-002", "decision": "approved", "verdict_seen": True, "decided_at": "2026-03-01T13:00:00"},
        {"run_id": "r-003", "decision": "approved"},
        {"run_id": "r-004", "decision": "problem", "check_id": "c", "span_id": "#9"},
    ]
    assert decide(filled, tmp_path, rows).notes == (
        f"1 of 4 decisions blind (25 %), 1 made in sight of the verdict, of 2 {UNKNOWN}",
        "made before their run ended (check the time zone; times without one count as UTC): 1 decision",
        "naming a span that their run does not have: 1 decision",
    )


def test_words_that_speak_of_something_else_are_counted(filled: Store, tmp_path: Path) -> None:
    rows = [
        {"run_id": "r-001", "decision": "approved", "check_id": "loop"},
        {"run_id": "r-002", "decision": "rejected", "check_id": "loop"},
        {"run_id": "r-003", "decision": "no_problem"},
        {"run_id": "r-004", "decision": "problem", "check_id": "loop"},
    ]
    notes = decide(filled, tmp_path, rows).notes[1:]
    assert notes == (
        "with a word about work (approved, …) on a check's question; counted as said of the check: 2 decisions",
        "with problem, no_problem or unclear but no check_id; counted for the work only: 1 decision",
    )


def test_a_check_that_decisions_hardly_ever_name_is_held_against_the_usual_ones(filled: Store, tmp_path: Path) -> None:
    rows = [{"run_id": f"r-{n:03}", "decision": "problem", "check_id": "loop-check"} for n in range(10)]
    found = decide(filled, tmp_path, [*rows, {"run_id": "r-011", "decision": "problem", "check_id": "lop-check"}])
    assert found.near == (Near(kind="decision", what="check", id="lop-check", rows=1, near=("loop-check",)),)


def test_the_steps_with_a_recorded_verdict_are_known_checks(store: Store, tmp_path: Path) -> None:
    step = {"step_id": "check_vendor", "check": {"passed": True}}
    store.load(lines(tmp_path / "runs.jsonl", [{"run_id": "r-1", "workflow": "vendor-check", "steps": [step]}]))
    rows = [{"run_id": "r-1", "decision": "problem", "check_id": "vendor-check/check_vendr"}]
    assert [near.near for near in decide(store, tmp_path, rows).near] == [("vendor-check/check_vendor",)]


def test_a_table_among_the_runs_is_skipped_and_said_how_to_load(store: Store, tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("run_id,decision\nr,approved\n")
    report = store.load(tmp_path)
    assert report.skipped == (str(tmp_path / "d.csv"),)
    assert report.notes[0].startswith(f"{tmp_path / 'd.csv'}: these look like decisions; load them with --decisions")


def test_a_step_that_the_run_does_not_have_is_told(store: Store, tmp_path: Path) -> None:
    store.load(lines(tmp_path / "runs.jsonl", [run(1, steps=[{"step_id": "approve"}]), run(2)]))
    rows = [
        {"run_id": f"r-{n:03}", "decision": "approved", "step_id": step}
        for n, step in [(1, "aprove"), (1, "approve"), (2, "x")]
    ]
    assert "naming a step that their run does not have: 1 decision" in decide(store, tmp_path, rows).notes


def test_asserted_blindness_is_told(filled: Store, tmp_path: Path) -> None:
    filled.load_decisions(lines(tmp_path / "d.jsonl", [{"run_id": "r-001", "decision": "approved"}]), blind=True)
    assert any("only because the caller asserted it" in note for note in examine(filled).notes)


def test_hostile_names_are_only_text(store: Store, tmp_path: Path) -> None:
    name = "r'; drop table runs; -- <script>alert(1)</script>\x1b[31m"
    store.load(
        lines(
            tmp_path / "runs.jsonl", [{"run_id": name, "workflow": name, "metrics": {name: 1}, "spans": [tool(name)]}]
        )
    )
    rows: list[dict[str, Any]] = [
        {"run_id": name + x, "check_id": name, "decision": "problem", "step_id": name} for x in ("", "!", "zzz")
    ]
    found = decide(store, tmp_path, [*rows, {"run_id": name, "decision": "approved"}])
    assert found.unmatched_decisions == 2
    assert found.near[0].near == (name,)
    assert "\x1b" not in repr(found)
    assert "<script>" not in found._repr_html_()
    assert store.sql("select count(*) as n from runs")["n"].tolist() == [1]


def test_examining_changes_nothing_and_works_read_only(filled: Store, tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    with open_store(path) as writable:
        writable.load(lines(tmp_path / "more.jsonl", [run(1)]))
        before = repr(examine(writable))
    with open_store(path, read_only=True) as reading:
        assert repr(examine(reading)) == before
    assert repr(examine(filled)) == repr(examine(filled))


REPORT = LoadReport(
    runs=2,
    spans=1,
    already=3,
    skipped=("LICENSE",),
    rejected=(Rejected(file="a.jsonl", line=3, reason="not <valid>"),),
    notes=("a.jsonl: times count as UTC",),
    examined=Examination(unmatched_decisions=1, near=(Near(kind="decision", what="run", id="x", rows=1, near=("y",)),)),
)


def test_the_json_is_the_contract() -> None:
    assert REPORT.to_json() == {
        "runs": 2,
        "spans": 1,
        "decisions": 0,
        "answers": 0,
        "already": 3,
        "replaced": 0,
        "skipped": ["LICENSE"],
        "rejected": [{"file": "a.jsonl", "line": 3, "reason": "not <valid>"}],
        "unmatched": {
            "decisions": 1,
            "answers": 0,
            "near": [{"kind": "decision", "what": "run", "id": "x", "rows": 1, "near": ["y"]}],
        },
    }


def test_the_text_is_stable() -> None:
    assert repr(REPORT).splitlines() == [
        "Loaded 2 runs, 1 span.",
        "  3 already there, from before or from another of these files",
        "1 rejected:",
        "  a.jsonl:3: not <valid>",
        "1 file skipped, no recorded runs in it:",
        "  LICENSE",
        "Notes:",
        "  a.jsonl: times count as UTC",
        "Unmatched, 1 decision about runs that are not here:",
        "  no run 'x', named by 1 decision; did you mean 'y'?",
    ]
    assert repr(LoadReport()) == "Loaded nothing new."


def test_the_bundle_holds_text_html_and_the_document() -> None:
    bundle = REPORT._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", MIME}
    assert bundle[MIME]["kind"] == "load"
    assert json.loads(json.dumps(bundle[MIME])) == bundle[MIME]
    assert "not &lt;valid&gt;" in bundle["text/html"]


def test_long_lists_are_cut_and_counted() -> None:
    report = LoadReport(skipped=tuple(f"f{n}" for n in range(25)))
    assert repr(report).splitlines()[-2:] == [
        "  and 15 more",
        f"  {NEEDS_MAPPING}",
    ]
    assert "no reader knows" not in repr(LoadReport(skipped=("LICENSE",), already=1))
    assert len(report.to_json()["skipped"]) == 25


def test_reports_add_up() -> None:
    later = LoadReport(
        decisions=4, rejected=REPORT.rejected, notes=REPORT.notes, examined=Examination(unmatched_decisions=7)
    )
    both = REPORT + later
    assert (both.runs, both.decisions, len(both.rejected), len(both.notes)) == (2, 4, 2, 1)
    assert both.to_json()["unmatched"]["decisions"] == 7


@pytest.mark.parametrize(
    ("known", "unknown", "near"),
    [
        (["r-014", "r-015", "r-140", "r-114"], "r-14", ("r-014",)),
        (["r-98", "r-97"], "r-99", ()),
        (["R_14"], "r-14", ("R_14",)),
        (["may/results#3", "may/results#4"], "results#3", ("may/results#3",)),
        (["4f3a9c00-77aa-11", "00aa"], "4f3a9c00", ("4f3a9c00-77aa-11",)),
        (["refund-check"], "refnd-check", ("refund-check",)),
        (["abc"], "xyz", ()),
        ([], "r-1", ()),
        (["a"], "", ()),
    ],
)
def test_near_ids(known: list[str], unknown: str, near: tuple[str, ...]) -> None:
    assert Known(known).near(unknown) == near


@given(st.lists(st.text(max_size=12), max_size=6), st.text(max_size=12))
def test_near_ids_are_known_ids(known: list[str], unknown: str) -> None:
    found = Known(known).near(unknown)
    assert set(found) <= set(known)
    assert len(found) == len(set(found)) <= 2
