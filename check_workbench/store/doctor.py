"""Examine a store: what matches nothing, and how the decisions came to be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.records import CHECK_DECISIONS, WORK_DECISIONS
from check_workbench.store.near import Known
from check_workbench.store.report import Examination, Near
from check_workbench.store.supports import BLIND, many, records, supported

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from check_workbench.store.database import Store

TABLES = ("runs", "spans", "steps", "decisions", "answers")
NAMED = 20
"""How many unmatched ids of each kind are looked up."""
_SEEN = "coalesce(d.verdict_seen, d.provenance in ('saw_verdict', 'prefilled'), false)"
_SEEN_CHECKS = """
    select check_id as id from checks
    union select r.workflow || '/' || s.step_id from steps s join runs r using (run_key)
    where s."check" is not null and r.workflow is not null
"""
_USUAL = 10
_KNOWN_CHECKS = f"""
    {_SEEN_CHECKS} union select check_id from answers
    union select a.check_id from (select check_id, count(*) as n from decisions group by all) a
    where a.check_id is not null and a.n >= {_USUAL}
"""
"""Checks that were seen, answered, or that decisions name again and again."""


def examine(store: Store) -> Examination:
    """Examine a store.

    Parameters
    ----------
    store
        The store; it is only read.

    Returns
    -------
    Examination
        What it holds, what matches nothing, notes, and what can be done with the data.

    Examples
    --------
    >>> from check_workbench.store import open_store
    >>> examine(open_store())
    The store holds nothing yet.
    """
    with store.hold():
        contents = _counts(store, "select " + ", ".join(f"(select count(*) from {t}) as {t}" for t in TABLES))
        if not any(contents.values()):
            return Examination(contents=contents)
        return Examination(
            contents=contents,
            unmatched_decisions=_lost(store, "decisions"),
            unmatched_answers=_lost(store, "answers"),
            near=(*_near_runs(store), *_near_checks(store)),
            supports=tuple(supported(store)),
            notes=tuple(_notes(store)),
        )


def unmatched(store: Store) -> Examination:
    """Say of a store what matches nothing, and no more.

    Parameters
    ----------
    store
        The store; it is only read, and may lack the spans.
    """
    with store.hold():
        return Examination(
            unmatched_decisions=_lost(store, "decisions"),
            unmatched_answers=_lost(store, "answers"),
            near=(*_near_runs(store), *_near_checks(store)),
        )


def _counts(store: Store, text: str, params: dict[str, Any] | None = None) -> dict[str, int]:
    return {name: int(value) for name, value in records(store, text, params)[0].items()}


def _lost(store: Store, table: str) -> int:
    return _counts(store, f"select count(*) as n from {table} anti join runs using (run_id)")["n"]


def _near_runs(store: Store) -> Iterator[Near]:
    lost = {
        kind: records(
            store,
            f"select run_id as id, count(*) as rows from {table} anti join runs using (run_id) "
            f"group by all order by rows desc, id limit {NAMED}",
        )
        for kind, table in (("decision", "decisions"), ("answer", "answers"))
    }
    yield from _named(lost, "run", store, "select run_id as id from runs")


def _near_checks(store: Store) -> Iterator[Near]:
    lost = {
        kind: records(
            store,
            f"select check_id as id, count(*) as rows from {table} where check_id is not null "
            f"and check_id not in ({known}) and exists ({known}) group by all order by rows desc, id limit {NAMED}",
        )
        for kind, table, known in (("decision", "decisions", _KNOWN_CHECKS), ("answer", "answers", _SEEN_CHECKS))
    }
    yield from (near for near in _named(lost, "check", store, _KNOWN_CHECKS) if near.near)


def _named(lost: Mapping[str, list[dict[str, Any]]], what: str, store: Store, known: str) -> Iterator[Near]:
    if not any(lost.values()):
        return
    ids = Known(store.sql(known)["id"].tolist())
    for kind, rows in lost.items():
        for row in rows:
            yield Near(kind=kind, what=what, id=row["id"], rows=int(row["rows"]), near=_others(ids, row["id"]))


def _others(ids: Known, unknown: str) -> tuple[str, ...]:
    return tuple(id_ for id_ in ids.near(unknown) if id_ != unknown)


def _notes(store: Store) -> Iterator[str]:
    n = _counts(
        store,
        f"""
        select count(*) as decisions, count(*) filter ({BLIND}) as blind,
            count(*) filter ({_SEEN}) as seen, count(*) filter (d.asserted_blind) as asserted,
            count(*) filter (d.check_id is not null and list_contains($work, d.decision)) as work_words,
            count(*) filter (d.check_id is null and list_contains($check, d.decision)) as check_words,
            count(*) filter (d.decided_at < r.ended_at and d.step_id is null and d.span_id is null) as early,
            count(*) filter (d.step_id is not null and r.run_key in (select run_key from steps)
                and not exists (select 1 from steps s where s.run_key = r.run_key and s.step_id = d.step_id)) as steps,
            count(*) filter (d.span_id is not null and r.run_key is not null
                and not exists (select 1 from spans s where s.run_key = r.run_key and s.span_id = d.span_id)) as spans
        from decisions d left join runs r using (run_id)
        """,
        {"work": list(WORK_DECISIONS), "check": list(CHECK_DECISIONS)},
    )
    if not n["decisions"]:
        return
    unknown = n["decisions"] - n["blind"] - n["seen"]
    yield (
        f"{n['blind']:,} of {many(n['decisions'], 'decision')} blind ({100 * n['blind'] / n['decisions']:.0f} %)"
        + f", {n['seen']:,} made in sight of the verdict" * bool(n["seen"])
        + f", of {unknown:,} it is not known whether the verdict was in sight" * bool(unknown)
    )
    told = {
        "asserted": "counted as blind only because the caller asserted it",
        "work_words": "with a word about work (approved, …) on a check's question; counted as said of the check",
        "check_words": "with problem, no_problem or unclear but no check_id; counted for the work only",
        "early": "made before their run ended (check the time zone; times without one count as UTC)",
        "steps": "naming a step that their run does not have",
        "spans": "naming a span that their run does not have",
    }
    yield from (f"{words}: {many(n[name], 'decision')}" for name, words in told.items() if n[name])
