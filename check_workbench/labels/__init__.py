"""What people decided, as one label per unit of a check."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from check_workbench import html
from check_workbench.errors import InputError
from check_workbench.evaluation.report import MIME, plain_rows
from check_workbench.labels.joining import Joined, Wanted, joined
from check_workbench.labels.notes import called_both, notes
from check_workbench.labels.reading import Further, Reads
from check_workbench.labels.reasons import left_out
from check_workbench.labels.voting import DISAGREE, label_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd

    from check_workbench.checks import Check
    from check_workbench.evaluation.recorded import Key
    from check_workbench.labels.voting import Label, Vote
    from check_workbench.store import Store

__all__ = ["Labels", "labels_for"]

COLUMNS = [
    "run_id", "step_id", "attempt", "positive", "blind", "blind_by", "reason_not_blind", "n_rows", "edited",
    "decided_at", "decision_keys", "probability_sampled", "workflow", "session_id",
]  # fmt: skip
SHOWN = ("run_id", "step_id", "attempt", "positive", "blind", "reason_not_blind", "n_rows", "decided_at")
ROWS_SHOWN = 50
BESIDE_BLIND = "not_blind_beside_blind"


@dataclass(frozen=True, kw_only=True, eq=False)
class Labels:
    """The labels of a check, one row per unit, and what was left out."""

    check: str
    frame: pd.DataFrame
    """`positive` means a problem. `n_rows` decisions were counted, those in `decision_keys`; `edited` says that the
    problem is only that somebody edited the work."""
    excluded: Mapping[str, int] = field(default_factory=dict)
    """How many decisions were left out, by reason."""
    proxy: bool = False
    """Whether decisions about the work stand in for decisions about the check."""
    notes: tuple[str, ...] = ()
    undecided: frozenset[Key] = frozenset()
    """Units that people looked at and that have no label."""
    further: tuple[Further, ...] = ()
    """Labels that decisions speak of which came after a call had read them."""

    def __len__(self) -> int:
        return len(self.frame)

    def to_json(self) -> dict[str, Any]:
        """Return the labels as plain values."""
        rows = plain_rows(self.frame)
        return {"check": self.check, "labels": rows, "excluded": dict(self.excluded), "notes": list(self.notes)}

    def _repr_html_(self) -> str:
        shown = plain_rows(self.frame[list(SHOWN)].head(ROWS_SHOWN))
        table = html.table(shown, list(SHOWN), caption=f"Labels of {self.check}, {len(shown)} of {len(self.frame)}")
        left = [*left_out(self.excluded)]
        return html.fragment(table, *([html.bullets(left)] if left else []), *map(html.note, self.notes))

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        document = {"kind": "labels", **self.to_json()}
        return {"text/plain": repr(self), "text/html": self._repr_html_(), MIME: document}

    def __repr__(self) -> str:
        counts = f"{len(self.frame)} units, {int(self.frame['positive'].sum())} with a problem"
        head = f"Labels of {self.check}: {counts}, {int(self.frame['blind'].sum())} blind"
        left = [f"  {words}" for words in left_out(self.excluded)]
        return "\n".join([head, *left, *(f"  note: {note}" for note in self.notes)])


def labels_for(
    check: Check,
    store: Store,
    *,
    kind: str = "check",
    item: int | None = None,
    reads: Reads | None = None,
) -> Labels:
    """Join human decisions to the units of a check.

    A person can correct a decision that names a check: of what one named person said of one unit and one question
    (check, step, attempt, question, span) the last word counts, with its own blindness, and what it replaces is left
    out as `superseded`. The last is the one with the latest `decided_at`; at the same time, or where one of them has
    none, the one that was loaded later. Two words that nothing puts in order both count, so they may tie. Names are the
    same in whatever case and with whatever spaces; decisions of nobody are those of different people. A decision about
    the work without a check is an event, which replaces nothing, and nothing it; where a step of a process was rejected
    and later approved by the same person, with no attempt named, the approval speaks of rework and is left out as such.

    Parameters
    ----------
    check
        The check. Decisions that name it count. For a step of a process, decisions about the work count as well.
    store
        The store.
    kind
        `check`; or `work`, to take decisions about the work as a proxy for any check.
    item
        Only labels of this question, from 0; None takes the check as a whole.
    reads
        For a certificate, the calls that read labels. What comes after one of them had read a blind label changes that
        label no more, whoever says it (`after_look`), and a word that was not blind replaces none that was. None: the
        last word counts.

    Returns
    -------
    Labels
        One row per labelled unit, in order of run and attempt.

    Raises
    ------
    InputError
        If `kind` is neither of the two.

    Examples
    --------
    >>> import check_workbench as cw
    >>> from check_workbench.checks import Check
    >>> labels_for(Check(id="loop", dialect="neatroots", items=()), cw.open())
    Labels of loop: 0 units, 0 with a problem, 0 blind
    """
    if kind not in {"check", "work"}:
        raise InputError(f"kind must be 'check' or 'work', got {kind!r}")
    of_step = check.process is not None
    wanted = Wanted(check=check, work=of_step or kind == "work", item=item, reads=reads)
    found = joined(wanted, store)
    rows, undone, undecided = [], 0, set(found.neither) - set(found.votes)
    for key in sorted(found.votes, key=lambda one: (one[0], one[1] or 0)):
        label = label_of(found.votes[key])
        if label is None:
            found.excluded[DISAGREE] += len(found.votes[key])
            undone += called_both(found.votes[key])
            undecided.add(key)
            continue
        found.excluded[BESIDE_BLIND] += len(found.votes[key]) - len(label.votes)
        rows.append(_row(check, key, label, found))
    proxy = kind == "work" and not of_step
    return Labels(
        check=check.id,
        frame=_frame(rows),
        excluded={reason: count for reason, count in sorted(found.excluded.items()) if count},
        proxy=proxy,
        notes=tuple(notes(rows, undone, proxy=proxy)),
        undecided=frozenset(undecided),
        further=tuple(_further(found, joined(dataclasses.replace(wanted, reads=Reads()), store)))
        if +found.late
        else (),
    )


def _further(found: Joined, latest: Joined) -> Iterator[Further]:
    """Yield what decisions that came late would make of the labels."""
    for unit, count in sorted((+found.late).items()):
        label, other = (_label(one.votes.get(unit)) for one in (found, latest))
        yield Further(
            unit=unit,
            positive=None if label is None else label.positive,
            otherwise=None if other is None else other.positive,
            decisions=count,
        )


def _label(votes: Sequence[Vote] | None) -> Label | None:
    return label_of(votes) if votes else None


def _row(check: Check, key: Key, label: Label, found: Joined) -> dict[str, Any]:
    run, attempt = key
    decisions = [vote.row for vote in label.votes]
    dates = [row["decided_at"] for row in decisions if row["decided_at"] is not None]
    drawn = [row["probability_sampled"] for row in decisions if row["probability_sampled"] is not None]
    problems = [vote.row["decision"] for vote in label.votes if vote.positive]
    return {
        "run_id": run,
        "step_id": check.step_id,
        "attempt": attempt,
        "positive": label.positive,
        "blind": label.blind,
        "blind_by": label.blind_by,
        "reason_not_blind": label.reason_not_blind,
        "n_rows": len(decisions),
        "edited": label.positive and set(problems) == {"edited"},
        "decided_at": max(dates) if dates else None,
        "decision_keys": sorted(int(row["decision_key"]) for row in decisions),
        "probability_sampled": drawn[0] if drawn else None,
        "workflow": found.about[run]["workflow"],
        "session_id": found.about[run]["session_id"],
    }


def _frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    import pandas as pd

    table = pd.DataFrame(rows, columns=COLUMNS)
    table["attempt"] = pd.array(table["attempt"].tolist(), dtype="Int64")
    table["decided_at"] = pd.to_datetime(table["decided_at"])
    kinds = {"positive": "bool", "blind": "bool", "edited": "bool", "n_rows": "int64", "probability_sampled": "float64"}
    return table.astype(kinds)
