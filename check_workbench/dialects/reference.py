"""The keys of check files as tables in Markdown, made by asking the readers themselves what they read."""

from __future__ import annotations

import re
from dataclasses import fields as parts_of
from typing import TYPE_CHECKING, Any

from check_workbench.checks import EvidenceRule, Selector, is_rule
from check_workbench.dialects import check1_questions, neatroots, rules
from check_workbench.dialects.fields import Fields
from check_workbench.dialects.problems import Problems
from check_workbench.documents import Mapping, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_ATTRIBUTES = {"status": "statuses", "pass": "pass_at", "fail": "fail_below", "unsure": "unsure"}
_OF_CUTS = ("at_least", "at_least_ms", "flag_at", "flag_at_level")
_ELSEWHERE = ("levels",)
"""A key that a reader asks for only to pass it over."""


def tables() -> str:
    """Return the keys of rules, questions and evidence with their defaults, as Markdown tables.

    Examples
    --------
    >>> tables().splitlines()[0]
    '| rule `type` | measures | keys (default) |'
    """
    ruled = [_row(f"`{name}`", _measures(read), _keys(read)) for name, read in rules.READERS.items()]
    kinds = {name: _with_ask(read) for name, read in neatroots.KIND_READERS.items()}
    asked = [_row(f"`{name}`", _keys(read)) for name, read in kinds.items()]
    claims = [_row(name, _keys(read, kind=name.strip("`"))) for name, read in check1_questions_of().items()]
    return "\n\n".join(
        [
            _table(("rule `type`", "measures", "keys (default)"), ruled),
            _table(("question `kind`", "keys (default)"), asked),
            _table(("check-1 question", "keys beside `ask` (default)"), claims),
            _table(("under `evidence`", "default"), [_row(f"`{k}`", v) for k, v in _evidence()]),
        ],
    )


def check1_questions_of() -> dict[str, Callable[[Fields], Any]]:
    """Return what reads each kind of check-1 question."""
    return {name: _with_ask(read) for name, read in check1_questions.READERS.items()}


def _with_ask(read: Callable[[Fields, str], Any]) -> Callable[[Fields], Any]:
    return lambda fields: read(fields, "")


def _keys(read: Callable[[Fields], Any], *, kind: str = "") -> str:
    """List what a reader asks an empty mapping for: each key with its default, or that it is required."""
    fields, problems, made = _asked(read)
    required = {found for p in problems.sorted() for found in re.findall(r"must have (\w+):", p.message)}
    required |= {kind}
    listed = [name for name in fields.asked if name in required or name not in _ELSEWHERE]
    return ", ".join(f"`{name}` ({'required' if name in required else _default(name, made)})" for name in listed)


def _asked(read: Callable[[Fields], Any]) -> tuple[Fields, Problems, Any]:
    (empty,) = parse("{}", "yaml").roots
    if not isinstance(empty, Mapping):
        raise TypeError("an empty mapping must be one")
    problems = Problems()
    fields = Fields(empty, problems, "it")
    return fields, problems, read(fields)


def _default(name: str, made: Any) -> str:
    asks, cut = made if isinstance(made, tuple) else (made.asks, made.cut)
    if name in _OF_CUTS:
        return _shown(cut.value)
    for holder in (cut, asks):
        for attribute in (_ATTRIBUTES.get(name, name), name):
            if attribute in {part.name for part in parts_of(holder)}:
                return _shown(getattr(holder, attribute))
    raise KeyError(name)


def _shown(value: Any) -> str:
    if isinstance(value, Selector):
        return "every span"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    return "none" if value is None else f"{value:g}"


def _measures(read: Callable[[Fields], Any]) -> str:
    asks = _asked(read)[2][0]
    if not is_rule(asks):
        raise TypeError("a reader of rules must make a rule")
    text = " ".join((type(asks).__doc__ or "").split()).rstrip(".")
    return text[0].lower() + text[1:].replace(" (rule type `threshold`)", "")


def _evidence() -> Iterable[tuple[str, str]]:
    default = EvidenceRule()
    yield from ((part.name, _shown(getattr(default, part.name))) for part in parts_of(default))


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _table(heads: tuple[str, ...], rows: list[str]) -> str:
    return "\n".join([_row(*heads), f"|{'---|' * len(heads)}", *rows])
