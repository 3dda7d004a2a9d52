"""What the audited labels say of first submissions, and apart from them of resubmissions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from check_workbench.calibration.units import KEY, name_of, records
from check_workbench.stats.intervals import clopper_pearson
from check_workbench.stats.monitor import EProcess, alarming, risk_bounds

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from check_workbench.checks import Check
    from check_workbench.monitoring.granted import Granted
    from check_workbench.stats.intervals import Interval

FALSE_ALARM = 0.05
"""Allowed chance of a false alarm, ever, over all strata together."""
FIRST, RESUBMITTED = "first submissions", "resubmissions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum:
    """One kind of work: how much there was, how much was drawn and decided, and the evidence that it gives."""

    name: str
    work: int
    """Work since the certificate on the side that nobody looks at."""
    drawn: int
    labels: int
    """Drawn and decided blind."""
    errors: int
    overdue: int
    wealth: tuple[float, ...]
    """The evidence against the certificate after each label, in the order in which they were given."""
    limit: float
    reached: int | None
    """Number of labels after which the evidence reached its limit."""
    interval: Interval | None
    """The exact 95 % interval of the risk at this moment."""
    always: Interval
    """Bounds of the risk that hold at every look."""
    worst: bool
    """Whether the alarm would ring if each undecided drawn piece were an error."""
    unasked: int
    """Blind labels of work that was not drawn; they do not count."""
    unasked_errors: int
    wrong: tuple[str, ...]
    """The errors among the audited labels."""

    @property
    def undecided(self) -> int:
        """Drawn work without a blind label."""
        return self.drawn - self.labels

    @property
    def risk(self) -> float | None:
        """The share of errors among the audited labels."""
        return self.errors / self.labels if self.labels else None

    @property
    def alarm(self) -> bool:
        """Whether the evidence ever reached its limit."""
        return self.reached is not None

    @property
    def evidence(self) -> float:
        """The evidence after the last label; 1 before any."""
        return self.wealth[-1] if self.wealth else 1.0

    @property
    def peak(self) -> float:
        """The largest evidence so far, at least 1."""
        return max((1.0, *self.wealth))

    def to_dict(self) -> dict[str, Any]:
        """Return the stratum as JSON knows it."""
        names = ("name", "work", "drawn", "labels", "errors", "undecided", "overdue", "risk", "limit", "evidence")
        return {
            **{name: getattr(self, name) for name in names},
            "peak": self.peak,
            "reached": self.reached,
            "alarm": self.alarm,
            "interval": None if self.interval is None else list(self.interval),
            "always": list(self.always),
            "worst_case_alarm": self.worst,
            "unasked": {"labels": self.unasked, "errors": self.unasked_errors},
            "wrong": list(self.wrong),
            "wealth": list(self.wealth),
        }


def strata(check: Check, after: pd.DataFrame, certificate: Granted) -> tuple[Stratum, ...]:
    """Follow the audited labels of each kind of work.

    Only a step of a process can be submitted again, so other checks have one stratum. Each has an equal part of the
    allowed chance of a false alarm, fixed before any work is seen: a sound check is disturbed once in twenty audits at
    most, whichever kind of work the alarm is about.

    Parameters
    ----------
    check
        The check.
    after
        The work since the certificate, drawn.
    certificate
        What the check stands on.
    """
    names = (FIRST,) if check.step_id is None else (FIRST, RESUBMITTED)
    inside = after[after["inside"]]
    return tuple(
        _stratum(name, inside[inside["resubmitted"] == (name == RESUBMITTED)], certificate, FALSE_ALARM / len(names))
        for name in names
    )


def evidence(wrong: Sequence[bool] | NDArray[np.bool_], *, target: float, false_alarm: float) -> EProcess:
    """Return the evidence that the risk is above the certified one, after each audited label.

    Parameters
    ----------
    wrong
        Whether each label spoke against the check, in the order in which they were given.
    target
        The certified risk.
    false_alarm
        Allowed chance that the evidence ever reaches its limit although the risk is as certified.

    Examples
    --------
    >>> evidence([True, True, False, True], target=0.05, false_alarm=0.05).reached
    2
    """
    return alarming(np.asarray(wrong, dtype=np.bool_), alpha=target, delta=false_alarm)


def _stratum(name: str, rows: pd.DataFrame, certificate: Granted, false_alarm: float) -> Stratum:
    asked = rows[rows["state"] == "done"].sort_values(["decided_at", *KEY], na_position="last", kind="stable")
    others = rows[~rows["drawn"] & rows["labelled"] & ~rows["seen"]]
    wrong = _wrong(asked, certificate)
    undecided = int(rows["drawn"].sum()) - len(asked)
    found = evidence(wrong, target=certificate.target, false_alarm=false_alarm)
    worst = evidence(np.append(wrong, np.ones(undecided, bool)), target=certificate.target, false_alarm=false_alarm)
    return Stratum(
        name=name,
        work=len(rows),
        drawn=int(rows["drawn"].sum()),
        labels=len(asked),
        errors=int(wrong.sum()),
        overdue=int((rows["state"] == "overdue").sum()),
        wealth=tuple(found.wealth.tolist()),
        limit=found.limit,
        reached=found.reached,
        interval=clopper_pearson(int(wrong.sum()), len(asked)) if len(asked) else None,
        always=risk_bounds(wrong),
        worst=worst.reached is not None,
        unasked=len(others),
        unasked_errors=int(_wrong(others, certificate).sum()),
        wrong=tuple(name_of(row) for row in records(asked[wrong])),
    )


def _wrong(rows: pd.DataFrame, certificate: Granted) -> NDArray[np.bool_]:
    positive = rows["positive"].to_numpy(dtype=bool)
    return positive if certificate.side == "false_pass" else ~positive
