"""What a cut would flag, what it would let pass, and how verdicts are spread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from check_workbench.errors import InputError
from check_workbench.plots.canvas import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    RED,
    VIOLET,
    begin,
    below,
    column,
    legend,
    shares,
    short,
)
from check_workbench.plots.meanings import Said, draw_meaning

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure

    from check_workbench.plots.canvas import Rows, Theme

_STATUS = {
    "pass": (GREEN, ""),
    "fail": (RED, "////"),
    "unsure": (ORANGE, "...."),
    "not_checked": (GREY, "xxxx"),
    "error": (VIOLET, "++++"),
    "skipped": (GREY, "----"),
    "not_applicable": (GREY, "||||"),
}
_SPARE = (BLUE, "oooo")


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """Cuts to mark on a figure."""

    chosen: float | None = None
    current: float | None = None
    """What the document says now."""
    between: tuple[float, float] | None = None
    """How far the chosen cut may move."""
    below: bool = False
    """Whether scores below the cut are flagged, because they mean good."""

    @property
    def step(self) -> Literal["pre", "post"]:
        """Which way a curve steps between two observed values."""
        return "post" if self.below else "pre"


def precision_recall(
    rows: Rows, marks: Marks | None = None, *, said: Said | None = None, title: str = "", theme: Theme = "both"
) -> Figure:
    """Draw precision and recall over the cut, with their intervals as bands.

    Parameters
    ----------
    rows
        `at precision precision_low precision_high recall recall_low recall_high`; None where a rate is unknown.
    marks
        Cuts to mark.
    said
        What the scores mean, for a second panel below.
    title
        What the figure is about.
    theme
        For light or dark surroundings, or readable on both.

    Raises
    ------
    InputError
        Where there are no rows.

    Examples
    --------
    >>> rows = [{"at": 0.5, "precision": 0.8, "recall": 0.9}, {"at": 0.9, "precision": 1.0, "recall": 0.4}]
    >>> precision_recall(rows).axes[0].get_xlabel()
    'cut: flagged at this score or above'
    """
    figure, axes = begin(title, theme)
    marks = marks or Marks()
    at = column(rows, "at")
    for name, colour, dash, marker in (("precision", BLUE, "-", "o"), ("recall", ORANGE, (0, (5, 2)), "s")):
        values = column(rows, name)
        if np.isnan(values).all():
            axes.plot([], [], color=colour, linestyle=dash, label=f"{name} unknown")
            continue
        low, high = column(rows, f"{name}_low"), column(rows, f"{name}_high")
        axes.fill_between(at, low, high, step=marks.step, color=colour, alpha=0.18, linewidth=0)
        every = max(1, len(at) // 9)
        style = {"color": colour, "linestyle": dash, "marker": marker, "markevery": every, "markersize": 4.5}
        axes.plot(at, values, drawstyle=f"steps-{marks.step}", linewidth=1.8, label=name, **style)  # type: ignore[arg-type]
    _cuts(axes, marks, theme)
    shares(axes, "y")
    axes.set_ylabel("share, with 95 % interval")
    if said is not None:
        draw_meaning(said, below(figure, axes, theme), theme)
    legend(axes, theme)
    return figure


def flag_load(rows: Rows, marks: Marks | None = None, *, title: str = "", theme: Theme = "both") -> Figure:
    """Draw which share of all work each cut would flag.

    Parameters
    ----------
    rows
        `at load`; the load is a share.
    marks, title, theme
        As for `precision_recall`.

    Raises
    ------
    InputError
        Where there are no rows.

    Examples
    --------
    >>> flag_load([{"at": 0.5, "load": 0.3}, {"at": 0.9, "load": 0.1}]).axes[0].get_ylabel()
    'share of all work that is flagged'
    """
    figure, axes = begin(title, theme)
    marks = marks or Marks()
    at, load = column(rows, "at"), column(rows, "load")
    axes.fill_between(at, 0, load, step=marks.step, color=BLUE, alpha=0.18, linewidth=0)
    axes.plot(at, load, drawstyle=f"steps-{marks.step}", color=BLUE, linewidth=1.8)
    _cuts(axes, marks, theme)
    shares(axes, "y")
    axes.set_ylabel("share of all work that is flagged")
    return figure


def coverage_risk(
    rows: Rows, *, target: float, certified: float | None = None, title: str = "", theme: Theme = "both"
) -> Figure:
    """Draw the risk among what passes over the share of work that passes, with its upper bound.

    Parameters
    ----------
    rows
        `coverage risk bound`, shares.
    target
        The largest risk that is wanted.
    certified
        Coverage of the certified cut.
    title, theme
        As for `precision_recall`.

    Raises
    ------
    InputError
        Where there are no rows.

    Examples
    --------
    >>> rows = [{"coverage": 0.4, "risk": 0.0, "bound": 0.03}, {"coverage": 0.8, "risk": 0.02, "bound": 0.06}]
    >>> coverage_risk(rows, target=0.05, certified=0.4).axes[0].get_xlabel()
    'share of work that passes'
    """
    figure, axes = begin(title, theme)
    coverage, risk, bound = (column(rows, name) for name in ("coverage", "risk", "bound"))
    axes.plot(coverage, bound, color=ORANGE, linestyle=(0, (5, 2)), linewidth=1.8, label="upper bound of the risk")
    axes.plot(coverage, risk, color=BLUE, linewidth=1.8, marker="o", markersize=3.5, label="observed risk")
    axes.axhline(target, color=RED, linestyle=":", linewidth=1.8, label=f"target {target:g}")
    if certified is not None:
        height = float(np.interp(certified, coverage, bound))
        label = f"certified: {100 * certified:.1f} % of the work"
        axes.plot([certified], [height], color=GREEN, marker="D", markersize=8, linestyle="none", label=label)
    shares(axes, "x")
    axes.set_ylim(0, float(min(1.02, max(2.5 * target, 1.1 * np.nan_to_num(risk).max()))))
    axes.set_xlabel("share of work that passes")
    axes.set_ylabel("share of errors among it")
    legend(axes, theme)
    return figure


def verdict_bars(counts: Mapping[str, Mapping[str, int]], *, title: str = "", theme: Theme = "both") -> Figure:
    """Draw one bar per name, divided by status, with the counts written on it.

    Parameters
    ----------
    counts
        Name -> status -> how many.
    title, theme
        As for `precision_recall`.

    Raises
    ------
    InputError
        Where there is nothing to count.

    Examples
    --------
    >>> verdict_bars({"refund": {"pass": 90, "fail": 10}}).axes[0].get_xlabel()
    'verdicts'
    """
    if not any(sum(of.values()) for of in counts.values()):
        raise InputError("there is nothing to draw: no verdict was counted.")
    figure, axes = begin(title, theme, height=1.5 + 0.42 * len(counts))
    names = list(counts)
    left = np.zeros(len(names))
    widest = max(sum(of.values()) for of in counts.values())
    for status in _in_order(counts):
        colour, hatch = _STATUS.get(status, _SPARE)
        width = np.array([counts[name].get(status, 0) for name in names], dtype=np.float64)
        place = np.arange(len(names))
        axes.barh(place, width, left=left, height=0.62, color=colour, alpha=0.25, linewidth=0)
        bars = axes.barh(place, width, left=left, height=0.62, color="none", label=short(status.replace("_", " "), 30))
        for bar in bars:
            bar.set(edgecolor=colour, hatch=hatch, linewidth=1.2)
        words = [f"{value:.0f}" if value >= 0.04 * widest else "" for value in width]
        _written(axes, bars, words, theme)
        left += width
    _named(axes, names, widest)
    axes.set_xlabel("verdicts")
    legend(axes, theme)
    return figure


def _cuts(axes: Axes, marks: Marks, theme: Theme) -> None:
    """Draw the marked cuts, and say what a cut does."""
    side = "below this score" if marks.below else "at this score or above"
    axes.set_xlabel(f"cut: flagged {side}")
    if marks.between is not None:
        style = {"facecolor": "none", "edgecolor": GREEN, "hatch": "//", "alpha": 0.3, "linewidth": 0}
        axes.axvspan(*marks.between, **style)  # type: ignore[arg-type]
    if marks.chosen is not None:
        axes.axvline(marks.chosen, color=GREEN, linewidth=1.6, label=_chosen(marks))
        (head,) = axes.plot([marks.chosen], [1.0], color=GREEN, marker="v", markersize=8)
        head.set(transform=axes.get_xaxis_transform(), clip_on=False)
    if marks.current is not None and marks.current != marks.chosen:
        axes.axvline(marks.current, color=INK[theme], linewidth=1.4, linestyle="-.", label=f"now {marks.current:g}")


def _chosen(marks: Marks) -> str:
    between = f" ({marks.between[0]:g} to {marks.between[1]:g})" if marks.between else ""
    return f"chosen {marks.chosen:g}{between}"


def _in_order(counts: Mapping[str, Mapping[str, int]]) -> list[str]:
    used = {status for of in counts.values() for status, count in of.items() if count}
    return [status for status in _STATUS if status in used] + sorted(used - set(_STATUS))


def _written(axes: Axes, bars: BarContainer, words: list[str], theme: Theme) -> None:
    """Write the counts on the bars, on a ground that keeps the hatching away from them."""
    ground = {"both": "#e9ecf0", "light": "#ffffff", "dark": "#1e2329"}[theme]
    ink = INK["light"] if theme == "both" else INK[theme]
    for label in axes.bar_label(bars, words, label_type="center", fontsize=9, color=ink):
        if label.get_text():
            label.set_bbox({"facecolor": ground, "edgecolor": "none", "pad": 1.6, "boxstyle": "round,pad=0.15"})


def _named(axes: Axes, names: Sequence[str], widest: float) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.set_yticks(np.arange(len(names)), [short(name, 36) for name in names], parse_math=False)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.02 * widest)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
