"""One threshold under the answers of several methods or models: how the same cut, and the chosen ones, differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from check_workbench.calibration.grouping import Group, differing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from check_workbench.calibration.outcome import Calibration
    from check_workbench.calibration.points import Point


def answered_apart(entries: Sequence[Calibration]) -> Iterator[str]:
    """Say that answers of several methods or models were calibrated apart, and what the present cut does to each.

    Parameters
    ----------
    entries
        The calibrations of one check.
    """
    kinds = {by: sorted({str(getattr(entry, by) or "") for entry in entries}) for by in ("method", "model")}
    several = {by: names for by, names in kinds.items() if len(names) > 1}
    if not several:
        return
    names = sorted({answered_by(entry) for entry in entries})
    yield f"answers of {', '.join(names)} are calibrated apart; a threshold does not carry over"
    by = "model" if "model" in several else "method"
    for place in dict.fromkeys((entry.threshold.item, entry.threshold.key) for entry in entries):
        mine = [entry for entry in entries if (entry.threshold.item, entry.threshold.key) == place]
        wanted = [f"{entry.chosen.at:g} for {answered_by(entry)}" for entry in mine if entry.chosen]
        if len({entry.chosen.at for entry in mine if entry.chosen}) > 1:
            yield f"{mine[0].threshold.key}: {mine[0].goal} asks for {', '.join(wanted)}"
        points = [(entry, entry.present) for entry in mine if entry.present and not entry.weighted]
        known = all(point.recall is not None for _, point in points)
        yield from differing([_group(*pair, by) for pair in points], mine[0].threshold.value, recall=known)


def answered_by(entry: Calibration) -> str:
    """Return who answered: the method and the model, as far as they are known."""
    return " ".join(part for part in (entry.method, entry.model) if part) or "(unnamed)"


def _group(entry: Calibration, point: Point, by: str) -> Group:
    counts = {"n": entry.n, "positives": entry.positives, "flagged": int(point.flagged), "true": int(point.true)}
    return Group(by=by, name=answered_by(entry), auc=entry.auc, **counts)
