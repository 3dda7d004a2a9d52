"""Calibrations as figures, and as a fragment for a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench import html, plots
from check_workbench.calibration.meaning import EVENT
from check_workbench.errors import InputError
from check_workbench.labels.reasons import left_out

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

    from check_workbench.calibration.outcome import Calibration, Calibrations
    from check_workbench.calibration.points import Point
    from check_workbench.html import Block

COLUMNS = {
    "threshold": "threshold",
    "by": "answered by",
    "n": "labels",
    "positives": "problems",
    "auc": "AUC",
    "baseline": "AUC of run length",
    "now": "now",
    "chosen": "chosen",
    "range": "with other labels",
    "precision": "precision",
    "recall": "recall",
    "people_now": "now, people look at, of 100",
    "people": "chosen, of 100",
}


def figure(of: Calibration) -> Figure:
    """Draw a calibration.

    Raises
    ------
    InputError
        If nothing was scored.
    """
    marks = plots.Marks(
        chosen=of.chosen.at if of.chosen else None,
        current=of.threshold.value,
        between=(of.range.low, of.range.high) if of.range else None,
        below=of.threshold.means == "good",
    )
    if of.curve:
        return plots.precision_recall([point.to_dict() for point in of.curve], marks, said=_said(of), title=of.name)
    if of.load:
        return plots.flag_load([{"at": at, "load": share} for at, share in of.load], marks, title=of.name)
    raise InputError(f"{of.name}: there is nothing to draw, because nothing was scored. Evaluate the check first.")


def _said(of: Calibration) -> plots.Said | None:
    if of.meaning is None or of.meaning.curve is None:
        return None
    line, bins = ([row._asdict() for row in rows] for rows in (of.meaning.line, of.meaning.bins))
    return plots.Said(line=line, bins=bins, event=f"people {EVENT[of.meaning.means]}")


def page(of: Calibrations) -> str:
    """Return calibrations for a notebook's output."""
    return html.fragment(*_blocks(of))


def _blocks(of: Calibrations) -> Iterator[Block]:
    if not of.entries:
        yield html.paragraph("There is no threshold to calibrate.")
        return
    yield html.table([_row(entry) for entry in of.entries], COLUMNS, caption=f"Calibration for {of.entries[0].goal}")
    for entry in of.entries:
        words = [*_words(entry)]
        if words:
            yield html.heading(entry.name, 3)
            yield html.bullets(words)
    yield from (html.note(note) for note in of.notes)
    yield from _pictures(of)


def _pictures(of: Calibrations) -> Iterator[Block]:
    for entry in of.entries:
        if entry.curve or entry.load:
            chosen = f"chosen {entry.chosen}" if entry.chosen else f"nothing chosen: {entry.reason}"
            yield html.figure(plots.svg(figure(entry)), f"{entry.name}: {chosen}")


def _words(entry: Calibration) -> Iterator[str]:
    if entry.reason:
        yield f"nothing chosen: {entry.reason}"
    if entry.composite and entry.chosen:
        yield f"written as {', '.join(map(str, entry.numbers))}"
    yield from entry.findings()
    yield from left_out(entry.left_out)
    yield from entry.warnings
    if not entry.n and entry.proposed:
        yield f"label next: {', '.join(entry.proposed[:10])}"


def _people(point: Point | None) -> str | None:
    if point is None:
        return None
    return f"{100 * point.people:.1f} [{100 * point.people_low:.1f}, {100 * point.people_high:.1f}]"


def _row(entry: Calibration) -> dict[str, Any]:
    point = entry.chosen or entry.present
    return {
        "threshold": entry.name,
        "by": " ".join(part for part in (entry.method, entry.model) if part) or None,
        "n": entry.n,
        "positives": entry.positives,
        "auc": entry.auc.value if entry.auc else None,
        "baseline": entry.baseline_auc.value if entry.baseline_auc else None,
        "now": entry.threshold.value,
        "chosen": entry.chosen.at if entry.chosen else None,
        "precision": point.precision if point else None,
        "recall": point.recall if point else None,
        "range": f"{entry.range.low:g} to {entry.range.high:g}" if entry.range else None,
        "people_now": _people(entry.present),
        "people": _people(entry.chosen),
    }
