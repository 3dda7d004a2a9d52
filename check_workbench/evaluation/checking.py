"""Checks over given runs, one check at a time, gathered into `Results`."""

from __future__ import annotations

import dataclasses
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from check_workbench.checks import is_rule
from check_workbench.evaluation import findings, judging, measuring, questions, recorded
from check_workbench.evaluation.report import Results, left_out_of
from check_workbench.evaluation.rows import rows_of
from check_workbench.evaluation.submitted import submitted
from check_workbench.evaluation.units import units_of
from check_workbench.results import Answer, frame

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from check_workbench.checks import Check


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judged:
    """One check, or one item of it, over the runs."""

    scores: list[pd.DataFrame] = field(default_factory=list)
    findings: list[dict[str, Any]] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    notes: Counter[str] = field(default_factory=Counter)

    def add(self, other: _Judged) -> None:
        """Take in what another part found."""
        self.scores.extend(other.scores)
        self.findings.extend(other.findings)
        self.answers.extend(other.answers)
        self.notes.update(other.notes)


def judge_runs(checks: Sequence[Check], runs: pd.DataFrame, source: questions.Source) -> Results:
    """Judge runs by checks, in order of the checks' ids.

    Parameters
    ----------
    checks
        The checks.
    runs
        Rows of `runs_of`.
    source
        The store, and who is asked for missing answers.
    """
    whole, verdicts, notes = _Judged(), [], []
    for place, check in enumerate(sorted(checks, key=lambda one: one.id)):
        part = _judge_check(check, runs, _told(source, place, len(checks)))
        verdicts.append(judging.verdicts_of(check, part.scores))
        notes += [f"{check.id}: {text} ({count:,})" for text, count in sorted(part.notes.items()) if count]
        whole.add(part)
    table = _stacked(verdicts, judging.VERDICTS)
    return Results(
        checks=tuple(sorted(check.id for check in checks)),
        findings=findings.sorted_findings(whole.findings),
        verdicts=table,
        answers=frame(whole.answers, Answer),
        scores=_stacked(whole.scores, judging.SCORES),
        left_out=left_out_of(table),
        notes=tuple(notes),
    )


def _told(source: questions.Source, done: int, of: int) -> questions.Source:
    """Return the source with a progress that speaks of all checks, not of one."""
    say = source.progress
    if say is None:
        return source
    return dataclasses.replace(source, progress=lambda check, share: say(check, (done + share) / of))


def _judge_check(check: Check, runs: pd.DataFrame, source: questions.Source) -> _Judged:
    units = units_of(check, runs, source.store)
    judged = _Judged()
    pools = _pools(check, units, source, judged.notes)
    for place, item in enumerate(check.items):
        if is_rule(item.asks):
            judged.add(_by_rule(check, place, units, source))
        else:
            judged.add(_by_question(check, place, units, source=source, pool=pools[place]))
        if source.progress is not None:
            source.progress(check.id, (place + 1) / len(check.items))
    return judged


def _pools(
    check: Check,
    units: pd.DataFrame,
    source: questions.Source,
    notes: Counter[str],
) -> tuple[recorded.Pool, ...]:
    if all(is_rule(item.asks) for item in check.items):
        return ()
    beside = submitted(check, units, source.store, notes)
    loaded = recorded.loaded_answers(check, source.store, units)
    return recorded.pools_of(check, [*beside, *loaded])


def _by_rule(check: Check, place: int, units: pd.DataFrame, source: questions.Source) -> _Judged:
    values = measuring.measured(check, place, units, source.store, keep=source.keep)
    scores = judging.scored(check, place, units, values)
    notes = measuring.notes_of(check, place, scores, source.store)
    failed = units[scores["status"] == "fail"]
    if failed.empty:
        return _Judged(scores=[scores], notes=notes)
    found = measuring.rule_findings(check, place, failed, source.store, keep=source.keep)
    return _Judged(scores=[scores], findings=findings.of_rule(check, found, source.store), notes=notes)


def _by_question(
    check: Check,
    place: int,
    units: pd.DataFrame,
    *,
    source: questions.Source,
    pool: recorded.Pool,
) -> _Judged:
    answered = questions.answered(check, place, units[units["why"].isna()], pool, source)
    scores = judging.scored(check, place, units, questions.judged(check, place, units, answered))
    failed = scores[scores["status"] == "fail"]
    rows = [
        findings.of_answers(check, place, unit, judging.failing(check, place, answered.answers[key]))
        for key, unit in zip(questions.keys_of(failed), rows_of(failed), strict=True)
    ]
    used = [answer for key in sorted(answered.answers, key=str) for answer in answered.answers[key]]
    return _Judged(scores=[scores], findings=rows, answers=used, notes=answered.notes)


def _stacked(tables: Sequence[pd.DataFrame], columns: Sequence[str]) -> pd.DataFrame:
    import pandas as pd

    filled = [table for table in tables if len(table)]
    if not filled:
        return pd.DataFrame(columns=list(columns))
    whole = pd.concat(filled, ignore_index=True) if len(filled) > 1 else filled[0].reset_index(drop=True)
    return whole[list(columns)]
