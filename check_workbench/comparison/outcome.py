"""The result of a comparison: text, HTML and JSON, and the triage of its disagreements."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from check_workbench import html
from check_workbench.calibration.outcome import MIME
from check_workbench.comparison import blocks, entering, triaging, wording
from check_workbench.comparison.counting import FEW

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd

    from check_workbench.checks import Check
    from check_workbench.comparison.counting import Side, Sides
    from check_workbench.comparison.entering import Given
    from check_workbench.comparison.people import Ceiling
    from check_workbench.comparison.triaging import Triage
    from check_workbench.stats.agreement import Agreement
    from check_workbench.store import Store

ANCHORED = 0.03
BY_CHANCE = 0.025
IN_DOCUMENT = 500
"""Disagreements that the notebook's document carries; `to_json` returns all."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Comparison:
    """Verdicts of one check beside what people decided."""

    check: str
    n: int
    """Units with a verdict and a label."""
    frame: pd.DataFrame
    """These units, one row each: `unit verdict label decision agrees blind approver workflow month …`."""
    counts: list[dict[str, Any]]
    """One row per verdict."""
    sides: Sides
    groups: list[dict[str, Any]]
    """The same by step, question, approver, workflow and month."""
    switched: list[dict[str, Any]]
    """What would have happened had the check decided: for either change, lately and over everything."""
    ceiling: Ceiling
    disagreements: tuple[dict[str, Any], ...]
    """Each with its evidence and its triage, bad work that passed first."""
    triaged: Triage
    left_out: dict[str, int]
    notes: tuple[str, ...] = ()
    subject: Check
    store: Store

    @property
    def anchored(self) -> bool:
        """Whether people clearly follow a verdict that they see, by an interval of many enough and by an exact test."""
        sides = self.sides
        clear = sides.gap is not None and sides.gap.low > ANCHORED and sides.clear >= FEW
        return clear and sides.chance is not None and sides.chance <= BY_CHANCE

    def triage(self, units: Given, cause: str | None = None, *, by: str, note: str | None = None) -> Comparison:
        """Record why check and people disagree, and return the comparison with it.

        What is said is kept in the store; of several entries on one unit the last counts. It changes no label: whoever
        triages sees both sides, and `trust` counts what people decided before they saw the verdict. It counts as long
        as the check asks the same, and the work and the decisions on the unit are the same.

        Parameters
        ----------
        units
            A unit, several, causes by unit, or a table with the columns `unit`, `cause` and, if wanted, `note`.
        cause
            `check_wrong`, `person_wrong` or `evidence_missing`, where the units come without one.
        by
            Who looked at it.
        note
            What they saw.

        Returns
        -------
        Comparison
            This one is not changed.

        Raises
        ------
        InputError
            If a unit is no disagreement, or a cause is none of the three. Nothing is recorded then.
        StoreError
            If the store is opened to read only.
        """
        rows = entering.named(units, cause, note)
        return self._recorded([unit for unit, _, _ in rows], [(own, told) for _, own, told in rows], by)

    def untriage(self, units: str | Iterable[str], *, by: str, note: str | None = None) -> Comparison:
        """Take back what was said of units, and return the comparison without it; the store keeps the history.

        Parameters
        ----------
        units
            A unit or several.
        by
            Who takes it back.
        note
            Why.

        Returns
        -------
        Comparison
            This one is not changed.

        Raises
        ------
        InputError
            If a unit is no disagreement.
        StoreError
            If the store is opened to read only.
        """
        names = [units] if isinstance(units, str) else list(units)
        return self._recorded(names, [(None, note)] * len(names), by)

    def _recorded(self, units: list[str], said: Sequence[tuple[str | None, str | None]], by: str) -> Comparison:
        allowed = [*(one["unit"] for one in self.disagreements), *self.triaged.entries]
        who = entering.person(by)
        rows = self.frame.iloc[entering.places(self.frame, units, allowed)]
        entries = [
            {
                "run_id": run,
                "step_id": step or None,
                "attempt": int(attempt),
                "decisions": sorted(int(key) for key in keys),
                "cause": cause,
                "by": who,
                "note": note,
            }
            for run, step, attempt, keys, (cause, note) in zip(
                rows["run_id"], rows["step_id"], rows["attempt"], rows["decision_keys"], said, strict=True
            )
        ]
        triaging.record(self.subject, self.store, entries)
        found = triaging.triage_of(self.subject, self.frame, self.store)
        return dataclasses.replace(self, triaged=found, disagreements=tuple(marked(self.disagreements, found)))

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as plain values, ready for `json.dumps`."""
        gap = self.sides.gap
        return {
            "check": self.check,
            "n": self.n,
            "counts": self.counts,
            **_sides_json(self.sides),
            "gap": {**gap._asdict(), "chance": self.sides.chance, "anchored": self.anchored} if gap else None,
            "groups": self.groups,
            "switched": self.switched,
            "ceiling": _ceiling_json(self.ceiling),
            "disagreements": list(self.disagreements),
            "triage": {**_triage_json(self.triaged), "settled": self.triaged.settled(self.disagreements)},
            "left_out": self.left_out,
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        return "\n".join(map(wording.one_line, wording.lines(self)))

    def _repr_html_(self) -> str:
        return html.fragment(*blocks.blocks(self))

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        del include, exclude
        document = {"kind": "comparison", **self.to_json()}
        left = max(0, len(self.disagreements) - IN_DOCUMENT)
        document |= {"disagreements": list(self.disagreements[:IN_DOCUMENT]), "disagreements_left_out": left}
        return {"text/plain": repr(self), "text/html": self._repr_html_(), MIME: document}


def marked(disagreements: Iterable[dict[str, Any]], triage: Triage) -> Iterable[dict[str, Any]]:
    """Put the triage of each disagreement beside it."""
    for one in disagreements:
        entry = triage.entries.get(one["unit"])
        yield {**one, "triage": entry.to_json() if entry else None}


def _side_json(side: Side) -> dict[str, Any]:
    told = {"n": side.n, "bad": side.bad, "unsure": side.unsure, "counts": side.counts, **side.wrong}
    return {**told, **_agreement_json(side.agreement)}


def _agreement_json(found: Agreement | None) -> dict[str, Any]:
    return {
        "agreement": found.raw.value if found else None,
        "agreement_interval": [found.raw.low, found.raw.high] if found else None,
        "kappa": found.kappa if found else None,
        "ac1": found.ac1 if found else None,
        "alpha": found.alpha if found else None,
        "intervals": {name: [one.low, one.high] for name, one in found.intervals.items()} if found else {},
        "prevalence": dict(found.prevalence) if found else {},
        "by_class": dict(found.by_class) if found else {},
    }


def _ceiling_json(ceiling: Ceiling) -> dict[str, Any]:
    names = ("about", "n", "people", "blind", "torn", "unnamed")
    told = {name: getattr(ceiling, name) for name in names}
    by_verdict = {name: {"n": one.n, **_agreement_json(one)} for name, one in ceiling.by_verdict.items()}
    apart = ceiling.disagreement
    return {
        **told,
        **_agreement_json(ceiling.agreement),
        "disagreement": apart[0] if apart else None,
        "disagreement_interval": list(apart[1:]) if apart else None,
        "by_verdict": by_verdict,
        "other": _ceiling_json(ceiling.other) if ceiling.other else None,
    }


def _triage_json(triage: Triage) -> dict[str, Any]:
    return {
        "counts": {cause: triage.count(cause) for cause in triaging.CAUSES},
        "stale": dict(triage.stale),
        "before": _sides_json(triage.before),
        "after": _sides_json(triage.after),
    }


def _sides_json(sides: Sides) -> dict[str, Any]:
    return {"blind": _side_json(sides.blind), "shown": _side_json(sides.shown)}
