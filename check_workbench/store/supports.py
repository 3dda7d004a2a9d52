"""What the data of a store supports: which rules can speak, which questions are answered, whose labels there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.decisions.last_words import replaced, subject_of
from check_workbench.records import CLEAN_DECISIONS, FINDING_DECISIONS, PROBLEM_DECISIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from check_workbench.store.database import Store

TOGETHER = 12
"""How many names one line holds."""
FIRST_LOOK = 0.08
"""Error probability of the first look at 90 % confidence: 0.8 of 10 %."""
BLIND = "coalesce(not d.verdict_seen, d.asserted_blind, false)"
"""Whether a decision `d` is known to be blind."""
_SIDES = {"problem": list(PROBLEM_DECISIONS), "clean": list(CLEAN_DECISIONS), "finding": list(FINDING_DECISIONS)}
_CHECKED = """
    select workflow, step_id, workflow || '/' || step_id as id, count(*) as verdicts
    from steps join runs using (run_key) where "check" is not null and workflow is not null group by all
"""
_SEVERAL = """
    select * from decisions where decided_by is not null and check_id is not null
    qualify count(*) over (partition by run_id, check_id) > 1 order by decision_key
"""
_LABELS = f"""
    with checked as ({_CHECKED}), processes as (
        select workflow, list(distinct step_id) filter (kind = 'approve') as approving
        from steps join runs using (run_key) group by all
    ), said as (
        select d.run_id, d.question, d.check_id is null as of_work, {BLIND} as blind,
            list_contains($problem, d.decision) as bad,
            d.verdict_seen is null and d.provenance is distinct from 'saw_verdict'
                and d.provenance is distinct from 'prefilled' as unsaid,
            case when d.check_id is not null or k.id is not null then 'check' when p.workflow is null then 'runs'
                when d.step_id is null then 'process'
                when list_contains(p.approving, d.step_id) then 'approval' else 'step' end as kind,
            case when d.check_id is not null or k.id is not null then coalesce(d.check_id, k.id)
                else concat_ws('/', r.workflow, case when p.workflow is not null then d.step_id end) end as id,
            case when kind in ('approval', 'step', 'process') or k.id is not null
                or d.check_id = r.workflow || '/' || d.step_id then coalesce(d.attempt, 1) else 1 end as attempt
        from decisions d join runs r using (run_id)
        left join checked k on k.workflow = r.workflow
            and (k.id = d.check_id or (d.check_id is null and k.step_id = d.step_id))
        left join processes p on p.workflow = r.workflow
        where coalesce(r.mode, 'live') <> 'test' and list_contains(list_concat($problem, $clean), d.decision)
            and (d.check_id is not null or not list_contains($finding, d.decision))
            and not list_contains($replaced, d.decision_key)
    ), units as (
        select kind, id, attempt, bool_and(of_work) as of_work, bool_or(blind) as blind, bool_or(unsaid) as unsaid,
            count(*) filter (bad and blind) - count(*) filter (not bad and blind) as among_blind,
            count(*) filter (bad) - count(*) filter (not bad) as among_all
        from said group by kind, id, run_id, attempt, coalesce(question, 0)
    )
    select kind, id, count(*) as labels, count(*) filter (verdict > 0) as problems,
        count(*) filter (of_work) as of_work, count(*) filter (blind) as blind,
        count(*) filter (blind and attempt = 1) as first, count(*) filter (unsaid) as unsaid
    from (select *, case when blind then among_blind else among_all end as verdict from units) where verdict <> 0
    group by all order by kind, id
"""
"""Labels as one unit has them: the majority, of the blind ones where there are any.

A decision about the work names a checked step, an approval (or another step of a process), a process or runs of none.
Of those on runs of no process each run is a unit, of the others each submission.
"""


def supported(store: Store) -> Iterator[str]:
    """Yield what can be done with the data, or what is missing for it.

    Parameters
    ----------
    store
        The store; it is only read.

    Examples
    --------
    >>> from check_workbench.store import open_store
    >>> list(supported(open_store()))
    ['nothing yet: no runs are loaded']
    """
    yield from _of_runs(store)
    yield from _of_steps(store)
    yield from _of_answers(store)
    yield from _of_labels(store)


def many(n: int, noun: str) -> str:
    """Write a count with its noun.

    Examples
    --------
    >>> many(1, "run"), many(2000, "run")
    ('1 run', '2,000 runs')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def records(store: Store, text: str, params: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    """Return the rows of a query, by column."""
    return [{str(k): v for k, v in row.items()} for row in store.sql(text, params).to_dict("records")]


def _named(names: Sequence[str]) -> str:
    """List names, as many as one line holds."""
    more = f" and {len(names) - TOGETHER:,} more" if len(names) > TOGETHER else ""
    return f"{', '.join(names[:TOGETHER])}{more}"


def _of_runs(store: Store) -> Iterator[str]:
    [n] = records(
        store,
        "select count(*) as spans, count(*) filter (type in ('tool', 'mcp_tool')) as calls, "
        "count(*) filter (failed and type in ('tool', 'mcp_tool')) as failed, count(duration_ms) as timed, "
        "count(coalesce(tokens_in, tokens_out)) as tokens, (select count(*) from runs) as runs from spans",
    )
    runs = many(n["runs"], "run")
    if not n["runs"]:
        yield "nothing yet: no runs are loaded"
        return
    if not n["spans"]:
        yield f"few rules: {runs} without spans, of which only run_end and threshold can speak"
    else:
        calls = f"{n['calls']:,} of them tool calls, {n['failed']:,} failed"
        yield f"rules: {runs} with {many(n['spans'], 'span')}, {calls}"
    if n["timed"]:
        yield f"slow: {n['timed']:,} of {many(n['spans'], 'span')} have a duration"
    elif n["spans"]:
        yield "not slow: no span has times or a duration"
    yield from _of_metrics(store, n)


def _of_metrics(store: Store, n: Mapping[str, int]) -> Iterator[str]:
    keys = records(
        store,
        "select key, count(*) as runs from (select unnest(json_keys(metrics)) as key from runs "
        "where json_type(metrics) = 'OBJECT') group by all order by runs desc, key",
    )
    if keys:
        yield "threshold on " + _named([f"{row['key']} ({many(row['runs'], 'run')})" for row in keys])
    if not n["tokens"] and not any("token" in row["key"] for row in keys):
        yield "no token thresholds: neither spans nor runs have token counts"


def _of_steps(store: Store) -> Iterator[str]:
    [n] = records(store, "select count(*) as steps from steps")
    if n["steps"]:
        checked = records(store, f"select id, verdicts from ({_CHECKED}) order by id")
        names = _named([f"{row['id']} ({row['verdicts']:,})" for row in checked])
        verdicts = f"with recorded verdicts of {names}" if names else "no recorded verdict"
        yield f"step checks: {many(n['steps'], 'step')}, {verdicts}"


def _of_answers(store: Store) -> Iterator[str]:
    rows = records(
        store,
        "select check_id as id, count(distinct run_id) as runs from answers semi join runs using (run_id) "
        "where check_id is not null group by all order by runs desc, id",
    )
    if rows:
        yield "recorded answers to " + _named([f"{row['id']} ({many(row['runs'], 'run')})" for row in rows])


def _of_labels(store: Store) -> Iterator[str]:
    rows = records(store, _LABELS, {**_SIDES, "replaced": _replaced(store)})
    groups = [(*_check_of(row), row) for row in rows if row["kind"] != "runs"]
    if about := [row for row in rows if row["kind"] == "runs"]:
        groups.append((*_any_check(about), _sum(about)))
    if not groups and records(store, "select 1 from runs limit 1"):
        yield "no calibrating or trusting: no decision says of a run here that it is good or bad (--decisions FILE)"
    unblind = []
    for name, short, row in groups:
        labels, problems = row["labels"], row["problems"]
        work = f", {row['of_work']:,} of them about its work" if row["kind"] == "check" and row["of_work"] else ""
        lacking = "; it takes labels of both kinds" if problems in {0, labels} else ""
        yield f"calibrating {name}: {many(labels, 'usable label')}, {problems:,} of them a problem{work}{lacking}"
        if row["first"]:
            yield f"trusting {short}: {_promise(row)}"
        else:
            unblind.append((short, row))
    if unblind:
        again = " (load again with --blind if they were)" if any(row["unsaid"] for _, row in unblind) else ""
        why = "only labels given out of sight of the verdict prove anything"
        yield f"trusting {_named([short for short, _ in unblind])}: no blind label yet; {why}{again}"


def _replaced(store: Store) -> list[int]:
    """Return the decisions that a later word of the same person replaces."""
    several = store.sql(_SEVERAL).astype(object)
    rows = [{str(k): v for k, v in row.items()} for row in several.where(several.notna(), None).to_dict("records")]
    return list(replaced((subject, row) for row in rows if (subject := subject_of(row)) is not None))


def _check_of(row: Mapping[str, Any]) -> tuple[str, str]:
    """Name the check that labels speak of, and in short; which steps lead to an approval stands in no recorded run."""
    name = row["id"] or "the runs"
    if row["kind"] == "check":
        return name, name
    short = {
        "approval": f"the check of a step that leads to {name}",
        "step": f"the check of {name}, or of a step that leads there",
        "process": f"the check of a step of {name}",
    }[row["kind"]]
    return f"{short} (the process file says which)", short


def _any_check(rows: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """Name what labels about runs of no process speak of, and in short."""
    names = [f"{row['id'] or 'runs of no workflow'} ({row['labels']:,})" for row in rows]
    of = _named(names) if len(rows) > 1 else rows[0]["id"] or "the runs"
    return f"any check of {of}, with --labels work", "any check with --labels work"


def _sum(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    counted = ("labels", "problems", "of_work", "blind", "first", "unsaid")
    return {"kind": "runs", **{name: sum(int(row[name]) for row in rows) for name in counted}}


def _promise(row: Mapping[str, Any]) -> str:
    from check_workbench.stats.intervals import upper_bound

    risk = upper_bound(0, int(row["first"]), delta=FIRST_LOOK)
    which = " on first submissions" if row["first"] < row["blind"] else ""
    bound = f"{100 * risk:.1f} %" if risk >= 0.01 else f"{100 * risk:.2f} %"
    best = "all on one side and without an error they would certify"
    return f"{many(row['first'], 'blind label')}{which}; {best} a risk of at most {bound} (90 % confidence)"
