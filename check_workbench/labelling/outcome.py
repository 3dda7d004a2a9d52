"""The result of choosing what to label next: text, HTML and JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from check_workbench import html
from check_workbench.calibration.outcome import MIME
from check_workbench.calibration.units import name_of, records
from check_workbench.certificates.wording import many
from check_workbench.labelling.wording import DOES
from check_workbench.stats.intervals import percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pandas as pd

    from check_workbench.html import Block
    from check_workbench.labelling.drawing import Drawn
    from check_workbench.labelling.prospects import Prospect

KEEP_APART = "whoever fills in the sheet should not see this text: it says from which verdicts the work was drawn"
UNITS_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NextLabels:
    """What people should judge next, for one check or several."""

    draws: tuple[Drawn, ...]
    prospects: Mapping[str, tuple[Prospect, ...]]
    """What the labels can prove at best, by check."""
    n: int
    """How many labels were asked for, of each check."""
    seed: int
    name: str
    """The name of the sheet."""
    readings: int
    """Runs or submissions that a person reads: one that serves several checks counts once."""
    file: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def labels(self) -> int:
        """Decisions that the sheet asks for."""
        return sum(map(len, self.draws))

    @property
    def units(self) -> pd.DataFrame:
        """What was drawn: `check run_id step_id attempt probability`; the verdict is left out, so it may be shown."""
        import pandas as pd

        columns = ["run_id", "step_id", "attempt", "probability"]
        parts = [draw.units[columns].assign(check=draw.check.id) for draw in self.draws]
        return pd.concat(parts, ignore_index=True)[["check", *columns]]

    def to_json(self) -> dict[str, Any]:
        """Return the choice as plain values, ready for `json.dumps`."""
        return {
            "sheet": self.name,
            "file": self.file,
            "n": self.n,
            "seed": self.seed,
            "labels": self.labels,
            "readings": self.readings,
            "checks": [self._check_json(draw) for draw in self.draws],
            "notes": list(self.notes),
        }

    def _check_json(self, draw: Drawn) -> dict[str, Any]:
        rates = draw.units["probability"]
        return {
            "check": draw.check.id,
            "purpose": draw.purpose,
            "verdicts": list(draw.verdicts),
            "drawn": len(draw),
            "drawn_by_verdict": draw.by_verdict,
            "free": draw.free,
            "region": draw.region,
            "labelled": draw.told,
            "evaluated": draw.population,
            "not_evaluated": draw.silent,
            "probability": [float(rates.min()), float(rates.max())] if len(rates) else None,
            "prospects": [prospect.to_json() for prospect in self.prospects.get(draw.check.id, ())],
            "units": [name_of(row) for row in records(draw.units)],
        }

    def __repr__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        for draw in self.draws:
            yield f"{draw.check.id}: {_drawn(draw, self.seed)}"
            yield from (f"  {words}" for words in self._about(draw))
        if len(self.draws) > 1:
            saved = self.labels - self.readings
            there, fewer = many(self.readings, "reading"), many(saved, "reading")
            yield f"{self.labels} labels in {there}: {fewer} fewer than check by check"
        if self.file is not None:
            yield f"sheet {self.name}: {self.file}; fill in {_columns(self)}, then load it with --decisions"
        yield from (f"note: {note}" for note in self.notes)

    def _about(self, draw: Drawn) -> Iterator[str]:
        told = sum(draw.told.values())
        there = f"{told} of the {draw.region} have a usable blind label already, whatever it says"
        yield f"{there}; {draw.free} are left to draw from"
        if draw.purpose == "recall" and len(draw):
            parts = ", ".join(f"{count} that it {DOES[name]}" for name, count in draw.by_verdict.items())
            low, high = draw.units["probability"].min(), draw.units["probability"].max()
            rate = " to ".join(dict.fromkeys((percent(low), percent(high))))
            yield f"{parts}; each with a probability of {rate}, which its label carries"
        if draw.silent:
            yield f"{draw.silent} without a verdict: nothing is drawn from them"
        for prospect in self.prospects.get(draw.check.id, ()):
            yield from prospect.words()

    def _blocks(self) -> Iterator[Block]:
        for draw in self.draws:
            yield html.heading(draw.check.id, 3)
            yield html.paragraph(_drawn(draw, self.seed))
            yield html.bullets(self._about(draw))
        rows = [dict(row) for row in records(self.units.head(UNITS_SHOWN))]
        yield html.table(rows, list(self.units.columns), caption=f"Work to label, {len(rows)} of {len(self.units)}")
        if self.notes:
            yield html.bullets(self.notes)

    def _repr_html_(self) -> str:
        return html.fragment(*self._blocks())

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        del include, exclude
        return {"text/plain": repr(self), "text/html": self._repr_html_(), MIME: self.to_json()}


def _drawn(draw: Drawn, seed: int) -> str:
    verdicts = " or ".join(DOES[name] for name in draw.verdicts) or "judges"
    how = "with equal probability" if draw.purpose == "trust" else "with known probabilities"
    return f"{len(draw)} of the {draw.region} submissions that the check {verdicts} are drawn, {how} (seed {seed})"


def _columns(made: NextLabels) -> str:
    return "decision" if len(made.draws) == 1 else "the decision columns"
