from __future__ import annotations

import ibis
import pandas as pd
import pyarrow as pa
import pytest

from check_workbench.errors import InputError, UnknownNameError
from check_workbench.store.names import listed, quote
from tests.store.making import write


@pytest.mark.parametrize("name", ["plain", 'a"b', "a'b; drop table runs", "a\nb", "select", "é", '"', ""])
def test_a_quoted_name_is_one_name(store, name):
    if name:
        store.sql(f"create temp table {quote(name)} as select 1 as x; select 1")
    assert quote(name).count('"') % 2 == 0
    assert listed([name, name], of="t") == f'"t".{quote(name)}, "t".{quote(name)}'


def test_whole_numbers_with_gaps_keep_every_digit(store):
    frame = store.sql("select 9223372036854775807 as a, null::bigint as b union all select null, -9007199254740993")
    assert frame["a"].dropna().tolist() == [9223372036854775807]
    assert frame["b"].dropna().tolist() == [-9007199254740993]
    assert frame.columns.tolist() == ["a", "b"]


def test_values_are_bound(store):
    assert store.sql("select ? as x", ["'; drop table runs; --"])["x"].tolist() == ["'; drop table runs; --"]
    assert store.sql("select $a as x", {"a": 3})["x"].tolist() == [3]


def test_sql_sees_no_python_variable(store):
    hidden = pd.DataFrame({"x": [1]})
    assert len(hidden) == 1
    with pytest.raises(Exception, match="hidden"):
        store.sql("select * from hidden")


def test_inserting_replaces_equal_rows(store):
    rows = pd.DataFrame({"asked": ["a", "a"], "run_key": [1, 2], "value": [1.0, None], "reason": [None, "no times"]})
    assert store.insert("measurements", rows) == 2
    assert store.insert("measurements", rows.assign(value=9.0), replace_on=("asked", "run_key")) == 2
    assert store.sql("select value, reason from measurements order by run_key")["value"].tolist() == [9.0, 9.0]


def test_inserting_an_expression(store):
    rows = pd.DataFrame({"asked": "a", "run_key": [1, 2], "value": [1.0, 2.0]})
    store.insert("measurements", rows)
    table = store.table("measurements")
    assert store.insert("measurements", table.mutate(asked=ibis.literal("b"))) == 2
    memory = ibis.memtable(pa.table({"asked": ["c"], "run_key": [7], "value": [0.5]}))
    assert store.insert("measurements", memory) == 1
    joined = table.semi_join(ibis.memtable(pa.table({"run_key": [7]})), "run_key")
    assert store.execute(joined)["asked"].tolist() == ["c"]


def test_inserting_json(store):
    rows = pd.DataFrame({"look": [1, 2], "labels": [[1, 2], None], "cutoffs": ['{"at":1}', {"at": 2}]})
    store.insert("looks", rows)
    found = store.sql("select labels->>0 as l, cutoffs->>'at' as c from looks order by look")
    assert found["c"].tolist() == ["1", "2"]
    assert found["l"].tolist()[0] == "1"


def test_what_does_not_fit_is_refused_and_nothing_is_kept(store):
    with pytest.raises(UnknownNameError, match="Did you mean 'value'"):
        store.insert("measurements", pd.DataFrame({"valu": [1]}))
    with pytest.raises(InputError, match=r"measurements.value must hold DOUBLE"):
        store.insert("measurements", pd.DataFrame({"asked": ["a"], "value": ["much"]}))
    with pytest.raises(InputError, match="replace_on must name columns"):
        store.insert("measurements", pd.DataFrame({"asked": ["a"]}), replace_on=("x",))
    with pytest.raises(Exception, match=r"[Cc]onstraint|[Dd]uplicate"):
        store.insert("measurements", pd.DataFrame({"asked": ["a", "a"], "run_key": [1, 1]}))
    assert store.sql("select count(*) as n from measurements")["n"][0] == 0


def test_deleting_a_run_takes_all_of_it(store, tmp_path):
    part = {"spans": [{"type": "tool"}], "steps": [{"step_id": "s"}]}
    store.load(write(tmp_path / "a.jsonl", {"run_id": "r", **part}, {"run_id": "kept", **part}))
    (tmp_path / "d.csv").write_text("run_id,decision\nr,approved\nkept,approved\n")
    store.load_decisions(tmp_path / "d.csv")
    answers = [{"run_id": run, "check_id": "c", "probability": 0.5} for run in ("r", "kept")]
    store.load_answers(write(tmp_path / "answers.jsonl", *answers))
    keys = store.sql("select run_key from runs")["run_key"].tolist()
    store.insert("measurements", pd.DataFrame({"asked": "a", "run_key": keys}))
    assert store.delete(["r", "no such run"]) == 1
    for name in ("runs", "spans", "steps", "decisions", "answers", "measurements"):
        assert store.sql(f"select count(*) as n from {name}")["n"].tolist() == [1], name
    assert store.delete("kept") == 1
    assert store.delete([]) == 0
    assert store.load(tmp_path / "a.jsonl").runs == 2
