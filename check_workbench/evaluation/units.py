"""The units that a check judges: runs, or the submissions of one step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection

    import pandas as pd

    from check_workbench.checks import Check
    from check_workbench.store import Store

UNIT = ["run_id", "step_id", "attempt"]
ABOUT = ["workflow", "session_id", "mode", "run_length", "started_at"]
OTHER_WORKFLOW = "the run is of another workflow"
NO_STEP = "the run has no submission of the step"

_RUNS = """
    select run_key, run_id, workflow, session_id, coalesce(mode, 'live') as mode, span_count as run_length, started_at
    from runs order by run_id
"""
_SUBMISSIONS = """
    select run_key, place, attempt, instructions, body, process_version, "check" as record,
           coalesce("at", try_cast("check"->>'$.at' as timestamptz) at time zone 'UTC') as submitted_at
    from steps where step_id = ? order by run_key, place
"""


def runs_of(store: Store, only: Collection[str] | None = None) -> pd.DataFrame:
    """List the runs of a store in order of their ids, with what reports need to know of them.

    Parameters
    ----------
    store
        The store.
    only
        Ids of the runs that are wanted; None wants all.
    """
    runs = store.sql(_RUNS)
    return runs if only is None else runs[runs["run_id"].isin(list(only))].reset_index(drop=True)


def workflow_of(check: Check) -> str | None:
    """Return the workflow whose runs a check judges; None judges all.

    Examples
    --------
    >>> from check_workbench.checks import Check
    >>> workflow_of(Check(id="loop", dialect="neatroots", items=(), workflow="refund-agent"))
    'refund-agent'
    """
    if check.workflow is not None:
        return check.workflow
    return check.process.name if check.process else None


def units_of(check: Check, runs: pd.DataFrame, store: Store) -> pd.DataFrame:
    """List the units of a check among runs, in order of run and attempt.

    Parameters
    ----------
    check
        The check; with a `step_id` its units are the submissions of that step, else whole runs.
    runs
        Rows of `runs_of`.
    store
        Where the steps are.

    Returns
    -------
    DataFrame
        `run_id step_id attempt`, what is known of the run, of a submission its time, text, process version and
        recorded verdict, and `why`: the reason for which the check does not apply to the unit, else missing.
    """
    workflow = workflow_of(check)
    units = runs.assign(why=None)
    if workflow is not None:
        units["why"] = units["why"].where(units["workflow"].eq(workflow).fillna(value=False), OTHER_WORKFLOW)
    if check.step_id is None:
        return units.assign(step_id=None, attempt=_whole(units, None))
    return _submissions(units, check.step_id, store)


def _submissions(units: pd.DataFrame, step_id: str, store: Store) -> pd.DataFrame:
    submissions = numbered(store.sql(_SUBMISSIONS, [step_id]))
    units = units.merge(submissions, on="run_key", how="left").assign(step_id=step_id)
    missing = units["place"].isna() & units["why"].isna()
    units.loc[missing, "why"] = NO_STEP
    units["attempt"] = units["attempt"].astype("Int64")
    return units.sort_values(["run_id", "attempt"], kind="stable").reset_index(drop=True)


def numbered(submissions: pd.DataFrame) -> pd.DataFrame:
    """Give the submissions of a step new numbers, in file order, in runs that name one attempt twice.

    Parameters
    ----------
    submissions
        Rows of one step with `run_key`, `place` and `attempt`, in order of place.
    """
    twice = submissions.duplicated(["run_key", "attempt"], keep=False)
    again = submissions["run_key"].isin(submissions.loc[twice, "run_key"])
    counted = submissions.groupby("run_key").cumcount() + 1
    return submissions.assign(attempt=submissions["attempt"].where(~again, counted).astype("Int64"))


def _whole(rows: pd.DataFrame, value: Any) -> pd.Series[Any]:
    import pandas as pd

    return pd.Series([value] * len(rows), index=rows.index, dtype="Int64")
