"""What people had seen of the labels before the last of them came."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from check_workbench.calibration.looks import READING
from check_workbench.calibration.units import decision_keys

if TYPE_CHECKING:
    from datetime import datetime

    import pandas as pd

    from check_workbench.certificates.hygiene import Sample
    from check_workbench.checks import Check
    from check_workbench.plans import Plan, Side
    from check_workbench.store import Store

SHOWN = (
    "labels of this side had been shown (by compare, calibrate or another call) before the last labels or answers "
    "came: whoever saw them could choose when to stop, so that was the first look, and this is a later one; go on with "
    "further labels, and for another check load all labels, or ask trust, before any other call shows them"
)
VERDICTS: dict[Side, str] = {"false_pass": "pass", "false_fail": "fail"}
_DECIDED = """
    select decision_key, loaded_at from decisions join sources using (source_key)
    where list_contains(?::bigint[], decision_key) and loaded_at is not null
"""
_ANSWERED = """
    select run_id, max(coalesce(loaded_at, "at")) as came from answers left join sources using (source_key)
    where check_id = ? and run_id in (select unnest(?::varchar[])) and coalesce(loaded_at, "at") is not null
    group by all
"""


def arrivals(store: Store, labelled: pd.DataFrame, check: Check) -> pd.Series[Any]:
    """Return when each label met its verdict: the last decision and the last answer came; no time where unknown.

    Parameters
    ----------
    store
        The store.
    labelled
        Labels with `run_id` and `decision_keys`.
    check
        The check. Answers that come once labels were shown may be chosen, such as those of the best of several models.
    """
    decided = store.sql(_DECIDED, [decision_keys(labelled)])
    said = _moments(labelled, dict(zip(decided["decision_key"], decided["loaded_at"], strict=True)), max)
    answers = store.sql(_ANSWERED, [check.id, sorted(set(labelled["run_id"]))])
    came = dict(zip(answers["run_id"], answers["came"], strict=True))
    answered = _times([came.get(run) for run in labelled["run_id"]], labelled)
    return said.where(~(answered > said), answered)


def first_read(labelled: pd.DataFrame, looks: pd.DataFrame) -> pd.Series[Any]:
    """Return when any call first read each label; no time where none did.

    Parameters
    ----------
    labelled
        Labels with `decision_keys`.
    looks
        All looks in the store.
    """
    return _moments(labelled, _firsts(looks[looks["call"].isin(READING)]), min)


def first_shown(labelled: pd.DataFrame, looks: pd.DataFrame, check: Check, side: Side) -> pd.Series[Any]:
    """Return when a call first showed each label beside what the check says; no time where none did.

    Parameters
    ----------
    labelled
        Labels with `decision_keys`.
    looks
        All looks in the store.
    check
        The check. Calls about one of another name that asks the same count as well.
    side
        A trust decision shows the sides that its plan bounds, other calls show both.
    """
    mine = looks[looks["call"].isin(READING) & ((looks["check_id"] == check.id) | (looks["asked"] == check.asked))]
    both = [call != "trust" or side in _sides(one) for call, one in zip(mine["call"], mine["result"], strict=True)]
    return _moments(labelled, _firsts(mine[np.array(both, dtype=bool)]), min)


def shown_sides(labels: Sample, looks: pd.DataFrame, check: Check, plan: Plan) -> frozenset[Side]:
    """Return the sides of which labels were shown already, so that whatever comes next is for a later look.

    Parameters
    ----------
    labels
        What hygiene left.
    looks
        All looks in the store.
    check
        The check.
    plan
        Its bounds name the sides.
    """
    fresh = labels.usable[labels.usable["fresh"].to_numpy(dtype=bool)]
    parts = {bound.side: fresh[fresh["verdict"] == VERDICTS[bound.side]] for bound in plan.bounds}
    return frozenset(side for side, rows in parts.items() if first_shown(rows, looks, check, side).notna().any())


def peeked(labels: pd.DataFrame) -> bool:
    """Say whether some of the labels had been shown before others came.

    Parameters
    ----------
    labels
        With `shown` and `arrived`.
    """
    shown, arrived = labels["shown"].min(), labels["arrived"].max()
    return bool(shown < arrived)


def _sides(result: dict[str, Any]) -> set[str]:
    return {bound["side"] for bound in result.get("certificate", {}).get("details", {}).get("bounds", [])}


def _firsts(looks: pd.DataFrame) -> dict[int, datetime]:
    found: dict[int, datetime] = {}
    for at, keys in zip(looks["at"], looks["labels"], strict=True):
        for key in keys:
            found[int(key)] = min(found.get(int(key), at), at)
    return found


def _moments(labelled: pd.DataFrame, times: dict[int, datetime], choose: Any) -> pd.Series[Any]:
    found = [[times[int(key)] for key in keys if int(key) in times] for keys in labelled["decision_keys"]]
    return _times([choose(one) if one else None for one in found], labelled)


def _times(moments: list[datetime | None], rows: pd.DataFrame) -> pd.Series[Any]:
    import pandas as pd

    return pd.Series(np.array(moments, dtype="datetime64[us]"), index=rows.index)
