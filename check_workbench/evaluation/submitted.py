"""check-1: the answers in the verdict records that stand beside a step's submissions."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

from check_workbench.evaluation.recorded import OTHER_VERSION, Candidate, refusal
from check_workbench.evaluation.rows import naive, rows_of

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Mapping

    import pandas as pd

    from check_workbench.checks import Check
    from check_workbench.store import Store

VERSIONS = "process_version:"


def remember_version(check: Check, store: Store) -> None:
    """Keep what a version of a process asks in a step, so that a moved threshold does not void its answers.

    Parameters
    ----------
    check
        A check of a process; others are passed over.
    store
        The store; one that is opened to read only stays as it is.
    """
    import pandas as pd

    if check.process is None or store.read_only:
        return
    key = _version_key(check, check.process.version)
    if store.sql("select value from meta where key = ?", [key])["value"].tolist() != [check.asked]:
        store.insert("meta", pd.DataFrame({"key": [key], "value": [check.asked]}), replace_on=("key",))


def submitted(check: Check, units: pd.DataFrame, store: Store, notes: Counter[str]) -> list[Candidate]:
    """Return the answers in the recorded verdicts of a step check's units.

    Parameters
    ----------
    check
        The check.
    units
        Rows of `units_of`.
    store
        Where the process versions are that were seen before.
    notes
        Counts what a reader must know.
    """
    if "record" not in units:
        return []
    same = _versions_asking_the_same(check, store)
    found: list[Candidate] = []
    for unit in rows_of(units[units["record"].notna() & units["why"].isna()]):
        found.extend(_candidates(check, unit, same, notes))
    return found


def _candidates(
    check: Check,
    unit: Mapping[str, Any],
    same: frozenset[str],
    notes: Counter[str],
) -> Iterable[Candidate]:
    from check_workbench.dialects import answers_of_record

    version = unit["process_version"]
    other = version is not None and version not in same and not _shown_the_same(check, unit)
    notes["recorded verdicts name no process version and count for the file given"] += version is None
    record = json.loads(unit["record"]) if isinstance(unit["record"], str) else unit["record"]
    for answer in answers_of_record(record, check, run_id=unit["run_id"], attempt=int(unit["attempt"])):
        named = dataclasses.replace(answer, step_id=check.step_id, at=naive(answer.at))
        yield Candidate(answer=named, refused=OTHER_VERSION if other else refusal(check, named, stale=False))


def _shown_the_same(check: Check, unit: Mapping[str, Any]) -> bool:
    return (unit["instructions"], unit["body"]) == (check.instructions, check.body)


def _versions_asking_the_same(check: Check, store: Store) -> frozenset[str]:
    if check.process is None:
        return frozenset()
    prefix = _version_key(check, "")
    rows = store.sql("select key from meta where starts_with(key, ?) and value = ?", [prefix, check.asked])
    return frozenset([check.process.version, *(str(key).removeprefix(prefix) for key in rows["key"])])


def _version_key(check: Check, version: str) -> str:
    return f"{VERSIONS}{check.id}:{version}"
