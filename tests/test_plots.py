from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from check_workbench.errors import InputError, UnknownNameError
from check_workbench.plots import (
    Marks,
    Said,
    coverage_risk,
    flag_load,
    png,
    precision_recall,
    svg,
    verdict_bars,
    wealth_paths,
)

ROWS = [
    {
        "at": at,
        "precision": at,
        "precision_low": at / 2,
        "precision_high": 1.0,
        "recall": 1 - at,
        "recall_low": 0.0,
        "recall_high": 1 - at / 2,
        "load": 1 - at,
    }
    for at in np.linspace(0, 1, 30).tolist()
]
WALK = [{"coverage": c, "risk": c / 10, "bound": c / 10 + 0.03} for c in np.linspace(0.02, 1, 50).tolist()]
COUNTS = {"refund": {"pass": 90, "fail": 10}, "vendor": {"pass": 5, "unsure": 3, "not_checked": 2}}

RANGED = Marks(chosen=0.6, current=0.9, between=(0.5, 0.7))
SAID = Said(
    line=[{"at": at, "share": at / 2, "low": at / 3, "high": at} for at in np.linspace(0.1, 0.9, 9).tolist()],
    bins=[{"at": at, "share": at / 2, "low": 0.0, "high": at} for at in (0.2, 0.5, 0.8)],
    event="people find a problem",
)

FIGURES = {
    "meaning": lambda theme: precision_recall(ROWS, Marks(chosen=0.6), said=SAID, title="t", theme=theme),
    "range": lambda theme: precision_recall(ROWS, RANGED, title="t", theme=theme),
    "precision_recall": lambda theme: precision_recall(ROWS, Marks(chosen=0.6, current=0.9), title="t", theme=theme),
    "flag_load": lambda theme: flag_load(ROWS, Marks(chosen=0.6, below=True), theme=theme),
    "coverage_risk": lambda theme: coverage_risk(WALK, target=0.1, certified=0.6, theme=theme),
    "verdict_bars": lambda theme: verdict_bars(COUNTS, theme=theme),
}


@pytest.mark.parametrize("theme", ["both", "light", "dark"])
@pytest.mark.parametrize("name", FIGURES)
def test_the_same_rows_give_the_same_bytes(name: str, theme: str) -> None:
    one, other = svg(FIGURES[name](theme)), svg(FIGURES[name](theme))
    assert one == other
    assert ET.fromstring(one).tag.endswith("svg")  # noqa: S314
    assert "<dc:date>" not in one


def test_a_picture_has_a_transparent_ground() -> None:
    import io

    from PIL import Image

    image = Image.open(io.BytesIO(png(FIGURES["flag_load"]("light"), dpi=50)))
    assert image.mode == "RGBA"
    assert image.getpixel((0, 0))[3] == 0  # type: ignore[index]


def test_lines_differ_without_colour() -> None:
    axes = precision_recall(ROWS).axes[0]
    styles = {(str(line.get_linestyle()), str(line.get_marker())) for line in axes.lines}
    assert len(styles) == len(axes.lines)
    hatches = {bar.get_hatch() for bar in verdict_bars(COUNTS).axes[0].patches if bar.get_label() and bar.get_hatch()}
    assert len(hatches) == 3


def test_the_marked_cuts_are_named() -> None:
    figure = precision_recall(ROWS, Marks(chosen=0.62, current=0.9))
    words = [label.get_text() for label in figure.legends[0].get_texts()]
    assert words == ["precision", "recall", "chosen 0.62", "now 0.9"]


def test_unknown_recall_is_said_and_not_drawn() -> None:
    rows = [{"at": row["at"], "precision": row["precision"], "recall": None} for row in ROWS]
    figure = precision_recall(rows)
    assert "recall unknown" in [label.get_text() for label in figure.legends[0].get_texts()]
    svg(figure)


def test_curves_step_the_way_the_cut_works() -> None:
    above, below = (flag_load(ROWS, Marks(below=below)).axes[0] for below in (False, True))
    assert [axes.lines[0].get_drawstyle() for axes in (above, below)] == ["steps-pre", "steps-post"]
    assert below.get_xlabel() == "cut: flagged below this score"


@pytest.mark.parametrize(
    "words", ["$\\frac{1", "_hidden", "x" * 500, "a\nb\x00\ud800", "検査 \u202e", "<svg onload=1>", "--><x>", "$$"]
)
def test_hostile_names_are_drawn_as_words(words: str) -> None:
    drawn = svg(verdict_bars({words: {words: 3, "pass": 1}}, title=words))
    read = ET.fromstring(drawn)  # noqa: S314
    assert not [name for element in read.iter() for name in element.attrib if name.startswith("on")]
    assert not [element for element in read.iter() if element.tag.endswith(("}x", "}script"))]


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_one_row_and_the_ends_can_be_drawn(value: float) -> None:
    svg(precision_recall([{"at": value, "precision": value, "recall": value}], Marks(chosen=value)))
    svg(coverage_risk([{"coverage": 1.0, "risk": value, "bound": 1.0}], target=0.05))
    svg(coverage_risk([{"coverage": 1.0, "risk": None, "bound": None}], target=0.05))


@pytest.mark.parametrize(
    "nothing",
    [
        lambda: precision_recall([]),
        lambda: flag_load([]),
        lambda: coverage_risk([], target=0.1),
        lambda: verdict_bars({}),
        lambda: verdict_bars({"a": {"pass": 0}}),
    ],
)
def test_nothing_to_draw_is_refused(nothing) -> None:
    with pytest.raises(InputError, match="nothing to draw"):
        nothing()


def test_an_unknown_theme_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'dark'"):
        flag_load(ROWS, theme="drak")  # type: ignore[arg-type]


def test_no_global_figures_are_kept_and_nothing_heavy_is_imported_early() -> None:
    program = (
        "import sys, check_workbench.plots as p; assert 'matplotlib' not in sys.modules;"
        "p.svg(p.flag_load([{'at': 1.0, 'load': 1.0}])); assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_paths_of_wealth_begin_at_one_and_meet_their_line() -> None:
    made = wealth_paths({"first submissions": [0.9, 1.7, 21.0], "resubmissions": []}, limit=20)
    first, second, line = made.axes[0].get_lines()
    assert np.asarray(first.get_ydata()).tolist() == [1.0, 0.9, 1.7, 21.0]
    assert np.asarray(second.get_ydata()).tolist() == [1.0]
    assert np.asarray(line.get_ydata()).tolist() == [20, 20]
    assert first.get_linestyle() != second.get_linestyle()
    assert svg(made) == svg(made)


def test_wealth_near_zero_is_drawn_at_the_lowest_line() -> None:
    made = wealth_paths({"first": [0.0, 1e-300]}, limit=20)
    assert np.asarray(made.axes[0].get_lines()[0].get_ydata()).tolist() == [1.0, 1e-6, 1e-6]


def test_more_paths_than_can_be_told_apart_are_refused() -> None:
    with pytest.raises(InputError, match="at most 2 paths"):
        wealth_paths({"a": [], "b": [], "c": []}, limit=20)


def test_the_range_of_a_cut_is_drawn_and_named():
    figure = precision_recall(ROWS, RANGED)
    assert "chosen 0.6 (0.5 to 0.7)" in [text.get_text() for text in figure.legends[0].get_texts()]
    [band] = [patch for patch in figure.axes[0].patches if patch.get_hatch() == "//"]
    assert band.get_extents().width > 0


def test_what_scores_mean_stands_below_over_the_same_scale() -> None:
    above, below = precision_recall(ROWS, said=SAID).axes
    assert above.get_shared_x_axes().joined(above, below)
    assert below.get_ylim() == above.get_ylim()
    diagonal, curve = below.get_lines()[:2]
    assert np.asarray(diagonal.get_xdata()).tolist() == np.asarray(diagonal.get_ydata()).tolist() == [0.1, 0.9]
    assert np.asarray(curve.get_ydata()).tolist() == [row["share"] for row in SAID.line]
    assert len({line.get_linestyle() for line in (diagonal, curve)}) == 2


def test_one_legend_names_both_panels() -> None:
    figure = precision_recall(ROWS, Marks(chosen=0.6), said=SAID)
    [legend] = figure.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert names == ["precision", "recall", "chosen 0.6", "as the judge says", "fitted curve", "labels in bins"]
