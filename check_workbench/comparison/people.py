"""What each person said of each unit, and how far people who decided the same unit agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from check_workbench.calibration.units import records
from check_workbench.comparison.rows import with_agreement
from check_workbench.errors import UndefinedError
from check_workbench.labels.joining import Wanted, joined
from check_workbench.labels.voting import label_of
from check_workbench.records import person
from check_workbench.stats.raters import agreement_among

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from check_workbench.checks import Check
    from check_workbench.evaluation.recorded import Key
    from check_workbench.labels.joining import Joined
    from check_workbench.labels.voting import Label
    from check_workbench.stats.agreement import Agreement
    from check_workbench.store import Store

    Opinions = Mapping[Key, Mapping[str, Label]]

CLASSES = ("good", "bad")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """How far people agree who decided the same unit: what can be asked of a check at most."""

    n: int
    """Units that several people decided."""
    people: int
    blind: bool
    """Whether only blind decisions were counted; where there are none, all are."""
    agreement: Agreement | None
    """None where no unit was decided by several people."""
    by_verdict: Mapping[str, Agreement]
    """Likewise among the units that the check passes, is unsure of, and fails."""
    unnamed: int
    """Units with several decisions that do not name who made them, which are not counted."""

    @property
    def disagreement(self) -> tuple[float, float, float] | None:
        """How often two people disagree, with its 95 % interval."""
        if self.agreement is None:
            return None
        value, low, high = self.agreement.raw
        return 1 - value, 1 - high, 1 - low


def opinions_on(check: Check, store: Store, *, kind: str) -> Joined:
    """Return every decision on the units of a check.

    Parameters
    ----------
    check
        The check; of a step of a process, decisions about the work always count.
    store
        The store.
    kind
        `check`, or `work` to take decisions about the work for any check.
    """
    return joined(Wanted(check=check, work=check.process is not None or kind == "work"), store)


def each_said(opinions: Joined) -> Opinions:
    """Return by unit what each named person said; one who said as often bad as good is left out."""
    found: dict[Key, dict[str, Label]] = {}
    names = _names(opinions)
    for key, votes in opinions.votes.items():
        mine: dict[str, list[Any]] = {}
        for vote in votes:
            if (who := person(vote.row["decided_by"])) is not None:
                mine.setdefault(names[who], []).append(vote)
        labels = {name: label_of(mine[name]) for name in sorted(mine)}
        found[key] = {name: label for name, label in labels.items() if label is not None}
    return found


def _names(opinions: Joined) -> Mapping[str, str]:
    """Return how each person is named, in one of the ways in which the name is written."""
    written = {str(vote.row["decided_by"]) for votes in opinions.votes.values() for vote in votes}
    return {str(person(name)): name for name in sorted(written, reverse=True)}


def by_person(check: Check, rows: pd.DataFrame, said: Opinions) -> pd.DataFrame:
    """Return one row for each person and unit, labelled by what that person said.

    Parameters
    ----------
    check
        The check.
    rows
        Compared units; of one that was decided blind only blind decisions count.
    said
        What each person said.
    """
    places, people = [], []
    for place, row in enumerate(records(rows)):
        mine = said.get(_key(check, row["run_id"], row["attempt"]), {})
        counted = [(person, label) for person, label in mine.items() if label.blind or not row["blind"]]
        places += [place] * len(counted)
        people += counted
    table = rows.iloc[places].reset_index(drop=True)
    labels = [label.positive for _, label in people]
    return with_agreement(table.assign(approver=[person for person, _ in people], positive=labels))


def ceiling_of(check: Check, verdicts: pd.DataFrame, opinions: Joined, said: Opinions) -> Ceiling:
    """Measure how far people agree who decided the same unit.

    Parameters
    ----------
    check
        The check.
    verdicts
        Its units, with their verdicts.
    opinions
        All decisions on them.
    said
        What each person said.
    """
    known = {
        _key(check, row["run_id"], row["attempt"]): row["verdict"]
        for row in records(verdicts[["run_id", "attempt", "verdict"]])
    }
    shared = {key: mine for key, mine in said.items() if key in known}
    blind = _several({key: {p: one for p, one in mine.items() if one.blind} for key, mine in shared.items()})
    counted = blind or _several(shared)
    unnamed = sum(
        len(votes) > 1 and len(said[key]) < 2 and not all(person(vote.row["decided_by"]) for vote in votes)
        for key, votes in opinions.votes.items()
        if key in known
    )
    groups: dict[str, list[Mapping[str, Label]]] = {}
    for key, mine in counted.items():
        groups.setdefault(str(known[key]), []).append(mine)
    return Ceiling(
        n=len(counted),
        people=len({person for mine in counted.values() for person in mine}),
        blind=bool(blind),
        agreement=_among(list(counted.values())),
        by_verdict={
            verdict: found
            for verdict in ("pass", "unsure", "fail")
            if (found := _among(groups.get(verdict, []))) is not None
        },
        unnamed=unnamed,
    )


def _several(said: Opinions) -> Opinions:
    return {key: mine for key, mine in said.items() if len(mine) > 1}


def _among(units: Sequence[Mapping[str, Label]]) -> Agreement | None:
    table = [[sum(one.positive is bad for one in mine.values()) for bad in (False, True)] for mine in units]
    try:
        return agreement_among(table, CLASSES)
    except UndefinedError:
        return None


def _key(check: Check, run: str, attempt: int) -> Key:
    return run, None if check.step_id is None else int(attempt)
