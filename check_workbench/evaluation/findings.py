"""From failed units to findings with a message that a person can act on."""

from __future__ import annotations

import hashlib
import re
from json.encoder import encode_basestring as _quoted
from typing import TYPE_CHECKING, Any

from check_workbench.checks import Choice, FlagLevel, Levels, YesNo
from check_workbench.evaluation.rows import rows_of
from check_workbench.results import confidence_of, level_of, name_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

    from check_workbench.checks import Check
    from check_workbench.results import Answer
    from check_workbench.store import Store

FINDINGS = ["id", "check", "run", "step", "spans", "status", "value", "quote", "message"]
ARGUMENTS_SHOWN = 200
QUOTED = 200
"""As many characters of a quote are kept by rules."""

_PLACEHOLDER = re.compile(r"\{(tool|count|args)\}")


def finding_id(check: str, run: str, key: str) -> str:
    """Return the id of a finding: a short digest of check, run and key.

    Examples
    --------
    >>> finding_id("loop", "r-1", "search") == finding_id("loop", "r-1", "search")
    True
    """
    text = f"[{_quoted(check)}, {_quoted(run)}, {_quoted(key)}]"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def message_of(check: Check, *, tool: str, count: float, args: str) -> str:
    """Fill the placeholders of a check's guidance, or of its title where it gives no guidance.

    Parameters
    ----------
    check
        The check.
    tool
        What was called.
    count
        The value of the finding.
    args
        The arguments of the call; long ones are cut.

    Examples
    --------
    >>> from check_workbench.checks import Check
    >>> loop = Check(id="loop", dialect="neatroots", items=(), guidance="{tool} was called {count} times.")
    >>> message_of(loop, tool="search", count=3.0, args="")
    'search was called 3 times.'
    """
    text = check.guidance or check.title or check.id
    if "{" not in text:
        return text.strip()
    shown = args if len(args) <= ARGUMENTS_SHOWN else args[:ARGUMENTS_SHOWN] + "…"
    values = {"tool": tool, "count": f"{count:g}", "args": shown}
    return _PLACEHOLDER.sub(lambda found: values[found.group(1)], text).strip()


def of_rule(check: Check, found: pd.DataFrame, store: Store) -> list[dict[str, Any]]:
    """Build the finding rows of a rule from what it found.

    Parameters
    ----------
    check
        The check.
    found
        `run_id key value spans quote resolved`.
    store
        Where the called tools are looked up, if the message names them.
    """
    called = _called(check, found, store)
    rows = []
    for row in rows_of(found):
        spans = [str(span) for span in row["spans"]] if row["spans"] is not None else []
        tool, args = called.get((row["run_id"], spans[0] if spans else ""), ("", ""))
        message = message_of(check, tool=tool, count=float(row["value"]), args=args)
        status = "resolved" if row["resolved"] is True else "raised"
        where = {"run": row["run_id"], "step": None, "key": str(row["key"])}
        rows.append(
            _finding(
                check,
                where,
                spans=spans,
                value=row["value"],
                quote=at_word_end(row["quote"]),
                message=message,
                status=status,
            )
        )
    return rows


def of_answers(check: Check, place: int, unit: Mapping[str, Any], answers: Sequence[Answer]) -> dict[str, Any]:
    """Build the finding row of a question that failed on a unit.

    Parameters
    ----------
    check
        The check.
    place
        Place of the question.
    unit
        `run_id step_id attempt score`.
    answers
        The failing answers, in order of time.
    """
    spans = [answer.span_id for answer in answers if answer.span_id is not None]
    tool = next((answer.span_id or "" for answer in answers), "")
    quote = next((answer.quote for answer in answers if answer.quote), None)
    if check.dialect == "check-1":
        message = f"check: {check.items[place].asks.ask} → {answer_text(check, place, answers[0])}"  # type: ignore[union-attr]
    else:
        message = message_of(check, tool=tool, count=len(answers), args="")
    step = unit["step_id"]
    key = f"{place}" if step is None else f"{place}/{step}/{unit['attempt']}"
    where = {"run": unit["run_id"], "step": step, "key": key}
    return _finding(check, where, spans=spans, value=unit["score"], quote=quote, message=message, status="raised")


def at_word_end(quote: Any) -> Any:
    """End a quote that was cut to its greatest length behind a whole word.

    Examples
    --------
    >>> at_word_end("word " * 39 + "unfinished")[-14:], at_word_end("short enough")
    ('word word word', 'short enough')
    """
    if not isinstance(quote, str) or len(quote) < QUOTED:
        return quote
    head, space, _ = quote[:QUOTED].rpartition(" ")
    return head.rstrip() if space and len(head) > QUOTED // 2 else quote


def answer_text(check: Check, place: int, answer: Answer) -> str:
    """Write an answer as check-1 shows it in the lines of a refusal.

    Source: check-1, section 3.
    """
    item = check.items[place]
    if isinstance(item.asks, YesNo):
        said = (
            "yes" if answer.probability is not None and answer.probability >= getattr(item.cut, "pass_at", 0) else "no"
        )
        return f"{said} ({answer.probability:g})"
    if isinstance(item.asks, Choice):
        return f"{name_of(answer)}{_sure(confidence_of(answer, options=len(item.asks.options)))}"
    level = level_of(answer) if isinstance(item.cut, FlagLevel) else _nearest(answer)
    named = item.asks.levels if isinstance(item.asks, Levels) else ()
    text = f": {named[int(level)]}" if level is not None and 0 <= level < len(named) else ""
    return f"level {level:g}{text}{_sure(confidence_of(answer))}"


def _nearest(answer: Answer) -> float | None:
    if answer.probabilities:
        return float(max(answer.probabilities, key=lambda name: (answer.probabilities or {})[name]))
    return answer.level


def _sure(confidence: float | None) -> str:
    return "" if confidence is None else f" ({confidence:g})"


def _finding(check: Check, where: Mapping[str, Any], **values: Any) -> dict[str, Any]:
    named = {"id": finding_id(check.id, where["run"], where["key"]), "check": check.id}
    row = {**named, "run": where["run"], "step": where["step"], **values}
    return {name: row[name] for name in FINDINGS}


def _called(check: Check, found: pd.DataFrame, store: Store) -> dict[tuple[str, str], tuple[str, str]]:
    if found.empty or not set(_PLACEHOLDER.findall(check.guidance or check.title)) & {"tool", "args"}:
        return {}
    from check_workbench import rules

    rows = rules.first_spans(store, found)
    return {
        (run, span): (_text(name), _text(args)) for run, span, name, args in rows.itertuples(index=False, name=None)
    }


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def sorted_findings(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return findings as a table in order of check, run, step and id."""
    import pandas as pd

    table = pd.DataFrame(list(rows), columns=FINDINGS)
    return table.sort_values(["check", "run", "step", "id"], kind="stable", na_position="first").reset_index(drop=True)
