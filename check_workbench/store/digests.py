"""Digests as SQL: stable, signed, 64-bit, of canonical JSON, and the same whichever way a run came in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from check_workbench.records import Run, Span, Step, columns
from check_workbench.store.names import quote

if TYPE_CHECKING:
    from collections.abc import Iterable

    from check_workbench.records import Column

_LARGE = ("input", "output", "expected", "final_output", "system_prompt", "instructions", "body", "error", "summary")
"""Text that may be long or JSON; it is digested by itself first."""


def text_digest(text: str) -> str:
    """Return SQL for the digest of a text: JSON objects and arrays by their canonical form, else as it stands.

    A failed `try` costs ten times what `json_valid` does, and much text starts with a bracket and is no JSON.
    """
    canonical = f"coalesce(try(json_normalize({text})), {text})"
    is_json = f"{maybe_json(text)} and json_valid({text})"
    return signed(f"md5_number_lower(case when {is_json} then {canonical} else {text} end)")


def maybe_json(text: str) -> str:
    """Return SQL that says whether a text may be a JSON object or array."""
    return f"({text}[1] in ('{{', '[', ' ', chr(9), chr(10), chr(13)))"


def signed(unsigned: str) -> str:
    """Return SQL that moves an unsigned 64-bit number into the signed range."""
    return f"({unsigned}::hugeint - 9223372036854775808)::bigint"


def span_digest() -> str:
    """Return SQL for the digest of a row of `stage_spans`, its place included."""
    parts = [_part(c) for c in columns(Span) if c.name not in {"input", "output"}]
    return _joined(["seq::varchar", *parts, *_numbers(("input_digest", "output_digest"))])


def step_digest() -> str:
    """Return SQL for the digest of a row of `stage_steps`, its place included."""
    return _joined(["place::varchar", *(_part(c) for c in columns(Step))])


def run_digest(parts: Iterable[str]) -> str:
    """Return SQL for the digest of a run: its own fields and `parts`, numbers that stand for spans and steps."""
    return signed(_joined([*(_part(c) for c in columns(Run)), *_numbers(parts)]))


def _joined(parts: Iterable[str]) -> str:
    return f"md5_number_lower(concat_ws(chr(31), {', '.join(parts)}))"


def _part(column: Column) -> str:
    name = quote(column.name)
    if column.kind == "time":
        value = f"epoch_us({name})::varchar"
    elif column.kind == "json":
        value = f"json_normalize({name})"
    elif column.name in _LARGE:
        value = f"({text_digest(name)})::varchar"
    else:
        value = f"{name}::varchar"
    return f"coalesce({value}, chr(0))"


def _numbers(names: Iterable[str]) -> list[str]:
    return [f"coalesce(({name})::varchar, chr(0))" for name in names]
