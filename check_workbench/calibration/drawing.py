"""Calibrations as figures, and as a fragment for a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench import html, plots
from check_workbench.errors import InputError
from check_workbench.labels.reasons import left_out
from check_workbench.stats.intervals import percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

    from check_workbench.calibration.outcome import Calibration, Calibrations
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
    "precision": "precision",
    "recall": "recall",
    "load": "flags of all work",
}


def figure(of: Calibration) -> Figure:
    """Draw a calibration.

    Raises
    ------
    InputError
        If nothing was scored.
    """
    marks = plots.Marks(chosen=of.chosen.at if of.chosen else None, current=of.threshold.value)
    if of.curve:
        made = plots.precision_recall([point.to_dict() for point in of.curve], marks, title=of.name)
    elif of.load:
        made = plots.flag_load([{"at": at, "load": share} for at, share in of.load], marks, title=of.name)
    else:
        raise InputError(f"{of.name}: there is nothing to draw, because nothing was scored. Evaluate the check first.")
    if of.threshold.means == "good":
        made.axes[0].set_xlabel("cut: flagged below this score")
    return made


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
    yield from left_out(entry.left_out)
    yield from entry.warnings
    if not entry.n and entry.proposed:
        yield f"label next: {', '.join(entry.proposed[:10])}"


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
        "load": percent(point.load) if point else None,
    }
