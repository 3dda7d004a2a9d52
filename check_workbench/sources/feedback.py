"""What people said of runs in a tracing tool, to decisions.

A tool records a name and a value, and seldom which value is the bad one. What is well known is read, nothing guessed.

| value | decision |
|---|---|
| `correct right good pass passed accept accepted approve approved ok okay satisfied like thumbs up 👍` | `no_problem` |
| `incorrect wrong bad fail failed reject rejected not ok dissatisfied dislike thumbs down 👎` | `problem` |
| `approved`, `rejected`, … in any case, with `_` or `-` for the space | the same |
| true, of a name with `correct`, `helpful`, `faithful`, … (`GOOD`) | `no_problem`, and false `problem` |
| true, of a name with `hallucination`, `toxic`, `error`, … (`BAD`) | `problem`, and false `no_problem` |
| true, 1 and 1.0 of a name with `thumb` | `no_problem`; false, 0 and -1 `problem`; the reverse with `down` |
| anything else: other numbers, other words, true of another name | `unclear`, with the value in `answer`, and a note |

A name that has a word of both lists, or a negation (`no_errors`), says nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from check_workbench.records import Decision
from check_workbench.sources.format import Note

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

PASSING = frozenset(
    {"correct", "right", "good", "pass", "passed", "accept", "accepted", "approve", "approved", "ok", "okay"}
    | {"satisfied", "like", "liked", "thumbs up", "thumb up", "thumbsup", "👍"}
)
FAILING = frozenset(
    {"incorrect", "wrong", "bad", "fail", "failed", "reject", "rejected", "not ok", "dissatisfied"}
    | {"dislike", "disliked", "thumbs down", "thumb down", "thumbsdown", "👎"}
)
GOOD = frozenset(
    {
        "correct",
        "correctness",
        "accurate",
        "accuracy",
        "right",
        "good",
        "helpful",
        "helpfulness",
        "useful",
        "usefulness",
    }
    | {"faithful", "faithfulness", "grounded", "groundedness", "relevant", "relevance", "pass", "passed", "success"}
    | {"successful", "resolved", "solved", "accepted", "acceptable", "approved", "satisfied", "safe", "valid"}
)
BAD = frozenset(
    {"incorrect", "inaccurate", "wrong", "bad", "unhelpful", "hallucination", "hallucinated", "hallucinates", "toxic"}
    | {"toxicity", "harmful", "offensive", "irrelevant", "fail", "failed", "failure", "error", "errors", "problem"}
    | {"issue", "bug", "rejected", "unsafe", "invalid", "biased", "dislike", "violation"}
)
_NEGATIONS = frozenset({"no", "not", "non", "without", "free", "never", "un"})
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_LISTED = 3


def decision_of(name: str, value: Any) -> str:
    """Say whether a person's value means a problem.

    Parameters
    ----------
    name
        What the value is a score of.
    value
        What the person chose.

    Returns
    -------
    str
        `problem`, `no_problem`, or `unclear` where the value does not say.

    Examples
    --------
    >>> decision_of("review", "Thumbs_down"), decision_of("isCorrect", value=True), decision_of("quality", 4)
    ('problem', 'no_problem', 'unclear')
    """
    good = _means_good(name, value)
    return "unclear" if good is None else "no_problem" if good else "problem"


@dataclass(slots=True)
class Feedback:
    """The human scores of one file: each becomes a decision, and those that say neither good nor bad are counted."""

    unclear: Counter[str] = field(default_factory=Counter)
    values: dict[str, dict[str, None]] = field(default_factory=dict)
    described: int = 0
    """Scores, of people or programs, that say more than a decision or an answer has room for."""

    def decision(self, about: About, name: str, value: Any) -> Decision:
        """Turn one human score into a decision about the check of that name.

        Parameters
        ----------
        about
            The run, and who spoke when.
        name
            The score's name.
        value
            What was chosen.
        """
        decided = decision_of(name, value)
        if decided == "unclear":
            self.unclear[name] += 1
            self.values.setdefault(name, {})[f"{value!r:.40}"] = None
        return about.decision(decided, check_id=name, answer=None if isinstance(value, bool) else value)

    def notes(self, file: str) -> Iterator[Note]:
        """Yield one note for each name with values that say neither good nor bad, and one for what was not taken.

        Parameters
        ----------
        file
            The file's name in reports.
        """
        for name, count in sorted(self.unclear.items()):
            seen = list(self.values[name])
            listed = ", ".join(seen[:_LISTED]) + (", …" if len(seen) > _LISTED else "")
            yield Note(
                file=file,
                text=f"human scores named {name!r} ({listed}) do not say which value means a problem; they count as "
                f"unclear: {count:,}. Say it in a mapping (--mapping) that turns them into problem and no_problem",
            )
        if self.described:
            yield Note(file=file, text=f"scores with metadata, which was not taken: {self.described:,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a person's score is about, who gave it and when."""

    run_id: str
    span_id: str | None = None
    by: str | None = None
    at: datetime | None = None
    note: str | None = None
    project: str | None = None
    seen: bool | None = None
    """Whether a verdict was in view; seldom said."""

    def decision(self, decided: str, *, check_id: str | None = None, answer: Any = None) -> Decision:
        """Make an imported decision of it.

        Parameters
        ----------
        decided
            The decision.
        check_id
            The check that it is about; None means the work.
        answer
            The value that was chosen.
        """
        return Decision(
            run_id=self.run_id,
            decision=decided,
            check_id=check_id,
            span_id=self.span_id,
            answer=answer,
            decided_by=self.by,
            decided_at=self.at,
            verdict_seen=self.seen,
            provenance="imported",
            project=self.project,
            note=self.note,
        )


def _means_good(name: str, value: Any) -> bool | None:
    if isinstance(value, str):
        word = re.sub(r"[\s_-]+", " ", value).strip().lower()
        return True if word in PASSING else False if word in FAILING else None
    words = {word.lower() for word in _WORD.findall(name)}
    if words & {"thumb", "thumbs"} and isinstance(value, int | float) and value in {1, 0, -1}:
        return (value == 1) != ("down" in words)
    if not isinstance(value, bool) or words & _NEGATIONS:
        return None
    good, bad = bool(words & GOOD), bool(words & BAD)
    return None if good == bad else value == good
