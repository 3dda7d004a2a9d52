"""What a person reads of a unit before deciding: what was asked, what the agent did, and what came out.

No verdict, score or answer of any check is among it.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any

from check_workbench.certificates.subject import asked
from check_workbench.checks import Choice, FlagOn, Levels, is_rule
from check_workbench.evaluation.rows import rows_of
from check_workbench.evidence import step_evidence

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd

    from check_workbench.checks import Check, Item
    from check_workbench.store import Store

CELL = 6000
"""Characters of a cell at most: a spreadsheet takes 32,767, a person less."""
PART = 400
"""Characters of one input or output of a call at most."""
JUDGING = ("evaluator", "guardrail")
"""Types of spans that hold somebody's verdict."""
_RUNS = "select run_id, input, final_output from runs where run_id in (select unnest(?::varchar[]))"
_SPANS = """
    select r.run_id, s.type, s.name, s.input, s.output, s.status, s.error from spans s join runs r using (run_key)
    where r.run_id in (select unnest(?::varchar[])) and lower(s.type) not in (select unnest(?::varchar[]))
    order by r.run_id, s.seq
"""
_STEPS = """
    select r.run_id, s.* exclude (run_key) from steps s join runs r using (run_key)
    where r.run_id in (select unnest(?::varchar[])) order by r.run_id, s.place
"""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


def questions(checks: Iterable[Check]) -> str:
    """Return what is to be judged, in words that name the two answers.

    Examples
    --------
    >>> from check_workbench.checks import Check, FlagAt, Item, YesNo
    >>> item = Item(asks=YesNo(ask="Did it fail?"), cut=FlagAt(value=0.8))
    >>> questions([Check(id="failed", dialect="neatroots", items=(item,))])
    'failed: Did it fail? Yes is a problem. [problem / no_problem / unclear]'
    """
    return "\n".join(f"{check.id}: {' '.join(_asks(check))} [problem / no_problem / unclear]" for check in checks)


def _asks(check: Check) -> Iterable[str]:
    if all(is_rule(item.asks) for item in check.items):
        yield from filter(None, (check.title or asked(check.items[0]), check.guidance))
        return
    for item in check.items:
        yield f"{asked(item)} {_problem(item)}"


def _problem(item: Item) -> str:
    """Return which answer is a problem, with what can be answered where that is more than yes and no."""
    if isinstance(item.asks, Choice):
        taken = item.cut.names if isinstance(item.cut, FlagOn) else _failing(item)
        options = ", ".join(f"{name} ({means})" if means else name for name, means in item.asks.options)
        return f"One of: {options}. A problem: {', '.join(taken)}."
    if isinstance(item.asks, Levels):
        levels = ", ".join(f"{place} {words}" for place, words in enumerate(item.asks.levels))
        return f"Levels: {levels}. A {'high' if item.means == 'problem' else 'low'} level is a problem."
    return "Yes is a problem." if item.means == "problem" else "If this does not hold, it is a problem."


def _failing(item: Item) -> list[str]:
    fine = {name for kind in ("passing", "unsure") for name in getattr(item.cut, kind, ())}
    return [name for name, _ in getattr(item.asks, "options", ()) if name not in fine]


def evidence(check: Check, units: pd.DataFrame, store: Store) -> list[dict[str, str]]:
    """Return the cells `input`, `work` and `output` of each unit, in the order of the units.

    Parameters
    ----------
    check
        Says whether the units are runs or submissions of a step.
    units
        `run_id step_id attempt`.
    store
        The store.
    """
    ids = sorted(set(units["run_id"]))
    runs = {row["run_id"]: row for row in rows_of(store.sql(_RUNS, [ids]))}
    if check.step_id is not None:
        work = _submissions(check, units, store, ids)
        return [_cells(runs[run_id]["input"], text, None) for run_id, text in zip(units["run_id"], work, strict=True)]
    spans: dict[str, list[dict[str, Any]]] = {}
    for row in rows_of(store.sql(_SPANS, [ids, list(JUDGING)])):
        spans.setdefault(row["run_id"], []).append(row)
    told = [(runs[run_id], spans.get(run_id, [])) for run_id in units["run_id"]]
    return [_cells(run["input"], _calls(own), run["final_output"]) for run, own in told]


def _cells(given: str | None, work: str, came_out: str | None) -> dict[str, str]:
    return {"input": cut(given or "", CELL), "work": cut(work, CELL), "output": cut(came_out or "", CELL)}


def _submissions(check: Check, units: pd.DataFrame, store: Store, ids: list[str]) -> list[str]:
    from check_workbench.evaluation.units import numbered

    steps = store.sql(_STEPS, [ids])
    mine = numbered(steps[steps["step_id"] == check.step_id].assign(run_key=lambda rows: rows["run_id"]))
    attempts = mine["attempt"].astype("Int64").fillna(1)
    places = dict(zip(zip(mine["run_id"], attempts, strict=True), mine["place"], strict=True))
    own: dict[str, list[dict[str, Any]]] = {}
    for row in rows_of(steps):
        own.setdefault(row["run_id"], []).append(row)
    found = []
    for run_id, attempt in zip(units["run_id"], units["attempt"], strict=True):
        place = places[run_id, attempt]
        step = next(one for one in own[run_id] if one["place"] == place)
        earlier = [one for one in own[run_id] if one["place"] < place]
        found.append(step_evidence(check, step, earlier).text)
    return found


def _calls(spans: Sequence[dict[str, Any]]) -> str:
    """Return one line or two per call; where they are too many, those in the middle are left out and counted."""
    lines = [_call(place, span) for place, span in enumerate(spans, start=1)]
    if sum(map(len, lines)) + len(lines) <= CELL:
        return "\n".join(lines)
    first = _fitting(lines, CELL // 3)
    last = _fitting(lines[:first:-1], 2 * CELL // 3 - PART)
    middle = f"[… {len(lines) - first - last:,} steps left out …]"
    return "\n".join([*lines[:first], middle, *lines[len(lines) - last :]])


def _fitting(lines: Sequence[str], room: int) -> int:
    """Return how many of the first lines fit."""
    ends = itertools.accumulate(len(line) + 1 for line in lines)
    return sum(end <= room for end in ends)


def _call(place: int, span: dict[str, Any]) -> str:
    failed = " (failed)" if span["status"] == "error" or span["error"] else ""
    name = " ".join(part for part in (span["type"], span["name"]) if part)
    told = "; ".join(f"{key}: {cut(span[key], PART)}" for key in ("input", "output", "error") if span[key])
    return f"{place}. {name}{failed}{f' — {told}' if told else ''}"


def cut(text: str, most: int) -> str:
    r"""Return a text without control characters, cut to a length that is then told.

    Examples
    --------
    >>> cut("abcdefgh", 3), cut("a\r\nb", 9)
    ('abc[… 5 characters more]', 'a\nb')
    """
    plain = _CONTROL.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))
    return plain if len(plain) <= most else f"{plain[:most]}[… {len(plain) - most:,} characters more]"
