"""Nine questions about real dialogues, answered by a model and by people: the pool misleads, few can be trusted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import check_workbench as cw
from check_workbench.calibration.units import records
from check_workbench.checks import Check, Choice, FlagLevel, FlagOn, Item, Levels
from check_workbench.store import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from check_workbench.store import Store

QUESTIONS = [f"Q{place}" for place in range(9)]
ROWS = """
    select run_id, check_id, probabilities, decision
    from decisions join answers using (run_id, check_id)
    where probabilities is not null and run_id like 'real/%' order by run_id, check_id
"""


def question(name: str) -> Check:
    """Return a score question; the model gave every level its probability, so levels 1 and 2 together are flagged."""
    levels = tuple((str(level), "a level of satisfaction") for level in range(1, 5))
    asks = Choice(ask=f"{name} of the rubric", options=levels)
    return Check(id=name, dialect="neatroots", items=(Item(asks=asks, cut=FlagOn(names=("1", "2"), value=0.5)),))


@pytest.fixture(scope="module")
def said(realdata: Path) -> list[dict[str, Any]]:
    """Return what model and people said of the real dialogues, a row for each dialogue and question."""
    with open_store() as store:
        store.load(realdata / "llm_rubric", mapping="llm_rubric", progress=lambda *_: None)
        return records(store.sql(ROWS))


@pytest.fixture(scope="module")
def people(said: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Yield the dialogues with an answer and a decision per question; people saw no answer of the model."""
    with open_store() as store:
        fill(store, tmp_path_factory.mktemp("rubric"), said)
        yield store


def fill(store: Store, folder: Path, rows: list[dict[str, Any]]) -> None:
    runs = {row["run_id"]: {"run_id": row["run_id"], "workflow": row.get("workflow")} for row in rows}
    written(folder / "runs.jsonl", list(runs.values()))
    names = ("run_id", "check_id")
    answers = [{**{n: row[n] for n in names}, "probabilities": json.loads(row["probabilities"])} for row in rows]
    written(folder / "answers.jsonl", [{**one, "model": "gpt", "method": "reported"} for one in answers])
    written(folder / "decisions.jsonl", [{n: row[n] for n in (*names, "decision")} for row in rows])
    store.load(folder / "runs.jsonl", progress=lambda *_: None)
    assert store.load_answers(folder / "answers.jsonl").rejected == ()
    assert store.load_decisions(folder / "decisions.jsonl", blind=True).rejected == ()


def written(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_each_question_alone(people):
    cal: Any = cw.calibrate([question(name) for name in QUESTIONS], people, goal="precision>=0.8")
    found = {entry.check.id: (entry.n, entry.positives, round(entry.auc.value, 2)) for entry in cal}
    assert found == {
        "Q0": (172, 55, 0.57),
        "Q1": (110, 24, 0.58),
        "Q2": (172, 31, 0.50),
        "Q3": (112, 35, 0.63),
        "Q4": (110, 31, 0.63),
        "Q5": (110, 37, 0.43),
        "Q6": (172, 15, 0.47),
        "Q7": (172, 21, 0.62),
        "Q8": (172, 143, 0.56),
    }
    assert sum(n for n, _, _ in found.values()) == 1302
    assert [entry.check.id for entry in cal if entry.auc.low > 0.5] == ["Q3", "Q4"]
    off = {entry.check.id: entry.calibration_error for entry in cal if entry.calibration_error}
    assert {name: round(error.value, 2) for name, error in off.items()} == {
        "Q0": 0.16, "Q1": 0.12, "Q2": 0.10, "Q3": 0.16, "Q4": 0.14, "Q5": 0.14, "Q6": 0.47, "Q7": 0.22, "Q8": 0.25,
    }  # fmt: skip
    assert [name for name, error in off.items() if error.beyond_chance] == ["Q0", "Q2", "Q4", "Q6", "Q7", "Q8"]
    assert any("off by 0.47 on average" in words for words in cal["Q6"].warnings)


def test_no_cut_of_most_questions_is_precise(people):
    cal: Any = cw.calibrate([question(name) for name in QUESTIONS], people, goal="precision>=0.8")
    reasons = {entry.check.id: entry.reason for entry in cal if entry.reason}
    assert list(reasons) == ["Q1", "Q2", "Q4", "Q5", "Q6", "Q7"]
    assert reasons["Q6"].startswith("no cut meets precision>=0.8; the highest precision is 0.188 at 0.7")
    unsure = cal["Q3"].range
    assert (unsure.none, unsure.high - unsure.low) == (pytest.approx(0.2, abs=0.1), pytest.approx(0.37, abs=0.02))


def test_what_the_judge_says_means_little(people):
    """Over the whole range of what the model says, people find a problem about as often: the curves are nearly flat."""
    cal: Any = cw.calibrate([question(name) for name in QUESTIONS], people, goal="precision>=0.8")
    meant = {entry.check.id: entry.meaning for entry in cal}
    assert {meaning.curve for meaning in meant.values()} == {"platt"}
    rise = {name: round(meaning.readings[-1].share - meaning.readings[0].share, 2) for name, meaning in meant.items()}
    assert rise == {
        "Q0": 0.11, "Q1": 0.08, "Q2": 0.02, "Q3": 0.32, "Q4": 0.23, "Q5": -0.10, "Q6": -0.01, "Q7": 0.06, "Q8": 0.08,
    }  # fmt: skip
    flat = [name for name, one in meant.items() if one.readings[0].high > one.readings[-1].low]
    assert flat == QUESTIONS
    [low, middle, high] = meant["Q6"].readings
    assert (low.at, middle.at, high.at) == (0.3, 0.5, 0.7)
    assert (round(middle.share, 2), round(middle.low, 2), round(middle.high, 2)) == (0.09, 0.05, 0.14)
    off = {name: (round(one.before.value, 2), round(one.after.value, 2)) for name, one in meant.items()}
    assert (off["Q6"], off["Q8"]) == ((0.47, 0.04), (0.25, 0.08))
    assert not any(one.after.beyond_chance for one in meant.values())


def test_how_many_dialogues_have_the_problem(people):
    cal: Any = cw.calibrate([question(name) for name in QUESTIONS], people, goal="precision>=0.8")
    shares = {entry.check.id: entry.share for entry in cal}
    assert [round(value, 3) for value in shares["Q6"].value] == [0.087, 0.054, 0.139]
    assert [name for name, one in shares.items() if one.undecided] == ["Q1", "Q3", "Q4", "Q5"]
    assert [name for name, one in shares.items() if one.value is None] == ["Q3"]
    assert shares["Q3"].reason == (
        "labels are no equal draw of all work: 19.7 % of the flagged and 93.4 % of the rest have one"
    )
    assert {one.method for one in shares.values() if one.value} == {"wilson"}


def test_the_pool_misleads_and_says_so(store, said, tmp_path):
    units = [{**row, "run_id": f"{row['run_id']}#{row['check_id']}", "workflow": row["check_id"]} for row in said]
    fill(store, tmp_path, [{**unit, "check_id": "rubric"} for unit in units])
    one: Any = cw.calibrate(question("rubric"), store, goal="recall>=0.8")[0]
    assert (one.n, round(one.auc.value, 2), [group.name for group in one.groups]) == (1302, 0.62, QUESTIONS)
    assert round(one.calibration_error.value, 3) == 0.095
    [words] = [warning for warning in one.warnings if "misleads" in warning]
    assert words.startswith("the pooled curve misleads: AUC 0.624 over all, but 0.552 [0.500, 0.599] ")
    assert "within workflows (Q0 0.57, Q1 0.58, Q2 0.50, Q3 0.63, Q4 0.63, Q5 0.43, Q6 0.47, Q7 0.62" in words
    differ = [warning.split(" ")[0] for warning in one.warnings if "differs between workflows" in warning]
    assert differ == ["precision", "recall"]


def test_levels_that_mean_good_are_told_to_rank_the_wrong_way(people):
    levels = Levels(ask="How satisfied?", levels=("none", "low", "fair", "good", "high"))
    asked = Check(id="Q4", dialect="neatroots", items=(Item(asks=levels, cut=FlagLevel(value=2.5)),))
    [one] = cw.calibrate(asked, people)
    assert one.auc is not None
    assert one.auc.high < 0.5
    assert any("rank the wrong way round" in words for words in one.warnings)
    assert one.calibration_error is None


def test_people_and_the_check_side_by_side(people):
    told = cw.compare(question("Q6"), people)
    assert told.n == 172
    [failed] = [row for row in told.counts if row["verdict"] == "fail"]
    assert (failed["bad"]["k"], failed["bad"]["n"]) == (10, 120)


def test_none_may_replace_people(store, said, tmp_path):
    fill(store, tmp_path, said)
    plan = cw.plan(change="replace_approval", max_false_pass=0.1, confidence=0.9)
    decided = cw.trust([question(name) for name in QUESTIONS], store, plan=plan)
    outcomes = {one.check: one.outcome for one in decided}
    assert outcomes == {name: "need_labels" if name in {"Q6", "Q7"} else "too_weak" for name in QUESTIONS}
