"""The result of a calibration: numbers, words, picture, and the change of the file that it proposes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from check_workbench.checks import thresholds
from check_workbench.errors import InputError, UnknownNameError
from check_workbench.labels.reasons import left_out
from check_workbench.stats.intervals import percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from check_workbench.calibration.grouping import Group
    from check_workbench.calibration.meaning import Meaning
    from check_workbench.calibration.numbers import Number
    from check_workbench.calibration.points import Point
    from check_workbench.calibration.redrawing import Range
    from check_workbench.calibration.shares import Share
    from check_workbench.checks import Check, Threshold
    from check_workbench.stats.intervals import Estimate
    from check_workbench.stats.reliability import CalibrationError

MIME = "application/vnd.check-workbench+json"
CLASH = (
    "{}: answers of several methods or models, or labels of single questions and of the whole, ask for different "
    "numbers, and a threshold does not carry over. Choose some by only(method=..., model=...), or by place as cal[:1]."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """One threshold of one check over the answers of one method and model."""

    check: Check
    threshold: Threshold
    goal: str
    method: str | None
    model: str | None
    scored: int
    """Units with a score."""
    n: int
    """Of these, with a usable label."""
    positives: int
    weighted: bool
    """Whether labels stand for differing amounts of work."""
    auc: Estimate | None
    calibration_error: CalibrationError | None
    """How far probabilities lie from frequencies; None where scores are no probabilities."""
    meaning: Meaning | None
    """What a score means; None where scores are no probabilities by their nature, as a rule's are."""
    share: Share
    """How much of all work has the problem."""
    baseline_auc: Estimate | None
    """The same for the length of the run: what a check must beat to be worth more than counting."""
    curve: tuple[Point, ...]
    chosen: Point | None
    range: Range | None
    """How far the chosen cut moves when the labels are drawn again."""
    numbers: tuple[Number, ...]
    """The numbers of the document that make the chosen cut its own."""
    present: Point | None
    """What the number that stands in the document does."""
    met: bool | None
    """Whether that number meets the goal; None where the labels cannot say it."""
    reason: str | None
    """Why nothing was chosen."""
    left_out: dict[str, int]
    warnings: tuple[str, ...]
    groups: tuple[Group, ...]
    """Workflows with enough labels, at the chosen cut, else at the present one."""
    load: tuple[tuple[float, float], ...]
    """Cut, and share of all work that it flags."""
    proposed: tuple[str, ...]
    """Work to label next, spread over the scores."""

    @property
    def composite(self) -> bool:
        """Whether the cut stands for a number of every question."""
        return self.threshold.item == len(self.check.items)

    @property
    def name(self) -> str:
        """The check, and the threshold where it has several."""
        if self.composite:
            return f"{self.check.id} all questions"
        several = len(self.check.items) > 1
        return f"{self.check.id}{f' question {self.threshold.item}' if several else ''} {self.threshold.key}"

    @property
    def changes(self) -> tuple[Threshold, ...]:
        """The numbers as they would be written, those that would not move left out."""
        now = {(own.item, own.key): own.value for own in thresholds(self.check)}
        wanted = [number.threshold for number in self.numbers]
        return tuple(own for own in wanted if now[own.item, own.key] not in {None, own.value})

    def plot(self) -> Figure:
        """Draw precision and recall over the cuts; without labels, the share of work that each cut flags.

        Raises
        ------
        InputError
            If nothing was scored.
        """
        from check_workbench.calibration.drawing import figure

        return figure(self)

    def findings(self) -> Iterator[str]:
        """Yield what scores mean and how much work has the problem; once for both ends of a band."""
        if self.n and self.threshold.key != "fail":
            yield from self.meaning.lines() if self.meaning else ()
            yield str(self.share)

    def to_dict(self) -> dict[str, Any]:
        """Return the calibration as JSON knows it."""
        return {
            "check": self.check.id,
            "item": None if self.composite else self.threshold.item,
            "key": self.threshold.key,
            "means": self.threshold.means,
            "method": self.method,
            "model": self.model,
            "goal": self.goal,
            "n": self.n,
            "positives": self.positives,
            "scored": self.scored,
            "weighted": self.weighted,
            "auc": self.auc.value if self.auc else None,
            "auc_interval": [self.auc.low, self.auc.high] if self.auc else None,
            "calibration_error": dataclasses.asdict(self.calibration_error) if self.calibration_error else None,
            "meaning": self.meaning.to_dict() if self.meaning else None,
            "share": self.share.to_dict(),
            "baseline_auc": self.baseline_auc.value if self.baseline_auc else None,
            "curve": [point.to_dict() for point in self.curve],
            "chosen": self.chosen.to_dict() if self.chosen else None,
            "range": self.range.to_dict() if self.range else None,
            "numbers": [number.to_dict() for number in self.numbers],
            "present": self.present.to_dict() if self.present else {"at": self.threshold.value},
            "met": self.met,
            "reason": self.reason,
            "left_out": self.left_out,
            "warnings": list(self.warnings),
            "groups": [group.to_dict() for group in self.groups],
            "load": [{"at": at, "share": share} for at, share in self.load],
            "proposed": list(self.proposed),
        }

    def lines(self) -> Iterator[str]:
        """Yield the calibration in words."""
        by = " ".join(part for part in (self.method, self.model) if part and part != "rule")
        yield f"{self.name}{f' ({by})' if by else ''}: {self.n} labels, {self.positives} problems, {self.scored} scored"
        if self.auc:
            yield f"  AUC {_estimate(self.auc)}; length of the run alone {_estimate(self.baseline_auc)}"
        elif self.n:
            yield "  AUC undefined: the labels are all of one kind"
        if self.present:
            yield f"  now {self.present}"
        if self.chosen:
            yield f"  {self.goal} chosen {self.chosen}"
            yield from [f"  {self.range}"] if self.range else []
            yield from [f"  as {', '.join(map(str, self.numbers))}"] if self.composite else []
        else:
            yield f"  {self.goal} nothing chosen: {self.reason}"
        yield from (f"  {words}" for words in self.findings())
        yield from (f"  {words}" for words in left_out(self.left_out))
        yield from (f"  note: {words}" for words in self.warnings)
        if not self.n:
            yield from self._without_labels()

    def _without_labels(self) -> Iterator[str]:
        steps = self.load[:: max(1, len(self.load) // 5)]
        if steps:
            yield "  flags of all work: " + ", ".join(f"{percent(share)} at {at:g}" for at, share in steps)
        if self.proposed:
            more = f" and {len(self.proposed) - 5} more" if len(self.proposed) > 5 else ""
            yield f"  label next: {', '.join(self.proposed[:5])}{more}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Calibrations(Sequence[Calibration]):
    """The calibrations of one call, in the order of the checks and their documents."""

    entries: tuple[Calibration, ...]
    notes: tuple[str, ...] = ()

    @overload
    def __getitem__(self, key: int | str) -> Calibration: ...
    @overload
    def __getitem__(self, key: slice) -> Calibrations: ...
    def __getitem__(self, key: int | str | slice) -> Calibration | Calibrations:
        """Return a calibration by place, or the first one of a check by its id."""
        if isinstance(key, slice):
            return dataclasses.replace(self, entries=self.entries[key])
        if isinstance(key, int):
            return self.entries[key]
        found = [entry for entry in self.entries if entry.check.id == key]
        if not found:
            raise UnknownNameError.of("calibrated check", key, [entry.check.id for entry in self.entries])
        return found[0]

    def __len__(self) -> int:
        """Return the number of calibrations."""
        return len(self.entries)

    def only(self, *, method: str | None = None, model: str | None = None) -> Calibrations:
        """Return the calibrations of one method or model, where answers of several are mixed."""
        kept = [e for e in self.entries if method in {None, e.method} and model in {None, e.model}]
        return dataclasses.replace(self, entries=tuple(kept))

    def plot(self) -> Figure:
        """Draw precision and recall over the cuts of the first threshold; take the others by place or id.

        Raises
        ------
        InputError
            If nothing was scored.
        """
        if not self.entries:
            raise InputError("there is nothing to draw: no threshold was calibrated.")
        return self.entries[0].plot()

    def patch(self) -> str:
        """Return the chosen numbers as a unified diff of the files that the checks came from; empty if none moves.

        Where methods or models, or labels of a question and of the whole, ask for different numbers, none is in it.

        Raises
        ------
        InputError
            If a check was not read from a file.
        """
        from check_workbench.dialects import diff

        return diff(self._changes(strict=False))

    def apply(self) -> tuple[str, ...]:
        """Write the chosen numbers into the files that the checks came from, all or none, and return those files.

        Raises
        ------
        InputError
            As `patch`, if a file cannot be written, or if methods or models ask for different numbers.
        """
        from check_workbench.dialects import apply

        return apply(self._changes(strict=True))

    def _changes(self, *, strict: bool) -> list[tuple[Check, list[Threshold]]]:
        wanted: dict[tuple[str, int, str], set[float | None]] = {}
        for entry in self.entries:
            for number in entry.numbers:
                own = number.threshold
                wanted.setdefault((entry.check.id, own.item, own.key), set()).add(own.value)
        changes: dict[str, tuple[Check, list[Threshold]]] = {}
        for entry in self.entries:
            if any(len(wanted[entry.check.id, own.item, own.key]) > 1 for own in entry.changes):
                if strict:
                    raise InputError(CLASH.format(entry.name))
                continue
            mine = changes.setdefault(entry.check.id, (entry.check, []))[1]
            mine += [own for own in entry.changes if own not in mine]
        return [(check, in_order(check, moved)) for check, moved in changes.values() if moved]

    def to_json(self) -> dict[str, Any]:
        """Return the calibrations as plain values, ready for `json.dumps`."""
        return {"checks": [entry.to_dict() for entry in self.entries], "notes": list(self.notes)}

    def __repr__(self) -> str:
        lines = [line for entry in self.entries for line in entry.lines()]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)]) or "no threshold to calibrate"

    def _repr_html_(self) -> str:
        from check_workbench.calibration.drawing import page

        return page(self)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        del include, exclude
        return {"text/plain": repr(self), "text/html": self._repr_html_(), MIME: self.to_json()}


def in_order(check: Check, changes: Sequence[Threshold]) -> list[Threshold]:
    """Return changes in an order in which no band is upside down on the way: of a rising band `pass` comes first."""
    now = {(t.item, t.key): t.value for t in thresholds(check)}

    def rank(change: Threshold) -> tuple[int, int]:
        if change.key != "fail":
            return change.item, 1
        before = now.get((change.item, "pass"))
        falling = change.value is None or before is None or change.value <= before
        return change.item, 0 if falling else 2

    return sorted(changes, key=rank)


def _estimate(estimate: Estimate | None) -> str:
    return "undefined" if estimate is None else f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"
