from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from datetime import datetime

import duckdb
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from check_workbench.calibration import looks as ledger
from check_workbench.errors import InputError, StoreBusyError, StoreError
from check_workbench.store import lease, manifest, open_store, parquet, schema
from tests.store.filled import (
    HOSTILE,
    add,
    check,
    closed_folder,
    counts,
    digests,
    files,
    fill,
    load,
    look,
    run,
    run_as_nobody,
    touch,
    triaged,
)
from tests.store.making import contents, write

MERGE_AS_NOBODY = """
with open_store() as store:
    print(store.merge(sys.argv[1]).runs)
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    with open_store(folder / "hers.duckdb") as other:
        fill(other, folder / "hers")
        other.export(folder / "exported")
    return folder


@pytest.fixture
def hers(made, tmp_path):
    """Return the file of a colleague's store with a row in every table; `exported` beside it is its export."""
    shutil.copytree(made / "exported", tmp_path / "exported")
    return shutil.copy(made / "hers.duckdb", tmp_path / "hers.duckdb")


def _of(path, folder, *runs, at=None):
    with open_store(path) as other:
        load(other, folder, *runs)
        if at is not None:
            touch(other, at)
    return path


def _mine(store, table, order):
    return store.sql(f"from {table} order by {order}").to_dict("records")


@pytest.mark.parametrize("way", ["hers.duckdb", "exported"])
def test_everything_comes_in_once(store, tmp_path, hers, way):
    report = store.merge(tmp_path / way)
    with open_store(hers, read_only=True) as other:
        assert counts(store) == counts(other)
        assert digests(store) == digests(other)
        for name in ("runs", "spans", "steps"):
            assert contents(store, name) == contents(other, name)
    assert (report.runs, report.spans, report.steps, report.decisions, report.answers) == (10, 14, 2, 10, 10)
    assert (report.measurements, report.checks, report.looks, report.already, report.replaced) == (10, 2, 2, 0, 0)
    assert report.triage == 2
    assert report.clashes == ()
    store.export(tmp_path / "mine")
    assert files(tmp_path / "mine") == files(tmp_path / "exported")


@pytest.mark.parametrize("ways", [("hers.duckdb", "exported"), ("exported", "hers.duckdb")])
def test_merging_twice_adds_nothing(store, tmp_path, hers, ways):
    load(store, tmp_path / "own", run("own"), run("b", spans=1))
    store.merge(tmp_path / ways[0])
    before = {name: store.sql(f"from {name}") for name in counts(store)}
    report = store.merge(tmp_path / ways[1])
    assert repr(report).startswith(f"Merged {tmp_path / ways[1]}: nothing new.\n  30 already there")
    for name, frame in before.items():
        pd.testing.assert_frame_equal(store.sql(f"from {name}"), frame)
    assert hers.exists()


def test_keys_are_mapped_and_spans_stay_sorted(store, tmp_path, hers):
    load(store, tmp_path / "own", *(run(f"own-{i}") for i in range(5)))
    store.merge(hers)
    found = store.sql("select run_id, seq, name, output from spans join runs using (run_key) where run_id = 'own-3'")
    assert found["output"].tolist() == ["out 0", "out 1"]
    assert store.sql("select count(*) as n from spans anti join runs using (run_key)")["n"][0] == 0
    places = store.sql("select run_key, seq from spans").apply(tuple, axis=1)
    assert places.is_monotonic_increasing
    measured = store.sql("select run_id, value from measurements join runs using (run_key)")
    with open_store(hers, read_only=True) as other:
        expected = other.sql("select run_id, value from measurements join runs using (run_key)")
    assert dict(measured.to_numpy().tolist()) == dict(expected.to_numpy().tolist())


EARLY, LATE = datetime(2026, 1, 1), datetime(2026, 2, 2)  # noqa: DTZ001 the store's times have no zone


@pytest.mark.parametrize(
    ("mine", "theirs", "stays"),
    [
        (run("r", 2), run("r", 3), "there"),
        (run("r", 3), run("r", 2), "here"),
        (run("r", 2), run("r", 2, steps=[{"step_id": "s"}]), "there"),
        (run("r", 2, steps=[{"step_id": "s"}]), run("r", 2, ended_at="2026-03-01T00:00:00Z"), "here"),
        (run("r", 2), run("r", 2, ended_at="2026-03-01T00:00:00Z"), "there"),
        (run("r", 2, final_output="a"), run("r", 2, final_output="b"), "later"),
    ],
)
@pytest.mark.parametrize("order", ["mine first", "theirs first"])
def test_of_a_run_with_other_content_the_fuller_stays(tmp_path, mine, theirs, stays, order):
    times = (EARLY, LATE) if order == "mine first" else (LATE, EARLY)
    path = _of(tmp_path / "hers.duckdb", tmp_path / "hers", theirs, run("other"), at=times[1])
    expected = ("there" if order == "mine first" else "here") if stays == "later" else stays
    with open_store(tmp_path / "mine.duckdb") as store:
        load(store, tmp_path / "mine", mine)
        touch(store, times[0])
        report = store.merge(path)
        assert (report.runs, report.replaced, report.already) == (1, int(expected == "there"), int(expected == "here"))
        assert [(c.kind, c.about, c.kept) for c in report.clashes] == [("run", "run 'r'", expected)]
        kept = store.sql("select final_output, span_count from runs where run_id = 'r'").to_dict("records")[0]
        winner = theirs if expected == "there" else mine
        assert kept["span_count"] == len(winner["spans"])
        assert kept["final_output"] == winner.get("final_output") or pd.isna(kept["final_output"])
    with open_store(path) as other:
        other.merge(tmp_path / "mine.duckdb")
        with open_store(tmp_path / "mine.duckdb", read_only=True) as store:
            assert digests(other) == digests(store)


def test_a_replaced_run_loses_its_measurements_and_its_answers_are_stale(store, tmp_path):
    def answered(to, folder):
        to.load_answers(write(folder / "a.jsonl", {"run_id": "r", "check_id": "c", "probability": 0.5}))

    load(store, tmp_path / "mine", run("r", 1), run("same"))
    answered(store, tmp_path / "mine")
    keys = dict(store.sql("select run_id, run_key from runs").itertuples(index=False, name=None))
    add(store, "measurements", *({"asked": "x", "run_key": k, "value": 1.0} for k in keys.values()))
    with open_store(tmp_path / "hers.duckdb") as other:
        load(other, tmp_path / "hers", run("r", 2))
        other.load_answers(write(tmp_path / "hers" / "b.jsonl", {"run_id": "r", "check_id": "c", "probability": 0.9}))
        add(other, "measurements", {"asked": "x", "run_key": 0, "value": 2.0}, {"asked": "y", "run_key": 0})
    report = store.merge(tmp_path / "hers.duckdb")
    assert (report.replaced, report.measurements, report.answers) == (1, 2, 1)
    measured = store.sql("select run_id, asked, value from measurements join runs using (run_key) order by all")
    assert [(r, a) for r, a, _ in measured.itertuples(index=False)] == [("r", "x"), ("r", "y"), ("same", "x")]
    assert measured["value"].tolist()[0] == 2.0
    stale = store.sql("select probability, stale from answers order by probability")
    assert stale["stale"].tolist() == [True, False]


def test_answers_to_a_run_that_lost_come_in_stale(store, tmp_path):
    load(store, tmp_path / "mine", run("r", 2))
    with open_store(tmp_path / "hers.duckdb") as other:
        load(other, tmp_path / "hers", run("r", 1))
        other.load_answers(write(tmp_path / "hers" / "b.jsonl", {"run_id": "r", "check_id": "c", "probability": 0.9}))
        add(other, "measurements", {"asked": "x", "run_key": 0, "value": 2.0})
    report = store.merge(tmp_path / "hers.duckdb")
    assert (report.already, report.answers, report.measurements) == (1, 1, 0)
    assert store.sql("select stale from answers")["stale"].tolist() == [True]
    assert counts(store)["measurements"] == 0


def test_contradicting_decisions_are_kept_and_listed(store, tmp_path):
    header = "run_id,decision,check_id,step_id,attempt,decided_by\n"

    def says(to, name, *rows):
        (tmp_path / name).write_text(header + "\n".join(rows) + "\n")
        to.load_decisions(tmp_path / name)

    both = "r,problem,loop,,,bob"
    says(
        store, "mine.csv", both, "r,problem,loop,,,ann", "r,approved,,s,1,ann", "r,approved,,s,2,ann", "q,approved,,,,"
    )
    with open_store(tmp_path / "hers.duckdb") as other:
        says(
            other,
            "hers.csv",
            both,
            "r,no_problem,loop,,,ann",
            "r,rejected,,s,,ann",
            "r,problem,loop,,,eve",
            "q,rejected,,,,",
        )
    report = store.merge(tmp_path / "hers.duckdb")
    assert (report.decisions, report.already) == (4, 1)
    assert [(c.about, c.here, c.there, c.kept) for c in report.clashes] == [
        ("run 'r', check 'loop', by 'ann'".replace("'ann'", "ann"), "problem", "no_problem", "both"),
        ("run 'r', step 's', by ann", "approved", "rejected", "both"),
    ]
    assert report.clash_counts == {"decision": 2}
    assert (
        "2 units on which one person decided otherwise; of a check the last word counts, of the work both do:"
        in repr(report)
    )
    assert store.merge(tmp_path / "hers.duckdb").clash_counts == {"decision": 2}


def test_what_one_store_knows_of_a_decision_both_know(store, tmp_path):
    labels = tmp_path / "d.csv"
    labels.write_text("run_id,decision,decided_by\nr,approved,ann\n")
    store.load_decisions(labels)
    with open_store(tmp_path / "hers.duckdb") as other:
        other.load_decisions(labels, blind=True)
        other.sql("update decisions set asked = 'asked-1'")
    report = store.merge(tmp_path / "hers.duckdb")
    assert (report.decisions, report.already) == (0, 1)
    assert store.sql("select asserted_blind, asked from decisions").to_dict("records") == [
        {"asserted_blind": True, "asked": "asked-1"}
    ]


def test_answers_with_other_values_are_listed_and_the_later_load_counts(tmp_path):
    def answers(to, name, at, **values):
        (tmp_path / name).mkdir()
        row = {"run_id": "r", "check_id": "c", "model": "m"}
        to.load_answers(write(tmp_path / name / "a.jsonl", row | values, row | {"question": 1, "passed": True}))
        touch(to, at)

    for late in (True, False):
        with open_store() as mine, open_store(tmp_path / f"hers{late}.duckdb") as other:
            answers(mine, f"mine{late}", EARLY if late else LATE, probability=0.25)
            answers(other, f"hers{late}", LATE if late else EARLY, probability=0.75)
            report = mine.merge(tmp_path / f"hers{late}.duckdb")
            assert (report.answers, report.already) == (1, 1)
            (clash,) = report.clashes
            assert (clash.about, clash.here, clash.there) == (
                "run 'r', check 'c', question 0",
                "0.25 of m",
                "0.75 of m",
            )
            newest = mine.sql("select probability from answers where item = 0 order by source_key desc limit 1")
            assert newest["probability"].tolist() == [0.75 if late else 0.25]


def test_answers_to_other_questions_are_no_clash(store, tmp_path):
    load(store, tmp_path / "f", run("r"))
    row = {"run_id": "r", "check_id": "c"}
    store.load_answers(write(tmp_path / "a.jsonl", row | {"probability": 0.5, "ask": "Was it kind?"}))
    with open_store(tmp_path / "hers.duckdb") as other:
        other.load_answers(write(tmp_path / "b.jsonl", row | {"probability": 0.7, "ask": "Was it right?"}))
    report = store.merge(tmp_path / "hers.duckdb")
    assert (report.answers, report.clash_counts) == (1, {})


def test_forms_of_a_check_are_remembered_since_the_first_saw_them(store, tmp_path):
    add(store, "checks", check("doc-1", "2026-01-03"), check("doc-2", "2026-01-04"))
    with open_store(tmp_path / "hers.duckdb") as other:
        other.sql("select 1")
        add(other, "checks", check("doc-1", "2026-01-01"), check("doc-3", "2026-01-05", asked="asked-2"))
    report = store.merge(tmp_path / "hers.duckdb")
    assert report.checks == 1
    assert store.sql(
        "select document, first_seen::date::varchar as day from checks order by 1"
    ).to_numpy().tolist() == [
        ["doc-1", "2026-01-01"],
        ["doc-2", "2026-01-04"],
        ["doc-3", "2026-01-05"],
    ]
    assert [str(c) for c in report.clashes] == ["check 'loop' (asks something else): here doc-2, there doc-3"]


def test_looks_of_both_are_kept_in_order_of_time_and_none_is_doubled(store, tmp_path):
    shared = look(1, "2026-03-01")
    add(store, "looks", shared, look(2, "2026-03-03", call="trust"), look(3, "2026-03-05"))
    with open_store(tmp_path / "hers.duckdb") as other:
        add(other, "looks", shared, look(2, "2026-03-02", labels="[7]"), look(3, "2026-03-04"), look(4, "2026-03-06"))
    assert store.merge(tmp_path / "hers.duckdb").looks == 3
    found = ledger.ledger(store)
    assert found["look"].tolist() == [1, 2, 3, 4, 5, 6]
    assert [str(at.date()) for at in found["at"]] == [f"2026-03-0{day}" for day in range(1, 7)]
    assert ledger.read_before(found, datetime(2026, 3, 2, 1)) == {1, 2, 7}  # noqa: DTZ001
    assert store.merge(tmp_path / "hers.duckdb").looks == 0
    with open_store(tmp_path / "hers.duckdb") as other, open_store(tmp_path / "mine.duckdb") as mine:
        mine.merge(tmp_path / "hers.duckdb")
        add(mine, "looks", look(5, "2026-03-03", call="trust"))
        assert other.merge(tmp_path / "mine.duckdb").looks == 1


def test_triage_of_both_is_kept_in_order_of_time_and_none_is_doubled(store, tmp_path):
    shared = triaged(1, "2026-03-01")
    add(store, "triage", shared, triaged(2, "2026-03-03", cause="check_wrong"))
    with open_store(tmp_path / "hers.duckdb") as other:
        add(other, "triage", shared, triaged(2, "2026-03-02", cause="evidence_missing", note="it's; drop table runs"))
    report = store.merge(tmp_path / "hers.duckdb")
    assert (report.triage, report.clashes) == (1, ())
    assert "1 triage" in repr(report)
    assert report.to_json()["triage"] == 1
    assert store.sql("select cause from triage order by entry")["cause"].tolist() == [
        "person_wrong", "evidence_missing", "check_wrong",
    ]  # fmt: skip
    assert store.merge(tmp_path / "hers.duckdb").triage == 0


def test_looks_that_are_equal_in_all_are_kept_as_often_as_one_store_has_them(store, tmp_path):
    twin = look(1, "2026-03-01")
    add(store, "looks", twin, twin | {"look": 2}, look(3, "2026-03-01", result=None))
    with open_store(tmp_path / "hers.duckdb") as other:
        add(other, "looks", *(twin | {"look": i} for i in (1, 2, 3)))
    assert store.merge(tmp_path / "hers.duckdb").looks == 1
    assert store.sql("select count(*) as n from looks where result is not null")["n"].tolist() == [3]
    assert store.sql("select look from looks order by 1")["look"].tolist() == [1, 2, 3, 4]


def test_a_store_keeps_its_order_where_its_clock_went_back(store, tmp_path):
    with open_store(tmp_path / "hers.duckdb") as other:
        add(other, "looks", look(1, "2026-03-05"), look(2, "2026-03-01", call="trust"), look(3, "2026-03-06"))
        other.export(tmp_path / "out")
    add(store, "looks", look(1, "2026-03-02"))
    store.merge(tmp_path / "out")
    order = store.sql('select extract(day from "at") as day from looks order by look')["day"].tolist()
    assert order == [2, 5, 1, 6]


def test_versions_of_processes_are_taken_and_other_ones_told(store, tmp_path):
    add(store, "meta", {"key": "process_version:p/s:1", "value": "asked-1"})
    with open_store(tmp_path / "hers.duckdb") as other:
        add(
            other,
            "meta",
            {"key": "process_version:p/s:1", "value": "asked-9"},
            {"key": "process_version:p/s:2", "value": "z"},
        )
    report = store.merge(tmp_path / "hers.duckdb")
    assert report.notes == (
        f"{tmp_path / 'hers.duckdb'}: 1 version of a process asks something else there; what this store knows was kept",
    )
    assert _mine(store, "meta", "key") == [
        {"key": "process_version:p/s:1", "value": "asked-1"},
        {"key": "process_version:p/s:2", "value": "z"},
        {"key": "schema_version", "value": str(schema.VERSION)},
    ]


def test_sources_come_in_order_of_loading_and_rows_follow_them(tmp_path):
    path = _of(tmp_path / "hers.duckdb", tmp_path / "hers", run("theirs"), at=EARLY)
    with open_store() as store:
        load(store, tmp_path / "mine", run("mine"))
        (tmp_path / "d.csv").write_text("run_id,decision\nmine,approved\n")
        store.load_decisions(tmp_path / "d.csv")
        store.merge(path)
        rows = store.sql(
            "select run_id, path, s.runs from runs join sources as s using (source_key) order by source_key"
        )
        assert rows.to_numpy().tolist() == [
            ["theirs", str(tmp_path / "hers" / "runs.jsonl"), 1],
            ["mine", str(tmp_path / "mine" / "runs.jsonl"), 1],
        ]
        labels = store.sql("select path from decisions join sources using (source_key)")
        assert labels["path"].tolist() == [str(tmp_path / "d.csv")]
        load(store, tmp_path / "mine", run("next"), name="next")
        assert store.sql("select source_key from sources order by 1")["source_key"].tolist() == [0, 1, 2, 3]


def test_a_store_is_not_merged_into_itself(tmp_path):
    path = tmp_path / "store.duckdb"
    with open_store(path) as store:
        fill(store, tmp_path / "files")
        (tmp_path / "link.duckdb").symlink_to(path)
        os.link(path, tmp_path / "hard.duckdb")
        for name in ("store.duckdb", "link.duckdb", "hard.duckdb", "files/../store.duckdb"):
            with pytest.raises(InputError, match="is this store itself"):
                store.merge(tmp_path / name)
        store.export(tmp_path / "out")
        assert repr(store.merge(tmp_path / "out")).startswith(f"Merged {tmp_path / 'out'}: nothing new.")


@pytest.mark.parametrize("text", [b"not a database", b"x" * 20_000, b"", b"PAR1PAR1"])
def test_a_file_that_is_no_database(store, tmp_path, text):
    (tmp_path / "x.duckdb").write_bytes(text)
    with pytest.raises(StoreError, match="it is no DuckDB file"):
        store.merge(tmp_path / "x.duckdb")


def test_databases_that_are_no_store(store, tmp_path):
    with duckdb.connect(str(tmp_path / "foreign.duckdb")) as connection:
        connection.execute("create table runs (x integer)")
    duckdb.connect(str(tmp_path / "empty.duckdb")).close()
    with pytest.raises(StoreError, match="no store of check_workbench"):
        store.merge(tmp_path / "foreign.duckdb")
    with pytest.raises(StoreError, match="is an empty DuckDB file"):
        store.merge(tmp_path / "empty.duckdb")
    with pytest.raises(InputError, match="does not exist"):
        store.merge(tmp_path / "none.duckdb")
    with pytest.raises(InputError, match=r"has no manifest\.json of an export"):
        store.merge(tmp_path)


def test_a_cut_database(store, tmp_path, hers):
    (tmp_path / "cut.duckdb").write_bytes(hers.read_bytes()[:20_000])
    with pytest.raises(StoreError, match=r"cut\.duckdb cannot be"):
        store.merge(tmp_path / "cut.duckdb")
    assert counts(store)["runs"] == 0


def test_a_newer_store_is_refused_with_words(store, tmp_path, hers, monkeypatch):
    with open_store(hers) as other:
        other.sql("update meta set value = ? where key = 'schema_version'", [str(schema.VERSION + 1)])
    with pytest.raises(StoreError, match=rf"version {schema.VERSION + 1}.*Install a newer check_workbench"):
        store.merge(hers)
    monkeypatch.setattr(schema, "VERSION", schema.VERSION - 1)
    with pytest.raises(StoreError, match="Install a newer check_workbench to read it"):
        store.merge(tmp_path / "exported")


@pytest.mark.parametrize("way", ["hers.duckdb", "exported"])
def test_an_older_store_is_migrated_in_a_copy(tmp_path, hers, way, monkeypatch):
    before = {"hers.duckdb": hers.read_bytes()} if way == "hers.duckdb" else files(tmp_path / way)
    old = schema.VERSION
    monkeypatch.setattr(schema, "VERSION", old + 1)
    monkeypatch.setitem(
        schema.MIGRATIONS, old, lambda connection: connection.execute("update runs set workflow = 'migrated'")
    )
    with open_store() as store:
        assert store.merge(tmp_path / way).runs == 10
        assert store.sql("select distinct workflow from runs")["workflow"].tolist() == ["migrated"]
    assert before == ({"hers.duckdb": hers.read_bytes()} if way == "hers.duckdb" else files(tmp_path / way))


def test_an_older_store_that_nobody_can_bring_up(store, hers, monkeypatch):
    monkeypatch.setattr(schema, "VERSION", schema.VERSION + 5)
    with pytest.raises(StoreError, match="no way from there"):
        store.merge(hers)


HOLD = """
import sys
from check_workbench.store import open_store
with open_store(sys.argv[1]).hold():
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_a_file_in_use_says_who_holds_it(store, hers, monkeypatch):
    command = [sys.executable, "-c", HOLD, hers]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    monkeypatch.setattr(lease, "WAIT_SECONDS", 0.3)
    with pytest.raises(StoreBusyError, match=rf"hers\.duckdb is in use: PID {child.pid} holds it"):
        store.merge(hers)
    child.communicate("\n", timeout=30)
    assert store.merge(hers).runs == 10


def test_a_store_that_this_process_has_open_is_merged(tmp_path):
    with open_store(tmp_path / "hers.duckdb") as other, open_store(tmp_path / "mine.duckdb") as store, other.hold():
        load(other, tmp_path / "f", run("r"))
        assert store.merge(tmp_path / "hers.duckdb").runs == 1


def test_a_store_to_read_only_merges_nothing(tmp_path, hers):
    open_store(tmp_path / "mine.duckdb").close()
    with open_store(tmp_path / "mine.duckdb", read_only=True) as store, pytest.raises(StoreError, match="read only"):
        store.merge(hers)


@pytest.mark.parametrize("way", ["hers.duckdb", "exported"])
def test_the_other_store_may_lie_where_nothing_can_be_written(tmp_path, hers, way):
    assert hers.exists()
    with closed_folder(tmp_path / way) as folder:
        done = run_as_nobody(MERGE_AS_NOBODY, folder / way)
        assert (done.returncode, done.stdout) == (0, "10\n"), done.stderr
        assert [p.name for p in folder.iterdir()] == [way]


MERGE = """
import sys
from check_workbench.store import open_store
print("started", flush=True)
def told(path, share):
    print(share, flush=True)
    sys.stdin.readline()
print(open_store(sys.argv[1]).merge(sys.argv[2], progress=told).runs, flush=True)
"""


@pytest.mark.parametrize("steps", [1, 2])
def test_a_killed_merge_leaves_nothing_and_can_be_repeated(tmp_path, steps):
    path = _of(tmp_path / "hers.duckdb", tmp_path / "hers", *(run(f"r{i}", 40) for i in range(100)))
    mine = _of(tmp_path / "mine.duckdb", tmp_path / "mine", run("r1", 1), run("own"))
    command = [sys.executable, "-c", MERGE, mine, path]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdin is not None
    for _ in range(steps):
        child.stdin.write("\n")
        child.stdin.flush()
        assert child.stdout.readline()
    os.kill(child.pid, signal.SIGKILL)
    child.communicate()
    with open_store(mine) as store:
        assert (counts(store)["runs"], counts(store)["spans"]) == (2, 3)
        report = store.merge(path)
        assert (report.runs, report.replaced, counts(store)["spans"]) == (99, 1, 4002)


def test_two_processes_merge_into_one_store(tmp_path, hers):
    mine = tmp_path / "mine.duckdb"
    open_store(mine).close()
    with open_store(tmp_path / "his.duckdb") as other:
        fill(other, tmp_path / "his", prefix="his-")
    script = (
        "import sys; from check_workbench.store import open_store as o; print(o(sys.argv[1]).merge(sys.argv[2]).runs)"
    )
    children = [
        subprocess.Popen([sys.executable, "-c", script, mine, other], stdout=subprocess.PIPE, text=True)
        for other in (hers, tmp_path / "his.duckdb")
    ]
    assert [child.communicate(timeout=60)[0] for child in children] == ["10\n", "10\n"]
    with open_store(mine) as store:
        assert counts(store)["runs"] == 20
        assert len(set(store.sql("select source_key from sources")["source_key"])) == counts(store)["sources"]


def _spoil(folder, name, change):
    frame = pd.read_parquet(folder / f"{name}.parquet")
    change(frame).to_parquet(folder / f"{name}.parquet")


def _rewrite(folder, **changes):
    document = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(document | changes))


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda f: (f / "spans.parquet").unlink(), r"names spans\.parquet, which is not there"),
        (lambda f: (f / "spans.parquet").write_bytes((f / "spans.parquet").read_bytes()[:-9]), "was cut or changed"),
        (lambda f: (f / "spans.parquet").write_bytes(b""), "was cut or changed"),
        (lambda f: _spoil(f, "runs", lambda frame: frame.head(3)), "was cut or changed"),
        (lambda f: shutil.copy(f / "looks.parquet", f / "spans.parquet"), "was cut or changed"),
        (lambda f: _rewrite(f, schema_version="1"), "no such numbers"),
        (lambda f: _rewrite(f, schema_version=None), "no such numbers"),
        (lambda f: _rewrite(f, schema_version=True), "no such numbers"),
        (lambda f: _rewrite(f, schema_version=99), "version 99.*Install a newer"),
        (lambda f: _rewrite(f, schema_version=0, tables={}), "no such numbers"),
        (lambda f: _rewrite(f, tables={}), "must name every table"),
        (lambda f: _rewrite(f, tables=3), "lacks what an export writes"),
        (lambda f: _rewrite(f, tables=[[1, {"rows": 1, "sha256": "x"}]]), "lacks what an export writes"),
        (lambda f: _rewrite(f, tables={"runs": {"rows": -1, "sha256": "x"}}), "no such numbers"),
        (lambda f: _rewrite(f, tables={"../x": {"rows": 1, "sha256": "x"}}), "names a table that no export has"),
        (lambda f: (f / "manifest.json").write_text("{"), "has no manifest"),
    ],
)
def test_a_damaged_export_is_refused(store, tmp_path, hers, damage, words):
    assert hers.exists()
    load(store, tmp_path / "own", run("own"))
    damage(tmp_path / "exported")
    with pytest.raises((InputError, StoreError), match=words):
        store.merge(tmp_path / "exported")
    assert counts(store)["runs"] == 1


def _lie(folder, name, change):
    """Change a table and the manifest with it."""
    frame = change(pd.read_parquet(folder / f"{name}.parquet", dtype_backend="pyarrow"))
    rows = pa.Table.from_pandas(frame, preserve_index=False).cast(parquet.schema_of(name), safe=False)
    parquet.write(folder / f"{name}.parquet", name, rows.to_batches(), told=lambda _: None)
    document = json.loads((folder / "manifest.json").read_text())
    entry = {"rows": len(frame), "sha256": manifest.digest_of(folder / f"{name}.parquet")}
    _rewrite(folder, tables=document["tables"] | {name: entry})


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("runs", lambda f: pd.concat([f, f.head(1)]), "a run is there twice"),
        ("runs", lambda f: f.assign(run_id=None), "has no run_id"),
        ("runs", lambda f: f.assign(span_count=1), "its runs have 10 spans, but it holds 14"),
        ("runs", lambda f: f.head(4), "contradicts itself: its runs have"),
        ("spans", lambda f: f.assign(run_key=f["run_key"] + 500), "it holds other spans of 7 runs than they count"),
        ("spans", lambda f: f.assign(run_key=f["run_key"].mode()[0]), "it holds other spans of 7 runs than they"),
        ("steps", lambda f: f.assign(run_key=None), "of its steps are of no run"),
        ("steps", lambda f: f.assign(run_key=f["run_key"] + 500), "of its steps are of no run"),
        ("spans", lambda f: f.assign(attributes="{"), "contradicts itself"),
        ("decisions", lambda f: f.assign(decision_key=1), "contradicts itself"),
        ("measurements", lambda f: f.assign(run_key=0), "contradicts itself"),
    ],
)
def test_an_export_that_contradicts_itself_is_refused(tmp_path, hers, name, change, words):
    assert hers.exists()
    _lie(tmp_path / "exported", name, change)
    with open_store() as store:
        with pytest.raises(StoreError, match=words):
            store.merge(tmp_path / "exported")
        assert set(counts(store).values()) == {0, 1}


def _relist(folder, change):
    """Change the tables of a manifest, and let it name the files as they are."""
    tables = json.loads((folder / "manifest.json").read_text())["tables"]
    change(tables)
    digests = {name: manifest.digest_of(folder / f"{name}.parquet") for name in tables}
    _rewrite(folder, tables={name: {**entry, "sha256": digests[name]} for name, entry in tables.items()})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f: (f / "runs.parquet").write_bytes(b"PAR1"), r"runs\.parquet must be Parquet"),
        (lambda f: _relist(f, lambda t: t["runs"].update(rows=99)), "must hold 99 rows as the manifest says"),
        (lambda f: _relist(f, lambda t: t.pop("runs")), "lacks what a store of its version has: .*runs"),
        (lambda f: _relist(f, lambda t: t.pop("meta")), "no store of check_workbench"),
        (lambda f: _spoil(f, "spans", lambda frame: frame.drop(columns="type")), "lacks what a store .*type"),
    ],
)
def test_an_older_export_that_lies_is_refused(tmp_path, hers, change, words):
    assert hers.exists()
    change(tmp_path / "exported")
    _relist(tmp_path / "exported", lambda _: None)
    with open_store() as store, pytest.MonkeyPatch.context() as patch:
        patch.setitem(schema.MIGRATIONS, schema.VERSION, lambda _: None)
        patch.setattr(schema, "VERSION", schema.VERSION + 1)
        with pytest.raises((InputError, StoreError), match=words):
            store.merge(tmp_path / "exported")
        assert counts(store)["runs"] == 0


def test_a_manifest_that_lies_about_counts_is_refused(store, tmp_path, hers):
    assert hers.exists()
    document = json.loads((tmp_path / "exported" / "manifest.json").read_text())
    document["tables"]["runs"]["rows"] = 3
    _rewrite(tmp_path / "exported", tables=document["tables"])
    with pytest.raises(InputError, match="must hold 3 rows as the manifest says, but holds 10"):
        store.merge(tmp_path / "exported")


def test_names_are_never_read_as_sql(tmp_path):
    name = "it's; drop table runs; --.duckdb"
    with open_store(tmp_path / name) as other:
        fill(other, tmp_path / "f")
        other.export(tmp_path / "out '[*]; --")
    with open_store() as store:
        assert store.merge(tmp_path / name).runs == 10
        assert set(HOSTILE) <= set(digests(store))
        assert repr(store.merge(tmp_path / "out '[*]; --")).splitlines()[1] == "  30 already there"


def test_the_report_shows_itself(store, tmp_path, hers):
    load(store, tmp_path / "own", run("b", spans=4))
    report = store.merge(hers)
    bundle = report._repr_mimebundle_()
    document = bundle["application/vnd.check-workbench+json"]
    assert document["kind"] == "merge"
    assert document["clashes"]["counts"] == {"run": 1}
    assert document["clashes"]["listed"][0]["kept"] == "here"
    assert "<table>" in bundle["text/html"]
    assert json.loads(json.dumps(report.to_json()))["runs"] == 9
    text = repr(report)
    assert (
        "  run 'b': here 4 spans, 0 steps, there 0 spans, 0 steps, ended 2026-01-01 00:00:00; this store's stayed"
        in text
    )
    assert "This supports" in text


def test_many_clashes_are_counted_and_some_listed(tmp_path, monkeypatch):
    monkeypatch.setattr("check_workbench.store.clashes.LISTED", 15)
    path = _of(tmp_path / "hers.duckdb", tmp_path / "h", *(run(f"r{i}", 1) for i in range(40)))
    with open_store() as store:
        load(store, tmp_path / "m", *(run(f"r{i}", 2) for i in range(40)))
        report = store.merge(path)
    assert (report.clash_counts, len(report.clashes), report.already) == ({"run": 40}, 15, 40)
    assert "  and 30 more" in repr(report)


RUNS = st.dictionaries(st.sampled_from("abcde"), st.tuples(st.integers(0, 3), st.sampled_from([None, "x", "y"])))


@settings(max_examples=5)
@given(RUNS, RUNS)
def test_whichever_way_two_stores_are_merged_they_hold_the_same(tmp_path_factory, mine, theirs):
    folder = tmp_path_factory.mktemp("m")
    paths = [folder / "a.duckdb", folder / "b.duckdb"]
    for path, own, at in zip(paths, (mine, theirs), (EARLY, LATE), strict=True):
        _of(path, folder / path.stem, *(run(k, n, final_output=out) for k, (n, out) in own.items()), at=at)
    found = []
    for path, other in (paths, paths[::-1]):
        copy = shutil.copy(path, folder / f"copy-{path.name}")
        with open_store(copy) as store:
            report = store.merge(other)
            assert report.runs + report.already + report.replaced == len(theirs if other == paths[1] else mine)
            assert store.merge(other).runs == 0
            found.append((digests(store), contents(store, "spans")))
    assert found[0] == found[1]
    assert set(found[0][0]) == set(mine) | set(theirs)


def test_real_runs_of_two_people(realdata, tmp_path):
    with open_store(tmp_path / "hers.duckdb") as other:
        other.load([realdata / "agentdojo_drift_runs", realdata / "tau_bench_airline"])
        expected, spans = digests(other), counts(other)["spans"]
    with open_store(tmp_path / "mine.duckdb") as store:
        store.load(realdata / "tau_bench_airline")
        report = store.merge(tmp_path / "hers.duckdb")
        assert (report.runs, report.already, report.replaced, report.clashes) == (1569, 150, 0, ())
        assert digests(store) == expected
        assert counts(store)["spans"] == spans
