#!/usr/bin/env python3
"""Draw the vendor data, what the evaluator said and what approvers decided blind: `python data/picture.py [FILE]`."""

from __future__ import annotations

import csv
import json
import sys
from collections import Counter
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
LEFT, TOP, WIDE, ABOVE, BELOW = 40, 96, 720, 214, 84
AXIS = TOP + ABOVE
DOT, PITCH = 2.6, 5.1
BANDS = (("fail", 0.0, 0.5), ("unsure", 0.5, 0.9), ("pass", 0.9, 1.0))
STYLE = """\
text{font:13px system-ui,sans-serif;fill:#24292f}.small{font-size:12px;fill:#57606a}.head{font-weight:600}
.card{fill:#fff;stroke:#d0d7de}.axis{stroke:#57606a}.cut{stroke:#57606a;stroke-dasharray:4 3}
.approved{fill:#1f6feb}.rejected{fill:none;stroke:#bc4c00;stroke-width:1.5}.wrong{fill:#bc4c0018}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.small{fill:#9da7b1}.card{fill:#0d1117;stroke:#30363d}
.axis,.cut{stroke:#9da7b1}.approved{fill:#6cb6ff}.rejected{stroke:#f0883e}.wrong{fill:#f0883e22}}"""


def decided() -> Iterator[tuple[float, str]]:
    """Yield the evaluator's probability and the blind decision for each first screening on which approvers agree."""
    said: dict[str, set[str]] = {}
    with (HERE / "vendors" / "decisions.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if (row["step_id"], row["attempt"], row["provenance"]) == ("approve_vendor", "1", "blind"):
                said.setdefault(row["run_id"], set()).add(row["decision"])
    for line in (HERE / "vendors" / "runs.jsonl").read_text(encoding="utf-8").splitlines():
        run = json.loads(line)
        decisions = said.get(run["run_id"], set())
        if run["mode"] == "live" and len(decisions) == 1:
            yield run["steps"][0]["check"]["questions"][0]["answer"], *decisions


def across(probability: float) -> float:
    """Return the place of a probability on the axis, in pixels."""
    return LEFT + WIDE * probability


def dots(points: list[tuple[float, str]]) -> Iterator[str]:
    """Yield one mark per decision: approved ones as dots above the axis, rejected ones as crosses below it."""
    stacked: Counter[tuple[float, str]] = Counter()
    for probability, decision in sorted(points):
        place = stacked[probability, decision]
        stacked[probability, decision] += 1
        x, up = across(probability), 7 + PITCH * place
        if decision == "approved":
            yield f'<circle class="approved" cx="{x:.1f}" cy="{AXIS - up:.1f}" r="{DOT}"/>'
        else:
            yield f'<path class="rejected" d="M{x - 2.2:.1f} {AXIS + up - 2.2:.1f}l4.4 4.4m0-4.4l-4.4 4.4"/>'


def bands(points: list[tuple[float, str]]) -> Iterator[str]:
    """Yield the verdicts with their counts, the cuts, and a tint where verdict and decision differ."""
    for name, low, high in BANDS:
        inside = Counter(d for p, d in points if low <= p < high or p == high == 1.0)
        middle = across((low + high) / 2)
        for text, style, y in (
            (name.upper(), "head", TOP - 34),
            (f"● {inside['approved']}\u2003✕ {inside['rejected']}", "small", TOP - 16),
        ):
            yield f'<text class="{style}" x="{middle:.0f}" y="{y}" text-anchor="middle">{text}</text>'
        if low:
            yield f'<path class="cut" d="M{across(low):.1f} {TOP - 8}V{AXIS + BELOW}"/>'
    yield f'<rect class="wrong" x="{LEFT}" y="{TOP}" width="{WIDE * 0.5:.0f}" height="{ABOVE}"/>'
    yield f'<rect class="wrong" x="{across(0.9):.0f}" y="{AXIS}" width="{WIDE * 0.1:.0f}" height="{BELOW}"/>'


def picture() -> str:
    """Return the SVG document."""
    points = list(decided())
    title = f"What the check said of {len(points)} screenings, and what approvers decided without seeing it"
    small = '<text class="small"'
    ticks = (
        f'{small} x="{across(tick / 10):.0f}" y="{AXIS + BELOW + 18}" text-anchor="middle">{tick / 10:g}</text>'
        for tick in (0, 2, 4, 5, 6, 8, 9, 10)
    )
    legend = "● approved\u2003✕ rejected\u2003\u2003tinted: verdict and decision differ"
    axis = "the evaluator's probability that the claim holds"
    body = [
        f'<rect class="card" x=".5" y=".5" width="{LEFT + WIDE + 39}" height="{AXIS + BELOW + 53}" rx="6"/>',
        f'<text class="head" x="{LEFT}" y="30">{escape(title)}</text>',
        *bands(points),
        f'<path class="axis" d="M{LEFT} {AXIS}H{LEFT + WIDE}"/>',
        *dots(points),
        *ticks,
        f'{small} x="{LEFT}" y="{AXIS + BELOW + 40}">{escape(axis)}\u2003\u2003{legend}</text>',
    ]
    size = f'viewBox="0 0 {LEFT + WIDE + 40} {AXIS + BELOW + 54}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(title)}">'
    return "\n".join([head, f"<style>{STYLE}</style>", *body, "</svg>", ""])


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "picture.svg"
    target.write_text(picture(), encoding="utf-8", newline="\n")
