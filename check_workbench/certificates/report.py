"""The report of a trust decision as a page, a fragment for a notebook, or Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from check_workbench import html, plots
from check_workbench.certificates.guards import SEGMENT_LABELS
from check_workbench.certificates.history import blind_words
from check_workbench.certificates.wording import SCOPE, WARNING, many, share
from check_workbench.labels.reasons import REASONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from check_workbench.certificates.certificate import Certificate, Certificates
    from check_workbench.html import Block

ANSWERS = {"ready": "Yes", "need_labels": "Not yet", "too_weak": "No", "unusable": "No"}
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
SUMMARY = {"check": "check", "answer": "answer", "n": "labels tested", "errors": "errors", "bound": "risk at most",
           "coverage": "share of all work", "labels_needed": "labels needed"}  # fmt: skip
BOUNDS = {"risk": "risk", "target": "target", "n": "labels", "errors": "errors", "upper": "risk at most",
          "lower": "risk at least", "test": "tested", "holds": "holds", "coverage": "share of all work"}  # fmt: skip
LOOKS = {"place": "no.", "call": "call", "plan": "plan", "labels": "labels read", "outcome": "outcome",
         "spent": "spent of the allowed error"}  # fmt: skip
SEGMENTS = {"risk": "risk", "workflow": "workflow", "n": "labels", "errors": "errors", "test": "tested on its own"}
LEFT_OUT = {"reason": "reason", "why": "why", "count": "labels"}
ERRORS = {"unit": "work", "verdict": "the check said", "score": "score", "quote": "it quoted", "said": "people said",
          "note": "their note"}  # fmt: skip
RISKS = {"false_pass": "bad work among passed", "false_fail": "good work among failed"}
WAYS = {"own": "numbers of the file", "walk": "numbers from work without labels", "sequential": "all looks together"}
NUMBERS = frozenset(
    {"count", "labels", "n", "errors", "bound", "coverage", "labels_needed", "target", "upper", "lower", "score"}
)


def html_report(of: Certificates) -> str:
    """Return a page that stands on its own."""
    return html.page(_headline(of), *_blocks(of))


def html_fragment(of: Certificates) -> str:
    """Return the report for a notebook's output."""
    return html.fragment(html.heading(_headline(of), 2), *_blocks(of))


def markdown_report(of: Certificates) -> str:
    """Return the report as Markdown."""
    lines = [f"# {_md(_headline(of))}", "", CHANGES[of.plan.change], ""]
    told = [entry for entry in of if not _untold(entry)]
    if len(told) > 1:
        lines += [*_rows([_summary(entry) for entry in told], SUMMARY), ""]
    for entry in told:
        lines += [f"## {_md(_title(entry))}", ""] if len(of) > 1 else []
        lines += [*(f"- {_md(r)}" for r in entry.reasons)]
        lines += ["", *_rows(_bounds(entry), BOUNDS)]
        if errors := _errors(entry):
            lines += ["", "Every counted error:", "", *_rows(errors, ERRORS)]
        for title, rows, columns in _tables(entry):
            lines += ["", f"{title}:", "", *_rows(rows, columns)]
        if patch := _patch(entry):
            lines += ["", "What the patch changes:", "", *_fenced(patch)]
        lines += ["", *(f"- {name}: {_md(value)}" for name, value in _subject(entry))]
        lines += [*(f"- {_md(words)}" for words in _conditions(entry)), ""]
    if lacking := _without_labels(of):
        lines += ["## Without labels", "", *(f"- {_md(words)}" for words in lacking), ""]
    lines += [f"**{_md(of.together)}**", ""] if of.together else []
    lines += ["## Plan", "", *(f"- {name}: {_md(value)}" for name, value in _plan(of).items())]
    return "\n".join([*lines, "", f"**{WARNING}**", ""])


def _blocks(of: Certificates) -> Iterator[Block]:
    yield html.paragraph(CHANGES[of.plan.change])
    yield html.note(WARNING, warning=True)
    told = [entry for entry in of if not _untold(entry)]
    if of.together:
        yield html.note(of.together)
    if len(told) > 1:
        yield html.table([_summary(entry) for entry in told], SUMMARY, caption="Decisions")
    for entry in told:
        if len(of) > 1:
            yield html.heading(_title(entry))
        yield from _decided(entry)
    if lacking := _without_labels(of):
        if len(of) > 1:
            yield html.heading("Without labels")
        yield html.bullets(lacking)
    yield html.details("Plan", html.definitions(_plan(of)))


def _decided(entry: Certificate) -> Iterator[Block]:
    if about := _document(entry):
        yield html.paragraph(about)
    yield html.bullets(entry.reasons)
    yield html.table(_bounds(entry), BOUNDS, caption="What was tested")
    yield from _pictures(entry)
    if errors := _errors(entry):
        yield html.table(errors, ERRORS, caption=f"Every counted error ({len(errors)})")
    if names := _to_label(entry):
        yield html.details(f"What to label next ({len(names)}, drawn at random)", html.paragraph(", ".join(names)))
    if patch := _patch(entry):
        yield html.heading("What the patch changes", 3)
        yield html.code(patch)
    for title, rows, columns in _tables(entry):
        yield html.table(rows, columns, caption=title)
    yield html.details("What was decided about", html.definitions(_subject(entry)))
    yield html.details("Conditions", html.bullets(_conditions(entry)))


def _headline(of: Certificates) -> str:
    """Answer the question of the plan in one line.

    Of several checks, how often each answer is given.
    """
    if len(of) == 1:
        return _title(of[0])
    counts = {answer: sum(ANSWERS[entry.outcome] == answer for entry in of) for answer in ("Yes", "Not yet", "No")}
    return ", ".join(f"{answer}: {count}" for answer, count in counts.items() if count) or "No check was given"


def _title(entry: Certificate) -> str:
    return f"{ANSWERS[entry.outcome]}: {entry.check} ({TITLES[entry.outcome]})"


def _untold(entry: Certificate) -> bool:
    """Say whether nothing was ever said about the check, so that one line says all."""
    return not entry.n and not entry.excluded and not entry.details.get("usable")


def _without_labels(of: Certificates) -> list[str]:
    lines = []
    for entry in (entry for entry in of if _untold(entry)):
        needed = "" if entry.labels_needed is None else f"; about {many(entry.labels_needed, 'blind decision')} needed"
        silent = next((f"; {reason}" for reason in entry.reasons if "no answer" in reason), "")
        about = _document(entry)
        lines.append(f"{entry.check}{f' ({about})' if about else ''}: no decisions yet{needed}{silent}")
    return lines


def _plan(of: Certificates) -> dict[str, Any]:
    return {**of.plan.to_dict(), "digest": of.plan.digest}


def _patch(entry: Certificate) -> str:
    return str(entry.details.get("promotion", {}).get("patch", ""))


def _tables(entry: Certificate) -> Iterator[tuple[str, list[dict[str, Any]], dict[str, str]]]:
    """Yield what stands beside the decision: labels of each workflow, labels left out, and earlier looks."""
    if segments := [_segment(row) for row in entry.details.get("segments", [])]:
        yield "By workflow", segments, SEGMENTS
    if entry.excluded:
        rows = [{"reason": why, "why": REASONS.get(why, why), "count": count} for why, count in entry.excluded.items()]
        yield f"Left out ({sum(entry.excluded.values())})", rows, LEFT_OUT
    if looks := [_look(row, entry.check) for row in entry.details.get("looks", [])]:
        yield f"Earlier calls that read labels ({len(looks)})", looks, LOOKS


def _segment(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "risk": RISKS[row["side"]], "test": "yes" if row["tested"] else f"no, below {SEGMENT_LABELS} labels"}


def _look(row: dict[str, Any], check: str) -> dict[str, Any]:
    text = "" if row["same_text"] else ", of another text"
    text += "" if row["check"] == check else f", of {row['check']}, which asks the same"
    change = f" ({row['change']})" if row["change"] else ""
    spent = "nothing of this error" if row["spent"] is None else share(row["spent"])
    plan = (row["plan"] or "-")[:8]
    return {**row, "call": f"{row['call']}{change}{text}", "plan": plan, "spent": spent}


def _fenced(text: str) -> list[str]:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}diff", text.rstrip("\n"), fence]


def _to_label(entry: Certificate) -> list[str]:
    return list(dict.fromkeys(name for b in entry.details.get("bounds", []) for name in b.get("to_label", [])))


def _subject(entry: Certificate) -> list[tuple[str, Any]]:
    known = entry.details.get("subject")
    if known is None:
        return []
    several = len(known["items"]) > 1
    numbers = [
        (f"question {t['item']}: " if several else "") + f"{t['key']} {'not set' if t['value'] is None else t['value']}"
        for t in known["thresholds"]
    ]
    days = " to ".join(dict.fromkeys(day for day in (known["labels_from"], known["labels_to"]) if day))
    return [
        ("file", known["file"]),
        ("dialect", known["dialect"]),
        *((f"asks {place}" if several else "asks", words) for place, words in enumerate(known["items"])),
        ("numbers of the file", ", ".join(numbers) or None),
        ("answered by", ", ".join(known["answered_by"]) or None),
        ("labels from", days or None),
        ("document digest", known["document"]),
        ("digest of what is asked", known["asked"]),
        ("database", known["database"]),
        ("made with", known["package"]),
    ]


def _document(entry: Certificate) -> str:
    """Name the file and its numbers, as they stood."""
    known = dict(_subject(entry))
    return ": ".join(str(known[name]) for name in ("file", "numbers of the file") if known.get(name))


def _pictures(entry: Certificate) -> Iterator[Block]:
    for bound in entry.details.get("bounds", []):
        if bound["path"]:
            certified = bound["coverage"] if bound["certified"] else None
            made = plots.coverage_risk(bound["path"], target=bound["target"], certified=certified, title=entry.check)
            words = f"{entry.check}: observed risk and its upper bound over the share of work that passes"
            yield html.figure(plots.svg(made), words, caption="Each bound holds for its cut alone.")


def _summary(entry: Certificate) -> dict[str, Any]:
    values = entry.to_dict()
    answer = f"{ANSWERS[entry.outcome]}: {TITLES[entry.outcome]}"
    return {**values, "answer": answer, "bound": share(entry.bound), "coverage": share(entry.coverage)}


def _bounds(entry: Certificate) -> list[dict[str, Any]]:
    return [
        {
            **bound,
            **{name: _share(bound[name]) for name in ("target", "upper", "lower", "coverage")},
            "risk": RISKS[bound["side"]],
            "test": WAYS[bound["way"]],
            "holds": "yes" if bound["certified"] else "no",
        }
        for bound in entry.details.get("bounds", [])
    ]


def _share(value: float | None) -> str | None:
    return None if value is None else share(value)


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
    bounced = details.get("bounced", {"good": 0, "failed": 0})
    return [
        f"look {details.get('look', 1)} for this change",
        f"{details.get('usable', 0)} usable labels; {details.get('population', 0)} first submissions recorded",
        *([blind_words(details["blind"])] if "blind" in details else []),
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
    return [head, "|" + "".join(" ---: |" if key in NUMBERS else " --- |" for key in columns), *body]


def _short(value: Any) -> Any:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else value


def _md(value: Any) -> str:
    text = " ".join(str(value).split())
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "\\`")
