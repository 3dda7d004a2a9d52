"""Asking in Spark's workers: one evaluator a partition, and the answers brought back."""

from __future__ import annotations

import pickle
from collections import Counter
from typing import TYPE_CHECKING, Any

from check_workbench.engines.sessions import arrow_schema
from check_workbench.engines.staged import store_of
from check_workbench.errors import EvaluatorError, InputError
from check_workbench.evaluation import asking as here
from check_workbench.evaluation.recorded import answers_of
from check_workbench.evaluation.requests import Asking
from check_workbench.evaluation.units import runs_of, units_of
from check_workbench.store.frames import to_pandas
from check_workbench.store.names import listed
from check_workbench.store.schema import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd
    import pyarrow as pa

    from check_workbench.engines import Connected
    from check_workbench.results import Answer
    from check_workbench.store import Store

NOTED = {"note": "VARCHAR", "times": "BIGINT", "stopped": "VARCHAR"}
BROUGHT = {**TABLES["answers"].columns, **NOTED}
"""What a worker yields: rows of answers, of notes with their counts, and why its evaluator stopped."""


def ask_in_partitions(asking: Asking, units: pd.DataFrame, store: Connected) -> tuple[list[Answer], Counter[str]]:
    """Ask the evaluator about units in Spark's workers, and store the answers.

    Parameters
    ----------
    asking
        What is asked, of whom. The evaluator is sent to each partition, or the function that makes it.
    units
        Rows of `units_of` without a counting answer.
    store
        Where the runs are.

    Returns
    -------
    tuple
        The answers that came, and what a reader must know of them, with counts.

    Raises
    ------
    InputError
        If the evaluator cannot be sent to another process.
    EvaluatorError
        If it stopped answering in a partition; what had been answered is stored.
    """
    work = _Work(asking)
    rows = to_pandas(store.over_runs([str(run) for run in units["run_id"]], work, BROUGHT))
    given = rows[rows["check_id"].notna()]
    answers = sorted(answers_of(given), key=lambda one: (one.run_id, one.span_id or ""))
    if answers:
        here.store_answers(store, answers)
    stopped = [str(reason) for reason in rows["stopped"] if isinstance(reason, str)]
    if stopped:
        raise EvaluatorError(f"{min(stopped)} ({len(stopped)} partitions stopped; {len(answers)} answers are kept)")
    noted = rows[rows["note"].notna()]
    notes: Counter[str] = Counter()
    for note, times in zip(noted["note"], noted["times"], strict=True):
        notes[str(note)] += int(times)
    return answers, notes


class _Work:
    """What a partition is sent: the check, the evaluator, and which spans are answered already."""

    def __init__(self, asking: Asking) -> None:
        from pyspark.cloudpickle import dumps

        try:
            dumps(asking.evaluator)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise InputError(
                f"evaluator {asking.evaluator.name!r} cannot be sent to Spark's workers ({error}); give a function "
                "that makes one, as evaluator=lambda: …"
            ) from error
        self._check, self._place = asking.check, asking.place
        self._evaluator, self._known = asking.evaluator, dict(asking.known)

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            with store_of(batch) as store:
                asking = Asking(
                    check=self._check, place=self._place, evaluator=self._evaluator, store=store, known=self._known
                )
                reason, notes = None, Counter[str]()
                try:
                    _, notes = here.ask(asking, units_of(self._check, runs_of(store), store))
                except EvaluatorError as error:
                    reason = str(error)
                rows = [{"note": note, "times": count} for note, count in notes.items() if count]
                yield from _brought(store, [*rows, *([{"stopped": reason}] if reason else [])])
            if reason:
                return


def _brought(store: Store, told: list[dict[str, Any]]) -> Iterator[pa.RecordBatch]:
    """Yield the answers that a worker's store holds, and what is told beside them."""
    import pyarrow as pa

    schema = arrow_schema(BROUGHT)
    names = list(TABLES["answers"].columns)
    with store.hold() as cursor:
        answers = cursor.sql(f"select {listed(names)} from answers").to_arrow_table()
    for rows in (answers.cast(pa.schema([schema.field(name) for name in names])), pa.Table.from_pylist(told, schema)):
        filled = {f.name: rows[f.name] if f.name in rows.column_names else pa.nulls(len(rows), f.type) for f in schema}
        yield from pa.table(filled, schema=schema).combine_chunks().to_batches()
