"""The evaluator that replays answers from a file."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Self

from check_workbench.evaluators.protocol import Capabilities
from check_workbench.results import Answer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from check_workbench.evaluators.protocol import Request

Key = tuple[str, str, int, str | None, int, str | None]


class Recorded:
    """Answers requests from recorded answers; what was not recorded stays unanswered.

    Parameters
    ----------
    answers
        The recorded answers; of several on one unit the last one counts. One that names no step answers for the step
        of its check.
    name
        The name in messages.

    Examples
    --------
    >>> Recorded([], name="answers.jsonl").name
    'answers.jsonl'
    """

    def __init__(self, answers: Iterable[Answer], *, name: str = "recorded") -> None:
        self._name = name
        self.rejected = 0
        self._answers: dict[Key, Answer] = {_key(answer): answer for answer in answers}

    @classmethod
    def open(cls, path: str | Path, *, name: str | None = None) -> Self:
        """Read a `.jsonl` file of recorded answers.

        Lines that hold no answer are passed over; `rejected` counts them.

        Raises
        ------
        InputError
            If the file cannot be read.
        """
        from check_workbench.decisions import Rejected, read_answers

        read = list(read_answers(path))
        found = cls((one for one in read if isinstance(one, Answer)), name=name or str(path))
        found.rejected = sum(isinstance(one, Rejected) for one in read)
        return found

    @property
    def name(self) -> str:
        """Its name in messages."""
        return self._name

    @property
    def capabilities(self) -> Capabilities:
        """What it can: the same answers every time, and no model anywhere."""
        return Capabilities(deterministic=True, local=True)

    def answer(self, requests: Iterable[Request]) -> Iterator[Answer]:
        """Yield the recorded answer of each request that has one."""
        for request in requests:
            found = self._answers.get(_key(request)) or self._answers.get(_key(request, of_step=False))
            if found is not None:
                yield dataclasses.replace(found, attempt=request.attempt, step_id=request.step_id)


def _key(one: Answer | Request, *, of_step: bool = True) -> Key:
    return one.check_id, one.run_id, one.item, one.step_id if of_step else None, one.attempt or 1, one.span_id
