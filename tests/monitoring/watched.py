"""A certified check, and the weeks of work after it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import check_workbench as cw

if TYPE_CHECKING:
    from collections.abc import Sequence

    from check_workbench.certificates import Certificates
    from check_workbench.monitoring import Audit
    from check_workbench.plans import Plan
    from check_workbench.store import Store
    from tests.scenario import Scenario

CHANGED = datetime(2026, 5, 4, 9)  # noqa: DTZ001 - the store's times are UTC without a zone
"""When the last decision before the change was made."""


@dataclass(slots=True, kw_only=True)
class Watched:
    """A store and the files of its team."""

    store: Store
    team: Scenario
    decided: int = 0
    due: list[str] = field(default_factory=list)
    """Work that was due when the store was made."""

    def certify(self, plan: Plan | None = None) -> Certificates:
        """Load 150 labelled runs, a third of which fails, and trust the check."""
        units = [
            unit(f"b-{place:03d}", (place - 150) * 0.25, p=0.9 if place % 3 == 0 else 0.1, bad=place % 3 == 0)
            for place in range(150)
        ]
        self.team.load(self.store, units)
        wanted = plan or cw.plan(change="replace_approval", max_false_pass=0.1)
        made = cw.trust(self.team.check, self.store, plan=wanted)
        assert made.outcome == "ready"
        return made

    def work(self, n: int, *, days: float = 1.0, name: str = "a", **fields: Any) -> list[dict[str, Any]]:
        """Load n unlabelled runs that pass, one every so many days since the change."""
        units = [unit(f"{name}-{place:03d}", (place + 0.5) * days, **fields) for place in range(n)]
        self.team.load(self.store, units)
        return units

    def decide(self, runs: Sequence[str], *, bad: bool = False, **fields: Any) -> None:
        """Label runs blind, in the order given, a minute apart, from 200 days after the change on."""
        first = CHANGED + timedelta(days=200)
        told = [
            {"run": run, "bad": bad, "decided_at": (first + timedelta(minutes=place)).isoformat(), **fields}
            for place, run in enumerate(runs, start=self.decided)
        ]
        self.decided += len(runs)
        self.team.decide(self.store, told)

    def audit(self) -> Audit:
        """Audit the check as its file stands."""
        return cw.audit(self.team.check, self.store)


def unit(run: str, day: float, *, p: float = 0.1, bad: bool | None = None, **fields: Any) -> dict[str, Any]:
    """Return a run that began some days after the change; a label is given at the change at the latest."""
    began = CHANGED + timedelta(days=day)
    decided = {} if bad is None else {"decided_at": (began + timedelta(hours=6)).isoformat()}
    return {"run": run, "p": p, "bad": bad, "started_at": f"{began.isoformat()}Z", **decided, **fields}
