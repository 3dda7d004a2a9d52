from __future__ import annotations

import pytest

from check_workbench.errors import InputError
from tests.store.making import write

LABELS = """run_id,decision,check_id,decided_by,provenance,verdict_seen
r,approved,,ann,,
r,rejected,,bob,,
s,problem,c,,blind,
t,problem,c,,saw_verdict,
t,problem,c,,,
t,problem,c,,,
"""


def _labels(tmp_path, text=LABELS):
    path = tmp_path / "labels.csv"
    path.write_text(text)
    return path


def test_annotators_stay_rows_and_loading_again_adds_none(store, tmp_path):
    path = _labels(tmp_path)
    assert (store.load_decisions(path).decisions, store.load_decisions(path).already) == (6, 6)
    assert store.sql("select count(*) as n from decisions where run_id = 'r'")["n"][0] == 2
    assert store.sql("select count(*) as n from decisions where run_id = 't'")["n"][0] == 3
    assert store.sql("select format, decisions from sources").to_dict("records") == [
        {"format": "decisions", "decisions": 6},
    ]


def test_the_same_person_deciding_the_same_twice_is_one_decision(store, tmp_path):
    report = store.load_decisions(_labels(tmp_path, "run_id,decision,decided_by\nr,approved,ann\nr,approved,ann\n"))
    assert (report.decisions, report.already) == (1, 1)


def test_blindness_is_asserted_only_where_the_file_does_not_say(store, tmp_path):
    path = _labels(tmp_path)
    store.load_decisions(path)
    assert store.sql("select bool_or(asserted_blind) as b from decisions")["b"].tolist() == [False]
    report = store.load_decisions(path, blind=True)
    assert report.already == 6
    assert any("4 of 6 decisions were asserted to be blind" in note for note in report.notes)
    found = store.sql("select run_id, count(*) as n from decisions where asserted_blind group by 1 order by 1")
    assert found.to_dict("records") == [{"run_id": "r", "n": 2}, {"run_id": "t", "n": 2}]


def test_answers_come_in_once_and_know_their_run(store, tmp_path):
    store.load(write(tmp_path / "runs.jsonl", {"run_id": "r"}))
    path = write(
        tmp_path / "answers.jsonl",
        {"run_id": "r", "check_id": "c", "probability": 0.25, "at": "2026-01-01T00:00:00+01:00"},
        {"run_id": "gone", "check_id": "c", "probabilities": {"b": 0.25, "a": 0.75}},
        {"run_id": "r", "check_id": "c", "passed": True, "value": "a 'word'", "findings": [{"x": 1}]},
        {"check_id": "c"},
    )
    report = store.load_answers(path)
    assert (report.answers, len(report.rejected), store.load_answers(path).already) == (3, 1, 3)
    rows = store.sql('select * exclude ("at"), "at"::varchar as "at" from answers')
    assert rows["stale"].tolist() == [False] * 3
    assert rows["run_digest"].isna().tolist() == [False, True, False]
    assert rows["probabilities"].tolist()[1] == '{"b":0.25,"a":0.75}'
    assert rows["value"].tolist()[2] == "\"a 'word'\""
    assert rows["findings"].tolist()[2] == '[{"x":1}]'
    assert rows["at"].tolist()[0] == "2025-12-31 23:00:00"


def test_a_file_that_is_not_there_is_an_error(store, tmp_path):
    for load in (store.load_decisions, store.load_answers):
        with pytest.raises(InputError, match="none"):
            load(tmp_path / "none.jsonl")
