"""An audit as a fragment for a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench import html, plots
from check_workbench.calibration.units import name_of, records
from check_workbench.monitoring.words import ERRORS, reasons, upto
from check_workbench.stats.intervals import percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from check_workbench.html import Block
    from check_workbench.monitoring.outcome import Audit
    from check_workbench.monitoring.strata import Stratum

STRATA = {"name": "work", "work": "since", "drawn": "drawn", "labels": "blind labels", "errors": "errors",
          "undecided": "undecided", "overdue": "overdue", "risk": "risk now", "always": "at every look",
          "evidence": "evidence", "limit": "alarm at"}  # fmt: skip
DUE = {"unit": "work", "workflow": "workflow", "when": "when", "state": "state"}
SIGNALS = {"name": "signal", "said": "before and since", "p": "p", "warns": "warns"}
SHOWN = 20


def fragment(audit: Audit) -> str:
    """Return an audit for a notebook's output."""
    return html.fragment(*_blocks(audit))


def _blocks(audit: Audit) -> Iterator[Block]:
    yield html.heading(f"{audit.check}: {audit.outcome}", 3)
    held = audit.certificate
    if held is not None:
        yield html.definitions(
            {
                "certificate": f"{held.change}, plan {held.plan_digest[:8]}",
                "certified": f"{ERRORS[held.side]} ≤ {percent(held.target)}",
                "rests": upto(held),
                "drawn by": held.digest,
            },
        )
    first, *others = reasons(audit)
    yield html.note(first, warning=bool(audit.exit_code))
    if others:
        yield html.bullets(others)
    if audit.strata:
        yield html.table([_row(stratum) for stratum in audit.strata], STRATA, caption="Audited work")
    if any(stratum.wealth for stratum in audit.strata):
        words = "; ".join(f"{s.name}: evidence {s.evidence:.3g}, alarm at {s.limit:g}" for s in audit.strata)
        yield html.figure(plots.svg(audit.plot()), words, caption="Evidence against the certificate, label by label")
    if audit.signals:
        rows = [{"name": s.name, "said": s.said, "p": s.p, "warns": s.warns} for s in audit.signals]
        yield html.details("Other signals", html.table(rows, SIGNALS, caption="Work before and since"))
    yield from _due(audit)
    if audit.notes:
        yield html.bullets(audit.notes)


def _due(audit: Audit) -> Iterator[Block]:
    if audit.due.empty:
        return
    due = [{**row, "unit": name_of(row), "when": f"{row['when']:%Y-%m-%d %H:%M}"} for row in records(audit.due)]
    caption = f"To label next, blind ({len(due)})"
    yield html.table(due[:SHOWN], DUE, caption=caption)
    if due[SHOWN:]:
        yield html.details(f"{len(due) - SHOWN} more", html.table(due[SHOWN:], DUE, caption=caption))


def _row(stratum: Stratum) -> dict[str, Any]:
    row = stratum.to_dict()
    now = "" if stratum.interval is None else f" [{percent(stratum.interval.low)}, {percent(stratum.interval.high)}]"
    return {
        **row,
        "risk": None if stratum.risk is None else f"{percent(stratum.risk)}{now}",
        "always": f"{percent(stratum.always.low)} to {percent(stratum.always.high)}",
    }
