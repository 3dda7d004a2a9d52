"""Repeat against people: 456 web-agent runs of which a person said whether they loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from check_workbench import rules
from check_workbench.checks import Count, Repeat
from check_workbench.stats.cutoffs import auc
from tests import web_agent_runs

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

    from check_workbench.checks import Rule
    from check_workbench.store import Store


def test_repeat_agrees_with_people(realdata: Path, tmp_path: Path, store: Store) -> None:
    runs_file, _ = web_agent_runs.write(realdata, tmp_path)
    store.load(runs_file)
    looping = {row["run_id"]: row["decision"] == "problem" for row in web_agent_runs.decisions(realdata)}

    def measured(rule: Rule) -> tuple[np.ndarray, np.ndarray]:
        runs = store.table("runs")
        values = rules.measure(rule, store.table("spans"), runs)
        frame = store.execute(values.inner_join(runs.select("run_id", own="run_key"), [("run_key", "own")]))
        return frame["value"].to_numpy(float), frame["run_id"].map(looping).to_numpy(bool)

    value, positive = measured(Repeat())
    assert (len(value), int(positive.sum())) == (456, 245)
    for cut, precision, recall in ((3, 0.893, 0.992), (5, 0.927, 0.927)):
        flagged = value >= cut
        assert (positive & flagged).sum() / flagged.sum() == pytest.approx(precision, abs=5e-4)
        assert (positive & flagged).sum() / positive.sum() == pytest.approx(recall, abs=5e-4)
    assert auc(value, positive)[0] == pytest.approx(0.963, abs=5e-4)
    assert auc(*measured(Count()))[0] == pytest.approx(0.932, abs=5e-4)
