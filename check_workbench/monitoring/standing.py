"""Alarms that an earlier audit of the same certificate raised, and that stand although the labels changed.

Labels count in the order of their decisions. One that comes late with an earlier time takes its place among the others,
a person may change sides, and decisions can be deleted: each may lower evidence that had already reached its limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from check_workbench.calibration import looks as ledger

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from check_workbench.checks import Check
    from check_workbench.monitoring.granted import Granted
    from check_workbench.monitoring.strata import Stratum


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The first alarm of a stratum that no longer raises it by itself."""

    name: str
    labels: int
    """After how many labels it was raised."""


def raised(strata: Sequence[Stratum], certificate: Granted) -> dict[str, Any]:
    """Return what the ledger keeps of an audit, so that its alarms stand."""
    alarms = [{"name": stratum.name, "labels": stratum.reached} for stratum in strata if stratum.alarm]
    return {"granted": certificate.digest, "alarms": alarms}


def standing(
    check: Check, certificate: Granted, looks: pd.DataFrame, strata: Sequence[Stratum]
) -> tuple[Standing, ...]:
    """Return the alarms of earlier audits that the present labels would not raise.

    Parameters
    ----------
    check
        The check.
    certificate
        Its certificate; a new one begins anew.
    looks
        All looks in the store.
    strata
        What the present labels say.
    """
    mine = ledger.own(looks, check)
    silent = {stratum.name for stratum in strata if not stratum.alarm}
    found: dict[str, Standing] = {}
    for result in mine.loc[mine["call"] == "audit", "result"]:
        for alarm in result.get("alarms", ()) if result.get("granted") == certificate.digest else ():
            if alarm["name"] in silent:
                found.setdefault(alarm["name"], Standing(**alarm))
    return tuple(found.values())
