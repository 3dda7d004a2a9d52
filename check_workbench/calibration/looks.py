"""The ledger of looks: which call read which labels, under which text and cuts, and when.

A cut is fixed beforehand only for labels that nothing read before the cut got its present value.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from check_workbench.labels.reading import Read, Reads

if TYPE_CHECKING:
    import pandas as pd

    from check_workbench.checks import Check
    from check_workbench.store import Store

READING = ("audit", "calibrate", "compare", "diff", "gate", "tune", "preview", "trust")
"""Calls after which a changed cut may owe its value to the labels that they read."""
CLOCKS = timedelta(seconds=2)
"""By how much the time of a file may lie before the moment at which it was written."""
NEXT_LOOK = """
    insert into looks (look, "at", call, check_id, asked, document, change, plan_digest, cutoffs, labels, runs, result)
    select coalesce(max(look), 0) + 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? from looks
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What one call read and concluded."""

    call: str
    labels: list[int]
    change: str | None = None
    plan_digest: str | None = None
    runs: list[str] = field(default_factory=list)
    result: dict[str, Any] = field(default_factory=dict)


def cutoffs_of(check: Check) -> list[dict[str, Any]]:
    """Return the cut of every question as the ledger holds it; flags beside them do not count."""
    cuts: list[dict[str, Any]] = json.loads(json.dumps([dataclasses.asdict(item.cut) for item in check.items]))
    return cuts


def record(store: Store, check: Check, look: Look) -> bool:
    """Write a look into the store, unless the same call read the same labels at the same document, to the same result.

    Parameters
    ----------
    store
        The store; one that is open to read only cannot record.
    check
        The check as it was at the look.
    look
        What was read.

    Returns
    -------
    bool
        Whether the ledger now knows the look; False for a store that is open to read only.
    """
    if store.read_only:
        return False
    known = own(ledger(store), check)
    labels = sorted(look.labels)
    same = (known["call"] == look.call) & (known["document"] == check.document)
    before = zip(known.loc[same, "labels"], known.loc[same, "result"], strict=True)
    if look.call != "trust" and any(seen == (labels, look.result) for seen in before):
        return True
    values = [
        datetime.now(UTC).replace(tzinfo=None),
        look.call,
        check.id,
        check.asked,
        check.document,
        look.change,
        look.plan_digest,
        json.dumps(cutoffs_of(check)),
        json.dumps(labels),
        json.dumps(sorted(look.runs)),
        json.dumps(look.result, sort_keys=True),
    ]
    with store.transaction() as cursor:
        cursor.execute(NEXT_LOOK, values)
    return True


def ledger(store: Store) -> pd.DataFrame:
    """Return all looks in a store, oldest first, with lists and mappings as Python values.

    Looks at other checks count as well: whoever saw where one check errs may have worded the next one by it.
    """
    found = store.sql("select * from looks order by look")
    for column, empty in (("labels", "[]"), ("runs", "[]"), ("cutoffs", "[]"), ("result", "{}")):
        found[column] = [json.loads(v) if isinstance(v, str) else json.loads(empty) for v in found[column]]
    return found


def own(looks: pd.DataFrame, check: Check) -> pd.DataFrame:
    """Return the looks at a check, whatever it asked then."""
    return looks[looks["check_id"] == check.id]


def cut_since(store: Store, check: Check, looks: pd.DataFrame) -> datetime:
    """Return since when the check has had its present text and cuts, as far as the store knows.

    Another document of the same check that was seen later means that the present one came back after it, unless the
    ledger knows that only flags differ. A document that the store never saw is as new as this call.
    """
    mine = own(looks, check)
    of_text = mine[mine["asked"] == check.asked]
    alike = [cuts == cutoffs_of(check) for cuts in of_text["cutoffs"]]
    same = {check.document, *of_text["document"][alike]}
    seen = store.sql("select document, first_seen from checks where check_id = ?", [check.id])
    return _since(check, seen, seen["document"].isin(same), mine[~mine["document"].isin(same)])


def asked_since(store: Store, check: Check, looks: pd.DataFrame) -> datetime:
    """Return since when the check has asked what it asks now, as far as the store knows."""
    mine = own(looks, check)
    seen = store.sql("select asked, first_seen from checks where check_id = ?", [check.id])
    return _since(check, seen, seen["asked"] == check.asked, mine[mine["asked"] != check.asked])


def _since(check: Check, seen: pd.DataFrame, present: pd.Series[bool], elsewhere: pd.DataFrame) -> datetime:
    """Return the earliest moment from which on nothing but the present form is known.

    Parameters
    ----------
    check
        The check.
    seen
        Its forms with `first_seen`.
    present
        Which of them is the present one.
    elsewhere
        Looks at other forms.
    """
    own_first = seen["first_seen"][present]
    others = [*seen["first_seen"][~present], *elsewhere["at"]]
    if not others:
        return min([_written(check), *map(_plain, own_first)])
    if own_first.empty:
        return datetime.now(UTC).replace(tzinfo=None)
    later = own_first[own_first > max(others)]
    return _plain(later.min() if len(later) else max(others))


def _written(check: Check) -> datetime:
    """Return when the check's file was written last, at the latest; without a file, now."""
    now = datetime.now(UTC)
    try:
        at = datetime.fromtimestamp(Path(check.file).stat().st_mtime, UTC) + CLOCKS if check.file else now
    except OSError:
        at = now
    return min(at, now).replace(tzinfo=None)


def read_before(looks: pd.DataFrame, moment: datetime) -> set[int]:
    """Return the keys of the decisions that some call read up to a moment, whichever check it was about."""
    earlier = looks[looks["call"].isin(READING) & (looks["at"] <= moment)]
    return {int(key) for labels in earlier["labels"] for key in labels}


def reads(looks: pd.DataFrame) -> Reads:
    """Return what every call read that reads labels, oldest first, whichever check it was about."""
    mine = looks[looks["call"].isin(READING)]
    calls = zip(mine["at"], mine["labels"], strict=True)
    return Reads([Read(at=_plain(at), keys=frozenset(map(int, keys))) for at, keys in calls])


def readers(looks: pd.DataFrame, moment: datetime, labelled: pd.DataFrame) -> tuple[str, ...]:
    """Return the calls that read any of these labels up to a moment, by name."""
    mine = {int(key) for keys in labelled["decision_keys"] for key in keys}
    earlier = looks[looks["call"].isin(READING) & (looks["at"] <= moment)]
    return tuple(
        sorted({call for call, keys in zip(earlier["call"], earlier["labels"], strict=True) if mine & set(keys)})
    )


def _plain(moment: Any) -> datetime:
    plain: datetime = moment.to_pydatetime() if hasattr(moment, "to_pydatetime") else moment
    return plain
