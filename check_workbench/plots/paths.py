"""How the wealth of bets grows, label by label, towards the line of alarm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError
from check_workbench.plots.canvas import BLUE, ORANGE, RED, begin, legend

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from check_workbench.plots.canvas import Theme

_STYLES: tuple[dict[str, Any], ...] = (
    {"color": BLUE, "linestyle": "-", "marker": "o"},
    {"color": ORANGE, "linestyle": (0, (5, 2)), "marker": "s"},
)
_LOWEST = 1e-6
"""Less wealth than this is drawn here: it says no more, and a path must not flatten the others."""


def wealth_paths(
    paths: Mapping[str, Sequence[float]], *, limit: float, title: str = "", theme: Theme = "both"
) -> Figure:
    """Draw the wealth after each label on a logarithmic scale, and the line at which it raises the alarm.

    Parameters
    ----------
    paths
        Name -> wealth after each label; every path begins at 1, before its first label.
    limit
        The wealth that raises the alarm.
    title, theme
        As for `precision_recall`.

    Raises
    ------
    InputError
        Where there are more paths than styles.

    Examples
    --------
    >>> wealth_paths({"first": [0.9, 1.7, 21.0]}, limit=20).axes[0].get_yscale()
    'log'
    """
    if len(paths) > len(_STYLES):
        raise InputError(f"at most {len(_STYLES)} paths can be told apart, got {len(paths)}.")
    figure, axes = begin(title, theme)
    for (name, wealth), style in zip(paths.items(), _STYLES, strict=False):
        values = [max(_LOWEST, value) for value in (1.0, *wealth)]
        every = max(1, len(values) // 9)
        axes.plot(range(len(values)), values, linewidth=1.8, markevery=every, markersize=4.5, label=name, **style)
    axes.axhline(limit, color=RED, linestyle=":", linewidth=1.8, label=f"alarm at {limit:g}")
    axes.set_yscale("log")
    axes.set_xlabel("blind labels")
    axes.set_ylabel("evidence against the certificate")
    axes.set_xlim(left=0)
    legend(axes, theme)
    return figure
