"""Several people on the same recorded work: nobody is taken for somebody who corrects themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from check_workbench.decisions.last_words import replaced, subject_of
from check_workbench.evaluation.rows import rows_of
from check_workbench.labels import labels_for
from check_workbench.store import open_store
from tests.workshop import question

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("name", "people", "found"),
    [
        ("llm_rubric", (6739, 23), ("Q0", 345, {"annotators_disagree": 4, "unclear": 7, "unknown_run": 52})),
        ("pandalm_testset", (2997, 3), ("better_response", 914, {"unclear": 326})),
    ],
)
def test_no_decision_of_several_people_is_replaced(
    realdata: Path, name: str, people: tuple[int, int], found: tuple[str, int, dict[str, int]]
) -> None:
    with open_store() as store:
        store.load(realdata / name, mapping=name, progress=lambda *_: None)
        said = rows_of(store.sql("select * from decisions"))
        subjects = [(subject, row) for row in said if (subject := subject_of(row)) is not None]
        assert len(subjects) == len(said)
        assert (len(said), len({subject[0] for subject, _ in subjects})) == people
        assert replaced(subjects) == {}
        labels = labels_for(question(id=found[0]), store)
        assert (found[0], len(labels), labels.excluded) == found
