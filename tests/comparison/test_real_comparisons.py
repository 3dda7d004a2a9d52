"""Comparisons on recorded runs that people judged: three judges of web agents, and people beside people."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import pytest

import check_workbench as cw
from check_workbench.checks import Check, Choice, FlagOn, Item
from tests.web_agent_runs import JUDGES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pandas as pd

    from check_workbench.store import Store


def choice(id_: str, *options: str, flag: str) -> Check:
    asks = Choice(ask="Which?", options=tuple((name, name) for name in options))
    return Check(id=id_, dialect="neatroots", items=(Item(asks=asks, cut=FlagOn(names=(flag,), value=0.5)),))


def judge(name: str) -> Check:
    return choice(name, "success", "failure", flag="failure")


def quiet(*_: object) -> None:
    """Say nothing of how far a load is."""


def judged(realdata: Path, folder: Path, *, by: int) -> Store:
    """Return a store with the 777 judged runs, whose workflow is their benchmark (0) or their agent (1)."""
    store = cw.open()
    files = [realdata / "online_mind2web_webjudge" / "agent_reward_bench" / name / "results.json.gz" for name in JUDGES]
    store.load(files, mapping="online_mind2web_webjudge", progress=quiet)
    ids = store.sql("select distinct run_id from decisions order by 1")["run_id"]
    runs = folder / "runs.jsonl"
    runs.write_text("".join(json.dumps({"run_id": id_, "workflow": id_.split("/")[by]}) + "\n" for id_ in ids), "utf-8")
    store.load(runs, progress=quiet)
    return store


@pytest.fixture(scope="module")
def agents(realdata: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with judged(realdata, tmp_path_factory.mktemp("agents"), by=1) as store:
        yield store


@pytest.mark.parametrize(
    ("name", "published", "bad_passed", "good_bounced"),
    [
        ("webjudge_7B", (0.847, 0.758, 0.586), (37, 153), (82, 198)),
        ("webjudge_o4_mini", (0.831, 0.802, 0.449), (22, 111), (109, 198)),
        ("webjudge_gpt4o", (0.862, 0.741, 0.707), (49, 189), (58, 198)),
    ],
)
def test_three_judges(agents, name, published, bad_passed, good_bounced):
    """Agreement, precision and recall are those that were published of the judges."""
    found = cw.compare(judge(name), agents, labels="work")
    assert found.n == 777
    [row] = [row for row in found.switched if row["change"] == "replace_approval"]
    assert found.sides.shown.agreement is not None
    precision, recall = found.counts[0]["good"]["share"], 1 - row["good_bounced"]["share"]
    assert (found.sides.shown.agreement.raw.value, precision, recall) == pytest.approx(published, abs=5e-4)
    assert (row["bad_passed"]["k"], row["bad_passed"]["n"]) == bad_passed
    assert (row["unattended"]["k"], row["unsure"]["k"]) == (777, 0)
    bad = 777 - good_bounced[1]
    assert f"777 units, {bad} bad ({bad / 7.77:.1f} %), 0 unsure" in repr(found)
    assert (row["good_bounced"]["k"], row["good_bounced"]["n"]) == good_bounced
    assert len(found.disagreements) == bad_passed[0] + good_bounced[0]
    assert {one["verdict"] for one in found.disagreements[: bad_passed[0]]} == {"pass"}
    assert (row["blind"], row["since"]) == (False, None)
    assert "such decisions flatter the check" in repr(found)


def test_a_judge_by_agent(agents):
    found = cw.compare(judge("webjudge_7B"), agents, labels="work")
    rows = {row["group"].split("-")[1]: row for row in found.groups if row["by"] == "workflow"}
    assert {name: (row["n"], row["agreement"]["k"], row["bad_passed"]["k"]) for name, row in rows.items()} == {
        "Qwen_Qwen2.5": (212, 180, 14),
        "anthropic_claude": (212, 174, 11),
        "gpt": (212, 177, 7),
        "meta": (141, 127, 5),
    }


def test_a_judge_by_benchmark(realdata, tmp_path):
    with judged(realdata, tmp_path, by=0) as store:
        found = cw.compare(judge("webjudge_7B"), store, labels="work")
    rows = {row["group"]: row for row in found.groups if row["by"] == "workflow"}
    assert {name: (row["n"], row["agreement"]["k"], row["bad_passed"]["k"]) for name, row in rows.items()} == {
        "assistantbench": (72, 70, 1),
        "visualwebarena": (207, 168, 14),
        "webarena": (206, 167, 18),
        "workarena": (292, 253, 4),
    }


def test_triage_of_real_disagreements(realdata, tmp_path):
    with judged(realdata, tmp_path, by=1) as store:
        found = cw.compare(judge("webjudge_gpt4o"), store, labels="work")
        causes = itertools.cycle(["check_wrong", "person_wrong", "evidence_missing"])
        units = [one["unit"] for one in found.disagreements]
        after = found.triage(dict(zip(units, causes, strict=False)), by="somebody")
    document = after.to_json()["triage"]
    assert document["counts"] == {"check_wrong": 36, "person_wrong": 36, "evidence_missing": 35}
    assert round(document["before"]["shown"]["agreement"], 3) == 0.862
    assert document["after"]["shown"]["agreement"] == pytest.approx((670 + 36) / (777 - 35))


def test_what_a_judge_said_stands_beside_the_decision(store, realdata):
    """Of the runs with a judge's record the words of the judge and the task are at hand."""
    folder = realdata / "online_mind2web_webjudge" / "agent_reward_bench" / "webjudge_gpt4o"
    store.load([folder / "judgments.jsonl.gz"], mapping="online_mind2web_webjudge", progress=quiet)
    results = folder.parent / "webjudge_7B" / "results.json.gz"
    store.load(results, mapping="online_mind2web_webjudge", progress=quiet)
    found = cw.compare(judge("webjudge_gpt4o.record"), store, labels="work")
    assert found.n == 51
    for one in found.disagreements:
        assert "Status:" in one["answers"][0]["explanation"]
        assert one["work"]["input"]


def pairs_of(said: pd.DataFrame) -> tuple[int, float]:
    """Return how many units several people decided, and how far two of them agree, straight from the decisions."""
    clear = said[said["decision"].isin(["problem", "no_problem"])].drop_duplicates()
    once = clear.drop_duplicates(["run_id", "decided_by"], keep=False)  # who said both of one unit is left out
    rates = []
    for _, one in once.groupby("run_id"):
        pairs = list(itertools.combinations(one["decision"], 2))
        if pairs:
            rates.append(sum(a == b for a, b in pairs) / len(pairs))
    return len(rates), sum(rates) / len(rates)


def test_three_people_compared_pairs_of_answers(store, realdata):
    store.load(realdata / "pandalm_testset", mapping="pandalm_testset", progress=quiet)
    found: Any = cw.compare(choice("better_response", "1", "2", "tie", flag="2"), store)
    n, rate = pairs_of(store.sql("select run_id, decided_by, decision from decisions"))
    ceiling = found.ceiling
    assert (ceiling.n, ceiling.people, ceiling.blind) == (n, 3, False) == (894, 3, False)
    assert ceiling.agreement.raw.value == pytest.approx(rate)
    assert round(ceiling.agreement.raw.value, 3) == 0.949
    assert ceiling.agreement.by_class == pytest.approx({"good": 0.945, "bad": 0.951}, abs=5e-4)
    assert "counts as error even of a perfect check" in repr(found)


def test_people_who_judged_dialogues_agree_little(store, realdata):
    """Of overall satisfaction people agree no more than chance would have them: kappa is about 0."""
    store.load(realdata / "llm_rubric", mapping="llm_rubric", progress=quiet)
    store.sql("update answers set choice = 'fine', probabilities = null where check_id = 'Q0'")
    found: Any = cw.compare(choice("Q0", "fine", "poor", flag="poor"), store)
    said = store.sql(
        "select run_id, decided_by, decision from decisions semi join runs using (run_id) where check_id = 'Q0'"
    )
    n, rate = pairs_of(said)
    assert found.ceiling.n == n == 172
    assert found.ceiling.agreement.raw.value == pytest.approx(rate)
    assert round(found.ceiling.agreement.kappa, 2) == -0.02
    assert found.ceiling.disagreement[0] == pytest.approx(0.335, abs=5e-4)
