"""From when on a check's verdict on a unit could be seen, as far as the store knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from check_workbench.checks import is_rule
from check_workbench.evaluation.rows import rows_of

if TYPE_CHECKING:
    from datetime import datetime

    from check_workbench.checks import Check
    from check_workbench.evaluation.recorded import Key
    from check_workbench.store import Store

_ANSWERED = """
    select run_id, coalesce(attempt, 1) as attempt, min("at") as "at", bool_or("at" is null) as undated
    from answers where check_id = ? group by all
"""
_SUBMITTED = """
    select run_id, attempt, min(said) as "at", bool_or(said is null) as undated from (
        select r.run_id, coalesce(s.attempt, 1) as attempt,
               try_cast(s."check"->>'$.at' as timestamptz) at time zone 'UTC' as said
        from steps s join runs r using (run_key) where s.step_id = ? and s."check" is not null)
    group by all
"""


def visible_from(check: Check, store: Store) -> dict[Key | None, datetime | None]:
    """Return from when on verdicts of a check could be seen, by unit; under None, for every other unit.

    Parameters
    ----------
    check
        The check. A rule's verdict could be seen from when the store first saw the check; a question's from its
        earliest answer, whatever the text was then.
    store
        The store.

    Returns
    -------
    dict
        None as a value means that it cannot be known, since an answer carries no time.
    """
    if all(is_rule(item.asks) for item in check.items):
        first = store.sql("select min(first_seen) as since from checks where check_id = ?", [check.id])
        return {None: rows_of(first)[0]["since"]}
    rows = rows_of(store.sql(_ANSWERED, [check.id]))
    if check.step_id is not None:
        rows += rows_of(store.sql(_SUBMITTED, [check.step_id]))
    found: dict[Key | None, datetime | None] = {}
    undated: set[Key] = set()
    for row in rows:
        key = (str(row["run_id"]), None if check.step_id is None else int(row["attempt"]))
        if row["undated"]:
            undated.add(key)
        times = [at for at in (found.get(key), row["at"]) if at is not None]
        found[key] = min(times) if times else None
    return {key: None if key in undated else at for key, at in found.items()}
