"""The result of a gate: text, HTML, JSON and JUnit."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from check_workbench import html
from check_workbench.calibration.outcome import MIME
from check_workbench.certificates.wording import many
from check_workbench.files import write_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from check_workbench.changes.conditions import Case

COLUMNS = {"of": "check", "condition": "condition", "state": "state", "words": "what was found", "advice": "next"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gate:
    """Every condition that was looked at, and whether the gate is passed."""

    cases: tuple[Case, ...]
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether no case failed."""
        return not any(case.state == "failed" for case in self.cases)

    @property
    def exit_code(self) -> int:
        """The exit code of the command line: 1 where a case failed."""
        return 0 if self.passed else 1

    @property
    def counts(self) -> dict[str, int]:
        """How many cases passed, failed, and could not be decided."""
        found = Counter(case.state for case in self.cases)
        return {"passed": found["passed"], "failed": found["failed"], "skipped": found["skipped"]}

    def junit(self, path: str | Path) -> Path:
        """Write the cases as JUnit XML.

        Raises
        ------
        InputError
            If the file cannot be written.
        """
        from check_workbench.changes.junit import junit_xml

        target = Path(path)
        write_file(target, junit_xml(self).encode())
        return target

    def to_json(self) -> dict[str, Any]:
        """Return the gate as plain values, ready for `json.dumps`."""
        cases = [case.to_dict() for case in self.cases]
        return {"passed": self.passed, "counts": self.counts, "cases": cases, "notes": list(self.notes)}

    def __repr__(self) -> str:
        return "\n".join(self._lines())

    def _head(self) -> str:
        counts = self.counts
        told = f"{many(counts['failed'], 'case')} failed, {counts['skipped']} not decided, {counts['passed']} passed"
        return f"gate {'passed' if self.passed else 'failed'}: {told}"

    def _lines(self) -> Iterator[str]:
        yield self._head()
        for state in ("failed", "skipped", "passed"):
            for case in self.cases:
                if case.state == state:
                    yield f"  {state}  {case.of}, {case.condition}: {case.words}"
                    if case.advice:
                        yield f"    next: {case.advice}"
        yield from (f"  note: {note}" for note in self.notes)

    def _repr_html_(self) -> str:
        order = ("failed", "skipped", "passed")
        rows = sorted((case.to_dict() for case in self.cases), key=lambda row: order.index(row["state"]))
        return html.fragment(html.table(rows, COLUMNS, caption=self._head()), *map(html.note, self.notes))

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        del include, exclude
        return {"text/plain": repr(self), "text/html": self._repr_html_(), MIME: self.to_json()}
