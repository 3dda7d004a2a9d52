"""Work that a weak judge scored and whose truth is known: what certification procedures are compared on."""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

SEED = 7
TRAINED = 40
"""Rows that the weak judges learn from; all others are judged."""
CRITERIA = tuple(f"Q{number}" for number in range(9))


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A whole population: how sure the judge was of each piece of work, and whether the work was bad."""

    name: str
    scores: NDArray[np.float64]
    bad: NDArray[np.bool_]

    def truth(self, at: float | None) -> tuple[float, float]:
        """Return the share of all work at or above a cut, and its risk."""
        if at is None:
            return 0.0, 0.0
        passing = self.scores >= at
        return float(passing.mean()), float(self.bad[passing].mean()) if passing.any() else 0.0


def populations() -> list[Judged]:
    """Return the bundled data of scikit-learn, and LLM-Rubric where the recorded runs are at hand."""
    from sklearn.datasets import load_breast_cancer, load_digits

    digits, digit = load_digits(return_X_y=True)
    tissue, kind = load_breast_cancer(return_X_y=True)
    folder = _realdata() / "llm_rubric" / "synth_data"
    return [
        _classified("digits, 40 examples", digits, digit, strength=0.01),
        _classified("breast cancer, mean radius", tissue[:, :1], kind, strength=1.0),
        *([_rubric(folder)] if folder.is_dir() else []),
    ]


def _classified(name: str, features: Any, target: Any, *, strength: float) -> Judged:
    """Let a logistic regression that saw few rows judge the others; work is bad where it is wrong."""
    from sklearn.linear_model import LogisticRegression

    order = np.random.default_rng(SEED).permutation(len(target))
    seen, rest = order[:TRAINED], order[TRAINED:]
    model = LogisticRegression(C=strength, max_iter=2000).fit(features[seen], target[seen])
    chances = model.predict_proba(features[rest])
    answers = model.classes_[chances.argmax(axis=1)]
    return Judged(name=name, scores=chances.max(axis=1), bad=answers != target[rest])


def _realdata() -> Path:
    given = os.environ.get("CHECK_WORKBENCH_REALDATA")
    return Path(given) if given else Path(__file__).resolve().parents[2].parent / "shared" / "realdata"


def _rubric(folder: Path) -> Judged:
    """Pair what a model said with what each person said: work is bad where a person gave 1 or 2 of 4."""
    said = {
        (row["text_id"], row["criterion"]): float(row["answer3_prob"]) + float(row["answer4_prob"])
        for row in _rows(next(folder.glob("*_evaluations_FIXED.tsv")))
    }
    pairs = [
        (said[row["text_id"], criterion], float(row[criterion]) < 3)
        for row in _rows(next(folder.glob("human_judges_*.tsv")))
        for criterion in CRITERIA
        if row[criterion] and float(row[criterion]) > 0 and (row["text_id"], criterion) in said
    ]
    scores, bad = zip(*pairs, strict=True)
    return Judged(name="LLM-Rubric, synthetic dialogues", scores=np.array(scores), bad=np.array(bad))


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        yield from csv.DictReader(lines, delimiter="\t")
