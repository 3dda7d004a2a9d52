"""Scores, labels, goals and names as nobody should write them; and the order of rows, which must not matter."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import check_workbench as cw
from check_workbench.errors import InputError, UnknownNameError
from check_workbench.store import open_store
from tests.scenario import Scenario, uniform
from tests.workshop import put_answers, put_decisions, put_runs, question, run

IDS = ("q'; drop table looks; --", 'a "quoted" <b>id</b>', "ü/日本 🧪", "a" * 300, "%s{0}\n\t", "check flag_at")


@pytest.fixture
def team(tmp_path) -> Scenario:
    return Scenario(folder=tmp_path)


def put(store: Any, rows: list[tuple[Any, bool | None]], check_id: str = "q") -> None:
    """Put runs with a probability and, where it is not None, whether a person saw the problem."""
    names = [f"r-{place:03d}" for place in range(len(rows))]
    if rows:
        put_runs(store, *(run(name) for name in names))
    told = [(name, p) for name, (p, _) in zip(names, rows, strict=True) if p is not None]
    if told:
        put_answers(store, *({"run_id": name, "check_id": check_id, "probability": p} for name, p in told))
    said = [(name, bad) for name, (_, bad) in zip(names, rows, strict=True) if bad is not None]
    if said:
        own = {"check_id": check_id, "verdict_seen": False}
        word = {True: "problem", False: "no_problem"}
        put_decisions(store, *({"run_id": name, "decision": word[bad], **own} for name, bad in said))


def whole(cal: Any) -> str:
    """Return everything that a calibration shows, as one text."""
    return json.dumps(cal._repr_mimebundle_(), allow_nan=False)


@pytest.mark.parametrize("goal", ["recall>=1", "risk<=0.1@0.9"])
@pytest.mark.parametrize(
    "rows",
    [
        [],
        [(0.5, None)] * 3,
        [(0.5, True)],
        [(0.5, False)],
        [(0.5, place % 2 == 0) for place in range(40)],
        [(0.0, True), (0.0, False), (1.0, True), (1.0, False)],
        [(1e-300, True), (1 - 1e-16, False), (0.5, True)],
        [(None, True)] * 5,
        [(float("nan"), True), (0.4, False), (0.6, True)],
        [(place / 10, None) for place in range(11)],
    ],
    ids=["nothing", "none", "problem", "fine", "constant", "ends", "tiny", "silent", "nan", "unlabelled"],
)
def test_whatever_comes_is_shown(store, rows, goal):
    put(store, rows)
    cal: Any = cw.calibrate(question(), store, goal=goal)
    assert whole(cal)
    [one] = cal
    labelled = sum(p is not None and p == p and bad is not None for p, bad in rows)  # noqa: PLR0124 - NaN
    assert one.n == labelled
    assert one.n + sum(one.left_out.values()) == sum(bad is not None for _, bad in rows)
    assert (one.range is None) == (one.chosen is None) or one.range is None
    if one.chosen:
        assert one.numbers[0].threshold.value == one.chosen.at


def test_constant_scores_move_as_one_group(store):
    put(store, [(0.9, place % 3 == 0) for place in range(30)])
    cal: Any = cw.calibrate(question(), store, goal="recall>=0.9")[0]
    assert [(point.at, point.flagged) for point in cal.curve] == [(0.9, 30)]
    assert cal.auc.value == 0.5
    assert any("100.0 % of the scores are exactly 0.9" in words for words in cal.warnings)


def test_a_cap_is_told_only_beyond_a_fifth(store):
    put(store, [(0.9 if place < 20 else place / 200, place < 30) for place in range(100)])
    assert not any("exactly" in words for words in cw.calibrate(question(), store)[0].warnings)
    put_runs(store, run("x"))
    put_answers(store, {"run_id": "x", "check_id": "q", "probability": 0.9})
    assert any("20.8 % of the scores are exactly 0.9" in words for words in cw.calibrate(question(), store)[0].warnings)


@pytest.mark.parametrize("name", IDS)
def test_names_of_checks_are_only_names(store, name):
    put(store, [(place / 40, place > 20) for place in range(40)], check_id=name)
    check = question(id=name)
    cal: Any = cw.calibrate(check, store, goal={name: "cost 1:1"})
    assert (cal[0].n, cal[0].auc.value) == (40, 1.0)
    assert cal[name] is cal[0]
    assert "<b>id</b>" not in cal._repr_html_()
    assert store.sql("select check_id from looks")["check_id"].tolist() == [name]


@pytest.mark.parametrize(
    ("goal", "words"),
    [
        (None, "is no goal"),
        (0.9, "is no goal"),
        ("", "is no goal"),
        ("precision>=nan", "is no goal"),
        ("precision>=0", "between 0 and 1"),
        ("recall>=1e9", "is no goal"),
        ("cost 0:1", "above 0"),
        ("cost 1:1:1", "is no goal"),
        ("risk<=0.1", "is no goal"),
        ("risk<=0.1@1", "between 0 and 1"),
        ("precision>=0.9; drop table looks", "is no goal"),
        (["precision>=0.9"], "is no goal"),
        ({"q": None}, "is no goal"),
        ({}, "none is given for q flag_at"),
        ({"q": "accuracy"}, "is no goal"),
    ],
)
def test_goals_that_are_none_are_refused_before_a_label_is_read(store, goal, words):
    put(store, [(0.2, True), (0.8, False)])
    with pytest.raises(InputError, match=words):
        cw.calibrate(question(), store, goal=goal)
    assert store.sql("select * from looks").empty


def test_each_check_and_threshold_has_its_goal(store):
    put(store, [(place / 40, place > 20) for place in range(40)])
    other = question(id="other")
    cal: Any = cw.calibrate([question(), other], store, goal={"q flag_at": "recall>=0.9", "other": "cost 1:2"})
    assert [(entry.check.id, entry.goal) for entry in cal] == [("q", "recall>=0.9"), ("other", "cost 1:2")]
    with pytest.raises(UnknownNameError, match="othr"):
        cw.calibrate([question(), other], store, goal={"q": "cost 1:1", "othr": "cost 1:2"})
    with pytest.raises(InputError, match="none is given for other flag_at"):
        cw.calibrate([question(), other], store, goal={"q": "cost 1:1"})


def test_another_goal_on_the_same_labels_is_another_look(store, team):
    team.load(store, uniform(80, labelled=60, risk=lambda s: s))
    for goal in ("cost 1:1", "cost 1:1", {"failed": "cost 1:5"}):
        cw.calibrate(team.check, store, goal=goal)
    results = [json.loads(text) for text in store.sql("select result from looks order by look")["result"]]
    assert [result["goal"] for result in results] == ["cost 1:1", '{"failed": "cost 1:5"}']
    assert results[0]["chosen"][0]["key"] == "flag_at"
    assert results[0]["chosen"][0]["labels"] == 60


@settings(max_examples=3)
@given(st.integers(0, 10**6), st.sampled_from(["precision>=0.7", "recall>=0.8", "cost 1:3"]))
def test_the_order_of_rows_changes_no_byte(seed, goal):
    rng = np.random.default_rng(seed)
    scores, bad, web = rng.random(60).round(1).tolist(), rng.random(60) < 0.4, rng.random(60) < 0.5
    shown = []
    for order in (range(60), rng.permutation(60).tolist()):
        own = {"check_id": "q"}
        with open_store() as store:
            about: list[dict[str, Any]] = [
                {"workflow": "web" if web[i] else "phone", "session_id": f"s-{i % 10}"} for i in order
            ]
            put_runs(store, *(run(f"r-{i:03d}", **fields) for i, fields in zip(order, about, strict=True)))
            put_answers(store, *({"run_id": f"r-{i:03d}", "probability": scores[i], **own} for i in order))
            said = ["problem" if bad[i] else "no_problem" for i in order]
            rows = [{"run_id": f"r-{i:03d}", "decision": word, **own} for i, word in zip(order, said, strict=True)]
            put_decisions(store, *({**row, "verdict_seen": False} for row in reversed(rows)))
            shown.append(whole(cw.calibrate(question(), store, goal=goal)))
    assert shown[0] == shown[1]
