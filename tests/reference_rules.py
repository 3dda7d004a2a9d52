"""The nine rule types again, one run at a time, in the plainest Python that says what they mean.

A run is a mapping with the columns of the store's `runs`, `metrics` already read; its spans are mappings with the
columns of `spans`, in sequence. Slow on purpose: it is what the queries are compared with.
"""

from __future__ import annotations

import functools
import json
import math
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import re2

from check_workbench import checks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Row = Mapping[str, Any]

QUOTED = 200


@dataclass(frozen=True)
class Found:
    """One finding; `key` is None where only its being different within the run matters."""

    key: str | None
    value: float
    spans: tuple[int, ...]
    quote: str | None
    resolved: bool


def measure(rule: checks.Rule, run: Row, spans: Sequence[Row]) -> tuple[float | None, str | None]:
    """Return the measurement of a run, or None with the reason."""
    own = [span for span in spans if _selected(span, getattr(rule, "span", checks.Selector()))]
    match rule:
        case checks.Slow():
            return _longest(own)
        case checks.Metric():
            return _metric(rule.metric, run, spans)
        case checks.RunEnd() if run["status"] is None:
            return None, "the run has no recorded status"
        case checks.RunEnd():
            return float(run["status"] in rule.statuses), None
        case _:
            return float(_number(rule, run, own, spans)), None


def _number(rule: checks.Rule, run: Row, own: Sequence[Row], spans: Sequence[Row]) -> int:
    match rule:
        case checks.Repeat():
            return max(map(len, _groups(rule, own)), default=0)
        case checks.Errors():
            return max(map(len, _streaks(own)), default=0)
        case checks.Match():
            return sum(_words(rule, span) is not None for span in own)
        case checks.RequiresBefore():
            return len(_unprepared(rule, own, spans))
        case checks.UnrecoveredError():
            return len(_left_failed(own)) if _hides_failure(run) else 0
        case _:
            return len(own)


def find(rule: checks.Rule, at: float, run: Row, spans: Sequence[Row]) -> list[Found]:
    """Return what is raised in a run at a cut."""
    own = [span for span in spans if _selected(span, getattr(rule, "span", checks.Selector()))]
    match rule:
        case checks.Repeat():
            return [_repeated(group, own, at) for group in _groups(rule, own) if len(group) >= at]
        case checks.Errors():
            return [_streak(streak, own) for streak in _streaks(own) if len(streak) >= at]
        case checks.Slow():
            slow = [span for span in own if span["duration_ms"] is not None and span["duration_ms"] >= at]
            return [Found(span["span_id"], span["duration_ms"], (span["seq"],), None, resolved=False) for span in slow]
        case checks.Match():
            hits = [(span, _words(rule, span)) for span in own]
            return [Found(s["span_id"], 1.0, (s["seq"],), _cut(w), resolved=False) for s, w in hits if w is not None]
        case checks.RequiresBefore():
            early = _unprepared(rule, own, spans)
            return [Found(s["span_id"], 1.0, (s["seq"],), None, resolved=False) for s in early]
        case checks.UnrecoveredError():
            left = _left_failed(own) if _hides_failure(run) else []
            return [Found(s["name"] or "", 1.0, (s["seq"],), _complaint(s), resolved=False) for s in left]
        case _:
            return list(_once(rule, at, run, spans, own))


def without_words_check(rule: checks.UnrecoveredError, spans: Sequence[Row]) -> int:
    """Return how many tools were left failed, whatever the final answer says."""
    return len(_left_failed([span for span in spans if _selected(span, rule.span)]))


@functools.lru_cache(maxsize=100_000)
def canonical(text: str | None) -> str | None:
    """Return a text, or its canonical JSON where it is an object or array."""
    if text is None:
        return None
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return json.dumps(value, sort_keys=True, separators=(",", ":")) if isinstance(value, dict | list) else text


def _selected(span: Row, selector: checks.Selector) -> bool:
    return (
        (not selector.types or span["type"] in selector.types)
        and (not selector.names or span["name"] in selector.names)
        and (not selector.statuses or span["status"] in selector.statuses)
    )


def _groups(rule: checks.Repeat, spans: Sequence[Row]) -> list[list[Row]]:
    groups: dict[tuple[str | None, ...], list[Row]] = {}
    for span in spans:
        same = tuple(
            canonical(span[field]) if field in {"input", "output"} else span["name" if field == "tool" else field]
            for field in rule.same
        )
        groups.setdefault(same, []).append(span)
    return list(groups.values())


def _repeated(group: Sequence[Row], spans: Sequence[Row], at: float) -> Found:
    members = {span["seq"] for span in group}
    seen, resolved = 0, False
    for span in spans:
        if seen >= max(1, math.ceil(at)) and span["seq"] not in members:
            resolved = True
        seen += span["seq"] in members
    return Found(None, float(len(group)), tuple(sorted(members)), _cut(group[0]["input"]), resolved)


def _streaks(spans: Sequence[Row]) -> list[list[Row]]:
    streaks: list[list[Row]] = [[]]
    for span in spans:
        if span["failed"]:
            streaks[-1].append(span)
        elif streaks[-1]:
            streaks.append([])
    return [streak for streak in streaks if streak]


def _streak(streak: Sequence[Row], spans: Sequence[Row]) -> Found:
    later = [span for span in spans if span["seq"] > streak[-1]["seq"]]
    first = streak[0]
    resolved = any(not span["failed"] for span in later)
    return Found(first["span_id"], float(len(streak)), tuple(s["seq"] for s in streak), _complaint(first), resolved)


def _longest(spans: Sequence[Row]) -> tuple[float | None, str | None]:
    known = [float(span["duration_ms"]) for span in spans if span["duration_ms"] is not None]
    if spans and not known:
        return None, "no matching span has a duration"
    return max(known, default=0.0), None


def _metric(name: str, run: Row, spans: Sequence[Row]) -> tuple[float | None, str | None]:
    recorded = (run["metrics"] or {}).get(name)
    if recorded is not None:
        if isinstance(recorded, bool) or not isinstance(recorded, int | float) or not math.isfinite(recorded):
            return None, "the recorded metric is not a number"
        return float(recorded), None
    derived = _derived(name, run, spans)
    return derived, None if derived is not None else "the metric is not recorded"


def _derived(name: str, run: Row, spans: Sequence[Row]) -> float | None:
    models = [span for span in spans if span["type"] == "llm"]
    match name:
        case "spans":
            return float(len(spans))
        case "tool_calls":
            return float(sum(span["type"] in {"tool", "mcp_tool"} for span in spans))
        case "errors":
            return float(sum(span["failed"] for span in spans))
        case "llm_calls":
            return float(len(models)) if models else None
        case "total_tokens":
            known = [s for s in models if s["tokens_in"] is not None and s["tokens_out"] is not None]
            if not models or len(known) < len(models):
                return None
            return float(sum(span["tokens_in"] + span["tokens_out"] for span in models))
        case "duration_ms" if run["started_at"] is not None and run["ended_at"] is not None:
            return float((run["ended_at"] - run["started_at"]) / timedelta(milliseconds=1))
        case _:
            return None


@functools.cache
def _compiled(rule: checks.Match) -> Any:
    return re2.compile(f"(?i){rule.pattern}" if rule.ignore_case else rule.pattern)


def _words(rule: checks.Match, span: Row) -> str | None:
    pattern = _compiled(rule)
    for field in rule.fields:
        for column in ("output", "mcp_text") if field == "output" else (field,):
            hit = pattern.search(span[column]) if span[column] is not None else None
            if hit:
                return str(hit[0])
    return None


def _unprepared(rule: checks.RequiresBefore, own: Sequence[Row], spans: Sequence[Row]) -> list[Row]:
    timed = all(span["started_at"] is not None for span in spans)
    required = [span for span in spans if _selected(span, rule.requires) and not span["failed"]]
    return [span for span in own if not any(_is_before(other, span, timed=timed) for other in required)]


def _is_before(other: Row, span: Row, *, timed: bool) -> bool:
    if other["seq"] >= span["seq"]:
        return False
    end = _end(other) if timed else None
    return end is None or end <= span["started_at"]


def _end(span: Row) -> datetime | None:
    if span["ended_at"] is not None:
        return datetime.fromisoformat(str(span["ended_at"]))
    if span["duration_ms"] is None or not 0 <= span["duration_ms"] <= 1e12:
        return None
    return datetime.fromisoformat(str(span["started_at"])) + timedelta(microseconds=round(span["duration_ms"] * 1000))


def _left_failed(spans: Sequence[Row]) -> list[Row]:
    last = {span["name"]: span for span in spans}
    return [span for span in last.values() if span["failed"]]


def _hides_failure(run: Row) -> bool:
    from check_workbench.rules.unrecovered_error import failure_words

    answer = run["final_output"] or ""
    if not re.search(r"\S", answer, re.ASCII):
        return False
    plain = re.sub(r"\s+", " ", answer.lower().replace("\u2019", "'"))
    starts = (re.search(rf"\b{re.escape(word)}", plain, re.ASCII) for word in failure_words())
    return not any(starts)


def _once(rule: checks.Rule, at: float, run: Row, spans: Sequence[Row], own: Sequence[Row]) -> Iterator[Found]:
    value, _ = measure(rule, run, spans)
    if value is None or value < at or (isinstance(rule, checks.RunEnd) and value < 1):
        return
    seqs = tuple(span["seq"] for span in own) if isinstance(rule, checks.Count) else ()
    yield Found("", value, seqs, run["status"] if isinstance(rule, checks.RunEnd) else None, resolved=False)


def _complaint(span: Row) -> str | None:
    return _cut(span["error"] or span["output"])


def _cut(text: str | None) -> str | None:
    return None if text is None else text[:QUOTED]
