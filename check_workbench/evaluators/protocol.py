"""What an evaluator is: requests in, answers out, and a statement of what it can."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from check_workbench.checks import Question
    from check_workbench.results import Answer, Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What an evaluator can."""

    kinds: tuple[str, ...] = ("yes_no", "choice", "score")
    """Question kinds that it answers; the others stay `not_checked`."""
    characters: int = 65_536
    """How much evidence it reads; longer evidence is cut, oldest first."""
    probabilities: bool = True
    """Whether it gives distributions rather than a bare choice."""
    deterministic: bool = False
    local: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One question on one unit, with what may be seen of it."""

    check_id: str
    run_id: str
    item: int
    """Place of the question in its check, from 0."""
    question: Question
    evidence: Evidence
    asked: str
    """The asked digest of the item."""
    step_id: str | None = None
    attempt: int | None = None
    span_id: str | None = None


@runtime_checkable
class Evaluator(Protocol):
    """Anything that answers typed questions.

    An answer that failed is an `Answer` with the status `error`; a request without an answer stays `not_checked`;
    an exception means that the evaluator itself is gone. Answers may come in any order.
    """

    @property
    def name(self) -> str:
        """Its name in messages."""

    @property
    def capabilities(self) -> Capabilities:
        """What it can."""

    def answer(self, requests: Iterable[Request]) -> Iterator[Answer]:
        """Answer requests as they come; must not read all of them before it answers the first."""
