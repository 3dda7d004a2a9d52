"""The result of a comparison: text, HTML and JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from check_workbench import html
from check_workbench.calibration.outcome import MIME
from check_workbench.labels.reasons import left_out
from check_workbench.stats.intervals import percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from check_workbench.comparison.counting import Side, Sides
    from check_workbench.html import Block

COUNTS = {"verdict": "verdict", "n": "all", "good": "good", "bad": "bad"}
GROUPS = {"by": "by", "group": "group", "n": "all", "unsure": "unsure", "agreement": "agreement",
          "blind_agreement": "blind agreement", "bad_passed": "bad passed", "good_failed": "good failed"}  # fmt: skip
SWITCHED = {"change": "had we", "of": "of", "unattended": "decided without a person", "bad_passed": "bad passed",
            "good_bounced": "good bounced", "unsure": "unsure"}  # fmt: skip
DISAGREEMENTS = {"unit": "work", "verdict": "check", "score": "score", "decision": "people", "by": "who",
                 "blind": "blind", "note": "note"}  # fmt: skip
ANCHORED = 0.03
SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Comparison:
    """Verdicts of one check beside what people decided."""

    check: str
    n: int
    """Units with a verdict and a label."""
    counts: list[dict[str, Any]]
    """One row per verdict."""
    sides: Sides
    groups: list[dict[str, Any]]
    """Agreement by step, approver, workflow and month."""
    switched: list[dict[str, Any]]
    """What would have happened had the check decided."""
    disagreements: tuple[dict[str, Any], ...]
    left_out: dict[str, int]
    notes: tuple[str, ...] = ()

    @property
    def anchored(self) -> bool:
        """Whether people clearly follow a verdict that they see."""
        return self.sides.gap is not None and self.sides.gap.low > ANCHORED

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as plain values, ready for `json.dumps`."""
        gap = self.sides.gap
        return {
            "check": self.check,
            "n": self.n,
            "counts": self.counts,
            "blind": _side_json(self.sides.blind),
            "shown": _side_json(self.sides.shown),
            "gap": {"value": gap.value, "low": gap.low, "high": gap.high} if gap else None,
            "groups": self.groups,
            "switched": self.switched,
            "disagreements": list(self.disagreements),
            "left_out": self.left_out,
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{self.check}: {self.n} decisions beside a verdict"
        for row in self.counts:
            if row["n"]:
                yield f"  {row['verdict']}: {row['n']}, of which {row['good']} good and {row['bad']} bad"
        yield f"  blind: {_side_words(self.sides.blind)}"
        yield f"  verdict seen or unknown: {_side_words(self.sides.shown)}"
        yield from (f"  {words}" for words in self._gap_words())
        for row in self.switched if self.n else ():
            yield f"  had we switched to {row['change']}: {_switched_words(row)}"
        if self.disagreements:
            yield f"  {len(self.disagreements)} disagreements: {', '.join(d['unit'] for d in self.disagreements[:5])}"
        yield from (f"  {words}" for words in left_out(self.left_out))
        yield from (f"  note: {note}" for note in self.notes)

    def _gap_words(self) -> Iterator[str]:
        gap = self.sides.gap
        if gap is not None:
            interval = f"[{gap.low:+.3f}, {gap.high:+.3f}]"
            yield f"people agree {gap.value:+.3f} {interval} more often when they see the verdict"
        if self.anchored:
            yield "people follow the verdict that they see: such decisions cannot certify the check"

    def _blocks(self) -> Iterator[Block]:
        yield html.heading(self.check, 3)
        yield html.table(self.counts, COUNTS, caption="Verdicts and what people decided")
        yield html.definitions(
            [("blind", _side_words(self.sides.blind)), ("verdict seen or unknown", _side_words(self.sides.shown))],
        )
        words = [*self._gap_words()]
        if words:
            yield html.note(" ".join(words), warning=self.anchored)
        yield html.table([_flat(row) for row in self.switched], SWITCHED, caption="Had the check decided")
        yield html.table([_flat(row) for row in self.groups], GROUPS, caption="Agreement by group")
        caption = f"Disagreements ({len(self.disagreements)})"
        if self.disagreements:
            first = html.table(self.disagreements[:SHOWN], DISAGREEMENTS, caption=caption)
            rest = self.disagreements[SHOWN:]
            yield first
            if rest:
                yield html.details(f"{len(rest)} more", html.table(rest, DISAGREEMENTS, caption=caption))
        if self.left_out or self.notes:
            yield html.bullets([*left_out(self.left_out), *self.notes])

    def _repr_html_(self) -> str:
        return html.fragment(*self._blocks())

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        del include, exclude
        return {"text/plain": repr(self), "text/html": self._repr_html_(), MIME: self.to_json()}


def _side_json(side: Side) -> dict[str, Any]:
    found = side.agreement
    return {
        "n": side.n,
        "unsure": side.unsure,
        "agreement": found.raw.value if found else None,
        "agreement_interval": [found.raw.low, found.raw.high] if found else None,
        "kappa": found.kappa if found else None,
        "ac1": found.ac1 if found else None,
        "alpha": found.alpha if found else None,
        "prevalence": dict(found.prevalence) if found else {},
        "by_class": dict(found.by_class) if found else {},
    }


def _side_words(side: Side) -> str:
    found = side.agreement
    if found is None:
        return f"{side.n} decisions, none beside a clear verdict"
    raw = f"{found.raw.value:.3f} [{found.raw.low:.3f}, {found.raw.high:.3f}]"
    beyond = ", ".join(
        f"{name} {value:.2f}" for name, value in (("kappa", found.kappa), ("AC1", found.ac1)) if value is not None
    )
    bad = found.prevalence.get("bad", 0.0)
    agreed = f"agreement {raw}{f', {beyond}' if beyond else ''}"
    return f"{side.n} decisions, {agreed}, {percent(bad)} bad, {side.unsure} unsure"


def _switched_words(row: dict[str, Any]) -> str:
    parts = [f"{_share(row['unattended'])} decided without a person", f"{_share(row['bad_passed'])} bad passed"]
    return ", ".join([*parts, f"{_share(row['good_bounced'])} good bounced", f"{_share(row['unsure'])} unsure"])


def _share(of: dict[str, Any]) -> str:
    if of["share"] is None:
        return f"{of['k']} of {of['n']}"
    return f"{of['k']} of {of['n']} ({percent(of['share'])} [{percent(of['low'])}, {percent(of['high'])}])"


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    return {name: _share(value) if isinstance(value, dict) else value for name, value in row.items()}
