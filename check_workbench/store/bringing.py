"""From the tables of another store into those of this one: statements of a merge, in the order in which they run.

The other store's rows are staged as `their_NAME`; of runs and steps only what decides, since they may be large.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from check_workbench.errors import StoreError
from check_workbench.store.interleaving import EVER, content
from check_workbench.store.names import listed, quote
from check_workbench.store.schema import TABLES
from check_workbench.store.staging import drop_losers
from check_workbench.store.tables import next_key, number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import duckdb
    import numpy as np
    import pyarrow as pa

    from check_workbench.store.others import Other

_STAGED = {
    "runs": ("run_key", "run_id", "digest", "span_count", "ended_at", "source_key"),
    "steps": ("run_key",),
    **{name: tuple(TABLES[name].columns) for name in ("sources", "decisions", "checks", "answers", "measurements")},
    **{name: tuple(TABLES[name].columns) for name in ("looks", "triage", "meta")},
}
_OF_AN_ANSWER = [c for c in TABLES["answers"].columns if c not in {"answer_key", "source_key", "run_digest", "stale"}]
_CONTENT = {"decisions": "decision_key::varchar", "answers": content(_OF_AN_ANSWER)}
_FATES = f"""
    create or replace temp table fates as
    with theirs as (
        select r.run_key as their_key, r.run_id, r.digest, r.span_count, coalesce(s.n, 0) as step_count, r.ended_at,
            o.loaded_at
        from their_runs as r left join (select run_key, count(*) as n from their_steps group by run_key) as s
        using (run_key) left join their_sources as o using (source_key)
    ), ours as (
        select r.run_key as old_key, r.run_id, r.digest as old_digest, r.span_count as old_spans,
            coalesce(s.n, 0) as old_steps, r.ended_at as old_ended, o.loaded_at as old_loaded
        from runs as r semi join their_runs using (run_id)
        left join (select run_key, count(*) as n from steps group by run_key) as s using (run_key)
        left join sources as o using (source_key)
    ), met as (
        select *, case
            when old_key is null then 'new'
            when digest = old_digest then 'already'
            when (span_count, step_count, coalesce(ended_at, {EVER}), coalesce(loaded_at, {EVER}))
                >= (old_spans, old_steps, coalesce(old_ended, {EVER}), coalesce(old_loaded, {EVER})) then 'replaced'
            else 'already'
        end as fate
        from theirs left join ours using (run_id)
    )
    select *, case when fate = 'already' then old_key
        else ? + row_number() over (partition by fate = 'already' order by their_key) - 1 end as key
    from met
"""
_MISCOUNTED = """
    select count(*) from fates
    left join (select run_key, count(*) as n from spans group by run_key) as s on s.run_key = fates.key
    where fate <> 'already' and span_count <> coalesce(s.n, 0)
"""
"""How many of the runs that came in do not have as many spans as they say."""
_SAME = "(fates.fate <> 'already' or fates.digest = fates.old_digest)"
"""What is left is the run as the other store has it."""


def stage(cursor: duckdb.DuckDBPyConnection, other: Other) -> None:
    """Stage what decides, and refuse a store whose runs are not each there once, with all their spans."""
    for name, columns in _STAGED.items():
        known = f", {_CONTENT[name]} as content" if name in _CONTENT else ""
        cursor.register("their_rows", other.read(name, columns))
        cursor.execute(f"create or replace temp table their_{name} as select *{known} from their_rows")
        cursor.unregister("their_rows")
    for name, known in _CONTENT.items():
        cursor.execute(
            f"create or replace temp table our_{name} as select *, {known} as content from {name} "
            f"semi join their_{name} using (run_id)"
        )
    twice = "count(distinct run_key) <> count(*) or count(distinct run_id) <> count(*)"
    if number(cursor, f"select ({twice})::int from their_runs"):
        raise StoreError(f"{other.name} contradicts itself: a run is there twice, or has no run_id")
    spans = number(cursor, "select coalesce(sum(span_count), 0) from their_runs")
    if spans != other.rows["spans"]:
        raise StoreError(
            f"{other.name} contradicts itself: its runs have {spans:,} spans, but it holds {other.rows['spans']:,}"
        )
    lost = "run_key is null or run_key not in (select run_key from their_runs)"
    if steps := number(cursor, f"select count(*) from their_steps where {lost}"):
        raise StoreError(f"{other.name} contradicts itself: {steps:,} of its steps are of no run")


def settle_fates(cursor: duckdb.DuckDBPyConnection) -> None:
    """Name the fate of each of their runs: `new`, `replaced`, or `already` where ours is the same or stays."""
    cursor.execute(_FATES, [next_key(cursor, "runs", "run_key")])


def renumber_sources(cursor: duckdb.DuckDBPyConnection) -> None:
    """Let our rows follow their sources to the numbers that these have now."""
    for name in ("runs", "decisions", "answers"):
        cursor.execute(
            f"update {name} set source_key = p.place from sources_places as p "
            f"where p.side = 0 and p.key = {name}.source_key and p.place <> p.key"
        )


def bring_runs(
    cursor: duckdb.DuckDBPyConnection,
    other: Other,
    columns_of: Callable[[str], Sequence[str]],
    told: Callable[[float], None],
) -> dict[str, int]:
    """Store their runs that are new or win, with spans and steps, and count the fates.

    Parameters
    ----------
    cursor
        In the transaction of the merge.
    other
        The other store.
    columns_of
        Which columns of a table are kept; where none is, nothing of it.
    told
        Is told the share of the spans that was read.
    """
    drop_losers(cursor)
    tally = dict(cursor.execute("select fate, count(*) from fates group by fate").fetchall())
    counts = {"runs": tally.get("new", 0), "spans": 0, "steps": 0}
    if tally.get("new", 0) + tally.get("replaced", 0):
        for name in ("runs", "spans", "steps"):
            if columns := list(columns_of(name)):
                counts[name] = _bring(cursor, other, name, columns, told if name == "spans" else lambda _: None)
        expected = number(cursor, "select sum(span_count) from fates where fate <> 'already'")
        if columns_of("spans") and (wrong := number(cursor, _MISCOUNTED)):
            raise StoreError(f"{other.name} contradicts itself: it holds other spans of {wrong:,} runs than they count")
        counts |= {"spans": expected, "runs": tally.get("new", 0)}
    return {**counts, "already": tally.get("already", 0), "replaced": tally.get("replaced", 0)}


def bring_measurements(cursor: duckdb.DuckDBPyConnection) -> int:
    """Take what was measured of runs that are the same now."""
    return number(
        cursor,
        "insert into measurements select m.asked, fates.key, m.value, m.reason from their_measurements as m "
        f"join fates on fates.their_key = m.run_key where {_SAME} and not exists "
        "(select 1 from measurements as o where o.asked = m.asked and o.run_key = fates.key) order by 1, 2",
    )


def bring_decisions(cursor: duckdb.DuckDBPyConnection) -> int:
    """Take the decisions that are not there; what one store knows of a decision that both have, both know.

    One that both have is as old as the first load of the two: which word of a person is the last depends on it.
    """
    cursor.execute(
        "update decisions set source_key = p.place from their_decisions as t "
        "join sources_places as p on p.side = 1 and p.key = t.source_key "
        "where t.decision_key = decisions.decision_key and p.place < decisions.source_key",
    )
    cursor.execute(
        "update decisions set asserted_blind = coalesce(nullif(t.asserted_blind, false), decisions.asserted_blind), "
        "asked = coalesce(decisions.asked, t.asked) from their_decisions as t "
        "where t.decision_key = decisions.decision_key "
        "and ((t.asserted_blind and not coalesce(decisions.asserted_blind, false)) "
        "or (decisions.asked is null and t.asked is not null))",
    )
    columns = list(TABLES["decisions"].columns)
    selected = ", ".join("p.place" if c == "source_key" else f"t.{quote(c)}" for c in columns)
    return number(
        cursor,
        f"insert into decisions ({listed(columns)}) select {selected} from their_decisions as t "
        "left join sources_places as p on p.side = 1 and p.key = t.source_key "
        "where t.decision_key not in (select decision_key from our_decisions) order by t.rowid",
    )


def bring_answers(cursor: duckdb.DuckDBPyConnection) -> int:
    """Take the answers that are not there; one that was given to other content of its run than stayed is stale."""
    given_to = "coalesce(t.run_digest, r.digest)"
    values = {
        "source_key": "p.place",
        "stale": f"case when n.digest <> {given_to} then true else t.stale end",
    }
    columns = list(TABLES["answers"].columns)
    nth = "row_number() over (partition by content order by row) as nth"
    selected = ", ".join(values.get(c, f"t.{quote(c)}") for c in columns)
    return number(
        cursor,
        f"insert into answers ({listed(columns)}) select {selected} "
        f"from (select *, {nth} from (select *, rowid as row from their_answers)) as t "
        f"left join (select content, {nth} from (select content, rowid as row from our_answers)) as o "
        "on o.content = t.content and o.nth = t.nth "
        "left join their_runs as r on r.run_id = t.run_id left join runs as n on n.run_id = t.run_id "
        "left join sources_places as p on p.side = 1 and p.key = t.source_key "
        "where o.content is null order by t.row",
    )


def bring_checks(cursor: duckdb.DuckDBPyConnection) -> int:
    """Remember the forms of checks that the other store has seen; a form is as old as the first who saw it says."""
    same = "t.check_id = checks.check_id and t.document = checks.document"
    cursor.execute(
        "update checks set first_seen = t.first_seen from their_checks as t "
        f"where {same} and t.first_seen < checks.first_seen",
    )
    columns = listed(list(TABLES["checks"].columns))
    return number(
        cursor,
        f"insert into checks ({columns}) select {columns} from their_checks as t "
        f"where not exists (select 1 from checks where {same}) order by first_seen, check_id, document",
    )


def bring_meta(cursor: duckdb.DuckDBPyConnection, name: str) -> Iterator[str]:
    """Take what the other store knows of versions of processes, and say where it knows otherwise."""
    cursor.execute("insert into meta select key, value from their_meta where key not in (select key from meta)")
    otherwise = "key <> 'schema_version' and meta.value <> t.value"
    if count := number(cursor, f"select count(*) from meta join their_meta as t using (key) where {otherwise}"):
        words = "version of a process asks" if count == 1 else "versions of processes ask"
        yield f"{name}: {count:,} {words} something else there; what this store knows was kept"


def _bring(
    cursor: duckdb.DuckDBPyConnection,
    other: Other,
    name: str,
    columns: list[str],
    told: Callable[[float], None],
) -> int:
    """Insert their rows of the runs that are new or win, in the order in which they lie there."""
    cursor.register("their_rows", _won(cursor, other.read(name, columns), told=told, total=other.rows[name]))
    came = number(
        cursor,
        f"insert into {name} ({listed(columns)}) select {listed(columns, of='t')} from their_rows as t",
    )
    cursor.unregister("their_rows")
    return came


def _won(
    cursor: duckdb.DuckDBPyConnection,
    rows: pa.RecordBatchReader,
    *,
    told: Callable[[float], None],
    total: int,
) -> pa.RecordBatchReader:
    """Keep the rows of runs that are new or win, with the keys that they have here; a join would lose their order."""
    import numpy as np
    import pyarrow as pa

    found = cursor.execute("select their_key, key from fates where fate <> 'already' order by 1").fetchnumpy()
    keys = np.asarray(found["their_key"]), np.asarray(found["key"])
    sources = dict(cursor.execute("select key, place from sources_places where side = 1").fetchall())

    def batches() -> Iterator[pa.RecordBatch]:
        read = 0
        for batch in rows:
            yield _with_keys(batch, keys, sources)
            read += batch.num_rows
            told(read / total)

    return pa.RecordBatchReader.from_batches(rows.schema, batches())


def _with_keys(
    batch: pa.RecordBatch,
    keys: tuple[np.ndarray, np.ndarray],
    sources: dict[int, int],
) -> pa.RecordBatch:
    import numpy as np
    import pyarrow as pa

    theirs, ours = keys
    run_keys = batch["run_key"].to_numpy(zero_copy_only=False)
    places = np.searchsorted(theirs, run_keys).clip(max=len(theirs) - 1)
    won = theirs[places] == run_keys
    kept = batch.filter(pa.array(won))
    values = {"run_key": pa.array(ours[places[won]], pa.int64())}
    if "source_key" in batch.schema.names:
        values["source_key"] = pa.array([sources.get(key) for key in kept["source_key"].to_pylist()], pa.int64())
    return pa.record_batch([values.get(name, kept[name]) for name in batch.schema.names], schema=batch.schema)
