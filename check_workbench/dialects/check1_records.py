"""Recorded check-1 verdicts: one record holds the answers to all questions of a check on one submission.

Source: core schema `check-verdict`. A record has no ids for its questions and no
thresholds, so an answer belongs to the question whose text it repeats, else to the one in its place, where the
differing `ask` shows that it is stale.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from check_workbench.errors import hint
from check_workbench.results import Answer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from check_workbench.checks import Check

RECORD_KEYS = ("verdict", "advisory", "model", "questions", "at", "truncated")
QUESTION_KEYS = ("ask", "kind", "answer", "result", "confidence")
VERDICTS = ("pass", "fail", "unsure", "error")
KINDS = ("yes_no", "choice", "rubric")


def answers_of_record(
    record: Any,
    check: Check,
    *,
    run_id: str,
    attempt: int | None = None,
    at: datetime | None = None,
) -> list[Answer]:
    """Return the answers that a recorded verdict holds.

    Parameters
    ----------
    record
        The verdict record as recorded (`verdict advisory model questions at`).
    check
        The check that it speaks of.
    run_id
        The run.
    attempt
        The submission of the step, from 1.
    at
        When it was answered, if the record does not say.

    Returns
    -------
    list of Answer
        By question. One with status `error` each where the evaluator stayed silent; one without a value, whose
        explanation says what is wrong, where the record cannot be used: broken data is `not_checked`.

    Examples
    --------
    >>> from check_workbench.checks import Check, Item, PassBand, YesNo
    >>> check = Check(id="p/s", dialect="check-1", items=(Item(asks=YesNo(ask="It holds."), cut=PassBand()),))
    >>> question = {"ask": "It holds.", "kind": "yes_no", "answer": 0.62, "result": "unsure"}
    >>> record = {"verdict": "unsure", "advisory": True, "model": "m", "questions": [question], "at": "2026-10-06"}
    >>> answers_of_record(record, check, run_id="r-1")[0].probability
    0.62
    """
    common: dict[str, Any] = {"check_id": check.id, "run_id": run_id, "step_id": check.step_id, "attempt": attempt}
    common |= {"method": "recorded", "at": at}
    why = _record_problem(record)
    if why is not None:
        return [Answer(**common, item=place, explanation=why) for place in range(len(check.items))]
    common |= {"model": record.get("model"), "at": _time(record.get("at")) or at}
    if record["verdict"] == "error":
        return [
            Answer(**common, item=place, ask=getattr(item.asks, "ask", None), status="error")
            for place, item in enumerate(check.items)
        ]
    return _answers(record.get("questions") or [], check, common)


def _answers(questions: list[Any], check: Check, common: dict[str, Any]) -> list[Answer]:
    asks = [getattr(item.asks, "ask", None) for item in check.items]
    answers: dict[int, Answer] = {}
    for place, question in enumerate(questions):
        item = _item_of(question, place, asks)
        if item is not None and item not in answers:
            answers[item] = Answer(**common, item=item, **_value_of(question))
    return [answers[item] for item in sorted(answers)]


def _item_of(question: Any, place: int, asks: list[str | None]) -> int | None:
    ask = question.get("ask") if isinstance(question, dict) else None
    if place < len(asks) and asks[place] == ask:
        return place
    if asks.count(ask) == 1:
        return asks.index(ask)
    return place if place < len(asks) else None


def _value_of(question: Any) -> dict[str, Any]:
    why = _question_problem(question)
    if why is not None:
        ask = question.get("ask") if isinstance(question, dict) else None
        return {"ask": ask if isinstance(ask, str) else None, "explanation": why}
    answer, kind = question["answer"], question["kind"]
    name = {"yes_no": "probability", "choice": "choice", "rubric": "level"}[kind]
    return {"ask": question["ask"], name: answer, "confidence": question.get("confidence")}


def _record_problem(record: Any) -> str | None:
    if not isinstance(record, dict):
        return f"the recorded verdict must be an object, got {type(record).__name__}"
    if why := _unknown(record, RECORD_KEYS, "the recorded verdict"):
        return why
    if record.get("verdict") not in VERDICTS:
        return f"the recorded verdict must be one of {', '.join(VERDICTS)}, got {record.get('verdict')!r}"
    if not isinstance(record.get("questions", []), list):
        return "questions of the recorded verdict must be a list"
    model = record.get("model")
    return None if model is None or isinstance(model, str) else "model of the recorded verdict must be a text"


def _question_problem(question: Any) -> str | None:
    if not isinstance(question, dict):
        return f"a recorded question must be an object, got {type(question).__name__}"
    if why := _unknown(question, QUESTION_KEYS, "the recorded question"):
        return why
    if not isinstance(question.get("ask"), str) or question.get("kind") not in KINDS:
        return f"a recorded question must have ask and kind ({', '.join(KINDS)})"
    confidence = question.get("confidence")
    if confidence is not None and not _is_number(confidence, high=1):
        return f"a recorded confidence must be from 0 to 1, got {confidence!r}"
    return _answer_problem(question["kind"], question.get("answer"))


def _answer_problem(kind: str, answer: Any) -> str | None:
    if answer is None:
        return "the evaluator gave no answer"
    if kind == "choice":
        return None if isinstance(answer, str) else f"a recorded choice must be a name, got {answer!r}"
    high = 1 if kind == "yes_no" else math.inf
    what = "probability must be from 0 to 1" if kind == "yes_no" else "level must be a number from 0"
    return None if _is_number(answer, high=high) else f"a recorded {what}, got {answer!r}"


def _is_number(value: Any, *, high: float) -> bool:
    return (
        isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and 0 <= value <= high
    )


def _unknown(found: Mapping[Any, Any], known: tuple[str, ...], where: str) -> str | None:
    unknown = [str(key) for key in found if key not in known]
    return f"{where} has no key {unknown[0]!r}.{hint(unknown[0], known)}" if unknown else None


def _time(text: Any) -> datetime | None:
    if not isinstance(text, str):
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
