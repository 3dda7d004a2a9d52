"""Comparisons on the shipped data, with their exact counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import check_workbench as cw
from check_workbench.samples import sample_data

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def vendors() -> Iterator[tuple[str, Any]]:
    folder = sample_data() / "vendors"
    with cw.open() as store:
        store.load(folder / "runs.jsonl", progress=lambda *_: None)
        store.load_decisions(folder / "decisions.csv")
        yield str(folder / "PROCESS.md"), store


def crossed(found):
    return {
        row["verdict"]: {name: one["k"] for name, one in row["decisions"].items()} for row in found.counts if row["n"]
    }


def test_screenings_of_vendors(vendors):
    process, store = vendors
    found = cw.compare(f"{process}#vendor-check/check_vendor", store)
    assert crossed(found) == {
        "pass": {"approved": 215, "rejected": 6},
        "unsure": {"approved": 47, "rejected": 8},
        "fail": {"approved": 2, "rejected": 90},
    }
    assert found.left_out == {"annotators_disagree": 6, "test_run": 22}
    lately, ever = found.switched[1], found.switched[3]
    assert (lately["since"][:10], lately["of"], lately["unattended"]["k"]) == ("2026-01-19", 203, 173)
    assert (lately["bad_passed"]["n"], lately["unsure"]["k"], lately["dated_by_decision"]) == (109, 30, 0)
    assert lately["bad_passed"]["units"] == [f"v-{n}/check_vendor" for n in (218, 232, 258)]
    assert lately["good_bounced"]["units"] == ["v-132/check_vendor", "v-210/check_vendor"]
    assert (ever["of"], ever["unattended"]["k"], ever["bad_passed"]["k"], ever["good_bounced"]["k"]) == (225, 192, 3, 2)
    assert (ever["bad_passed"]["n"], ever["unsure"]["k"]) == (122, 33)
    assert (found.sides.blind.bad["k"], found.sides.shown.bad["k"]) == (87, 17)
    ceiling = found.ceiling
    assert (ceiling.about, ceiling.other) == ("work", None)
    assert (ceiling.n, ceiling.people, ceiling.blind) == (35, 2, True)
    assert ceiling.agreement is not None
    assert ceiling.agreement.raw.value == pytest.approx(32 / 35)
    assert {name: one.n for name, one in ceiling.by_verdict.items()} == {"pass": 23, "unsure": 3, "fail": 9}
    approvers = {row["group"]: row["n"] for row in found.groups if row["by"] == "approver"}
    assert approvers == {"approver-kim": 206, "approver-lee": 194}
    assert len(found.disagreements) == 8


def test_the_evidence_of_a_screening(vendors):
    process, store = vendors
    again, first, *_ = cw.compare(f"{process}#vendor-check/check_vendor", store).disagreements
    assert (again["unit"], again["attempt"]) == ("v-161/check_vendor (attempt 2)", 2)
    assert (first["unit"], first["verdict"], first["note"]) == (
        "v-218/check_vendor", "pass", "The owners were not searched.",
    )  # fmt: skip
    [answer] = first["answers"]
    assert (answer["answer"], answer["model"]) == ("yes (0.95)", "example-evaluator-1")
    assert first["work"]["summary"] == "Screening done."
    assert "v-218-check_vendor-1.pdf" in first["work"]["evidence"]


def test_terms_of_vendors(vendors):
    process, store = vendors
    found = cw.compare(f"{process}#vendor-check/write_terms", store)
    assert crossed(found) == {
        "pass": {"approved": 55, "rejected": 4},
        "unsure": {"approved": 24, "rejected": 3},
        "fail": {"approved": 2, "rejected": 13},
    }
    failed = [one for one in found.disagreements if one["verdict"] == "fail"]
    assert failed[0]["findings"][0]["message"].endswith("level 1: They address part of the risk. (0.89)")


def test_questions_about_refunds(store):
    folder = sample_data() / "refunds"
    store.load(folder / "runs.jsonl", progress=lambda *_: None)
    store.load_decisions(folder / "labels.csv")
    store.load_answers(folder / "answers.jsonl")
    found = cw.compare(folder / "checks" / "refund-without-ownership.check.yaml", store)
    assert crossed(found) == {
        "pass": {"no_problem": 87, "problem": 6, "unclear": 2},
        "fail": {"no_problem": 6, "problem": 16},
    }
    assert (found.counts[0]["n"], found.counts[0]["neither"]) == (93, 2)
    assert (found.switched[1]["of"], found.switched[1]["bad_passed"]["k"], found.switched[1]["good_bounced"]["k"]) == (
        88,
        4,
        5,
    )
    loops = cw.compare(folder / "checks" / "repeated-call.check.yaml", store)
    assert (loops.n, len(loops.disagreements), loops.ceiling.n) == (120, 13, 11)
    failed = next(one for one in loops.disagreements if one["verdict"] == "fail")
    assert failed["findings"][0]["quote"] == '{"item":"kettle","amount":171.71}'
