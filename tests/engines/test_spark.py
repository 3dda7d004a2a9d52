"""Spark says what DuckDB says: measurements, findings, digests, and answers."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import check_workbench as cw
from check_workbench.checks import Check, EvidenceRule, FlagAt, Item, Match, Selector, YesNo
from check_workbench.errors import EvaluatorError, InputError, StoreError
from check_workbench.evaluators import Recorded
from check_workbench.results import Answer
from tests.engines.judges import Judge, Silent
from tests.engines.tables import assert_same, checks_of
from tests.workshop import question, screening

if TYPE_CHECKING:
    from collections.abc import Iterator

    from check_workbench.engines import Connected
    from check_workbench.store import Store

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def exported(backend: Any, made: Store) -> Iterator[Connected]:
    assert made is not None
    with cw.connect(backend, spans="made_spans", runs="made_runs") as connected:
        yield connected


@pytest.fixture(scope="module")
def records(backend: Any, made: Store) -> Iterator[Connected]:
    assert made is not None
    with cw.connect(backend, spans="made_records_spans", runs="made_records_runs") as connected:
        yield connected


def test_rules_of_all_types_say_the_same(made: Store, exported: Connected) -> None:
    assert assert_same(made, exported, required="look", requiring="act", step=2) == 15


def test_records_become_what_loading_makes_of_them(made: Store, records: Connected) -> None:
    digests = "select run_id, digest, span_count from runs order by run_id"
    pd.testing.assert_frame_equal(records.sql(digests), made.sql(digests))
    spans, runs = made.table("spans"), made.table("runs")
    named = runs.select("run_id", own="run_key").inner_join(spans, [("own", "run_key")]).drop("own", "run_key")
    ordered = named.order_by("run_id", "seq")
    pd.testing.assert_frame_equal(records.execute(ordered), made.execute(ordered))
    assert records.notes == ()


def test_a_pattern_that_re2_cannot_compile_runs_in_the_workers(made: Store, exported: Connected) -> None:
    checks = checks_of([(Match(pattern="(?<=not )found", fields=("output", "error")), 1), (Match(pattern="(?=q)q"), 1)])
    here, there = cw.evaluate(checks, made), cw.evaluate(checks, exported)
    assert len(here.findings) > 10
    for name in ("verdicts", "findings"):
        pd.testing.assert_frame_equal(getattr(there, name), getattr(here, name))


def test_no_pattern_runs_in_java(made: Store, exported: Connected) -> None:
    r"""In Java `\h` is a blank, `$` holds before a last line break, and `\s` leaves out the vertical tab."""
    rules = [(Match(pattern=pattern), 1) for pattern in (r"end$|1$", r"[[:alpha:]]{3}", r"(?i)É")]
    here, there = cw.evaluate(checks_of(rules), made), cw.evaluate(checks_of(rules), exported)
    assert set(here.verdicts["status"]) == {"pass", "fail"}
    pd.testing.assert_frame_equal(there.findings, here.findings)


def test_spans_stay_in_spark_and_say_so(exported: Connected) -> None:
    assert exported.sql("select count(*) as n from runs")["n"].tolist() == [120]
    with pytest.raises(StoreError, match="stay in Spark"):
        exported.sql("select count(*) from spans")
    for refused in (exported.doctor, exported.load, exported.delete):
        with pytest.raises(StoreError, match="Spark"):
            refused([])
    spans = exported.table("spans")
    assert exported.execute(spans.count().name("n"))["n"].tolist()[0] > 500


def test_an_evaluator_answers_in_the_workers(made: Store, backend: Any) -> None:
    check = question("Did it fail?", id="failed")
    with cw.connect(backend, spans="made_spans", runs="made_runs") as connected:
        here, there = cw.evaluate(check, made, Judge), cw.evaluate(check, connected, Judge)
        assert len(there.answers) == 120
        for name in ("verdicts", "findings"):
            pd.testing.assert_frame_equal(getattr(there, name), getattr(here, name))
        own = here.answers.drop(columns=["at", "model"])
        pd.testing.assert_frame_equal(there.answers.drop(columns=["at", "model"]), own)
        assert there.notes == here.notes
        made_in = set(there.answers["model"])
        assert 1 <= len(made_in) <= 2
        assert made_in.isdisjoint(here.answers["model"])
        again = cw.evaluate(check, connected, Silent())
        pd.testing.assert_frame_equal(again.verdicts, there.verdicts)


def test_spans_are_asked_about_one_by_one(made: Store, exported: Connected) -> None:
    item = Item(
        asks=YesNo(ask="Is this call right?"),
        cut=FlagAt(value=0.5),
        scope="span",
        evidence=EvidenceRule(spans=Selector(names=("look",))),
    )
    check = Check(id="each call", dialect="neatroots", items=(item,))
    here, there = cw.evaluate(check, made, Judge()), cw.evaluate(check, exported, Judge())
    pd.testing.assert_frame_equal(there.verdicts, here.verdicts)
    keys = ["run_id", "span_id", "probability"]
    own, others = (one.answers[keys].sort_values(keys).reset_index(drop=True) for one in (there, here))
    pd.testing.assert_frame_equal(own, others)


def test_recorded_answers_count(made: Store, exported: Connected) -> None:
    check = question("Was it recorded?", id="recorded")
    recorded = Recorded([Answer(check_id=check.id, run_id=f"run {n}", probability=n / 120) for n in range(60)])
    here, there = cw.evaluate(check, made, recorded), cw.evaluate(check, exported, recorded)
    assert there.verdicts["status"].value_counts().to_dict() == {"not_checked": 60, "pass": 60}
    pd.testing.assert_frame_equal(there.verdicts, here.verdicts)


def test_what_was_answered_before_an_evaluator_stopped_is_kept(backend: Any, made: Store) -> None:
    assert made is not None
    check = question("Does it stop?", id="stops")
    with cw.connect(backend, spans="made_spans", runs="made_runs") as connected:
        with pytest.raises(EvaluatorError, match="no route to the judge"):
            cw.evaluate(check, connected, lambda: Judge(stops_at="run 7"))
        kept = set(connected.sql("select run_id from answers")["run_id"])
        assert 0 < len(kept) < 120
        assert "run 7" not in kept


def test_an_evaluator_that_cannot_be_sent_is_named(exported: Connected) -> None:
    judge = Judge()
    judge.lock = threading.Lock()
    with pytest.raises(InputError, match=r"evaluator 'judge' cannot be sent .* give a function"):
        cw.evaluate(question("Who locks?", id="locks"), exported, judge)


def test_a_step_check_says_that_steps_are_not_here(exported: Connected) -> None:
    with pytest.raises(StoreError, match="spans and steps are not here"):
        cw.evaluate(screening(), exported)


SPAN = {"run_id": "a", "type": "tool", "started_at": "2026-05-04T12:00:00", "span_id": "s"}
RUN = {"run_id": "a"}


def given(session: Any, spans: list[dict[str, Any]], runs: list[dict[str, Any]], *, types: str = "") -> dict[str, str]:
    """Show records to Spark; start times as texts become times."""
    columns = ", ".join(f"{name} string" for name in spans[0])
    rows = session.createDataFrame([tuple(span.values()) for span in spans], columns)
    if "started_at" in spans[0] and not types:
        rows = rows.withColumn("started_at", rows["started_at"].cast("timestamp_ntz"))
    rows.createOrReplaceTempView("given_spans")
    names = ", ".join(f"{name} string" for name in runs[0])
    session.createDataFrame([tuple(run.values()) for run in runs], names).createOrReplaceTempView("given_runs")
    return {"spans": "given_spans", "runs": "given_runs"}


@pytest.mark.parametrize(
    ("spans", "runs", "message"),
    [
        ([{"run_id": "a"}], [RUN], "spans must have the columns run_id, type; missing are type"),
        ([SPAN], [{"run": "a"}], "runs must have the columns run_id; missing are run_id"),
        ([SPAN, SPAN | {"type": ""}], [RUN], "spans cannot be used: 1 have no type"),
        ([SPAN | {"status": "great"}], [RUN], "1 have a status other than ok, error"),
        ([SPAN | {"started_at": "1850-01-01"}], [RUN], "1 have a started_at that does not lie between 1970 and 2200"),
        ([SPAN | {"started_at": None}], [RUN], "spans must have seq, their place in the run"),
        ([SPAN], [{"run_id": "b"}], "1 spans belong to no run of the table, such as those of 'a'"),
        ([SPAN, SPAN], [RUN], "1 spans are there twice in their run, such as 's'"),
        ([SPAN], [RUN, RUN], "1 runs are there twice, such as 'a'"),
        ([SPAN], [RUN | {"metrics": "[1]"}], r"metrics of run 'a' must be a JSON object, got '\[1\]'"),
        ([SPAN | {"attributes": "{broken"}], [RUN], "attributes of run 'a' must be a JSON object, got '{broken'"),
        ([SPAN | {"run_key": "1"}], [RUN | {"run_key": "1"}], "spans has run_key, so it must have all columns"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_records_that_a_store_would_refuse_are_refused(
    session: Any, backend: Any, spans: list[dict[str, Any]], runs: list[dict[str, Any]], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        cw.connect(backend, **given(session, spans, runs))


def test_wrong_types_and_tables_are_named(session: Any, backend: Any) -> None:
    with pytest.raises(InputError, match="started_at must be of type timestamp, got string"):
        cw.connect(backend, **given(session, [SPAN], [RUN], types="as they are"))
    with pytest.raises(InputError, match=r"spans must name a table that Spark knows, got 'given_span'. Did you mean"):
        cw.connect(backend, spans="given_span", runs="given_runs")


def test_without_seq_spans_lie_by_time_and_id_and_strange_columns_are_noted(session: Any, backend: Any) -> None:
    spans = [SPAN | {"span_id": name, "day": "Monday"} for name in ("b", "a")]
    with cw.connect(backend, **given(session, spans, [RUN])) as connected:
        found = connected.execute(connected.table("spans").select("seq", "span_id").order_by("seq"))
        assert found["span_id"].tolist() == ["a", "b"]
        assert repr(connected) == "<Connected to Spark>\nspans: columns that are no field were not read: day"
