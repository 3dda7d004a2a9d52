"""From raw rows to the store's tables: normalise, digest, compare with what is there, insert.

Raw rows are three relations of runs, spans and steps with the records' columns; `row` numbers the runs and becomes
their key, so spans that come in run order are stored in run order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from check_workbench.records import Run, Span, Step, columns
from check_workbench.store.bay import keep
from check_workbench.store.digests import maybe_json, run_digest, span_digest, step_digest, text_digest
from check_workbench.store.names import listed, quote
from check_workbench.store.schema import SQL_TYPES
from check_workbench.store.tables import next_key, number

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from check_workbench.store.bay import Bay

NOBODY = "select 0::bigint as row limit 0"
"""No run is left out."""
MCP_TEXT_LIMIT = 200_000
_RUN = [c.name for c in columns(Run)]
_SPAN = [c.name for c in columns(Span)]
_STEP = [c.name for c in columns(Step)]
_DERIVED = ["mcp_text", "failed", "input_digest", "output_digest"]
_FLAG = r'[{,]"(?:(?:[^"\\]|\\.)*\.)?is_?[eE]rror":true'
"""An error flag among minified attributes, at any depth: `is_error`, `isError`, `tool.is_error`."""

_FATES = """
with placed as (
    select row, line, source, run_id, digest, span_count, step_count, ended_at from stage_runs
), firsts as (
    select run_id, digest, line from file_runs
    union all
    select run_id, arg_min(digest, line), min(line) from placed
    where run_id not in (select run_id from file_runs) group by run_id
), known as (
    select p.run_id, r.run_key, r.digest, r.span_count, r.ended_at, coalesce(s.n, 0) as step_count
    from placed as p join runs as r using (run_id)
    left join (
        select run_key, count(*) as n from steps
        where run_key in (select run_key from runs where run_id in (select run_id from placed))
        group by run_key
    ) as s using (run_key)
    group by all
)
select p.row, p.line, p.source, p.run_id, p.digest, p.span_count, p.step_count, f.line as first_line,
    k.run_key as old_key,
    case
        when p.line <> f.line and p.digest = f.digest then 'already'
        when p.line <> f.line then 'repeated'
        when k.run_key is null then 'new'
        when k.digest = p.digest then 'already'
        when (p.span_count, p.step_count, coalesce(p.ended_at, '1900-01-01'::timestamp))
            >= (k.span_count, k.step_count, coalesce(k.ended_at, '1900-01-01'::timestamp)) then 'replaced'
        else 'outdone'
    end as fate
from placed as p join firsts as f using (run_id) left join known as k using (run_id)
"""
"""What becomes of each staged run.

`new`, `replaced`, `already` where the store has the same, `outdone` where it has another that stays, or `repeated` in
its file.
"""
WON = frozenset({"new", "replaced"})
"""Fates of runs that are stored."""


class Raw(NamedTuple):
    """The relations that hold the raw rows of a batch, as SQL."""

    runs: str
    spans: str
    steps: str
    """Empty where no run has steps."""
    extra_spans: tuple[str, ...] = ()
    """Further columns of the spans that stay staged."""
    extra_steps: tuple[str, ...] = ()


class Staged(NamedTuple):
    """The rows of a batch as they are stored."""

    runs: pa.Table
    spans: pa.Table
    steps: pa.Table


class Fate(NamedTuple):
    """What became of some runs of one file, and how much they hold."""

    source: int
    fate: str
    runs: int
    spans: int
    steps: int
    digest: int
    """The digests of the runs, mixed."""


class Fates(NamedTuple):
    """What became of the runs of a batch."""

    each: list[Fate]
    repeated: list[tuple[int, int, str, int]]
    """Source, line, run_id and earlier line of records that repeat a run_id with other content."""
    outdone: list[tuple[int, str]]
    """Source and run_id of records with other content than the store's copy, which stays."""


def begin_file(cursor: duckdb.DuckDBPyConnection) -> int:
    """Prepare the loading of a file, or of several that share no run_id, and return the key of the first run."""
    cursor.execute("create or replace temp table file_runs (run_id varchar, digest bigint, line bigint)")
    return next_key(cursor, "runs", "run_key")


def stage(cursor: duckdb.DuckDBPyConnection, raw: Raw, *, suspects: str = NOBODY) -> Staged:
    """Normalise and digest the raw rows of a batch; the cursor then has them as `stage_runs stage_spans stage_steps`.

    Parameters
    ----------
    cursor
        In no transaction.
    raw
        Relations with the raw rows.
    suspects
        A query for the rows of runs that are left out; it may read the staged spans and steps, and is kept.
    """
    spans, steps = keep(cursor, "stage_spans", _spans(raw)), keep(cursor, "stage_steps", _steps(raw))
    if keep(cursor, "suspects", suspects).num_rows:
        good = "select * from {} where row not in (select row from suspects)"
        spans, steps = (keep(cursor, name, good.format(name)) for name in ("stage_spans", "stage_steps"))
    digest = run_digest(("s.mixed", "t.mixed"))
    runs = keep(
        cursor,
        "stage_runs",
        f"select r.row, r.line, {listed(_RUN, of='r')}, "
        "coalesce(s.n, 0)::integer as span_count, coalesce(t.n, 0)::integer as step_count, "
        f"{digest} as digest from {raw.runs} as r "
        f"left join (select row, count(*) as n, bit_xor({span_digest()}) as mixed from stage_spans group by row) as s "
        "on s.row = r.row "
        f"left join (select row, count(*) as n, bit_xor({step_digest()}) as mixed from stage_steps group by row) as t "
        "on t.row = r.row where r.row not in (select row from suspects)",
    )
    return Staged(runs, spans, steps)


def settle(bay: Bay, staged: Staged) -> Fates:
    """Decide what becomes of each staged run, and store the ones that win.

    Parameters
    ----------
    bay
        Beside the transaction of the file.
    staged
        The runs with their spans and steps; `source` of each run is the key of its file's row in `sources`.
    """
    for name, rows in zip(("stage_runs", "stage_spans", "stage_steps"), staged, strict=True):
        bay.show(name, rows)
    bay.keep("fates", _FATES)
    bay.cursor.execute("insert into file_runs select run_id, digest, line from fates where line = first_line")
    counted = "select source, fate, count(*), sum(span_count), sum(step_count), bit_xor(digest) from fates group by all"
    each = [Fate(*row) for row in bay.cursor.execute(f"{counted} order by all").fetchall()]
    fates = {one.fate for one in each}
    if "replaced" in fates:
        drop_losers(bay.cursor)
    if fates & WON:
        with bay.in_one_thread():
            _store(bay.cursor, every=fates <= WON, stepped=staged.steps.num_rows > 0)
    named = {
        fate: bay.cursor.execute(f"select {what} from fates where fate = ? order by all", [fate]).fetchall()
        for fate, what in {"repeated": "source, line, run_id, first_line", "outdone": "source, run_id"}.items()
        if fate in fates
    }
    return Fates(each, named.get("repeated", []), named.get("outdone", []))


def _spans(raw: Raw) -> str:
    own = [*raw.extra_spans, *(name for name in _SPAN if name != "duration_ms")]
    return (
        f"select row, seq, {listed(own)}, "
        "coalesce(duration_ms, case when ended_at >= started_at then "
        "(epoch_us(ended_at) - epoch_us(started_at)) / 1000 end) as duration_ms, "
        f"{_mcp_text()} as mcp_text, {_failed()} as failed, "
        f"{text_digest('input')} as input_digest, {text_digest('output')} as output_digest from {raw.spans}"
    )


def _steps(raw: Raw) -> str:
    if not raw.steps:
        extra = "".join(f"null::boolean as {name}, " for name in raw.extra_steps)
        fields = ", ".join(f"null::{SQL_TYPES[c.kind]} as {quote(c.name)}" for c in columns(Step))
        return f"select 0::bigint as row, 0::bigint as place, {extra}{fields} limit 0"
    own = [*raw.extra_steps, *(name for name in _STEP if name != "attempt")]
    return f"select row, place, {listed(own)}, coalesce(attempt, 1) as attempt from {raw.steps}"


def _mcp_text() -> str:
    texts = "try(json_extract_string(output, '$.content[*].text'))"
    joined = f"array_to_string(list_filter({texts}, lambda t: t is not null), chr(10))"
    return (
        "case when type in ('mcp_tool', 'tool') and contains(output, '\"content\"') and "
        f"{maybe_json('output')} and len({texts}) > 0 then left({joined}, {MCP_TEXT_LIMIT}) end"
    )


def _failed() -> str:
    """Return SQL that looks at JSON only where a flag may be."""
    attributes = "attributes::varchar"
    return (
        "case when status = 'error' or error <> '' then true "
        f"when contains({attributes}, 'rror\":true') and regexp_matches({attributes}, '{_FLAG}') then true "
        f"when contains(output, '\"isError\"') then {maybe_json('output')} and "
        "coalesce(try(json_extract_string(output, '$.isError')) = 'true', false) else false end"
    )


def drop_losers(cursor: duckdb.DuckDBPyConnection) -> None:
    """Take away what the replaced runs of `fates` left behind; decisions stay, answers to another record are stale."""
    if not number(cursor, "select count(*) from fates where fate = 'replaced'"):
        return
    old = "(select old_key from fates where fate = 'replaced')"
    for name in ("spans", "steps", "measurements", "runs"):
        cursor.execute(f"delete from {name} where run_key in {old}")
    cursor.execute(
        "update answers set stale = answers.run_digest is distinct from fates.digest from fates "
        "where fates.fate = 'replaced' and answers.run_id = fates.run_id",
    )


def _store(cursor: duckdb.DuckDBPyConnection, *, every: bool, stepped: bool) -> None:
    which = "" if every else "where row in (select row from fates where fate in ('new', 'replaced'))"
    run_columns = listed(_RUN)
    cursor.execute(
        f"insert into runs (run_key, source_key, digest, span_count, {run_columns}) "
        f"select row, source, digest, span_count, {run_columns} from stage_runs {which} order by row",
    )
    ordered = "" if every else "order by 1, 2"
    parts = [("spans", "seq", [*_SPAN, *_DERIVED]), ("steps", "place", _STEP)]
    for name, place, names in parts if stepped else parts[:1]:
        cursor.execute(
            f"insert into {name} (run_key, {quote(place)}, {listed(names)}) "
            f"select row, {quote(place)}, {listed(names)} from stage_{name} {which} {ordered}",
        )
