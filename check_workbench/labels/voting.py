"""From the decisions on one unit to one label."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from check_workbench.records import FINDING_DECISIONS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from check_workbench.labels.blindness import Blindness

DISAGREE = "annotators_disagree"


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """One decision on a unit that says problem or clean."""

    row: Mapping[str, Any]
    positive: bool
    blindness: Blindness


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """What people said of one unit."""

    positive: bool
    blind: bool
    blind_by: str | None
    reason_not_blind: str | None
    votes: tuple[Vote, ...]


def label_of(votes: Sequence[Vote]) -> Label | None:
    """Return the majority of the votes on one unit, or None if they tie.

    Blind votes alone decide where there are any: whoever saw the verdict may have followed it.

    Parameters
    ----------
    votes
        At least one vote; of one person the last word on one thing, see `replaced`.
    """
    blind = [vote for vote in votes if vote.blindness.by is not None]
    counted = blind or list(votes)
    positive = _majority(_settled(counted))
    if positive is None:
        return None
    by = sorted({str(vote.blindness.by) for vote in blind})
    reasons = Counter(str(vote.blindness.reason) for vote in counted)
    return Label(
        positive=positive,
        blind=bool(blind),
        blind_by="+".join(by) or None,
        reason_not_blind=None if blind else min(reasons, key=lambda reason: (-reasons[reason], reason)),
        votes=tuple(counted),
    )


def _settled(votes: Sequence[Vote]) -> list[bool | None]:
    """Reduce the decisions about findings to one: a unit has a problem if any of its findings is one."""
    plain: list[bool | None] = [vote.positive for vote in votes if vote.row["decision"] not in FINDING_DECISIONS]
    findings: dict[Any, list[bool | None]] = {}
    for vote in votes:
        if vote.row["decision"] in FINDING_DECISIONS:
            findings.setdefault(vote.row.get("span_id"), []).append(vote.positive)
    if not findings:
        return plain
    said = [_majority(people) for people in findings.values()]
    about_findings = True if True in said else None if None in said else False
    return [*plain, about_findings]


def _majority(votes: Sequence[bool | None]) -> bool | None:
    problems, clean = votes.count(True), votes.count(False)
    return None if problems == clean else problems > clean
