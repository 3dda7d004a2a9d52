"""A store remembers what was measured, and findings name spans by their ids."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from check_workbench import rules
from check_workbench.checks import (
    AtLeast,
    Check,
    Count,
    Errors,
    Item,
    Match,
    Metric,
    Repeat,
    RequiresBefore,
    RunEnd,
    Selector,
    Slow,
    UnrecoveredError,
)
from check_workbench.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from pathlib import Path

    from check_workbench.checks import Rule
    from check_workbench.store import Store

CALL = {"type": "tool", "name": "look", "input": {"a": 1, "b": 2}}
SAME = {"type": "tool", "name": "look", "input": {"b": 2, "a": 1}}
OTHER = {"type": "tool", "name": "look", "input": "else", "error": "no such order", "duration_ms": 900}
SECRET = {"type": "llm", "name": "m", "output": "key sk-123 and\nkey sk-456"}


@pytest.fixture
def filled(store: Store, tmp_path: Path) -> Store:
    add(store, tmp_path, r1=[CALL, OTHER, SAME, OTHER | {"span_id": "mine"}, CALL], r2=[CALL, SECRET], r3=[])
    return store


def add(store: Store, folder: Path, **runs: list[dict[str, Any]]) -> None:
    path = folder / f"{'-'.join(runs)}.jsonl"
    made = [{"run_id": key, "status": "ok", "final_output": "Done.", "spans": spans} for key, spans in runs.items()]
    path.write_text("".join(json.dumps(run) + "\n" for run in made), "utf-8")
    store.load(path)


def measured(store: Store, asked: str = "a") -> dict[str, tuple[float, str | None]]:
    frame = store.sql(
        "select run_id, value, reason from measurements join runs using (run_key) where asked = ? order by 1",
        [asked],
    )
    reasons = [reason if isinstance(reason, str) else None for reason in frame["reason"]]
    return dict(zip(frame["run_id"], zip(frame["value"], reasons, strict=True), strict=True))


def test_a_second_evaluation_measures_only_what_is_new(filled: Store, tmp_path: Path) -> None:
    assert rules.measure_into(filled, Repeat(), "a") == 3
    assert measured(filled) == {"r1": (3.0, None), "r2": (1.0, None), "r3": (0.0, None)}
    assert rules.measure_into(filled, Repeat(), "a") == 0
    add(filled, tmp_path, r4=[CALL, CALL])
    assert rules.measure_into(filled, Repeat(), "a") == 1
    assert measured(filled)["r4"] == (2.0, None)
    assert rules.measure_into(filled, Count(), "b") == 4
    assert len(filled.sql("select * from measurements")) == 8


def test_a_grown_run_is_measured_again(filled: Store, tmp_path: Path) -> None:
    rules.measure_into(filled, Count(), "a")
    add(filled, tmp_path, r2=[CALL, SECRET, CALL, CALL])
    assert rules.measure_into(filled, Count(), "a") == 1
    assert measured(filled)["r2"] == (4.0, None)


@pytest.mark.parametrize(
    ("rule", "at", "expected"),
    [
        (Repeat(), 3, [("r1", 3.0, ["#1", "#3", "#5"], '{"a":1,"b":2}', False)]),
        (
            Repeat(),
            2,
            [("r1", 3.0, ["#1", "#3", "#5"], '{"a":1,"b":2}', True), ("r1", 2.0, ["#2", "mine"], "else", True)],
        ),
        (Errors(), 1, [("r1", 1.0, ["#2"], "no such order", True), ("r1", 1.0, ["mine"], "no such order", True)]),
        (Count(), 3, [("r1", 5.0, ["#1", "#2", "#3", "mine", "#5"], None, False)]),
        (Slow(), 900, [("r1", 900.0, ["#2"], None, False), ("r1", 900.0, ["mine"], None, False)]),
        (Metric(metric="spans"), 2, [("r1", 5.0, [], None, False), ("r2", 2.0, [], None, False)]),
        (Match(pattern=r"SK-\d+", ignore_case=True), 1, [("r2", 1.0, ["#2"], "sk-123", False)]),
        (Match(pattern=r"(?<=key )sk-\d+"), 1, [("r2", 1.0, ["#2"], "sk-123", False)]),
        (RunEnd(statuses=("ok",)), 1, [(f"r{n}", 1.0, [], "ok", False) for n in (1, 2, 3)]),
        (UnrecoveredError(), 1, []),
    ],
    ids=repr,
)
def test_findings_name_spans(filled: Store, rule: Rule, at: float, expected: list[tuple[Any, ...]]) -> None:
    unmeasured = rules.findings(filled, rule, at)
    rules.measure_into(filled, rule, rules.asked_of(rule))
    found = rules.findings(filled, rule, at)
    assert list(found.columns) == ["run_id", "key", "value", "spans", "quote", "resolved"]
    plain = [
        (row.run_id, row.value, row.spans, row.quote if isinstance(row.quote, str) else None, row.resolved)
        for row in found.itertuples()
    ]
    assert sorted(plain, key=str) == sorted(expected, key=str)
    pd.testing.assert_frame_equal(unmeasured, found, check_dtype=False)


def test_the_asked_digest_of_a_rule_is_that_of_an_item() -> None:
    rule = Errors(span=Selector(types=("tool",)))
    check = Check(id="any", dialect="neatroots", items=(Item(asks=rule, cut=AtLeast(value=7)),))
    assert rules.asked_of(rule) == check.asked_items[0]


def test_findings_come_only_from_runs_whose_measurement_reaches_the_cut(filled: Store) -> None:
    rules.measure_into(filled, Count(), "a")
    assert rules.findings(filled, Count(), 3, asked="a")["run_id"].tolist() == ["r1"]
    assert rules.findings(filled, Count(), 6, asked="a").empty


def test_nothing_recorded_is_nothing_measured(store: Store) -> None:
    assert rules.measure_into(store, Count(), "a") == 0
    assert rules.findings(store, Count(), 1).empty


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (Repeat(same=("tool", "inputs")), "no field to repeat by is named 'inputs'. Did you mean 'input'"),
        (Match(pattern="a", fields=("outputs",)), "no field to match is named 'outputs'. Did you mean 'output'"),
    ],
)
def test_an_unknown_field_is_named(filled: Store, rule: Rule, message: str) -> None:
    with pytest.raises(UnknownNameError, match=message):
        rules.measure_into(filled, rule, "a")


def test_a_refused_pattern_is_refused(filled: Store) -> None:
    with pytest.raises(InputError, match="nests repeats"):
        rules.measure_into(filled, Match(pattern="(a+)+"), "a")
    with pytest.raises(InputError, match="measured in a store"):
        rules.measure(Match(pattern="(?=a)"), filled.table("spans"), filled.table("runs"))


HOSTILE = ["'; drop table runs; --", "a\"b $1 ? %s {x} \\'", "look\x00"]


@pytest.mark.parametrize("text", HOSTILE)
def test_recorded_text_and_documents_never_become_sql(store: Store, tmp_path: Path, text: str) -> None:
    name = text.replace("\x00", "")
    add(store, tmp_path, r1=[{"type": name, "name": name, "input": name, "error": name}])
    select = Selector(types=(name,), names=(name,))
    hitting: list[Rule] = [
        Repeat(span=select),
        Count(span=select),
        Errors(span=select),
        Match(pattern="^.", span=select),
        RequiresBefore(span=select, requires=Selector(names=("none",))),
        UnrecoveredError(span=select),
    ]
    missing: list[Rule] = [Metric(metric=text), RunEnd(statuses=(text,))]
    for rule in hitting:
        rules.measure_into(store, rule, text)
        found = rules.findings(store, rule, 1, asked=text)
        assert found["value"].tolist() == [1.0], rule
        store.sql("delete from measurements")
    for rule in missing:
        rules.measure_into(store, rule, text)
        assert rules.findings(store, rule, 1, asked=text).empty
        store.sql("delete from measurements")


def test_threads_share_nothing(filled: Store) -> None:
    from concurrent.futures import ThreadPoolExecutor

    def work(number: int) -> int:
        rules.measure_into(filled, Repeat(), f"asked {number}")
        return len(rules.findings(filled, Repeat(), 2, asked=f"asked {number}"))

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(8))) == [2] * 8
