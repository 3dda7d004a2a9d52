"""What `connect` refuses, without Spark."""

from __future__ import annotations

import importlib.util

import ibis
import pytest

import check_workbench as cw
from check_workbench.errors import InputError
from check_workbench.evaluation import evaluate
from check_workbench.evaluators import Made, Recorded
from check_workbench.results import Answer
from tests.workshop import put_runs, question, run


@pytest.mark.parametrize(
    ("backend", "message"),
    [
        ("spark://host", "such as ibis.pyspark.connect.session., got str"),
        (None, "got NoneType"),
        (ibis.duckdb.connect(), r"got that of duckdb. What DuckDB holds needs no connection: .* cw.open"),
    ],
)
def test_another_backend_is_refused(backend: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        cw.connect(backend)


def test_what_spark_needs_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(InputError, match=r"pip install 'check-workbench\[spark\]'.*Spark needs Java 17 or newer"):
        cw.connect("spark")


def test_a_function_that_makes_an_evaluator_is_called_once(store) -> None:
    put_runs(store, run("a"), run("b"))
    made = []

    def make() -> Recorded:
        made.append(Recorded([Answer(check_id="q", run_id=name, probability=0.9) for name in "ab"]))
        return made[-1]

    assert list(evaluate(question(), store, make).verdicts["status"]) == ["fail", "fail"]
    assert len(made) == 1


def test_a_function_that_makes_no_evaluator_is_named(store) -> None:
    put_runs(store, run("a"))
    with pytest.raises(InputError, match="must return an object with `name`, `capabilities` and `answer`, got int"):
        evaluate(question(), store, lambda: 1)  # type: ignore[arg-type, return-value]


def test_what_is_sent_to_another_process_is_the_function() -> None:
    made = Made(lambda: Recorded([]))
    assert made.name == "recorded"
    kind, args = made.__reduce__()
    assert kind(*args)._own is None  # noqa: SLF001
