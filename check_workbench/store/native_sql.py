"""The statements that parse, check and explode our own JSON lines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from check_workbench.records import Run, Span, Step, columns
from check_workbench.store.names import listed, quote
from check_workbench.store.staging import Raw

if TYPE_CHECKING:
    from collections.abc import Callable

    from check_workbench.records import Column

_CLOCK = r"([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?"
_ZONE = r"(Z|[+-]([01]\d|2[0-3]):?[0-5]\d)"
_ISO = rf"\d\d\d\d-\d\d-\d\d[T ]{_CLOCK}{_ZONE}?"
_ISO_NAIVE = rf"\d\d\d\d-\d\d-\d\d[T ]{_CLOCK}"
_NUMBER = r"-?\d+(\.\d+)?([eE][+-]?\d+)?"
_WHOLE = r"-?\d{1,18}"
_NOT_FINITE = r"(?i)[+-]?(nan|inf|infinity)"
_NOT_FINITE_INSIDE = r"(?i)[:\[,][+-]?(?:nan|inf)"
"""In JSON without blanks; words in a text may look so too, and are then read the slow way."""
_OBJECTS = ("attributes", "metrics")
_LISTS = ("events",)


def _shape(record: type[Run | Span | Step]) -> dict[str, object]:
    return {c.name: "JSON" if c.kind == "json" else "VARCHAR" for c in columns(record)}


def _known(record: type[Run | Span | Step], *more: str) -> str:
    return "[" + ", ".join(f"'{name}'" for name in (*(c.name for c in columns(record)), *more)) + "]"


def moment_sql(text: str) -> str:
    """Return SQL that reads a time like `own_runs.moment`, or gives NULL."""
    number_ = f"try_cast({text} as double)"
    scale = f"case when abs({number_}) < 1e11 then 1e6 when abs({number_}) < 1e14 then 1e3 "
    scale += f"when abs({number_}) < 1e17 then 1.0 else 1e-3 end"
    epoch = f"try(make_timestamp(floor({number_} * ({scale}) + 0.5)::bigint))"
    return (
        f"case when regexp_full_match({text}, '{_ISO}') then try_cast({text} as timestamptz)::timestamp "
        f"when regexp_full_match({text}, '{_NUMBER}') then {epoch} end"
    )


def _typed(column: Column, of: str) -> str:
    value = f"{of}.{quote(column.name)}"
    if column.kind == "time":
        return moment_sql(value)
    if column.kind == "flag":
        return f"case {value} when 'true' then true when 'false' then false end"
    return {"integer": f"try_cast({value} as bigint)", "number": f"try_cast({value} as double)"}.get(column.kind, value)


def _odd(column: Column, of: str) -> str:
    """Return SQL that is true where a value is not plainly right; NULL and false mean that it is."""
    raw, typed = f"{of}.{quote(column.name)}", quote(column.name)
    if column.choices:
        return f"{raw} not in ({', '.join(repr(choice) for choice in column.choices)})"
    if column.kind == "time":
        low, high = "timestamp '1970-01-01'", "timestamp '2201-01-01'"
        return f"({raw} is not null and ({typed} is null or {typed} < {low} or {typed} >= {high}))"
    if column.kind in {"integer", "number"}:
        pattern = _WHOLE if column.kind == "integer" else _NUMBER
        finite = "" if column.kind == "integer" else f" or not isfinite({typed})"
        return f"({raw} is not null and (not regexp_full_match({raw}, '{pattern}') or {typed} is null{finite}))"
    if column.kind == "flag":
        return f"({raw} is not null and {typed} is null)"
    return _odd_text(column, raw)


def _odd_text(column: Column, raw: str) -> str:
    text = f"({raw}::varchar)"
    if column.name in _OBJECTS or column.name in _LISTS:
        bracket = "{" if column.name in _OBJECTS else "["
        return f"({raw} is not null and not starts_with({text}, '{bracket}')) or {_not_finite(text)}"
    if column.required:
        bad = f"{raw} is null or trim({raw}) = ''"
        return f"{bad} or {raw}[1] in ('{{', '[')" if column.name == "run_id" else bad
    return _not_finite(text)


def _not_finite(text: str) -> str:
    """Return SQL that is true where a text may stand for, or hold, a number that JSON does not have."""
    return (
        f"case when {text}[1] in ('{{', '[') then regexp_matches({text}, '{_NOT_FINITE_INSIDE}') "
        f"when strlen({text}) < 10 then regexp_full_match({text}, '{_NOT_FINITE}') else false end"
    )


def _any(record: type[Run | Span | Step], of: str, test: Callable[[Column, str], str]) -> str:
    return " or ".join(f"coalesce({found}, false)" for c in columns(record) if (found := test(c, of))) or "false"


def _naive(column: Column, of: str) -> str:
    """Return SQL that is true where a time has no zone."""
    if column.kind != "time":
        return ""
    raw = f"{of}.{quote(column.name)}"
    return f"case when ends_with({raw}, 'Z') then false else regexp_full_match({raw}, '{_ISO_NAIVE}') end"


def _fields(record: type[Run | Span | Step], of: str) -> str:
    return ", ".join(f"{_typed(c, of)} as {quote(c.name)}" for c in columns(record))


def _parts(record: type[Run | Span | Step], inner: str, own: str) -> str:
    """Return SQL for the spans or steps that `inner` yields as `p`, typed, with what is not plainly right."""
    names = listed([c.name for c in columns(record)])
    return (
        f"(select {own}, {names}, {_any(record, 'p', _odd)} as odd, {_any(record, 'p', _naive)} as naive "
        f"from (select {own}, p, {_fields(record, 'p')} from ({inner})))"
    )


def _part_shape(name: str, record: type[Run | Span | Step]) -> str:
    return f"try(json_transform(text, '{json.dumps({name: [_shape(record)]})}')).{name}"


def _unknown(name: str, record: type[Run | Span | Step]) -> str:
    """Return SQL that is true where the shape of a list of parts is not one of known keys."""
    first = f"json_extract(shape, '$.{name}[0]')"
    kind = f"json_type(shape, '$.{name}')"
    return (
        f"({kind} is not null and ({kind} <> 'ARRAY' or case json_type({first}) when 'OBJECT' then "
        f"not list_has_all({_known(record)}, json_keys({first})) else {first}::varchar <> '\"NULL\"' end))"
    )


PARSED = f"""
with parsed as (
    select row, line, try(json_transform(text, '{json.dumps(_shape(Run))}')) as j, try(json_structure(text)) as shape
    from native_lines
), typed as (
    select row, line, j, {_fields(Run, "j")}, json_type(shape, '$.steps') is not null as stepped,
        shape is null or not list_has_all({_known(Run, "spans", "steps")}, json_keys(shape))
            or {_unknown("spans", Span)} or {_unknown("steps", Step)} as unknown
    from parsed
)
select row, line, {listed([c.name for c in columns(Run)])}, stepped,
    coalesce(unknown, true) or {_any(Run, "j", _odd)} as odd, {_any(Run, "j", _naive)} as naive
from typed
"""
"""Lines to runs, each with whether it must be read the slow way."""

_STARTS = f"list_transform(spans, lambda s: {moment_sql('s.started_at')})"
_ORDER = (
    "case when list_count(starts) < len(starts) or list_sort(starts) = starts then null else list_transform("
    "list_sort(list_transform(starts, lambda t, i: {'t': t, 'i': i})), lambda p: p.i) end"
)
_SPANS = f"""
select row, generate_subscripts(spans, 1) - 1 as seq,
    unnest(case when places is null then spans else list_select(spans, places) end) as p,
    unnest(coalesce(places, range(1, len(spans) + 1))) as file_place
from (
    select row, spans, {_ORDER} as places
    from (
        select row, spans, {_STARTS} as starts
        from (select row, {_part_shape("spans", Span)} as spans from native_lines)
    )
)
"""
_STEPS = f"""
select row, generate_subscripts(steps, 1) - 1 as place, unnest(steps) as p
from (select row, {_part_shape("steps", Step)} as steps from native_lines)
"""
RAW = Raw(
    runs="native_parsed",
    spans=_parts(Span, _SPANS, "row, seq, file_place").replace(
        'p."span_id" as "span_id"',
        """coalesce(p."span_id", '#' || file_place) as "span_id\"""",
    ),
    steps=_parts(Step, _STEPS, "row, place"),
    extra_spans=("file_place", "odd", "naive"),
    extra_steps=("odd", "naive"),
)
STEPPED = "select count(*) from native_parsed where stepped and not odd"
SUSPECTS = """
select row from native_parsed where odd union select row from stage_spans where odd
union select row from stage_steps where odd
union select row from stage_spans group by row having count(distinct span_id) < count(*)
union
select child.row from stage_spans as child join stage_spans as parent
on child.row = parent.row and child.parent_id = parent.span_id
where child.parent_id is not null and parent.file_place >= child.file_place
"""
"""Runs that must be read the slow way; a parent that comes later may close a circle."""
NAIVE = """
select coalesce(bool_or(naive), false)::int from (
    select row, naive from native_parsed union all select row, naive from stage_spans
    union all select row, naive from stage_steps
) where naive and row not in (select row from suspects)
"""
"""Whether a plain line has a time without a zone."""
