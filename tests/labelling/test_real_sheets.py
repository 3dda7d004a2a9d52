"""Sheets drawn from real dialogues that people judged: what calibrate says, beside the truth over all labels."""

from __future__ import annotations

import csv
import dataclasses
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import check_workbench as cw
from check_workbench.calibration.units import records
from check_workbench.checks import Check, FlagOn
from check_workbench.store import open_store
from tests.calibration.test_llm_rubric import ROWS, question, written

if TYPE_CHECKING:
    from pathlib import Path

    from check_workbench.store import Store

ASKED = "Q0"
SEEDS = 2


def asked() -> Check:
    """Return the first question of the rubric, at a number that flags a third of the dialogues."""
    check = question(ASKED)
    cut = FlagOn(names=("1", "2"), value=0.2)
    return dataclasses.replace(check, items=(dataclasses.replace(check.items[0], cut=cut),))


@pytest.fixture(scope="module")
def said(realdata: Path) -> list[dict[str, Any]]:
    """Return what model and people said to one question of the real dialogues."""
    with open_store() as store:
        store.load(realdata / "llm_rubric", mapping="llm_rubric", progress=lambda *_: None)
        return [row for row in records(store.sql(ROWS)) if row["check_id"] == ASKED]


def told(store: Store, folder: Path, rows: list[dict[str, Any]]) -> None:
    """Load the dialogues and the answers of the model, and no decision."""
    folder.mkdir()
    written(folder / "runs.jsonl", [{"run_id": row["run_id"], "input": row["run_id"]} for row in rows])
    answers = [
        {"run_id": row["run_id"], "check_id": ASKED, "probabilities": json.loads(row["probabilities"])} for row in rows
    ]
    written(folder / "answers.jsonl", [{**one, "model": "gpt", "method": "reported"} for one in answers])
    store.load(folder / "runs.jsonl", progress=lambda *_: None)
    assert store.load_answers(folder / "answers.jsonl").rejected == ()


def labelled(store: Store, folder: Path, purposes: str, truth: dict[str, str], seed: int) -> int:
    """Draw sheets, of which the people return each row but every sixth."""
    count = 0
    for place, letter in enumerate(purposes):
        path = folder / f"{place}.csv"
        purpose: Any = "trust" if letter == "t" else "recall"
        cw.label_next(asked(), store, n=60, purpose=purpose, seed=seed, sheet=path)
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = [row for at, row in enumerate(csv.DictReader(stream)) if at % 6 != 5]
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows({**row, "decision": truth[row["run_id"]]} for row in rows)
        count += store.load_decisions(path).decisions
    return count


@pytest.mark.parametrize("purposes", ["tr", "rt", "rr"])
def test_recall_and_precision_from_sheets_are_those_of_all_labels(
    said: list[dict[str, Any]], tmp_path: Path, purposes: str
) -> None:
    truth = {row["run_id"]: row["decision"] for row in said}
    with open_store() as store:
        told(store, tmp_path / "all", said)
        written(tmp_path / "all.jsonl", [{"run_id": r, "check_id": ASKED, "decision": d} for r, d in truth.items()])
        store.load_decisions(tmp_path / "all.jsonl")
        [whole] = cw.calibrate(asked(), store)
    assert whole.present is not None
    assert whole.present.recall is not None
    assert whole.present.precision is not None
    errors = []
    for seed in range(SEEDS):
        with open_store() as store:
            told(store, tmp_path / f"{seed}", said)
            count = labelled(store, tmp_path / f"{seed}", purposes, truth, seed)
            [found] = cw.calibrate(asked(), store)
        assert count == found.n >= 99
        point = found.present
        assert point is not None
        assert point.recall is not None
        assert point.precision is not None
        assert (point.recall_low or 0) <= whole.present.recall <= (point.recall_high or 0)
        assert (point.precision_low or 0) <= whole.present.precision <= (point.precision_high or 0)
        errors.append([point.recall - whole.present.recall, point.precision - whole.present.precision])
    assert (np.abs(np.mean(errors, axis=0)) < 0.15).all()
