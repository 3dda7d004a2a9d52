"""Several questions of one check: one cut for all of them, or each by the labels that name it."""

from __future__ import annotations

import contextlib
import functools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import check_workbench as cw
from check_workbench.errors import InputError
from tests.workshop import put_answers, put_decisions, put_runs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from check_workbench.store import Store

PROCESS = """\
---
name: vendor
description: Screen a vendor.
inputs:
  vendor: string
steps:
  - id: screen
    agent: Screen the vendor.
    output: { cleared: boolean }
    advisory: true
    check:
      - ask: It covers both lists. # the lists
        pass: 0.8
        fail: 0.3
      - ask: What follows?
        one_of:
          cleared: The vendor is clean.
          listed: The vendor is on a list.
        pass: [cleared, listed]
        confidence: 0.2
      - ask: The summary is true.
        pass: 0.5
  - id: sign
    person: approver
    approve: Approve.
    on_reject: screen
  - id: done
    finish: onboarded
---
"""
CHECK = "vendor/screen"


def work(store: Store, n: int, *, labelled: int, seed: int = 4, question: int | None = None) -> None:
    """Put work with three answers each; it is bad where the least of them is low, or by one question only."""
    rng = np.random.default_rng(seed)
    scores = rng.random((n, 3)).round(4)
    steps = [{"step_id": "screen", "kind": "agent", "output": {"of": place}} for place in range(n)]
    runs = [{"run_id": f"v-{p:03d}", "workflow": "vendor", "spans": [], "steps": [one]} for p, one in enumerate(steps)]
    put_runs(store, *runs)
    answers: list[dict[str, Any]] = []
    for place, (first, second, third) in enumerate(scores.tolist()):
        own = {"run_id": f"v-{place:03d}", "check_id": CHECK, "step_id": "screen", "model": "m", "method": "reported"}
        answers += [
            {**own, "item": 0, "ask": "It covers both lists.", "probability": first},
            {**own, "item": 1, "ask": "What follows?", "choice": "cleared", "confidence": second},
            {**own, "item": 2, "ask": "The summary is true.", "probability": third},
        ]
    put_answers(store, *answers)
    low = scores.min(axis=1) if question is None else scores[:, question]
    bad = low + 0.05 * rng.standard_normal(n) < 0.3
    about = {} if question is None else {"check_id": CHECK, "question": question}
    words = ("problem", "no_problem") if question is not None else ("rejected", "approved")
    step = "screen" if question is not None else "sign"
    if not labelled:
        return
    put_decisions(
        store,
        *(
            {"run_id": f"v-{place:03d}", "step_id": step, "decision": words[0] if bad[place] else words[1], **about}
            for place in range(labelled)
        ),
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "PROCESS.md"
    path.write_text(PROCESS, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def labelled_works() -> Iterator[Callable[[int], Store]]:
    """Yield what makes, once, a store with 300 pieces of work, so many of them labelled; a test only looks at it."""
    with contextlib.ExitStack() as stack:

        @functools.cache
        def made(labelled: int) -> Store:
            store = stack.enter_context(cw.open())
            work(store, 300, labelled=labelled)
            return store

        yield made


def passed(file: Path, store: Store) -> set[str]:
    verdicts = cw.evaluate(str(file), store).verdicts
    return set(verdicts.loc[verdicts["status"] == "pass", "run"])


@pytest.mark.parametrize("goal", ["recall>=0.9", "precision>=0.9", "cost 1:2", "risk<=0.2@0.8"])
@pytest.mark.parametrize("labelled", [120, 300])
def test_the_numbers_that_are_written_pass_what_the_cut_passes(labelled_works, file, goal, labelled):
    store = labelled_works(labelled)
    cal: Any = cw.calibrate(str(file), store, goal=goal)
    [one] = cal
    assert (one.name, one.composite, one.n, one.scored) == (f"{CHECK} all questions", True, labelled, 300)
    before = passed(file, store)
    share = one.chosen.load
    cal.apply()
    after = passed(file, store)
    assert after != before
    assert len(after) == round(300 * (1 - share))
    anew: Any = cw.calibrate(str(file), store, goal=goal)
    again = anew[0]
    assert (again.present.flagged, again.present.true) == (one.chosen.flagged, one.chosen.true)
    assert again.present.people == pytest.approx(one.chosen.people)
    assert again.chosen.at == one.chosen.at
    assert anew.patch() == ""


def test_one_patch_writes_a_number_of_every_question(labelled_works, file):
    store = labelled_works(200)
    cal: Any = cw.calibrate(str(file), store, goal="recall>=0.9")
    numbers = {(n.threshold.item, n.threshold.key): n for n in cal[0].numbers}
    assert [key for key in numbers if key[1] != "fail"] == [(0, "pass"), (1, "confidence"), (2, "pass")]
    patch = cal.patch()
    for (_, key), number in numbers.items():
        assert f"+        {key}: {number.threshold.value:g}" in patch
        assert number.low <= number.threshold.value <= number.high
    assert "It covers both lists. # the lists" in patch
    assert f"question 0 pass {numbers[0, 'pass'].threshold.value:g} (" in repr(cal)
    assert "written as question 0 pass" in cal._repr_html_()
    entry = cal.to_json()["checks"][0]
    assert (entry["check"], entry["item"], entry["key"]) == (CHECK, None, "composite")
    assert entry["numbers"][0] == numbers[0, "pass"].to_dict()
    assert cal.plot().axes[0].get_xlabel() == "cut: flagged below this score"


def test_the_composite_ranks_better_than_a_single_question(labelled_works, file):
    store = labelled_works(300)
    whole: Any = cw.calibrate(str(file), store)[0]
    alone: Any = cw.calibrate(str(file), store, item=0)
    assert whole.auc.low > max(entry.auc.value for entry in alone)
    assert [entry.name for entry in alone] == [f"{CHECK} question 0 pass", f"{CHECK} question 0 fail"]
    assert any("counts as missed by this question" in note for note in alone.notes)


def test_labels_that_name_a_question_calibrate_it_alone(store, file):
    work(store, 200, labelled=150, question=2)
    cal: Any = cw.calibrate(str(file), store, goal="recall>=0.9")
    assert [entry.name for entry in cal] == [f"{CHECK} question 2 pass", f"{CHECK} question 2 fail"]
    assert cal[0].n == 150
    cal.apply()
    assert f"pass: {cal[0].chosen.at:g}" in file.read_text(encoding="utf-8")


def test_labels_of_both_kinds_are_kept_apart_and_not_written_together(store, file):
    work(store, 200, labelled=150, question=2)
    put_decisions(
        store,
        *(
            {"run_id": f"v-{place:03d}", "step_id": "sign", "decision": "rejected" if place % 3 == 0 else "approved"}
            for place in range(150, 200)
        ),
    )
    cal: Any = cw.calibrate(str(file), store, goal="recall>=0.5")
    assert [(entry.name, entry.n) for entry in cal] == [
        (f"{CHECK} question 2 pass", 150),
        (f"{CHECK} question 2 fail", 150),
        (f"{CHECK} all questions", 50),
    ]
    notes = " ".join(cal.notes)
    assert "question 2: 50 left out: about the check as a whole, not about this question" in notes
    assert "all questions: " in notes
    assert cal.patch() == ""
    with pytest.raises(InputError, match=r"by place as cal\[:1\]"):
        cal.apply()
    assert (cal[0].chosen.at, cal[2].chosen.at) != (None, None)
    assert cal[:1].patch().count("\n+        pass: ") == 1


def test_without_labels_the_load_of_all_questions_is_shown(store, file):
    work(store, 100, labelled=0)
    cal: Any = cw.calibrate(str(file), store)
    [one] = cal
    assert (one.n, one.scored, one.chosen, len(one.proposed)) == (0, 100, None, 30)
    assert one.present.people == pytest.approx(1 - len(passed(file, store)) / 100)
    assert "now as it stands: precision unknown, recall unknown, flags " in repr(cal)


def test_an_answer_that_names_a_fail_is_never_let_pass(store, file):
    work(store, 200, labelled=200)
    text = file.read_text(encoding="utf-8").replace("pass: [cleared, listed]", "pass: [listed]")
    file.write_text(text, encoding="utf-8")
    cal: Any = cw.calibrate(str(file), store, goal="cost 1:1")
    assert (cal[0].n, cal[0].chosen) == (200, None)
    assert cal[0].present.people == 1
    assert cal.patch() == ""


def test_work_with_one_question_unanswered_is_counted_not_used(store, file):
    work(store, 60, labelled=60)
    put_runs(store, {"run_id": "w", "workflow": "vendor", "spans": [], "steps": [{"step_id": "screen", "output": 1}]})
    own = {"check_id": CHECK, "step_id": "screen", "run_id": "w", "model": "m", "method": "reported"}
    put_answers(store, {**own, "item": 0, "ask": "It covers both lists.", "probability": 0.9})
    put_decisions(store, {"run_id": "w", "step_id": "sign", "decision": "approved"})
    cal: Any = cw.calibrate(str(file), store)[0]
    assert (cal.n, cal.left_out) == (60, {"not_checked": 1})


@pytest.mark.parametrize("item", [-1, 3, True, "0", 1.0])
def test_a_question_that_is_not_there_is_refused(store, file, item):
    with pytest.raises(InputError, match="item must be a question's place from 0 to 2"):
        cw.calibrate(str(file), store, item=item)
