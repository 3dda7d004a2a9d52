"""What each person said of each unit, and how far people who decided the same unit agree.

A word about the check and a word about the work answer different questions, so they are never compared.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from check_workbench.calibration.units import records
from check_workbench.comparison.rows import ABOUT, about, with_agreement
from check_workbench.errors import UndefinedError
from check_workbench.labels.joining import Wanted, joined
from check_workbench.labels.voting import label_of
from check_workbench.records import FINDING_DECISIONS, person
from check_workbench.stats.raters import agreement_among

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd

    from check_workbench.checks import Check
    from check_workbench.evaluation.recorded import Key
    from check_workbench.labels.joining import Joined
    from check_workbench.labels.voting import Label, Vote
    from check_workbench.stats.agreement import Agreement
    from check_workbench.store import Store

    Opinions = Mapping[Key, Mapping[str, Sequence[Vote]]]
    Labels = Mapping[str, Label]

CLASSES = ("good", "bad")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """How far people agree who decided the same unit: what can be asked of a check at most."""

    about: str
    """What they decided on: the `check`, its question or its finding; or the `work`."""
    n: int
    """Units that several people decided."""
    people: int
    blind: bool
    """Whether only blind decisions were counted; where there are none, all are."""
    agreement: Agreement | None
    """None where no unit was decided by several people."""
    by_verdict: Mapping[str, Agreement]
    """Likewise among the units that the check passes, is unsure of, and fails."""
    torn: int
    """How often one person said both good and bad of one thing, in no order, which is not counted."""
    unnamed: int
    """Units with several decisions that do not name who made them, which are not counted."""
    other: Ceiling | None = None
    """Likewise of what people decided on the work, where this one is of the check, and the other way round."""

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
    """Return by unit what each named person said, in order of names."""
    found: dict[Key, dict[str, list[Vote]]] = {}
    names = _names(opinions)
    for key, votes in opinions.votes.items():
        mine: dict[str, list[Vote]] = {}
        for vote in votes:
            if (who := person(vote.row["decided_by"])) is not None:
                mine.setdefault(names[who], []).append(vote)
        found[key] = {name: mine[name] for name in sorted(mine)}
    return found


def _names(opinions: Joined) -> Mapping[str, str]:
    """Return how each person is named, in one of the ways in which the name is written."""
    written = {str(vote.row["decided_by"]) for votes in opinions.votes.values() for vote in votes}
    return {str(person(name)): name for name in sorted(written, reverse=True)}


def by_person(check: Check, rows: pd.DataFrame, said: Opinions) -> pd.DataFrame:
    """Return one row for each person and unit, labelled by what that person said of the check, and of the work.

    Where people spoke of both, a person's name says of which a row is.

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
        counted = [(name, kind, label) for name, kind, label in _labels(mine) if label.blind or not row["blind"]]
        places += [place] * len(counted)
        people += counted
    table = rows.iloc[places].reset_index(drop=True)
    several = len({kind for _, kind, _ in people}) > 1
    names = [f"{name}, of the {kind}" if several else name for name, kind, _ in people]
    return with_agreement(table.assign(approver=names, positive=[label.positive for _, _, label in people]))


def _labels(mine: Mapping[str, Sequence[Vote]]) -> Iterator[tuple[str, str, Label]]:
    """Yield what each person said of the check and of the work."""
    for name, votes in mine.items():
        for kind in ABOUT:
            of_it = [vote for vote in votes if about(vote.row) == kind]
            label = label_of(of_it) if of_it else None
            if label is not None:
                yield name, kind, label


def ceiling_of(check: Check, verdicts: pd.DataFrame, opinions: Joined, said: Opinions) -> Ceiling:
    """Measure how far people agree who decided the same unit.

    What they said of the check and of the work is measured apart: the one with blind decisions comes first, then the
    one with more units.

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
        _key(check, row["run_id"], row["attempt"]): str(row["verdict"])
        for row in records(verdicts[["run_id", "attempt", "verdict"]])
    }
    shared = {key: mine for key, mine in said.items() if key in known}
    unnamed = sum(
        len(votes) > 1 and len(said[key]) < 2 and not all(person(vote.row["decided_by"]) for vote in votes)
        for key, votes in opinions.votes.items()
        if key in known
    )
    found = [_ceiling(check, known, shared, kind) for kind in ABOUT]
    first, other = sorted(found, key=lambda one: (not one.blind, -one.n))
    return dataclasses.replace(first, unnamed=unnamed, other=other if other.n else None)


def _ceiling(check: Check, known: Mapping[Key, str], said: Opinions, kind: str) -> Ceiling:
    blind, torn = _several(check, said, kind, blind=True)
    counted = blind
    if not blind:
        counted, torn = _several(check, said, kind, blind=False)
    groups: dict[str, list[Labels]] = {}
    for key, mine in counted.items():
        groups.setdefault(known[key], []).append(mine)
    return Ceiling(
        about=kind,
        n=len(counted),
        people=len({name for mine in counted.values() for name in mine}),
        blind=bool(blind),
        agreement=_among(list(counted.values())),
        by_verdict={
            verdict: found
            for verdict in ("pass", "unsure", "fail")
            if (found := _among(groups.get(verdict, []))) is not None
        },
        torn=torn,
        unnamed=0,
    )


def _several(check: Check, said: Opinions, kind: str, *, blind: bool) -> tuple[dict[Key, Labels], int]:
    """Return by unit what several people said of one thing, that of which most spoke; and how often one said both."""
    found: dict[Key, Labels] = {}
    torn = 0
    for key, mine in said.items():
        things = _things(check, mine, kind, blind=blind)
        labels = [{name: label_of(votes) for name, votes in things[thing].items()} for thing in sorted(things)]
        torn += sum(label is None for one in labels for label in one.values())
        clear = [{name: label for name, label in one.items() if label is not None} for one in labels]
        most = max(clear, key=len, default={})
        if len(most) > 1:
            found[key] = most
    return found, torn


def _things(
    check: Check, mine: Mapping[str, Sequence[Vote]], kind: str, *, blind: bool
) -> dict[str, dict[str, list[Vote]]]:
    """Return by what they speak of, a question, a finding or the whole, the votes of each person."""
    found: dict[str, dict[str, list[Vote]]] = {}
    for name, votes in mine.items():
        for vote in votes:
            if about(vote.row) == kind and (vote.blindness.by is not None or not blind):
                found.setdefault(_thing(check, vote.row), {}).setdefault(name, []).append(vote)
    return found


def _thing(check: Check, row: Mapping[str, Any]) -> str:
    if row["decision"] in FINDING_DECISIONS:
        return f"finding {row['span_id']}"
    whole = row["check_id"] is None or row["question"] is None or len(check.items) == 1
    return "" if whole else f"question {int(row['question'])}"


def _among(units: Sequence[Labels]) -> Agreement | None:
    table = [[sum(one.positive is bad for one in mine.values()) for bad in (False, True)] for mine in units]
    try:
        return agreement_among(table, CLASSES)
    except UndefinedError:
        return None


def _key(check: Check, run: str, attempt: int) -> Key:
    return run, None if check.step_id is None else int(attempt)
