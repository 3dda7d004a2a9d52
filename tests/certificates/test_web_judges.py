"""Three model judges of web agents against the people who judged the same 777 runs: what could be trusted, and when."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

import check_workbench as cw
from check_workbench.stats.intervals import lower_bound, upper_bound

if TYPE_CHECKING:
    from pathlib import Path

    from check_workbench.certificates import Certificates

JUDGES = ("webjudge_7B", "webjudge_gpt4o", "webjudge_o4_mini")
AGREED = {"webjudge_7B": 658, "webjudge_gpt4o": 670, "webjudge_o4_mini": 646}
FAILED = {"webjudge_7B": (82, 624), "webjudge_gpt4o": (58, 588), "webjudge_o4_mini": (109, 666)}
"""By judge, good runs among those that it fails."""
PASSED = {"webjudge_7B": (37, 153), "webjudge_gpt4o": (49, 189), "webjudge_o4_mini": (22, 111)}
"""By judge, bad runs among those that it passes."""
CHECK = """\
id: {judge}
kind: choice
ask: What does {judge} say, did the agent complete the task?
options: {{ success: It did., failure: It did not. }}
flag_on: [failure]
"""


@pytest.fixture(scope="module")
def judged(realdata: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the judged runs, the judges' answers and what people said as files of our own, and a check for each judge.

    Only 456 of the runs are recorded with their actions; trust needs the ids alone.
    """
    folder = tmp_path_factory.mktemp("judged")
    with cw.open() as store:
        store.load(realdata / "online_mind2web_webjudge", mapping="online_mind2web_webjudge")
        answers = store.sql("select run_id, check_id, choice, model, method from answers order by all")
        people = store.sql("select run_id, decision, decided_by from decisions where check_id is null order by all")
    answers = answers[answers["check_id"].isin(JUDGES)]
    answers.to_json(folder / "answers.jsonl", orient="records", lines=True)
    ids = sorted(set(answers["run_id"]))
    people[people["run_id"].isin(ids)].to_csv(folder / "people.csv", index=False)
    runs = [{"run_id": run_id, "workflow": run_id.split("/")[1]} for run_id in ids]
    (folder / "runs.jsonl").write_text("".join(json.dumps(run) + "\n" for run in runs), encoding="utf-8")
    (folder / "checks").mkdir()
    for judge in JUDGES:
        (folder / "checks" / f"{judge}.check.yaml").write_text(CHECK.format(judge=judge), encoding="utf-8")
    for blind in (False, True):
        with cw.open(folder / f"{blind}.duckdb") as store:
            store.load(folder / "runs.jsonl")
            store.load_answers(folder / "answers.jsonl")
            store.load_decisions(folder / "people.csv", blind=blind)
    return folder


def trusted(judged: Path, change: str, target: float, *, blind: bool = True, checks: int = 1) -> Certificates:
    """Decide in a store of its own, so that each target has a first look."""
    name = "max_false_fail" if change == "enforce" else "max_false_pass"
    plan = cw.plan(change, labels="work", checks=checks, **{name: target})  # type: ignore[arg-type]
    copy = shutil.copy(judged / f"{blind}.duckdb", judged / "copy.duckdb")
    with cw.open(copy) as store:
        return cw.trust(judged / "checks", store, plan=plan)


def test_whether_people_saw_the_judges_is_not_known_and_then_nothing_is_decided(judged: Path) -> None:
    decided = trusted(judged, "enforce", 0.1, blind=False)
    assert [entry.excluded for entry in decided] == [{"verdict_seen_unknown": 777}] * 3
    assert [entry.outcome for entry in decided] == ["unusable", "need_labels", "unusable"]
    assert all("0 of 777 decisions were blind (0.0 %)" in " ".join(entry.reasons) for entry in decided)


@pytest.mark.parametrize(
    ("change", "target", "outcomes", "needed"),
    [
        ("enforce", 0.10, ["too_weak", "need_labels", "too_weak"], [None, 364, None]),
        ("enforce", 0.15, ["need_labels", "ready", "need_labels"], [165, 0, 346]),
        ("enforce", 0.20, ["ready"] * 3, [0] * 3),
        ("replace_approval", 0.20, ["need_labels", "too_weak", "need_labels"], [722, None, 595]),
        ("replace_approval", 0.30, ["ready", "need_labels", "ready"], [0, 214, 0]),
        ("replace_approval", 0.35, ["ready"] * 3, [0] * 3),
    ],
)
def test_what_may_be_trusted_if_people_judged_on_their_own(
    judged: Path, change: str, target: float, outcomes: list[str], needed: list[int | None]
) -> None:
    decided = trusted(judged, change, target)
    counts = FAILED if change == "enforce" else PASSED
    assert [(entry.errors, entry.n) for entry in decided] == [counts[judge] for judge in JUDGES]
    for entry in decided:
        (bound,) = entry.details["bounds"]
        assert entry.bound == pytest.approx(upper_bound(entry.errors, entry.n, delta=0.08))
        assert bound["lower"] == pytest.approx(lower_bound(entry.errors, entry.n, delta=0.08))
        assert entry.coverage == pytest.approx(entry.n / 777)
        assert any("asserted when loading (777 units)" in reason for reason in entry.reasons)
    assert [entry.outcome for entry in decided] == outcomes
    assert [entry.labels_needed for entry in decided] == needed


def test_agreement_is_what_people_and_judges_have_in_common() -> None:
    for judge in JUDGES:
        (good, failed), (bad, passed) = FAILED[judge], PASSED[judge]
        assert failed + passed == 777
        assert failed - good + passed - bad == AGREED[judge]
        assert 0.83 <= AGREED[judge] / 777 < 0.87


def test_agents_are_counted_apart_and_several_judges_need_stricter_bounds(judged: Path) -> None:
    together, apart = trusted(judged, "enforce", 0.2, checks=3), trusted(judged, "enforce", 0.2)
    for one, other in zip(together, apart, strict=True):
        segments = other.details["segments"]
        assert len(segments) == 4
        assert sum(row["n"] for row in segments) == other.n
        assert sum(row["errors"] for row in segments) == other.errors
        assert other.details["guards"] == []
        assert one.bound is not None
        assert other.bound is not None
        assert one.bound > other.bound
    assert together.to_json()["together"] == {"ready": 3, "tested": 3, "confidence": 0.9}
    assert apart.to_json()["together"] == {"ready": 3, "tested": 3, "confidence": 0.7}
