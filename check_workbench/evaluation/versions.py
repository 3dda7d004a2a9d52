"""Which versions of a check the store has seen, and what an edited question made stale."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from check_workbench.checks import is_rule
from check_workbench.evaluation.recorded import OTHER_QUESTION, OTHER_VERSION
from check_workbench.evaluation.submitted import remember_version

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from check_workbench.checks import Check
    from check_workbench.store import Store

_SEEN = "select check_id, asked, document, first_seen from checks order by first_seen, document"
_MEASURED = "select count(*) as n from measurements where list_contains(?::varchar[], asked)"


def register(checks: Sequence[Check], store: Store) -> None:
    """Remember the versions of checks that the store has not seen.

    Parameters
    ----------
    checks
        The checks.
    store
        The store; one that is opened to read only stays as it is.
    """
    import pandas as pd

    for check in checks:
        remember_version(check, store)
    known = set(store.sql("select check_id, document from checks").itertuples(index=False, name=None))
    now = datetime.now(UTC).replace(tzinfo=None)
    fresh = {(check.id, check.document): check for check in checks if (check.id, check.document) not in known}
    if not fresh or store.read_only:
        return
    rows = [
        {
            "check_id": check.id,
            "asked": check.asked,
            "document": check.document,
            "dialect": check.dialect,
            "file": check.file,
            "first_seen": now,
        }
        for check in fresh.values()
    ]
    store.insert("checks", pd.DataFrame(rows), replace_on=("check_id", "document"))


def stale_notes(checks: Sequence[Check], store: Store, scores: pd.DataFrame) -> list[str]:
    """Say for each check whose question or rule was edited how much that made stale.

    Parameters
    ----------
    checks
        The present checks.
    store
        The store with the versions seen so far.
    scores
        Score rows of the present evaluation.
    """
    seen = store.sql(_SEEN)
    return [note for check in checks if (note := _stale_note(check, seen, store=store, scores=scores))]


def _stale_note(check: Check, seen: pd.DataFrame, *, store: Store, scores: pd.DataFrame) -> str:
    former = seen[(seen["check_id"] == check.id) & (seen["asked"] != check.asked)]["asked"]
    if former.empty:
        return ""
    if all(is_rule(item.asks) for item in check.items):
        count, what = int(store.sql(_MEASURED, [sorted(set(former))])["n"][0]), "measurement"
    else:
        own = scores[scores["check"] == check.id]
        count, what = int(own["reason"].isin([OTHER_QUESTION, OTHER_VERSION]).sum()), "answer"
    if not count:
        return ""
    many = f"{count} {what}{'' if count == 1 else 's'}"
    return f"{check.id}: what it asks was edited since an earlier version; {many} made for that are stale"
