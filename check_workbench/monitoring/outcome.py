"""The result of an audit: the state of the certificate, the evidence, and the work to label next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from check_workbench.calibration.outcome import MIME
from check_workbench.calibration.units import name_of, records
from check_workbench.errors import InputError
from check_workbench.evaluation.report import plain_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd
    from matplotlib.figure import Figure

    from check_workbench.monitoring.granted import Granted
    from check_workbench.monitoring.signals import Signal
    from check_workbench.monitoring.standing import Standing
    from check_workbench.monitoring.strata import Stratum

State = Literal["clear", "unlabelled", "alarm", "void", "no_certificate"]
NOTHING = (
    "no trust decision in this store says that the check is ready, so there is nothing to audit; "
    "check-workbench trust makes one"
)
SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Audit:
    """What became of a check after it was enforced, or had replaced an approval."""

    check: str
    certificate: Granted | None
    void: tuple[str, ...]
    """Why the certificate no longer holds."""
    strata: tuple[Stratum, ...]
    signals: tuple[Signal, ...]
    due: pd.DataFrame
    """The drawn work that still lacks a blind label, oldest first: run_id step_id attempt workflow when state."""
    notes: tuple[str, ...] = ()
    standing: tuple[Standing, ...] = ()
    """Alarms that an earlier audit of the same certificate raised, and that the present labels would not."""

    @property
    def outcome(self) -> State:
        """`void` where the certificate no longer holds, else `alarm` where one was ever raised, else `clear`.

        Without any label of drawn work it is `unlabelled`: then nothing is known.
        """
        if self.certificate is None:
            return "no_certificate"
        if self.void:
            return "void"
        if self.standing or any(stratum.alarm for stratum in self.strata):
            return "alarm"
        return "clear" if any(stratum.labels for stratum in self.strata) else "unlabelled"

    @property
    def exit_code(self) -> int:
        """The exit code of the command line: 1 for an alarm or a void certificate, else 0."""
        return 1 if self.outcome in {"alarm", "void"} else 0

    @property
    def reasons(self) -> tuple[str, ...]:
        """The outcome in words, the gravest first."""
        from check_workbench.monitoring.words import reasons

        return tuple(reasons(self))

    @property
    def units(self) -> list[str]:
        """The names of the work to label next."""
        return [name_of(row) for row in records(self.due)]

    def plot(self) -> Figure:
        """Draw the evidence after each label, on a logarithmic scale, and the line of the alarm.

        Raises
        ------
        InputError
            If there is no certificate, or it is void, so that no evidence was gathered.
        """
        from check_workbench.plots import wealth_paths

        if not self.strata:
            raise InputError(f"{self.check}: there is nothing to draw: {self.reasons[0]}.")
        paths = {stratum.name: stratum.wealth for stratum in self.strata}
        return wealth_paths(paths, limit=self.strata[0].limit, title=self.check)

    def to_json(self) -> dict[str, Any]:
        """Return the audit as plain values, ready for `json.dumps`."""
        held = self.certificate
        return {
            "check": self.check,
            "outcome": self.outcome,
            "reasons": list(self.reasons),
            "certificate": None if held is None else held.to_dict(),
            "void": list(self.void),
            "strata": [stratum.to_dict() for stratum in self.strata],
            "standing": [{"name": alarm.name, "labels": alarm.labels} for alarm in self.standing],
            "signals": [{"name": s.name, "said": s.said, "p": s.p, "warns": s.warns} for s in self.signals],
            "due": plain_rows(self.due),
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        from check_workbench.monitoring.words import lines

        yield f"{self.check}: {self.outcome}"
        yield from (f"  {words}" for words in lines(self))

    def _repr_html_(self) -> str:
        from check_workbench.monitoring.page import fragment

        return fragment(self)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        del include, exclude
        return {"text/plain": repr(self), "text/html": self._repr_html_(), MIME: self.to_json()}
