"""check-1: the answers in the verdict records that stand beside a step's submissions."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

from check_workbench.evaluation.recorded import OTHER_VERSION, Candidate, presents_of, words_of
from check_workbench.evaluation.rows import naive, rows_of

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator, Mapping

    import pandas as pd

    from check_workbench.checks import Check
    from check_workbench.results import Answer
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
    same, presents = _versions_asking_the_same(check, store), presents_of(check)
    found: list[Candidate] = []
    for unit in rows_of(units[units["record"].notna() & units["why"].isna()]):
        version = _bare(unit["process_version"])
        notes["recorded verdicts name no process version and count for the file given"] += version is None
        other = version is not None and version not in same and not _shown_the_same(check, unit)
        for answer in _answers(check, unit):
            refused = OTHER_VERSION if other else presents[answer.item].refusal(answer)
            found.append(Candidate(answer=answer, refused=refused))
    return found


def _answers(check: Check, unit: Mapping[str, Any]) -> Iterator[Answer]:
    from check_workbench.dialects import answers_of_record

    record = json.loads(unit["record"]) if isinstance(unit["record"], str) else unit["record"]
    for answer in answers_of_record(record, check, run_id=unit["run_id"], attempt=int(unit["attempt"])):
        yield dataclasses.replace(answer, step_id=check.step_id, at=naive(answer.at))


def _shown_the_same(check: Check, unit: Mapping[str, Any]) -> bool:
    """Say whether the submission recorded the same instructions and body as the check's."""
    shown = [(unit["instructions"], check.instructions), (unit["body"], check.body)]
    return all(was is not None and words_of(was) == words_of(now) for was, now in shown)


def _versions_asking_the_same(check: Check, store: Store) -> frozenset[str]:
    if check.process is None:
        return frozenset()
    prefix = _version_key(check, "")
    rows = store.sql("select key from meta where starts_with(key, ?) and value = ?", [prefix, check.asked])
    return frozenset([_bare(check.process.version), *(str(key).removeprefix(prefix) for key in rows["key"])])


def _version_key(check: Check, version: str) -> str:
    return f"{VERSIONS}{check.id}:{_bare(version)}"


def _bare(version: Any) -> Any:
    return version.removeprefix("sha256:") if isinstance(version, str) else version
