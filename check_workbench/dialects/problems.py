"""What is wrong with a document, or worth knowing: `Problem`, collected so that all are told at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from check_workbench.checks import Check, Dialect
    from check_workbench.documents import Document, Flaw, Path

Severity = Literal["error", "warning", "note"]


class Placed(Protocol):
    """Anything that knows where it stands."""

    @property
    def line(self) -> int:
        """Line, from 1."""

    @property
    def column(self) -> int:
        """Column, from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that a reader of the document should know, and where it stands."""

    line: int
    column: int
    severity: Severity
    code: str
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A check in a document: its id, where its mapping lies, and the check if it can be used."""

    id: str
    path: Path
    """Place of the root, then keys and places."""
    check: Check | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What was read from one file."""

    file: str
    dialect: Dialect
    checks: tuple[Check, ...]
    """The checks that can be used, in document order."""
    problems: tuple[Problem, ...]
    found: tuple[Found, ...] = ()
    """Every check with a readable id, also those that cannot be used."""
    document: Document | None = None


class Problems:
    """Collects problems in document order."""

    def __init__(self) -> None:
        self._found: list[Problem] = []

    def error(self, where: Placed, code: str, message: str, *, hint: str = "") -> None:
        """Add something that makes a check unusable."""
        self._add(where, "error", code, (message, hint))

    def warn(self, where: Placed, code: str, message: str, *, hint: str = "") -> None:
        """Add something that is probably not meant."""
        self._add(where, "warning", code, (message, hint))

    def note(self, where: Placed, code: str, message: str, *, hint: str = "") -> None:
        """Add something worth knowing."""
        self._add(where, "note", code, (message, hint))

    def flaws(self, flaws: Iterable[Flaw]) -> None:
        """Add what is wrong with the document as such."""
        for flaw in flaws:
            self.error(flaw, flaw.code, flaw.message, hint=flaw.hint)

    @property
    def errors(self) -> int:
        """How many errors there are so far."""
        return sum(problem.severity == "error" for problem in self._found)

    def sorted(self) -> tuple[Problem, ...]:
        """Return all, each once, by line and column."""
        return tuple(sorted(dict.fromkeys(self._found), key=lambda p: (p.line, p.column)))

    def _add(self, where: Placed, severity: Severity, code: str, words: tuple[str, str]) -> None:
        message, hint = words
        self._found.append(
            Problem(
                line=where.line,
                column=where.column,
                severity=severity,
                code=code,
                message=message,
                hint=hint.strip(),
            ),
        )
