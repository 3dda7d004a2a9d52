"""The shipped mappings over the data that they are for: counts, and figures that SQL over the store gives."""

from __future__ import annotations

import dataclasses
from importlib import resources
from typing import TYPE_CHECKING, Any

import pytest

import check_workbench as cw
from check_workbench.records import Run
from check_workbench.sources import read
from check_workbench.sources.mapping import read_mapping
from check_workbench.stats.curves import auc
from check_workbench.store import open_store
from tests import web_agent_runs
from tests.workshop import loop

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from check_workbench.store import Store
    from check_workbench.store.report import LoadReport


class Loaded:
    """A store with one folder of real data in it."""

    def __init__(self, store: Store, report: LoadReport) -> None:
        self.store = store
        self.report = report

    @property
    def counts(self) -> tuple[int, ...]:
        """New runs, spans, steps, decisions, answers."""
        report = self.report
        return report.runs, report.spans, report.steps, report.decisions, report.answers

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in self.store.sql(sql).itertuples(index=False)]

    def row(self, sql: str) -> tuple[Any, ...]:
        [row] = self.rows(sql)
        return row


def loaded(realdata: Path, name: str) -> Iterator[Loaded]:
    with open_store() as store:
        report = store.load(realdata / name, mapping=name, progress=lambda *_: None)
        assert report.rejected == ()
        assert all("LICENSE" in path or "NOTICE" in path for path in report.skipped)
        yield Loaded(store, report)


@pytest.fixture(scope="module")
def web(realdata: Path) -> Iterator[Loaded]:
    yield from loaded(realdata, "online_mind2web_webjudge")


@pytest.fixture(scope="module")
def rubric(realdata: Path) -> Iterator[Loaded]:
    yield from loaded(realdata, "llm_rubric")


@pytest.fixture(scope="module")
def pairs(realdata: Path) -> Iterator[Loaded]:
    yield from loaded(realdata, "ragchecker_meta_eval")


@pytest.fixture(scope="module")
def panda(realdata: Path) -> Iterator[Loaded]:
    yield from loaded(realdata, "pandalm_testset")


@pytest.fixture(scope="module")
def llmbar(realdata: Path) -> Iterator[Loaded]:
    yield from loaded(realdata, "llmbar_evaluators")


@pytest.fixture(scope="module")
def ragas(realdata: Path) -> Iterator[Loaded]:
    yield from loaded(realdata, "ragas_annotations")


def test_web_runs_are_one_whichever_judge_saw_them(web: Loaded) -> None:
    assert web.counts == (690 + 1374, 13_722, 0, 1374 + 3 * 777, 1093 + 3 * 777)
    assert web.report.already == 1093 - 690
    assert web.report.replaced == 0
    judged = web.rows("select check_id, count(*) from answers group by all order by 1")
    assert judged == [
        ("webjudge_7B", 777),
        ("webjudge_7B.record", 661),
        ("webjudge_gpt4o", 777),
        ("webjudge_gpt4o.record", 80),
        ("webjudge_o4_mini", 777),
        ("webjudge_o4_mini.record", 352),
    ]
    assert web.row("select count(*) from answers where choice is null") == (0,)


def test_web_records_that_join_a_label(web: Loaded) -> None:
    joined = web.rows(
        """
        select a.check_id, count(*), count(*) filter (a.choice = b.choice)
        from answers a join answers b on b.run_id = a.run_id and a.check_id = b.check_id || '.record'
        group by all order by 1
        """
    )
    assert joined == [
        ("webjudge_7B.record", 445, 445),
        ("webjudge_gpt4o.record", 51, 51),
        ("webjudge_o4_mini.record", 241, 240),
    ]


def test_web_labels(web: Loaded) -> None:
    work = "select decision, count(*) from decisions where check_id is null and {} group by all order by 1"
    assert web.rows(work.format("run_id like 'online_mind2web/%'")) == [
        ("approved", 545),
        ("completed", 17),
        ("failed", 812),
    ]
    assert web.rows(work.format("run_id not like 'online_mind2web/%'")) == [("approved", 198), ("failed", 579)]
    looping = web.rows("select decision, count(*) from decisions where check_id = 'looping' group by all order by 1")
    assert looping == [("no_problem", 351), ("problem", 426)]
    levels = web.rows(
        "select answer, decision, count(*) from decisions where check_id = 'optimality' group by all order by 1"
    )
    assert levels == [("1", "problem", 229), ("2", "problem", 302), ("3", "no_problem", 122), ("4", "no_problem", 124)]
    assert web.row("select count(distinct provenance), any_value(provenance) from decisions") == (1, "imported")


def test_agreement_of_judges_with_people(web: Loaded) -> None:
    found = web.rows(
        """
        select answers.check_id, count(*), round(avg(((choice = 'success') = (decision = 'approved'))::int), 3),
            round(avg((decision = 'approved')::int) filter (choice = 'success'), 3),
            round(avg((choice = 'success')::int) filter (decision = 'approved'), 3)
        from answers join decisions using (run_id)
        where decisions.check_id is null and answers.check_id not like '%.record'
        group by all order by 1
        """
    )
    assert found == [
        ("webjudge_7B", 777, 0.847, 0.758, 0.586),
        ("webjudge_gpt4o", 777, 0.862, 0.741, 0.707),
        ("webjudge_o4_mini", 777, 0.831, 0.802, 0.449),
    ]


def calibrated(store: Store, realdata: Path, mapping: str | Path) -> Any:
    """Calibrate `repeat` on the runs that have a label: 456 of those whose history was recorded."""
    folder = realdata / "online_mind2web_webjudge" / "agent_reward_bench"
    files = [folder / judge / "judgments.jsonl.gz" for judge in web_agent_runs.JUDGES]
    store.load([*files, folder / "webjudge_7B" / "results.json.gz"], mapping=mapping, progress=lambda *_: None)
    labelled = "select run_id from decisions where check_id = 'looping'"
    others = store.sql(f"select run_id from runs where run_id not in ({labelled})")
    store.delete(others["run_id"].tolist())
    [found] = cw.calibrate(dataclasses.replace(loop(), id="looping"), store, goal="cost 1:1")
    assert (found.n, found.positives) == (456, 245)
    return found


def test_repeats_against_people(store: Store, realdata: Path) -> None:
    points = {point.at: point for point in calibrated(store, realdata, "online_mind2web_webjudge").curve}
    assert [(round(points[at].precision, 3), round(points[at].recall, 3)) for at in (2, 3, 5)] == [
        (0.807, 0.992),
        (0.893, 0.988),
        (0.926, 0.918),
    ]


def test_the_same_steps_as_a_join_by_hand(store: Store, realdata: Path, tmp_path: Path) -> None:
    """The hand-made join takes a judge's notes on screenshots for steps, as a mapping without `before` does."""
    shipped = resources.files("check_workbench.sources").joinpath("mappings/online_mind2web_webjudge.yaml")
    text = shipped.read_text("utf-8")
    own = tmp_path / "own.yaml"
    own.write_text(text.replace('before: "\\n\\nThe potentially important snapshots"', ""), "utf-8")
    folder = realdata / "online_mind2web_webjudge"
    mine = first_runs(folder, own)
    theirs = list(web_agent_runs.runs(realdata))
    assert len(theirs) == 456
    for run in theirs:
        spans = [{"type": s.type, "name": s.name, "input": s.input} for s in mine[run["run_id"]].spans]
        assert spans == run["spans"]
        assert (mine[run["run_id"]].input, mine[run["run_id"]].workflow) == (run["input"], run["workflow"])
    points = {point.at: point for point in calibrated(store, realdata, own).curve}
    rows = store.sql("select run_id, decision from decisions where check_id = 'looping'")
    said = dict(zip(rows["run_id"], rows["decision"], strict=True))
    assert all(said[row["run_id"]] == row["decision"] for row in web_agent_runs.decisions(realdata))
    assert (round(points[3].precision, 3), round(points[3].recall, 3)) == (0.893, 0.992)
    assert (round(points[5].precision, 3), round(points[5].recall, 3)) == (0.927, 0.927)


def first_runs(folder: Path, mapping: Path) -> dict[str, Run]:
    """Return each run as the first judge's record tells it."""
    found: dict[str, Run] = {}
    own = read_mapping(mapping)
    for judge in web_agent_runs.JUDGES:
        path = folder / "agent_reward_bench" / judge / "judgments.jsonl.gz"
        recognised = own.recognise(path, folder)
        assert recognised is not None
        for record in read(path, recognised, root=folder):
            if isinstance(record, Run):
                found.setdefault(record.run_id, record)
    return found


def test_checks_take_the_answers(web: Loaded, rubric: Loaded, tmp_path: Path) -> None:
    judge, satisfied = tmp_path / "judge.yaml", tmp_path / "satisfied.yaml"
    options = "options: {success: it did, failure: it did not}\nflag_on: failure\n"
    judge.write_text(f"id: webjudge_7B\nkind: choice\nask: Did it do its task?\n{options}", "utf-8")
    levels = "".join(f"  - {word}\n" for word in ("none", "low", "fair", "good", "high"))
    satisfied.write_text(f"id: Q0\nkind: score\nask: How satisfied?\nlevels:\n{levels}flag_at_level: 4\n", "utf-8")
    [found] = cw.calibrate(str(judge), web.store, labels="work")
    assert (found.n, found.positives, found.method, found.model) == (456, 348, "webjudge", "webjudge_7B")
    assert cw.calibrate(str(satisfied), rubric.store)[0].n > 300


def test_rubric_counts(rubric: Loaded) -> None:
    assert rubric.counts == (172 + 176, 0, 0, 172 * 9 + 577 * 9 - 2, 2 * (1548 + 1584) + 2 * 1302)
    joined = rubric.rows(
        """
        select split_part(run_id, '/', 1), count(*), count(*) filter (decision <> 'unclear'), count(distinct run_id),
            count(distinct decided_by)
        from decisions join answers using (run_id, check_id) where probabilities is not null group by all order by 1
        """
    )
    assert joined == [("real", 1548, 1302, 172, 13), ("synth", 4723, 4169, 176, 23)]


RUBRIC = """
    select probabilities::json->>'3' as third, probabilities::json->>'4' as fourth, decisions.answer as human, check_id
    from decisions join answers using (run_id, check_id)
    where probabilities is not null and decision <> 'unclear' and run_id like ?
"""


@pytest.mark.parametrize(("set_", "pooled"), [("real", 0.62), ("synth", 0.70)])
def test_rubric_auc(rubric: Loaded, set_: str, pooled: float) -> None:
    frame = rubric.store.sql(RUBRIC, [f"{set_}/%"])
    good = frame["human"].astype(int) >= 3
    score = frame["third"].astype(float) + frame["fourth"].astype(float)
    assert auc(score.to_numpy(), good.to_numpy())[0] == pytest.approx(pooled, abs=0.005)


def test_rubric_question_that_cannot_be_trusted(rubric: Loaded) -> None:
    frame = rubric.store.sql(RUBRIC, ["real/%"])
    frame = frame[frame["check_id"] == "Q6"]
    score = frame["third"].astype(float) + frame["fourth"].astype(float)
    assert (frame["human"].astype(int) >= 3).mean() == pytest.approx(0.91, abs=0.005)
    assert score.mean() == pytest.approx(0.44, abs=0.005)


def test_pairs_of_rag_answers(pairs: Loaded) -> None:
    assert pairs.counts == (280, 0, 560, 1680, 840)
    found = {}
    for check in ("correctness", "completeness", "overall"):
        frame = pairs.store.sql(
            "select score, decision = 'problem' as worse from decisions join answers using (run_id, check_id) "
            "where check_id = ? and decision <> 'unclear'",
            [check],
        )
        found[check] = len(frame), round(auc(frame["score"].to_numpy(float), frame["worse"].to_numpy(bool))[0], 3)
    assert found == {"correctness": (326, 0.818), "completeness": (349, 0.857), "overall": (390, 0.868)}


def test_pandalm_counts(panda: Loaded) -> None:
    assert panda.counts == (999, 0, 1998, 2997, 1998)
    assert panda.row("select count(*) from answers where status = 'error'") == (25,)
    unanimous = "select run_id from decisions group by run_id having count(distinct answer) = 1"
    assert panda.row(f"select count(*) from ({unanimous})") == (879,)
    people = panda.rows("select decided_by, count(*) from decisions group by all order by 1")
    assert people == [("annotator 1", 999), ("annotator 2", 999), ("annotator 3", 999)]


def test_pandalm_agreement_with_the_majority(panda: Loaded) -> None:
    """Of the ties that GPT named, 5 agree with people; the published .693 counts none of them."""
    found = panda.rows(
        """
        with majority as (select run_id, mode(answer) as said from decisions group by run_id)
        select model, round(avg((choice is not distinct from said)::int), 3),
            round(avg((choice is not distinct from said and choice <> 'tie')::int), 3)
        from answers join majority using (run_id) group by all order by 1
        """
    )
    assert [(model, agreed) for model, agreed, _ in found] == [("gpt-3.5-turbo", 0.698), ("pandalm-7b", 0.668)]
    assert found[0][2] == 0.693


def test_llmbar_counts(llmbar: Loaded) -> None:
    # 419 items with 14 pairs of model and prompt, three external sets with four; two orders each, and two scores.
    assert llmbar.counts == (419 + 466, 0, 2 * 885, 885, 2 * (14 * 419 + 4 * 466) + 2 * 2 * 419 - 2)
    assert llmbar.row("select count(*) from decisions where run_id like 'Natural/%'") == (100,)


def test_llmbar_accuracy_and_order(llmbar: Loaded) -> None:
    inner = """
        select model, method, count(*) as n, round(avg((choice is not distinct from answer)::int), 2) as accuracy
        from answers join decisions using (run_id, check_id)
        where check_id = 'better_output' and method not like '%swapped' and method not like '%Metrics_Reference'
        group by all
    """
    assert llmbar.row(f"select count(*), sum(n), min(accuracy), max(accuracy) from ({inner})") == (10, 4190, 0.40, 0.84)
    least = llmbar.row(f"select model, method from ({inner}) order by accuracy limit 1")
    assert least == ("ChatGPT", "llmbar CoT")
    orders = """
        select a.choice is not distinct from b.choice as agree, (a.choice is not distinct from answer)::int as hit
        from answers a join answers b using (run_id, check_id, model) join decisions using (run_id, check_id)
        where check_id = 'better_output' and b.method = a.method || ', swapped' and a.method not like '%_Reference'
    """
    assert llmbar.rows(f"select agree, round(avg(hit), 2) from ({orders}) group by all order by 1") == [
        (False, 0.48),
        (True, 0.64),
    ]


def test_ragas_counts(ragas: Loaded) -> None:
    assert ragas.counts == (58, 0, 0, 58, 58)
    said = "select answer, count(*), bool_and(verdict_seen) from decisions group by all order by 1"
    assert ragas.rows(said) == [("accepted", 44, True), ("rejected", 14, True)]
    agreed = "(choice = 'pass') = (decision = 'no_problem')"
    both = "answers join decisions using (run_id, check_id)"
    assert ragas.row(f"select count(*) from {both} where {agreed}") == (44,)
    rows = "select check_id, count(*), count(note) from decisions group by all order by 1"
    assert ragas.rows(rows) == [("answer_correctness", 18, 6), ("helpfulness", 21, 8), ("summary_accuracy", 19, 0)]
