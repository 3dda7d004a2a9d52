"""Checks over runs: measurements and answers become verdicts, findings and scores."""

from __future__ import annotations

import contextlib
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from check_workbench.checks import Check
from check_workbench.errors import InputError
from check_workbench.evaluation import questions, versions
from check_workbench.evaluation.checking import judge_runs
from check_workbench.evaluation.report import Results
from check_workbench.evaluation.units import runs_of
from check_workbench.evaluators import Evaluator, Made, open_evaluator
from check_workbench.store.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import pandas as pd

    from check_workbench.store import Store

__all__ = ["Results", "evaluate", "read"]


def evaluate(
    checks: Check | str | Path | Iterable[Check | str | Path],
    store: Store,
    evaluator: Evaluator | Callable[[], Evaluator] | str | None = None,
    *,
    progress: Callable[[str, float], None] | None = None,
) -> Results:
    """Judge every run of a store by checks.

    Rules measure the runs that they have not measured yet. Questions take recorded answers, then ask the evaluator;
    what nobody answered is `not_checked`. Answers and measurements are kept in the store, so that a second call pays
    for new runs only.

    Parameters
    ----------
    checks
        One check or many, or files, folders or `FILE#ID` that hold them.
    store
        The recorded runs: a store, or what `connect` returned.
    evaluator
        Who is asked for missing answers: an object, a function that makes one, or a name from the settings; None asks
        nobody. Where runs stay in Spark, each partition of them has its own.
    progress
        Called with the check's id and the share of everything that is done; without one, a line on stderr says how far
        it is once two seconds have passed.

    Returns
    -------
    Results
        Findings, verdicts, answers and scores.

    Raises
    ------
    InputError
        If a check cannot be read.
    EvaluatorError
        If the evaluator stopped answering; what it had answered is kept.

    Examples
    --------
    >>> import check_workbench as cw
    >>> from check_workbench.checks import AtLeast, Check, Item, Repeat
    >>> loop = Check(id="loop", dialect="neatroots", items=(Item(asks=Repeat(), cut=AtLeast(value=3)),))
    >>> evaluate(loop, cw.open())
    Results: 1 check, 0 runs, 0 findings
      loop: 0 fail, 0 unsure, 0 pass; 0 left out
    """
    require_store(store)
    found = read(checks)
    say = progress or Progress("evaluating")
    source = questions.Source(store=store, evaluator=_opened(evaluator), progress=say)
    with _held(source):
        versions.register(found, store)
        results = judge_runs(found, runs_of(store), source)
        return dataclasses.replace(results, notes=(*versions.stale_notes(found, store, results.scores), *results.notes))


def over(
    checks: Sequence[Check],
    store: Store,
    runs: pd.DataFrame,
    *,
    evaluator: Evaluator | str | None = None,
) -> Results:
    """Judge some runs only, and keep no measurements.

    Parameters
    ----------
    checks
        The checks.
    store
        The recorded runs.
    runs
        Rows of `units.runs_of`.
    evaluator
        Who is asked for missing answers.
    """
    require_store(store)
    source = questions.Source(store=store, evaluator=_opened(evaluator), keep=False)
    with _held(source):
        versions.register(checks, store)
        return judge_runs(checks, runs, source)


def require_store(store: object) -> None:
    """Refuse what is no store, most often the name of one.

    Raises
    ------
    InputError
        If it is no store.
    """
    from check_workbench.store import Store

    if not isinstance(store, Store):
        named = f": open it first, as cw.open({str(store)!r})" if isinstance(store, str | Path) else ""
        raise InputError(f"store must be an open store, got {type(store).__name__}{named}")


def read(checks: Check | str | Path | Iterable[Check | str | Path]) -> tuple[Check, ...]:
    """Return checks, reading those that are given as a file, a folder or `FILE#ID`.

    Parameters
    ----------
    checks
        One or many.

    Raises
    ------
    InputError
        If one cannot be read, if two have the same id, or if there is none.
    """
    given = [checks] if isinstance(checks, Check | str | Path) else list(checks)
    paths = [one for one in given if not isinstance(one, Check)]
    found = [*(one for one in given if isinstance(one, Check)), *(_read_files(paths) if paths else ())]
    if not found:
        raise InputError("at least one check must be given, got none")
    ids = [check.id for check in found]
    twice = sorted({one for one in ids if ids.count(one) > 1})
    if twice:
        raise InputError(f"checks must have different ids, but {', '.join(map(repr, twice))} stands for several")
    return tuple(found)


def _held(source: questions.Source) -> contextlib.AbstractContextManager[object]:
    """Hold the store's file throughout, unless an evaluator is asked, which may take hours."""
    return source.store.hold() if source.evaluator is None else contextlib.nullcontext()


def _read_files(paths: Sequence[str | Path]) -> tuple[Check, ...]:
    from check_workbench.dialects import read_checks

    return read_checks(paths)


def _opened(evaluator: Evaluator | Callable[[], Evaluator] | str | None) -> Evaluator | None:
    if isinstance(evaluator, type):
        return Made(evaluator)
    if evaluator is None or isinstance(evaluator, Evaluator):
        return evaluator
    if callable(evaluator):
        return Made(evaluator)
    if isinstance(evaluator, str):
        return open_evaluator(evaluator)
    raise InputError(
        "evaluator must be a name from the settings, an object with `name`, `capabilities` and `answer`, or a "
        "function that makes one, "
        f"got {type(evaluator).__name__}",
    )
