"""The ground that every figure is drawn on, and how a figure is written."""

from __future__ import annotations

import io
import warnings
from typing import IO, TYPE_CHECKING, Any, Literal

import numpy as np

from check_workbench.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    Rows = Sequence[Mapping[str, Any]]

Theme = Literal["both", "light", "dark"]
BLUE, ORANGE, GREEN, RED, VIOLET, GREY = "#3a7bd5", "#c8691c", "#2f8f5b", "#cf4a52", "#8c6bc8", "#808791"
"""Tones with a contrast of 3:1 and more on white and on near-black."""
INK = {"both": "#777d86", "light": "#30363d", "dark": "#d5dae1"}


def svg(figure: Figure) -> str:
    """Return a figure as SVG text: the same bytes for the same figure, without dates.

    Examples
    --------
    >>> figure, _ = begin("nothing yet", "both")
    >>> svg(figure) == svg(figure)
    True
    """
    from matplotlib import rc_context

    out = io.StringIO()
    with rc_context({"svg.hashsalt": "check-workbench", "svg.fonttype": "path"}):
        _saved(figure, out, format="svg", metadata={"Date": None, "Creator": None})
    return out.getvalue()


def png(figure: Figure, *, dpi: int = 144) -> bytes:
    """Return a figure as PNG with a transparent ground."""
    out = io.BytesIO()
    _saved(figure, out, format="png", dpi=dpi, metadata={"Software": None})
    return out.getvalue()


def begin(title: str, theme: Theme, *, height: float = 3.8) -> tuple[Figure, Axes]:
    """Return an empty figure with its axes.

    Raises
    ------
    UnknownNameError
        Where there is no such theme.
    """
    from matplotlib.figure import Figure

    if theme not in INK:
        raise UnknownNameError.of("theme", theme, INK)

    class Picture(Figure):
        """A figure that a notebook shows without pyplot."""

        def _repr_png_(self) -> bytes:
            return png(self, dpi=100)

    figure = Picture(figsize=(7.2, height), layout="constrained", facecolor="none")
    axes = figure.add_subplot(facecolor="none")
    _inked(axes, INK[theme])
    if title:
        ink = INK[theme]
        axes.set_title(short(title, 90), color=ink, loc="left", fontsize=11.5, fontweight="bold", parse_math=False)
    return figure, axes


def below(figure: Figure, axes: Axes, theme: Theme, *, height: float = 3.0) -> Axes:
    """Return axes in a panel that is added to a figure below its own, over the same scale."""
    width, above = figure.get_size_inches()
    figure.set_size_inches(width, above + height)
    grid = figure.add_gridspec(2, 1, height_ratios=(above - 0.6, height))
    axes.set_subplotspec(grid[0])
    panel = figure.add_subplot(grid[1], sharex=axes, facecolor="none")
    _inked(panel, INK[theme])
    return panel


def _inked(axes: Axes, ink: str) -> None:
    for side, spine in axes.spines.items():
        spine.set_color(ink)
        spine.set_visible(side in {"left", "bottom"})
    axes.tick_params(colors=ink, labelcolor=ink, labelsize=9.5)
    axes.xaxis.label.set_color(ink)
    axes.yaxis.label.set_color(ink)
    axes.grid(visible=True, color=ink, alpha=0.22, linewidth=0.6)
    axes.set_axisbelow(True)


def column(rows: Rows, name: str) -> NDArray[np.float64]:
    """Return a column of numbers, NaN where a value is None.

    Raises
    ------
    InputError
        Where there are no rows.
    """
    if not rows:
        raise InputError("there is nothing to draw: no rows were given.")
    return np.array([np.nan if row.get(name) is None else row[name] for row in rows], dtype=np.float64)


def shares(axes: Axes, side: Literal["x", "y"]) -> None:
    """Write shares as percentages on the vertical axis and fix its range; `x` does so for the horizontal one."""
    axes.yaxis.set_major_formatter(_percent)
    if side == "y":
        axes.set_ylim(-0.02, 1.04)
        return
    axes.set_xlim(0, 1.02)
    axes.xaxis.set_major_formatter(_percent)


def _percent(value: float, _: float) -> str:
    return f"{round(100 * value, 6):g}%"


def legend(axes: Axes, theme: Theme) -> None:
    """Name what is drawn in all panels, below them."""
    labels = [label for panel in axes.figure.axes for label in panel.get_legend_handles_labels()[1]]
    columns = 4 if sum(map(len, labels)) < 60 else 3 if len(labels) > 6 else 2
    legend = axes.figure.legend(
        loc="outside lower center", ncols=columns, frameon=False, fontsize=9.5, handlelength=2.8
    )
    for words in legend.get_texts():
        words.set(color=INK[theme], parse_math=False)


def short(words: str, most: int) -> str:
    """Return words in one line, cut where they are too long."""
    plain = "".join(sign if sign.isprintable() else " " for sign in words)
    return plain if len(plain) <= most else f"{plain[: most - 1]}\N{HORIZONTAL ELLIPSIS}"


def _saved(figure: Figure, out: IO[Any], **how: Any) -> None:
    """Write a figure; a sign that the font lacks is drawn as a box and is no reason to warn."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(out, transparent=True, **how)
