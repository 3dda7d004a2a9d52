"""Whether a decision was made without the check's verdict in view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from check_workbench.records import FINDING_DECISIONS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

SAID, ASSERTED, TIME = "said", "asserted", "time"


@dataclass(frozen=True, slots=True, kw_only=True)
class Blindness:
    """How it is known that a decision was blind, or why it does not count as blind."""

    by: str | None = None
    """`said` by the decision, `asserted` when it was loaded, or by the `time` at which it was made."""
    reason: str | None = None


def blindness(row: Mapping[str, Any], visible_from: datetime | None) -> Blindness:
    """Say whether a decision was blind.

    Parameters
    ----------
    row
        The decision.
    visible_from
        When the first verdict of the check on the unit could be seen, UTC; None where that is unknown.

    Returns
    -------
    Blindness
        Unknown counts as not blind. A decision about a finding was made in sight of it unless it says otherwise.

    Examples
    --------
    >>> blindness({"verdict_seen": False, "decision": "approved"}, None)
    Blindness(by='said', reason=None)
    """
    if row.get("verdict_seen") is False:
        return Blindness(by=ASSERTED if row.get("asserted_blind") is True else SAID)
    if row.get("verdict_seen") is True or row.get("provenance") == "saw_verdict":
        return Blindness(reason="saw_verdict")
    if row.get("asserted_blind") is True:
        return Blindness(by=ASSERTED)
    if row.get("provenance") == "blind":
        return Blindness(by=SAID)
    if row.get("provenance") == "prefilled":
        return Blindness(reason="prefilled")
    if row["decision"] in FINDING_DECISIONS:
        return Blindness(reason="about_a_finding")
    return _by_time(row.get("decided_at"), visible_from)


def _by_time(decided_at: datetime | None, visible_from: datetime | None) -> Blindness:
    if decided_at is None or visible_from is None:
        return Blindness(reason="verdict_seen_unknown")
    if decided_at < visible_from:
        return Blindness(by=TIME)
    return Blindness(reason="decided_after_verdict")
