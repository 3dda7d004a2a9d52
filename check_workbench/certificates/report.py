"""The report of a trust decision as a page, a fragment for a notebook, or Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench import html, plots
from check_workbench.certificates.wording import SCOPE, WARNING, share

if TYPE_CHECKING:
    from collections.abc import Iterator

    from check_workbench.certificates.certificate import Certificate, Certificates
    from check_workbench.html import Block

TITLES = {
    "ready": "ready",
    "need_labels": "more labels are needed",
    "too_weak": "too weak",
    "unusable": "the evidence cannot be used",
}
CHANGES = {
    "enforce": "May the check be enforced, with the approver staying?",
    "replace_approval": "May the check replace the approval?",
}
SUMMARY = {"check": "check", "outcome": "outcome", "n": "labels", "errors": "errors", "bound": "risk at most",
           "coverage": "decides", "labels_needed": "labels needed"}  # fmt: skip
BOUNDS = {"side": "risk", "target": "target", "n": "labels", "errors": "errors", "upper": "risk at most",
          "lower": "risk at least", "way": "test", "certified": "certified", "coverage": "decides"}  # fmt: skip
ERRORS = {"unit": "work", "verdict": "the check said", "score": "score", "quote": "it quoted", "said": "people said",
          "note": "their note"}  # fmt: skip


def html_report(of: Certificates) -> str:
    """Return a page that stands on its own."""
    return html.page("Trust decision", *_blocks(of))


def html_fragment(of: Certificates) -> str:
    """Return the report for a notebook's output."""
    return html.fragment(*_blocks(of))


def markdown_report(of: Certificates) -> str:
    """Return the report as Markdown."""
    lines = ["# Trust decision", "", CHANGES[of.plan.change], "", f"Plan: {_md(of.plan)}", ""]
    lines += _rows([_summary(entry) for entry in of], SUMMARY)
    for entry in of:
        lines += ["", f"## {_md(entry.check)}: {TITLES[entry.outcome]}", "", *(f"- {_md(r)}" for r in entry.reasons)]
        lines += ["", *_rows(entry.details.get("bounds", []), BOUNDS)]
        errors = _errors(entry)
        if errors:
            lines += ["", "Every counted error:", "", *_rows(errors, ERRORS)]
        lines += ["", *(f"- {_md(words)}" for words in _conditions(entry))]
    return "\n".join([*lines, "", f"**{WARNING}**", ""])


def _blocks(of: Certificates) -> Iterator[Block]:
    yield html.paragraph(CHANGES[of.plan.change])
    yield html.note(WARNING, warning=True)
    yield html.table([_summary(entry) for entry in of], SUMMARY, caption="Decision")
    for entry in of:
        yield html.heading(f"{entry.check}: {TITLES[entry.outcome]}")
        yield html.bullets(entry.reasons)
        yield html.table(entry.details.get("bounds", []), BOUNDS, caption="What was tested")
        yield from _pictures(entry)
        errors = _errors(entry)
        if errors:
            yield html.table(errors, ERRORS, caption=f"Every counted error ({len(errors)})")
        yield html.details("Conditions", html.bullets(_conditions(entry)))
    yield html.details("Plan", html.definitions({**of.plan.to_dict(), "digest": of.plan.digest}))


def _pictures(entry: Certificate) -> Iterator[Block]:
    for bound in entry.details.get("bounds", []):
        if bound["path"]:
            certified = bound["coverage"] if bound["certified"] else None
            made = plots.coverage_risk(bound["path"], target=bound["target"], certified=certified, title=entry.check)
            words = f"{entry.check}: observed risk and its upper bound over the share of work that passes"
            yield html.figure(plots.svg(made), words, caption="Each bound holds for its cut alone.")


def _summary(entry: Certificate) -> dict[str, Any]:
    values = entry.to_dict()
    return {**values, "bound": share(entry.bound), "coverage": share(entry.coverage)}


def _errors(entry: Certificate) -> list[dict[str, Any]]:
    return [
        {
            **row,
            "said": ", ".join(_decision(d) for d in row["decisions"]),
            "note": " / ".join(d["note"] for d in row["decisions"] if d["note"]) or None,
        }
        for row in entry.details.get("counted_errors", [])
    ]


def _decision(said: dict[str, Any]) -> str:
    return f"{said['decision']} ({said['decided_by']})" if said["decided_by"] else str(said["decision"])


def _conditions(entry: Certificate) -> list[str]:
    details = entry.details
    by = " ".join(part for part in (details.get("method"), details.get("model")) if part)
    bounced = details.get("bounced", {"good": 0, "failed": 0})
    return [
        f"answers: {by or 'none'}; look {details.get('look', 1)} for this change",
        f"{details.get('usable', 0)} usable labels; {details.get('population', 0)} first submissions recorded",
        *(f"with work that was only edited counted as good: {words}" for words in _edited(details)),
        f"good work that the check fails: {bounced['failed']} of {bounced['good']}",
        f"unsure, so for a person: {details.get('unsure', 0)} of {details.get('population', 0)}",
        *details.get("assumed", []),
        SCOPE,
    ]


def _edited(details: dict[str, Any]) -> Iterator[str]:
    for bound in details.get("bounds", []):
        if bound["errors_if_edited_is_good"] != bound["errors"]:
            yield f"{bound['errors_if_edited_is_good']} instead of {bound['errors']} errors in {bound['n']} labels"


def _rows(rows: list[dict[str, Any]], columns: dict[str, str]) -> list[str]:
    head = "| " + " | ".join(columns.values()) + " |"
    body = ["| " + " | ".join(_md(_short(row.get(key))) for key in columns) + " |" for row in rows]
    return [head, "|" + " --- |" * len(columns), *body]


def _short(value: Any) -> Any:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else value


def _md(value: Any) -> str:
    text = " ".join(str(value).split())
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "\\`")
