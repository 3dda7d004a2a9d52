"""Small files that are stored together come in as if each came by itself."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest

from check_workbench.records import Run, Span
from check_workbench.results import Answer
from check_workbench.store import gathered, open_store
from check_workbench.store.arrivals import Tally
from check_workbench.store.batches import Placed
from check_workbench.store.gathered import Gathered, Read
from check_workbench.store.own_lines import own_records
from tests.store.making import contents, write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from check_workbench.store import LoadReport, Store

IDS = ("a", "b", "c", "d")
AT = "2026-05-01T10:00:00Z"


def own(rng: random.Random) -> list[Any]:
    """Return records of our own, some of them broken, grown, or there twice."""
    records: list[Any] = []
    for _ in range(rng.randint(1, 4)):
        spans = [{"type": "tool", "name": "get", "output": str(i)} for i in range(rng.randint(0, 3))]
        steps = [{"step_id": f"s{i}"} for i in range(rng.randint(0, 2))]
        ended = rng.choice([{}, {"ended_at": AT}, {"ended_at": "2026-05-01 10:00"}])
        records.append({"run_id": rng.choice(IDS), "spans": spans, "steps": steps, **ended})
    broken = rng.choice([None, None, {"run_id": ""}, {"run_id": "t", "spans": 3}, [1]])
    return records if broken is None else [*records, broken]


def blamed(rng: random.Random) -> list[Any]:
    """Return records that bring decisions."""
    made = {"role": "assistant", "name": "A", "content": "x" * rng.randint(0, 2)}
    record = {"question_ID": rng.choice(IDS), "question": "q", "history": [made] * rng.randint(1, 3)}
    wrong = {"is_correct": False, "mistake_agent": "A", "mistake_step": str(rng.randint(0, 2)), "mistake_reason": "r"}
    return [record | wrong] if rng.random() < 0.8 else [record | wrong, {"history": 5, "mistake_agent": "A"}]


def scored(rng: random.Random) -> list[Any]:
    """Return a trace that brings an answer or a decision."""
    trace = rng.choice(IDS)
    source = rng.choice(["EVAL", "ANNOTATION", "GUESS"])
    score = {"id": f"s{trace}", "traceId": trace, "name": "polite", "source": source, "dataType": "NUMERIC"}
    spans = [
        {"id": f"o{i}", "traceId": trace, "type": "SPAN", "name": "turn", "parentObservationId": None, "startTime": AT}
        for i in range(rng.randint(1, 3))
    ]
    scores = [{**score, "value": rng.choice([0, 1]), "timestamp": AT}]
    return [{"trace": {"id": trace, "name": "agent", "timestamp": AT, "scores": scores}, "observations": spans}]


def talked(rng: random.Random) -> list[Any]:
    return [{"messages": [{"role": "user", "content": "go"}] * rng.randint(1, 2)}] * rng.randint(1, 2)


KINDS: tuple[Callable[[random.Random], list[Any]], ...] = (own, own, blamed, scored, talked)


def filled(folder: Path, rng: random.Random) -> None:
    folder.mkdir()
    for place in range(rng.randint(5, 9)):
        write(folder / f"{place:02}.jsonl", *rng.choice(KINDS)(rng))
    (folder / "03 empty.json").write_text("")
    (folder / "04 text.txt").write_text("words")


def everything(store: Store) -> dict[str, Any]:
    """Return what a store holds, without keys and times of loading."""
    rows = {name: contents(store, name) for name in ("runs", "spans", "steps")}
    by = "join (select source_key, path, format from sources) using (source_key)"
    for name, text in {
        "of": f"select run_id, path, format from runs {by}",
        "sources": "select * exclude (source_key, loaded_at) from sources",
        "decisions": f"select * exclude (source_key) from decisions {by}",
        "answers": f"select * exclude (source_key) from answers {by}",
    }.items():
        rows[name] = store.sql(f"select x::varchar as x from ({text}) as x order by 1")["x"].tolist()
    return rows


def told(report: LoadReport) -> tuple[Any, ...]:
    counts = (report.runs, report.spans, report.steps, report.decisions, report.answers)
    seen = (report.already, report.replaced, report.skipped, report.rejected, report.notes, report.taken)
    return (*counts, *seen, report.examined.to_json())


def load_alone(store: Store, folder: Path) -> LoadReport:
    """Load each file in a transaction of its own."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("SMALL_BYTES", "SMALL_OWN_BYTES"):
            patch.setattr(f"check_workbench.store.loading.{name}", -1)
        return store.load(folder)


@pytest.mark.parametrize("seed", range(5))
def test_files_together_come_in_as_each_alone(tmp_path, monkeypatch, seed):
    rng = random.Random(seed)  # noqa: S311 - the same folder each time
    filled(tmp_path / "runs", rng)
    monkeypatch.setattr(gathered, "FILES_AT_ONCE", rng.choice([2, 3, 250]))
    with open_store() as together, open_store() as alone:
        rehearsed = together.load(tmp_path / "runs", dry_run=True)
        loaded, expected = together.load(tmp_path / "runs"), load_alone(alone, tmp_path / "runs")
        assert told(loaded) == told(expected)
        assert told(rehearsed)[:-1] == told(expected)[:-1]
        assert everything(together) == everything(alone)


@pytest.mark.parametrize("at_once", [1, 250])
def test_answers_know_the_run_that_was_there_when_they_came(monkeypatch, at_once):
    monkeypatch.setattr(gathered, "FILES_AT_ONCE", at_once)

    def read(name: str, spans: int | None, *about: str) -> Read:
        run = Run(run_id="r", spans=(Span(type="tool"),) * (spans or 0))
        said = [Answer(check_id=name, run_id=run_id) for run_id in about]
        return Read(name, "f", 1, [] if spans is None else [Placed(0, 1, run)], Tally(answered=said))

    reads = [read("early", None, "r"), read("first", 1, "r"), read("late", None, "r"), read("grown", 2, "r")]
    with open_store() as store:
        with Gathered(store, blind=False) as waiting:
            for one in reads:
                waiting.add(one)
        found = store.sql("select check_id, stale, run_digest is null as unknown from answers order by 1")
        [digest] = store.sql("select digest from runs")["digest"]
        assert [tuple(row) for row in found.itertuples(index=False)] == [
            ("early", True, True),
            ("first", True, False),
            ("grown", False, False),
            ("late", True, False),
        ]
        assert store.sql("select check_id from answers where run_digest = ?", [digest])["check_id"].tolist() == [
            "grown"
        ]
    assert [one.own.replaced for one in reads] == [0, 0, 0, 1]


def test_a_file_that_fails_in_the_middle_brings_nothing_and_its_neighbours_stay(store, tmp_path, monkeypatch):
    paths = [write(tmp_path / f"{name}.jsonl", {"run_id": name}, {"run_id": f"{name}2"}) for name in "abc"]

    def failing(path, origin):
        for line, record in own_records(path, origin):
            yield line, record
            if path == paths[1]:
                raise OSError(5, "Input/output error")

    monkeypatch.setattr("check_workbench.store.loading.own_records", failing)
    report = store.load(tmp_path)
    assert store.sql("select run_id from runs order by run_key")["run_id"].tolist() == ["a", "a2", "c", "c2"]
    assert [(r.file, r.reason) for r in report.rejected] == [(str(paths[1]), "cannot be read: Input/output error")]
    assert len(report.taken) == 2


def test_an_interrupt_keeps_the_files_that_were_read(store, tmp_path):
    for place in range(5):
        write(tmp_path / f"{place}.jsonl", {"run_id": f"r{place}"}, {"run_id": f"s{place}"})

    def interrupt(item: str, share: float) -> None:
        if item.endswith("3.jsonl") and share > 0.7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.load(tmp_path, progress=interrupt)
    found = store.sql("select run_id from runs order by 1")["run_id"].tolist()
    assert found == ["r0", "r1", "r2", "s0", "s1", "s2"]
    assert store.load(tmp_path).runs == 4


def test_files_together_are_bounded(store, tmp_path, monkeypatch):
    monkeypatch.setattr(gathered, "FILES_AT_ONCE", 4)
    stored: list[int] = []
    finish = gathered.finish

    def noted(cursor, targets, *, blind):
        stored.append(len(targets))
        finish(cursor, targets, blind=blind)

    monkeypatch.setattr(gathered, "finish", noted)
    for place in range(10):
        write(tmp_path / f"{place}.jsonl", {"run_id": f"r{place}"})
    assert store.load(tmp_path).runs == 10
    assert stored == [4, 4, 2]
    monkeypatch.setattr(gathered, "BYTES_AT_ONCE", 1)
    assert store.load(tmp_path).already == 10
    assert stored[3:] == [1] * 10


def test_a_small_file_of_many_spans_is_stored_by_itself(store, tmp_path, monkeypatch):
    monkeypatch.setattr("check_workbench.store.loading.SPANS_A_GROUP", 3)
    chats = [{"messages": [{"role": "user", "content": json.dumps(i)}]} for i in range(9)]
    (tmp_path / "chats.json").write_text(json.dumps(chats))
    write(tmp_path / "own.jsonl", *({"run_id": f"r{i}"} for i in range(9)))
    assert store.load(tmp_path).runs == 18
    assert store.sql("select runs from sources order by path")["runs"].tolist() == [9, 9]
