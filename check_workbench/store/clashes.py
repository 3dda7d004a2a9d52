"""Where two stores say different things, read from both before anything of the other one comes in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from check_workbench.store.tables import number
from check_workbench.store.transfers import Clash

if TYPE_CHECKING:
    import duckdb

LISTED = 1_000
"""How many clashes of a kind are listed; the rest is counted."""
LONGEST = 160
"""Characters of what a store says that are shown."""
_RUNS = """
    select concat('run ''', run_id, ''''),
        concat(old_spans, ' spans, ', old_steps, ' steps', ', ended ' || old_ended),
        concat(span_count, ' spans, ', step_count, ' steps', ', ended ' || ended_at),
        case fate when 'replaced' then 'there' else 'here' end
    from fates where old_digest <> digest order by run_id
"""
_CHECKS = """
    with latest as (
        select 0 as side, check_id, arg_max({'asked': asked, 'document': document}, (first_seen, document)) as form
        from checks group by check_id
        union all
        select 1, check_id, arg_max({'asked': asked, 'document': document}, (first_seen, document))
        from their_checks group by check_id
    )
    select concat('check ''', m.check_id, '''', case when m.form.asked = t.form.asked
            then ' (other cut-offs or flags)' else ' (asks something else)' end),
        m.form.document, t.form.document, 'both'
    from latest as m join latest as t on m.side = 0 and t.side = 1 and m.check_id = t.check_id
    where m.form.document <> t.form.document order by m.check_id
"""
_DECISION = {
    "question": "question",
    "value": "concat(decision, ' (' || answer || ')')",
    "by": "''",
    "person": "decided_by",
    "known": "decided_by is not null",
    "same": "true",
}
_ANSWER = {
    "question": "item",
    "value": "concat_ws(' ', probability, probabilities, choice, level, passed, score, value, status)",
    "by": "concat(' by ' || method, ' of ' || model)",
    "person": "null",
    "known": "true",
    "same": "coalesce(m.asked = t.asked, true) and coalesce(m.ask = t.ask, true)",
}


def clashes(cursor: duckdb.DuckDBPyConnection) -> tuple[list[Clash], dict[str, int]]:
    """List where the staged store contradicts ours, and count it by kind.

    Parameters
    ----------
    cursor
        In a transaction, with `fates` and the `their_` tables.
    """
    queries = {
        "run": _RUNS,
        "decision": _said("decisions", _DECISION),
        "answer": _said("answers", _ANSWER),
        "check": _CHECKS,
    }
    listed: list[Clash] = []
    counts: dict[str, int] = {}
    for kind, query in queries.items():
        cursor.execute(f"create or replace temp table clashing as {query}")
        if count := number(cursor, "select count(*) from clashing"):
            counts[kind] = count
            rows = cursor.execute(f"select * from clashing limit {LISTED}").fetchall()
            listed += [Clash(kind=kind, about=about, here=_cut(h), there=_cut(t), kept=k) for about, h, t, k in rows]
    return listed, counts


def _said(table: str, words: dict[str, str]) -> str:
    """Return SQL for what is said otherwise of one unit, by a person or to a question, where one store alone says it.

    What `our_NAME` and `their_NAME` hold is known by its `content`.
    """
    unit = {
        "run_id": "'run ''' || m.run_id || ''''",
        "check_id": "'check ''' || m.check_id || ''''",
        "question": "'question ' || m.question",
        "step_id": "'step ''' || m.step_id || ''''",
        "span_id": "'span ''' || m.span_id || ''''",
        "attempt": "case when m.attempt > 1 then 'attempt ' || m.attempt end",
        "person": "'by ' || m.person",
    }
    sides = {
        side: f"(select run_id, check_id, {words['question']} as question, step_id, span_id, "
        f"coalesce(attempt, 1) as attempt, {words['person']} as person, {'ask, ' if table == 'answers' else ''}asked, "
        f"{words['value']} as value, {words['by']} as by, content in (select content from {other}) as shared "
        f"from {own} where {words['known']}) as {side}"
        for side, own, other in (("m", f"our_{table}", f"their_{table}"), ("t", f"their_{table}", f"our_{table}"))
    }
    same = " and ".join(f"m.{name} is not distinct from t.{name}" for name in unit)
    told = ", ".join(f"string_agg(distinct {s}.value || {s}.by, ' and ' order by {s}.value || {s}.by)" for s in "mt")
    return (
        f"select concat_ws(', ', {', '.join(unit.values())}) as about, {told}, 'both' "
        f"from {sides['m']} join {sides['t']} on {same} "
        f"where m.value <> t.value and not (m.shared and t.shared) and {words['same']} "
        f"group by {', '.join(f'm.{name}' for name in unit)} order by about"
    )


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}\N{HORIZONTAL ELLIPSIS}"
