"""Whose labels the data support, beside those that a check finds when its document is read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import check_workbench as cw
from check_workbench.labels import labels_for
from check_workbench.samples import sample_data
from check_workbench.store.supports import supported

if TYPE_CHECKING:
    from pathlib import Path

    from check_workbench.store import Store

DATA = sample_data()
VERDICT = {"passed": True}
BEST = "all on one side and without an error they would certify a risk of at most"


def told(store: Store, tmp_path: Path, runs: list[dict[str, Any]], said: list[dict[str, Any]]) -> list[str]:
    for name, rows in (("runs", runs), ("said", said)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    store.load(tmp_path / "runs.jsonl")
    store.load_decisions(tmp_path / "said.jsonl")
    return [line for line in supported(store) if line.startswith(("calibrating", "trusting"))]


def vendor(number: int, *steps: dict[str, Any], **rest: Any) -> dict[str, Any]:
    return {"run_id": f"v-{number}", "workflow": "vendors", "steps": list(steps), **rest}


def decide(number: int, decision: str, **rest: Any) -> dict[str, Any]:
    return {"run_id": f"v-{number}", "decision": decision, "decided_by": "ann", "verdict_seen": False, **rest}


SCREENED = [vendor(n, {"step_id": "screen", "check": VERDICT}, {"step_id": "sign", "kind": "approve"}) for n in (1, 2)]


def test_decisions_on_a_checked_step_are_labels_of_its_check(store: Store, tmp_path: Path) -> None:
    said = [decide(1, "rejected", step_id="screen"), decide(2, "no_problem", check_id="vendors/screen")]
    assert told(store, tmp_path, SCREENED, said) == [
        "calibrating vendors/screen: 2 usable labels, 1 of them a problem, 1 of them about its work",
        f"trusting vendors/screen: 2 blind labels; {BEST} 71.7 % (90 % confidence)",
    ]


@pytest.mark.parametrize(
    ("step", "name"),
    [
        ("sign", "the check of a step that leads to vendors/sign"),
        ("other", "the check of vendors/other, or of a step that leads there"),
        (None, "the check of a step of vendors"),
    ],
)
def test_of_which_check_other_decisions_are_labels_says_the_process(
    store: Store, tmp_path: Path, step: str | None, name: str
) -> None:
    said = [decide(1, "rejected", step_id=step), decide(2, "approved", step_id=step)]
    first, second = told(store, tmp_path, SCREENED, said)
    assert first == f"calibrating {name} (the process file says which): 2 usable labels, 1 of them a problem"
    assert second.startswith(f"trusting {name}: 2 blind labels; ")


def test_only_first_submissions_of_live_runs_are_trusted(store: Store, tmp_path: Path) -> None:
    runs = [
        vendor(1, *({"step_id": "screen", "attempt": n, "check": VERDICT} for n in (1, 2))),
        vendor(2, {"step_id": "screen", "check": VERDICT}, mode="test"),
    ]
    said = [decide(1, "rejected", step_id="screen", attempt=n) for n in (1, 2)] + [decide(2, "approved")]
    first, second = told(store, tmp_path, runs, said)
    assert first.startswith(
        "calibrating vendors/screen: 2 usable labels, 2 of them a problem, 2 of them about its work"
    )
    assert second.startswith("trusting vendors/screen: 1 blind label on first submissions; ")


def test_blind_decisions_alone_make_a_label_where_there_are_any(store: Store, tmp_path: Path) -> None:
    seen = [{**decide(1, "approved"), "decided_by": who, "verdict_seen": True} for who in ("bob", "cat")]
    first, second = told(store, tmp_path, [{"run_id": "v-1"}], [decide(1, "rejected"), *seen])
    assert first.startswith(
        "calibrating any check of the runs, with --labels work: 1 usable label, 1 of them a problem"
    )
    assert second.startswith("trusting any check with --labels work: 1 blind label; ")


def test_of_one_person_the_last_word_counts(store: Store, tmp_path: Path) -> None:
    word = {"check_id": "loop", "question": 0}
    assert told(store, tmp_path, [vendor(1)], [decide(1, "problem", **word)])
    first, second = told(store, tmp_path, [vendor(1)], [decide(1, "no_problem", **word, decided_by="Ann")])
    assert first.startswith("calibrating loop: 1 usable label, 0 of them a problem")
    assert second.startswith("trusting loop: 1 blind label; ")


def test_runs_of_several_workflows_share_a_line(store: Store, tmp_path: Path) -> None:
    runs = [{"run_id": f"v-{n}", "workflow": flow} for n, flow in enumerate(("a", "a", "b", None))]
    first, _ = told(store, tmp_path, runs, [decide(n, "approved" if n else "failed") for n in range(4)])
    assert first == (
        "calibrating any check of runs of no workflow (1), a (2), b (1), with --labels work: 4 usable labels, 1 of "
        "them a problem"
    )


def test_what_was_said_of_spans_and_findings(store: Store, tmp_path: Path) -> None:
    runs = [{"run_id": "v-1", "spans": [{"type": "tool", "span_id": s} for s in "ab"]}]
    said = [decide(1, "problem", check_id="loop", span_id=s) for s in "ab"] + [decide(1, "dismissed")]
    assert told(store, tmp_path, runs, said)[0] == (
        "calibrating loop: 1 usable label, 1 of them a problem; it takes labels of both kinds"
    )


def test_answers_and_verdicts_on_record_are_told(store: Store, tmp_path: Path) -> None:
    told(store, tmp_path, [*SCREENED, {"run_id": "r"}], [])
    answers = [{"run_id": run, "check_id": f"c{n}", "probability": 0.5} for n in (1, 2) for run in ("r", "v-1")[:n]]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in answers), "utf-8")
    store.load_answers(tmp_path / "a.jsonl")
    lines = list(supported(store))
    assert "few rules: 3 runs without spans, of which only run_end and threshold can speak" in lines
    assert "step checks: 4 steps, with recorded verdicts of vendors/screen (2)" in lines
    assert "recorded answers to c2 (2 runs), c1 (1 run)" in lines


@pytest.mark.parametrize(
    ("folder", "labels", "checks", "names"),
    [
        ("refunds", "labels.csv", "checks", {}),
        ("vendors-after", "labels.csv", "../vendors/PROCESS.md", {}),
        (
            "vendors",
            "decisions.csv",
            "PROCESS.md",
            {
                "vendor-check/check_vendor": "the check of a step that leads to vendor-check/approve_vendor",
                "vendor-check/write_terms": "the check of a step that leads to vendor-check/approve_terms",
            },
        ),
    ],
)
def test_the_labels_of_the_samples_are_those_that_checks_find(
    store: Store, folder: str, labels: str, checks: str, names: dict[str, str]
) -> None:
    store.load(DATA / folder / "runs.jsonl")
    store.load_decisions(DATA / folder / labels)
    lines = list(supported(store))
    found = 0
    for check in cw.read_checks(DATA / folder / checks):
        frame = labels_for(check, store).frame
        if frame.empty:
            continue
        found += 1
        name, first = names.get(check.id, check.id), frame["attempt"].fillna(1) == 1
        which = " (the process file says which)" if name != check.id else ""
        counts = f"{len(frame)} usable labels, {frame['positive'].sum()} of them a problem"
        assert f"calibrating {name}{which}: {counts}" in lines
        assert any(line.startswith(f"trusting {name}: {(frame['blind'] & first).sum()} blind label") for line in lines)
    assert found == sum(line.startswith("calibrating") for line in lines)
