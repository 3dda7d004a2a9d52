"""What an evaluation found: `Results`, as tables, text, HTML and JSON."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from check_workbench import html
from check_workbench.evaluation.rows import rows_of
from check_workbench.results import DECIDED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pandas as pd

MIME = "application/vnd.check-workbench+json"
SHOWN = ("fail", "unsure", "pass")
HEADS = {"check": "check", **{name: name for name in SHOWN}, "decided": "decided", "left_out": "left out"}
FINDING_HEADS = ("check", "run", "step", "status", "value", "message", "quote")
FINDINGS_SHOWN = 50


@dataclass(frozen=True, kw_only=True, eq=False)
class Results:
    """Findings, verdicts, answers and scores of checks over runs."""

    checks: tuple[str, ...]
    """Ids of the checks."""
    findings: pd.DataFrame
    """`id check run step spans status value quote message`."""
    verdicts: pd.DataFrame
    """`check run step attempt status score reason advisory blocking`, one row per check and unit."""
    answers: pd.DataFrame
    """The answers that the verdicts rest on, one column per field of `Answer`."""
    scores: pd.DataFrame
    """One row per check, item and unit: what a threshold is moved over, and what is known of the unit."""
    left_out: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """How many verdicts are no decision: status, then reason."""
    notes: tuple[str, ...] = ()
    """What a reader must know to believe the tables."""

    def summary(self) -> pd.DataFrame:
        """Count the verdicts of each check: decided ones by status, and how many were left out."""
        import pandas as pd

        counts = pd.crosstab(self.verdicts["check"], self.verdicts["status"]) if len(self.verdicts) else pd.DataFrame()
        counts = counts.reindex(index=list(self.checks), fill_value=0)
        wanted = counts.reindex(columns=list(SHOWN), fill_value=0).astype(int)
        table = wanted.assign(decided=wanted.sum(axis=1))
        table["left_out"] = counts.sum(axis=1).astype(int) - table["decided"]
        return table.rename_axis(index="check", columns=None).reset_index()

    def to_json(self) -> dict[str, Any]:
        """Return findings, verdicts and what was left out as plain values, ready for `json.dumps`."""
        return {
            "findings": plain_rows(self.findings),
            "verdicts": plain_rows(self.verdicts),
            "left_out": {status: dict(reasons) for status, reasons in self.left_out.items()},
            "notes": list(self.notes),
        }

    def _repr_html_(self) -> str:
        counts = html.table(rows_of(self.summary()), HEADS, caption="Verdicts")
        shown = rows_of(self.findings.head(FINDINGS_SHOWN))
        found = html.table(shown, list(FINDING_HEADS), caption=f"Findings, {len(shown)} of {len(self.findings)}")
        reasons = [f"{status}: {why} ({n})" for status, whys in self.left_out.items() for why, n in whys.items()]
        left = [html.details(f"Left out, {len(reasons)} reasons", html.bullets(reasons))] if reasons else []
        return html.fragment(counts, *([found] if shown else []), *left, *map(html.note, self.notes))

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        document = {"kind": "evaluation", **self.to_json()}
        return {"text/plain": repr(self), "text/html": self._repr_html_(), MIME: document}

    def __repr__(self) -> str:
        runs = self.verdicts["run"].nunique() if len(self.verdicts) else 0
        head = f"Results: {_many(len(self.checks), 'check')}, {_many(runs, 'run')}, "
        return "\n".join([head + _many(len(self.findings), "finding"), *self._lines()])

    def _lines(self) -> Iterator[str]:
        for row in rows_of(self.summary()):
            shown = ", ".join(f"{row[status]:,} {status}" for status in SHOWN)
            yield f"  {row['check']}: {shown}; {row['left_out']:,} left out"
        for status, reasons in self.left_out.items():
            for reason, count in reasons.items():
                yield f"  left out, {status}: {reason} ({count:,})"
        for note in self.notes:
            yield f"  note: {note}"


def left_out_of(verdicts: pd.DataFrame) -> dict[str, dict[str, int]]:
    """Count the verdicts that are no decision, by status and reason, in alphabetical order."""
    rest = verdicts[~verdicts["status"].isin(DECIDED)]
    found: dict[str, dict[str, int]] = {}
    reasons = rest["reason"].fillna("no reason was recorded").tolist()
    for (status, reason), count in sorted(Counter(zip(rest["status"], reasons, strict=True)).items()):
        found.setdefault(status, {})[reason] = count
    return found


def plain_rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as plain values; what is missing becomes None, times become ISO 8601."""
    return [{name: _plain(value) for name, value in row.items()} for row in rows_of(table)]


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, datetime):
        return value.isoformat()
    return value.item() if hasattr(value, "item") else value


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
