"""An evaluator that is made where it is used: once in this process, once in each partition of another engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError
from check_workbench.evaluators.protocol import Evaluator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from check_workbench.evaluators.protocol import Capabilities, Request
    from check_workbench.results import Answer


class Made:
    """The evaluator that a function makes, on first use; what is sent to another process is the function.

    Parameters
    ----------
    make
        Takes nothing and returns an evaluator.

    Examples
    --------
    >>> from check_workbench.evaluators import Recorded
    >>> Made(lambda: Recorded([], name="mine")).name
    'mine'
    """

    def __init__(self, make: Callable[[], Evaluator]) -> None:
        self._make = make
        self._own: Evaluator | None = None

    def __reduce__(self) -> tuple[type[Made], tuple[Callable[[], Evaluator]]]:
        return Made, (self._make,)

    @property
    def name(self) -> str:
        """Its name in messages."""
        return self._made().name

    @property
    def capabilities(self) -> Capabilities:
        """What it can."""
        return self._made().capabilities

    def answer(self, requests: Iterable[Request]) -> Iterator[Answer]:
        """Answer requests as they come."""
        return self._made().answer(requests)

    def _made(self) -> Evaluator:
        if self._own is None:
            made: Any = self._make()
            if not isinstance(made, Evaluator):
                raise InputError(
                    "the function given as evaluator must return an object with `name`, `capabilities` and `answer`, "
                    f"got {type(made).__name__}"
                )
            self._own = made
        return self._own
