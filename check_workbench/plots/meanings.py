"""What scores mean: how often people say so, over what the judge says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from check_workbench.plots.canvas import GREEN, INK, VIOLET, column, shares

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from check_workbench.plots.canvas import Rows, Theme


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What people say over what a judge says."""

    line: Rows
    """The fitted curve: `at share low high`."""
    bins: Rows
    """The labels by bins: `at share low high`."""
    event: str
    """What people say, for the vertical axis."""


def draw_meaning(said: Said, axes: Axes, theme: Theme) -> None:
    """Draw the fitted curve over the labels' bins, both with intervals, and the line on which scores mean themselves.

    Parameters
    ----------
    said
        What to draw.
    axes
        Where.
    theme
        Of its surroundings.
    """
    at, share, low, high = (column(said.line, name) for name in ("at", "share", "low", "high"))
    ends = np.array([max(0.0, at.min()), min(1.0, at.max())])
    axes.plot(ends, ends, color=INK[theme], linestyle=":", linewidth=1.4, label="as the judge says")
    axes.fill_between(at, low, high, color=VIOLET, alpha=0.18, linewidth=0)
    axes.plot(at, share, color=VIOLET, linewidth=1.8, label="fitted curve")
    place, seen, least, most = (column(said.bins, name) for name in ("at", "share", "low", "high"))
    arms = np.abs(np.stack([seen - least, most - seen]))
    style = {"color": GREEN, "linestyle": "none", "marker": "D", "markersize": 5, "capsize": 3, "linewidth": 1.2}
    axes.errorbar(place, seen, yerr=arms, label="labels in bins", **style)  # type: ignore[arg-type]
    shares(axes, "y")
    axes.set_xlabel("what the judge says")
    axes.set_ylabel(said.event)
