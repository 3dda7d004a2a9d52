"""The mapping beside the invented vendor's tickets brings in all that the files hold."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

import check_workbench as cw
from check_workbench.samples import sample_data

if TYPE_CHECKING:
    from check_workbench.store import Store
    from check_workbench.store.report import LoadReport

TICKETS = sample_data() / "tickets"


@pytest.fixture(scope="module")
def loaded() -> tuple[Store, LoadReport]:
    store = cw.open()
    return store, store.load(TICKETS, mapping=TICKETS / "mapping.yaml")


@pytest.fixture(scope="module")
def store(loaded: tuple[Store, LoadReport]) -> Store:
    return loaded[0]


def test_everything_comes_in(loaded: tuple[Store, LoadReport]) -> None:
    report = loaded[1]
    assert (report.runs, report.spans, report.decisions, report.answers) == (60, 194, 60, 58)
    assert report.rejected == ()
    assert [note.partition(": ")[2] for note in report.notes] == [
        "decided_at has no time zone in 60 rows; they count as UTC",
        "1 of the answers was left out by when or unless (mapping, line 44)",
    ]


def test_a_ticket_is_a_run(store: Store) -> None:
    runs = store.sql("select * from runs").set_index("run_id")
    assert set(runs.index) == {str(number) for number in range(1, 61)}
    assert set(runs.index[runs["span_count"] == 0]) == {"30", "31", "56"}  # 31 has no line in the trace
    assert list(runs.index[runs["ended_at"].isna()]) == ["60"]
    assert runs["started_at"]["1"] == datetime(2026, 2, 3, 2, 21)  # noqa: DTZ001 - the store holds UTC without a zone


def test_texts_are_what_the_requester_wrote(store: Store) -> None:
    texts: dict[str, str] = dict(store.sql("select run_id, input from runs").itertuples(index=False))
    assert texts["14"].startswith("Hello,\nMill Lane 4, floor 1:")
    assert texts["14"].endswith("before you come.\tThanks")
    assert texts["38"].startswith('"Fixed" last week, and again')
    assert not any("\\" in text for text in texts.values())


def test_the_parallel_arrays_are_calls(store: Store) -> None:
    calls = store.sql("select r.run_id, s.* from spans s join runs r using (run_key)")
    assert set(calls["type"]) == {"tool"}
    assert (calls["failed"].sum(), calls[calls["failed"]]["run_id"].nunique()) == (31, 19)
    first = calls.query("run_id == '1'").sort_values("seq").iloc[0]
    taken_up = datetime.fromtimestamp(1770085304, UTC).replace(tzinfo=None)
    assert first["started_at"] == taken_up + timedelta(milliseconds=1594)
    assert list(calls[calls["started_at"].isna()]["run_id"]) == ["26"]


def test_repeated_calls_are_found(store: Store) -> None:
    repeated = store.sql("""
        select run_id, n from (select run_key, name, input, count(*) as n from spans group by all having n >= 3)
        join runs using (run_key)
    """)
    assert dict(repeated.itertuples(index=False)) == {"38": 6, "39": 5, "57": 4, "58": 3}


def test_reviews_are_decisions(store: Store) -> None:
    rows = store.sql("select run_id, decision, verdict_seen from decisions")
    known = rows[rows["run_id"] != "77"]
    assert len(rows) - len(known) == 1
    assert Counter(known["decision"]) == {"no_problem": 36, "problem": 18, "unclear": 5}
    seen = known["verdict_seen"]
    assert ((seen == False).sum(), (seen == True).sum(), seen.isna().sum()) == (48, 10, 1)  # noqa: E712 - a column
    days = store.sql("select min(decided_at) as first, max(decided_at) as last from decisions").iloc[0]
    assert (str(days["first"].date()), str(days["last"].date())) == ("2026-02-04", "2026-03-11")


def test_the_screening_answers(store: Store) -> None:
    answers = store.sql("select model, count(probability) as n from answers group by all")
    assert dict(answers.itertuples(index=False)) == {"promise-screen-2": 39, "promise-screen-3": 19}
