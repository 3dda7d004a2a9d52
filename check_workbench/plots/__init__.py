"""Figures from rows: curves, bars and paths that know no nouns.

Lines differ by dash and marker, bars by hatching, so that no figure needs its colours to be read. Figures are
matplotlib's own, without global state; `svg` writes the same bytes for the same rows.
"""

from check_workbench.plots.canvas import BLUE, GREEN, GREY, ORANGE, RED, VIOLET, Theme, png, svg
from check_workbench.plots.charts import Marks, coverage_risk, flag_load, precision_recall, verdict_bars
from check_workbench.plots.meanings import Said
from check_workbench.plots.paths import wealth_paths

__all__ = [
    "BLUE",
    "GREEN",
    "GREY",
    "ORANGE",
    "RED",
    "VIOLET",
    "Marks",
    "Said",
    "Theme",
    "coverage_risk",
    "flag_load",
    "png",
    "precision_recall",
    "svg",
    "verdict_bars",
    "wealth_paths",
]
