"""Disagreements with all that speaks for either side: what the check said, what people wrote, and the work itself."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from check_workbench.calibration.units import records
from check_workbench.checks import Choice, Levels, YesNo, is_rule
from check_workbench.evaluation.findings import answer_text, finding_id
from check_workbench.evaluation.rows import rows_of
from check_workbench.evaluation.units import numbered
from check_workbench.results import Answer, level_of, name_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pandas as pd

    from check_workbench.checks import Check
    from check_workbench.evaluation import Results
    from check_workbench.store import Store

LONGEST = 1_000
"""Characters of recorded work that are kept."""
_RUNS = "select run_id, input, final_output from runs where run_id in (select unnest(?::varchar[]))"
_STEPS = """
    select s.run_key, s.place, s.attempt, r.run_id, s.summary, s.output, s.evidence, s.candidate
    from steps s join runs r using (run_key)
    where s.step_id = ? and r.run_id in (select unnest(?::varchar[])) order by s.run_key, s.place
"""

Unit = tuple[str, int]


def disagreements(check: Check, rows: pd.DataFrame, results: Results, store: Store) -> Iterator[dict[str, Any]]:
    """Yield every unit on which check and people disagree, bad work that passed first.

    Parameters
    ----------
    check
        The check.
    rows
        Compared units.
    results
        What the check found.
    store
        Where the work is.
    """
    apart = rows[rows["agrees"].eq(other=False)]
    apart = apart.sort_values("verdict", key=lambda column: column.ne("pass"), kind="stable")
    runs = set(apart["run_id"])
    answers, findings = _answers(check, results, runs), _findings(check, results, runs)
    work = _work(check, sorted(runs), store)
    for row in records(apart):
        unit = (str(row["run_id"]), int(row["attempt"]))
        yield {
            "unit": row["unit"],
            "run": row["run_id"],
            "step": row["step_id"] or None,
            "attempt": int(row["attempt"]),
            "verdict": row["verdict"],
            "score": _number(row["s0"]),
            "scores": [_number(row[f"s{place}"]) for place in range(len(check.items))],
            "label": row["label"],
            "decision": row["decision"],
            "blind": bool(row["blind"]),
            "by": row["approver"],
            "note": " / ".join(entry["note"] for entry in row["said"] if entry["note"]) or None,
            "said": [_said(entry) for entry in row["said"]],
            "answers": answers.get(unit, []),
            "findings": _of_unit(check, unit, findings),
            "work": work.get(unit, {}),
        }


def _said(entry: Mapping[str, Any]) -> dict[str, Any]:
    at = entry["decided_at"]
    told = {name: entry[name] for name in ("decision", "decided_by", "note")}
    return {**told, "decided_at": None if at is None else at.isoformat()}


def _answers(check: Check, results: Results, runs: set[str]) -> dict[Unit, list[dict[str, Any]]]:
    if all(is_rule(item.asks) for item in check.items):
        return {}
    table = results.answers
    found: dict[Unit, list[dict[str, Any]]] = defaultdict(list)
    for row in rows_of(table[(table["check_id"] == check.id) & table["run_id"].isin(runs)]):
        item = int(row["item"])
        found[str(row["run_id"]), int(row["attempt"] or 1)].append(
            {
                "question": item,
                "ask": getattr(check.items[item].asks, "ask", None),
                "answer": _answered(check, item, row),
                **{name: row[name] for name in ("span_id", "explanation", "quote", "model", "method")},
            },
        )
    return found


def _answered(check: Check, item: int, row: Mapping[str, Any]) -> str | None:
    """Write an answer in words; None where its score says it all."""
    answer = Answer(**{str(name): value for name, value in row.items()})
    asks = check.items[item].asks
    if answer.status in {"error", "skipped"}:
        return answer.status
    if isinstance(asks, YesNo):
        sure = answer.probability
        return None if sure is None or check.dialect != "check-1" else answer_text(check, item, answer)
    named = name_of(answer) if isinstance(asks, Choice) else level_of(answer) if isinstance(asks, Levels) else None
    if named is not None:
        return answer_text(check, item, answer)
    if answer.score is not None:
        return f"score {answer.score:g}"
    return None if answer.passed is None else "passed" if answer.passed else "did not pass"


def _findings(check: Check, results: Results, runs: set[str]) -> dict[str, list[dict[str, Any]]]:
    table = results.findings
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows_of(table[(table["check"] == check.id) & table["run"].isin(runs)]):
        told = {name: row[name] for name in ("id", "value", "message", "quote", "status")}
        told["message"] = None if row["message"] == check.id else row["message"]
        found[str(row["run"])].append({**told, "spans": list(row["spans"] or ())})
    return found


def _of_unit(check: Check, unit: Unit, findings: Mapping[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return the findings of a unit; those of several submissions of a step differ by id only."""
    run, attempt = unit
    mine = findings.get(run, [])
    if check.step_id is None:
        return mine
    attempts = [str(attempt), *(["None", "<NA>"] if attempt == 1 else [])]
    ids = {
        finding_id(check.id, run, f"{place}/{check.step_id}/{one}")
        for place in range(len(check.items))
        for one in attempts
    }
    return [one for one in mine if one["id"] in ids]


def _work(check: Check, runs: list[str], store: Store) -> dict[Unit, dict[str, str]]:
    """Return what is recorded of the work: of a step what the verdict speaks of, of a run what went in and came out."""
    if not runs:
        return {}
    if check.step_id is None:
        return {(row["run_id"], 1): _texts(row, "input", "final_output") for row in rows_of(store.sql(_RUNS, [runs]))}
    steps = numbered(store.sql(_STEPS, [check.step_id, runs]))
    shown = ("summary", "output", "evidence", "candidate")
    return {(row["run_id"], int(row["attempt"] or 1)): _texts(row, *shown) for row in rows_of(steps)}


def _texts(row: Mapping[str, Any], *names: str) -> dict[str, str]:
    return {name: _cut(str(row[name])) for name in names if row[name] is not None}


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text) - LONGEST:,} more characters)"


def _number(score: Any) -> float | None:
    value = math.nan if score is None else float(score)
    return None if math.isnan(value) else value
