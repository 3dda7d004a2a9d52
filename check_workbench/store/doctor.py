"""Examine a store: what matches nothing, how the decisions came to be, and what the data supports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.records import CHECK_DECISIONS, CLEAN_DECISIONS, PROBLEM_DECISIONS, WORK_DECISIONS
from check_workbench.store.near import Known
from check_workbench.store.report import Examination, Near

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from check_workbench.store.database import Store

TABLES = ("runs", "spans", "steps", "decisions", "answers")
NAMED = 20
"""How many unmatched ids of each kind are looked up."""
TOGETHER = 12
"""How many checks without a blind label the one line about them names."""
FIRST_LOOK = 0.08
"""Error probability of the first look at 90 % confidence: 0.8 of 10 %."""
_BLIND = "coalesce(not d.verdict_seen, d.asserted_blind, false)"
_SIDE = "list_contains($problem, d.decision)"
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
_SIDES = {"problem": list(PROBLEM_DECISIONS), "clean": list(CLEAN_DECISIONS)}


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
        contents = _row(store, "select " + ", ".join(f"(select count(*) from {t}) as {t}" for t in TABLES))
        if not any(contents.values()):
            return Examination(contents=contents)
        return Examination(
            contents=contents,
            unmatched_decisions=_lost(store, "decisions"),
            unmatched_answers=_lost(store, "answers"),
            near=(*_near_runs(store), *_near_checks(store)),
            supports=(*_of_runs(store), *_of_labels(store), *_of_work(store)),
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


def _rows(store: Store, text: str, params: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    return [{str(k): v for k, v in row.items()} for row in store.sql(text, params).to_dict("records")]


def _row(store: Store, text: str, params: dict[str, Any] | None = None) -> dict[str, int]:
    return {name: int(value) for name, value in _rows(store, text, params)[0].items()}


def _lost(store: Store, table: str) -> int:
    return _row(store, f"select count(*) as n from {table} anti join runs using (run_id)")["n"]


def _near_runs(store: Store) -> Iterator[Near]:
    lost = {
        kind: _rows(
            store,
            f"select run_id as id, count(*) as rows from {table} anti join runs using (run_id) "
            f"group by all order by rows desc, id limit {NAMED}",
        )
        for kind, table in (("decision", "decisions"), ("answer", "answers"))
    }
    yield from _named(lost, "run", store, "select run_id as id from runs")


def _near_checks(store: Store) -> Iterator[Near]:
    lost = {
        kind: _rows(
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


def _of_runs(store: Store) -> Iterator[str]:
    n = _row(
        store,
        "select count(*) as spans, count(*) filter (type in ('tool', 'mcp_tool')) as calls, "
        "count(*) filter (failed and type in ('tool', 'mcp_tool')) as failed, count(duration_ms) as timed, "
        "count(coalesce(tokens_in, tokens_out)) as tokens, (select count(*) from runs) as runs, "
        "(select count(*) from steps) as steps from spans",
    )
    if not n["runs"]:
        yield "nothing yet: no runs are loaded"
        return
    calls = f"{n['calls']:,} of them tool calls, {n['failed']:,} failed"
    yield f"rules: {_count(n['runs'], 'run')} with {_count(n['spans'], 'span')}, {calls}"
    if n["timed"]:
        yield f"slow: {n['timed']:,} of {n['spans']:,} spans have a duration"
    else:
        yield "not slow: no span has times or a duration"
    yield from _of_metrics(store, n)
    if n["steps"]:
        yield f"step checks: {_count(n['steps'], 'step')}"


def _of_metrics(store: Store, n: Mapping[str, int]) -> Iterator[str]:
    keys = _rows(
        store,
        "select key, count(*) as runs from (select unnest(json_keys(metrics)) as key from runs "
        "where json_type(metrics) = 'OBJECT') group by all order by runs desc, key limit 12",
    )
    if keys:
        yield "threshold on " + ", ".join(f"{row['key']} ({_count(int(row['runs']), 'run')})" for row in keys)
    if not n["tokens"] and not any("token" in row["key"] for row in keys):
        yield "no token thresholds: neither spans nor runs have token counts"


def _of_labels(store: Store) -> Iterator[str]:
    rows = _rows(
        store,
        f"""
        with units as (
            select d.check_id, bool_and({_BLIND}) as blind,
                count(*) filter ({_SIDE}) as yes, count(*) filter (not {_SIDE}) as no
            from decisions d semi join runs using (run_id)
            where d.check_id is not null and list_contains(list_concat($problem, $clean), d.decision)
            group by d.check_id, d.run_id, d.step_id, d.span_id, coalesce(d.attempt, 1), coalesce(d.question, 0)
        )
        select check_id as id, count(*) as labels, count(*) filter (yes > no) as positives,
            count(*) filter (blind) as blind from units where yes <> no group by all order by id
        """,
        _SIDES,
    )
    unblind: list[str] = []
    for row in rows:
        labels, problems, blind = int(row["labels"]), int(row["positives"]), int(row["blind"])
        lacking = "; it takes labels of both kinds" if problems in {0, labels} else ""
        yield f"calibrating {row['id']}: {_count(labels, 'usable label')}, {problems:,} of them a problem{lacking}"
        if blind:
            yield f"trusting {row['id']}: {_promise(blind)}"
        else:
            unblind.append(row["id"])
    yield from _no_promise("trusting", unblind)


def _of_work(store: Store) -> Iterator[str]:
    rows = _rows(
        store,
        f"""
        select concat_ws('/', r.workflow, d.step_id) as id, count(*) as decisions,
            count(*) filter ({_SIDE}) as bad, count(*) filter ({_BLIND}) as blind
        from decisions d join runs r using (run_id)
        where d.check_id is null and list_contains(list_concat($problem, $clean), d.decision)
        group by all order by id
        """,
        _SIDES,
    )
    unblind: list[str] = []
    for row in rows:
        decisions, blind, name = int(row["decisions"]), int(row["blind"]), row["id"] or "the runs"
        yield f"comparing with work decisions on {name}: {decisions:,}, {int(row['bad']):,} of them against the work"
        if blind:
            yield f"trusting a check of {name}: {_promise(blind)}"
        else:
            unblind.append(name)
    yield from _no_promise("trusting a check of", unblind)


def _promise(blind: int) -> str:
    from check_workbench.stats.intervals import upper_bound

    risk = upper_bound(0, blind, delta=FIRST_LOOK)
    labels = _count(blind, "blind label")
    bound = f"{100 * risk:.1f} %" if risk >= 0.01 else f"{100 * risk:.2f} %"
    best = "all on one side and without an error they would certify"
    return f"{labels}; {best} a risk of at most {bound} (90 % confidence)"


def _no_promise(doing: str, names: list[str]) -> Iterator[str]:
    if names:
        more = f" and {len(names) - TOGETHER:,} more" if len(names) > TOGETHER else ""
        listed = f"{', '.join(names[:TOGETHER])}{more}"
        yield f"{doing} {listed}: no blind label yet; only labels given out of sight of the verdict prove anything"


def _notes(store: Store) -> Iterator[str]:
    n = _row(
        store,
        f"""
        select count(*) as decisions, count(*) filter ({_BLIND}) as blind,
            count(*) filter (d.verdict_seen) as seen, count(*) filter (d.asserted_blind) as asserted,
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
        f"{n['blind']:,} of {_count(n['decisions'], 'decision')} blind ({100 * n['blind'] / n['decisions']:.0f} %); "
        f"{n['seen']:,} made with the verdict in view, of {unknown:,} it is not known"
    )
    told = {
        "asserted": "counted as blind only because the caller asserted it",
        "work_words": "with a word about work (approved, …) on a check's question; counted as said of the check",
        "check_words": "with problem, no_problem or unclear but no check_id; counted for the work only",
        "early": "made before their run ended (check the time zone; times without one count as UTC)",
        "steps": "naming a step that their run does not have",
        "spans": "naming a span that their run does not have",
    }
    yield from (f"{words}: {_count(n[name], 'decision')}" for name, words in told.items() if n[name])


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
