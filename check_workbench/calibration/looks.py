"""The ledger of looks: which call read which labels, under which text and cuts, and when.

A cut is fixed beforehand only for labels that nothing read before the cut got its present value.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from check_workbench.checks import Check
    from check_workbench.store import Store

READING = ("calibrate", "compare", "tune", "preview", "trust")
"""Calls after which a changed cut may owe its value to the labels that they read."""
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
    """Write a look into the store, unless the same call read the same labels at the same document before.

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
    known = ledger(store, check)
    labels = sorted(look.labels)
    same = (known["call"] == look.call) & (known["document"] == check.document)
    if look.call != "trust" and any(seen == labels for seen in known.loc[same, "labels"]):
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


def ledger(store: Store, check: Check) -> pd.DataFrame:
    """Return the looks at a check, oldest first, with lists and mappings as Python values."""
    found = store.sql("select * from looks where check_id = ? order by look", [check.id])
    for column, empty in (("labels", "[]"), ("runs", "[]"), ("cutoffs", "[]"), ("result", "{}")):
        found[column] = [json.loads(v) if isinstance(v, str) else json.loads(empty) for v in found[column]]
    return found


def cut_since(store: Store, check: Check, looks: pd.DataFrame) -> datetime:
    """Return since when the check has had its present text and cuts, as far as the store knows.

    Another document of the same check that was seen later means that the present one came back after it, unless the
    ledger knows that only flags differ. A document that the store never saw is as new as this call.
    """
    of_text = looks[looks["asked"] == check.asked]
    alike = [cuts == cutoffs_of(check) for cuts in of_text["cutoffs"]]
    same = {check.document, *of_text["document"][alike]}
    seen = store.sql("select document, first_seen from checks where check_id = ?", [check.id])
    own = seen[seen["document"].isin(same)]["first_seen"]
    if own.empty:
        return datetime.now(UTC).replace(tzinfo=None)
    others = [*seen[~seen["document"].isin(same)]["first_seen"], *looks[~looks["document"].isin(same)]["at"]]
    return _plain(max([own.min(), *others]))


def asked_since(store: Store, check: Check) -> datetime:
    """Return since when the check has asked what it asks now, as far as the store knows."""
    seen = store.sql("select asked, first_seen from checks where check_id = ?", [check.id])
    own = seen[seen["asked"] == check.asked]["first_seen"]
    if own.empty:
        return datetime.now(UTC).replace(tzinfo=None)
    others = seen[seen["asked"] != check.asked]["first_seen"]
    later = own[own > others.max()] if len(others) else own
    return _plain(later.min() if len(later) else others.max())


def read_before(looks: pd.DataFrame, moment: datetime) -> set[int]:
    """Return the keys of the decisions that some call read before a moment."""
    earlier = looks[looks["call"].isin(READING) & (looks["at"] < moment)]
    return {int(key) for labels in earlier["labels"] for key in labels}


def _plain(moment: Any) -> datetime:
    plain: datetime = moment.to_pydatetime() if hasattr(moment, "to_pydatetime") else moment
    return plain
