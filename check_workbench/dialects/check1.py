"""check-1: checks on the steps of an agent process, in the front matter of a PROCESS.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from check_workbench.dialects.problems import Found, Problems
    from check_workbench.documents import Document

NAME: Final = "check-1"


def likeness(document: Document) -> float:
    """Say how much a document looks like a process, from 0 to 1."""
    del document
    return 0.0


def read(document: Document, file: str | None, problems: Problems) -> list[Found]:
    """Read every check of a process."""
    del document, file, problems
    return []
