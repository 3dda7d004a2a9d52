"""Evaluators that workers can import."""

from __future__ import annotations

import hashlib
import itertools
import os
from typing import TYPE_CHECKING, Any

from check_workbench.evaluators import Capabilities, Request
from check_workbench.results import Answer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_made = itertools.count()


class Judge:
    """Answers from a digest of what it is shown, and names itself by process and number."""

    name = "judge"
    capabilities = Capabilities(characters=2_000)

    def __init__(self, *, stops_at: str | None = None) -> None:
        self.stops_at = stops_at
        self.model = f"judge {os.getpid()}-{next(_made)}"
        self.lock: Any = None

    def answer(self, requests: Iterable[Request]) -> Iterator[Answer]:
        for request in requests:
            if request.run_id == self.stops_at:
                raise TimeoutError("no route to the judge")
            shown = hashlib.sha256(request.evidence.text.encode()).digest()
            yield Answer(
                check_id=request.check_id,
                run_id=request.run_id,
                item=request.item,
                span_id=request.span_id,
                probability=shown[0] / 255,
                method="reported",
                model=self.model,
            )


class Silent(Judge):
    """Stops whenever it is asked."""

    def answer(self, requests: Iterable[Request]) -> Iterator[Answer]:
        for request in requests:
            raise AssertionError(f"{request.run_id} was asked about again")
        yield from ()
