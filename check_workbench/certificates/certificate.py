"""The result of a trust decision: outcome, reasons, numbers, report, and the change of the file."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from check_workbench.calibration.outcome import MIME
from check_workbench.certificates.joint import in_words, joint
from check_workbench.certificates.promoting import texts
from check_workbench.checks import Threshold
from check_workbench.errors import InputError, UnknownNameError
from check_workbench.files import write_file

if TYPE_CHECKING:
    from check_workbench.checks import Check
    from check_workbench.plans import Plan

Outcome = Literal["ready", "too_weak", "unusable", "need_labels"]
EXIT_CODES: dict[Outcome, int] = {"ready": 0, "need_labels": 10, "too_weak": 11, "unusable": 12}
PUBLIC = (
    "check", "change", "outcome", "reasons", "n", "errors", "bound", "coverage", "labels_needed", "excluded",
    "plan_digest",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """Whether one check may be trusted, and why."""

    check: str
    change: str
    outcome: Outcome
    reasons: tuple[str, ...]
    n: int
    """Labels at the tested cut of the deciding bound."""
    errors: int
    bound: float | None
    """Upper bound of its risk."""
    coverage: float
    """Share of the work that is decided without a person."""
    labels_needed: int | None
    """Further blind decisions if no further error comes; None where no number helps."""
    excluded: dict[str, int]
    """Labels left out, by reason."""
    plan_digest: str
    details: dict[str, Any] = field(default_factory=dict)
    """Method, model, look, both bounds, every counted error, and what was assumed."""
    repeated: bool = False
    """Whether the same call was made before, whose recorded result this is."""
    subject: Check | None = None

    @property
    def exit_code(self) -> int:
        """The exit code of the command line."""
        return EXIT_CODES[self.outcome]

    @property
    def refused(self) -> str | None:
        """Why the file of a ready check cannot be patched, if it cannot."""
        words: str | None = self.details.get("promotion", {}).get("refused")
        return words

    def changes(self) -> tuple[Threshold, ...]:
        """Return the certified numbers, where they are not those of the file."""
        return tuple(Threshold(**change) for change in self.details.get("changes", ()))

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as JSON knows it."""
        values = {name: getattr(self, name) for name in PUBLIC}
        return {**values, "reasons": list(self.reasons)}

    def recorded(self) -> dict[str, Any]:
        """Return everything that the ledger keeps."""
        return {**self.to_dict(), "details": self.details}

    @classmethod
    def from_record(cls, values: dict[str, Any], subject: Check) -> Certificate:
        """Return the certificate that the ledger kept."""
        return cls(**{**values, "reasons": tuple(values["reasons"])}, repeated=True, subject=subject)

    def __str__(self) -> str:
        """Return the decision and its reasons."""
        head = f"{self.check}: {self.outcome} ({self.change})"
        lines = [head + (", as recorded before" if self.repeated else ""), *(f"  {r}" for r in self.reasons)]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Certificates(Sequence[Certificate]):
    """The decisions of one call; of a single check its fields can be asked directly."""

    entries: tuple[Certificate, ...]
    plan: Plan

    @overload
    def __getitem__(self, key: int | str) -> Certificate: ...
    @overload
    def __getitem__(self, key: slice) -> Certificates: ...
    def __getitem__(self, key: int | str | slice) -> Certificate | Certificates:
        """Return a certificate by place or by the check's id."""
        if isinstance(key, slice):
            return dataclasses.replace(self, entries=self.entries[key])
        if isinstance(key, int):
            return self.entries[key]
        found = [entry for entry in self.entries if entry.check == key]
        if not found:
            raise UnknownNameError.of("decided check", key, [entry.check for entry in self.entries])
        return found[0]

    def __len__(self) -> int:
        """Return the number of checks."""
        return len(self.entries)

    @property
    def exit_code(self) -> int:
        """The worst exit code: 12 over 11 over 10 over 0."""
        return max((entry.exit_code for entry in self.entries), default=0)

    @property
    def outcome(self) -> Outcome:
        """The outcome; of several checks the worst."""
        return max(self.entries, key=lambda entry: entry.exit_code).outcome if self.entries else "need_labels"

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reasons; of several checks each with its check."""
        if len(self.entries) == 1:
            return self.entries[0].reasons
        return tuple(f"{entry.check}: {reason}" for entry in self.entries for reason in entry.reasons)

    @property
    def n(self) -> int:
        """Labels at the tested cut."""
        return self._one().n

    @property
    def errors(self) -> int:
        """Errors among them."""
        return self._one().errors

    @property
    def bound(self) -> float | None:
        """Upper bound of the risk."""
        return self._one().bound

    @property
    def coverage(self) -> float:
        """Share of the work that is decided without a person."""
        return self._one().coverage

    @property
    def labels_needed(self) -> int | None:
        """Further blind decisions if no further error comes."""
        return self._one().labels_needed

    @property
    def excluded(self) -> dict[str, int]:
        """Labels left out, by reason."""
        return self._one().excluded

    @property
    def plan_digest(self) -> str:
        """The digest of the plan."""
        return self.plan.digest

    def _one(self) -> Certificate:
        if len(self.entries) != 1:
            ids = ", ".join(repr(entry.check) for entry in self.entries)
            raise InputError(
                f"this holds {len(self.entries)} decisions; take one by its check: {ids or 'there is none'}"
            )
        return self.entries[0]

    def patch(self) -> str:
        """Return the certified numbers and the promotion of every ready check as a unified diff of their files.

        *Enforce* takes `advisory` away. *Replace the approval* also takes the approve step away and leads every link
        to it on. Files that say it already have no part in it.

        Raises
        ------
        InputError
            If an approve step cannot be taken away safely, or a file says something else by now.
        """
        from check_workbench.dialects import unified

        return "".join(unified(str(check.file), old, new) for check, old, new in texts(self.entries))

    def apply(self) -> tuple[str, ...]:
        """Write what `patch` shows, into all files or into none, and return those that changed.

        Raises
        ------
        InputError
            As `patch`, or if a file cannot be written.
        """
        from check_workbench.dialects import rewrite

        return rewrite(texts(self.entries))

    @property
    def together(self) -> str | None:
        """How sure all ready decisions of several checks are at the same time, in words."""
        return in_words(joint(self.entries, self.plan), self.plan)

    def report(self, path: str | Path) -> Path:
        """Write a report.

        Parameters
        ----------
        path
            `.html`, `.md` or `.json`.

        Raises
        ------
        InputError
            If the suffix is another one, or the file cannot be written.
        """
        from check_workbench.certificates.report import html_report, markdown_report

        target = Path(path)
        match target.suffix.lower():
            case ".html" | ".htm":
                text = html_report(self)
            case ".md":
                text = markdown_report(self)
            case ".json":
                text = json.dumps(self.full_json(), indent=2, ensure_ascii=False) + "\n"
            case other:
                raise InputError(f"a report is written as .html, .md or .json, got {other or 'no suffix'!r}.")
        write_file(target, text.encode("utf-8", "backslashreplace"))
        return target

    def to_json(self) -> dict[str, Any]:
        """Return the decisions as plain values, ready for `json.dumps`."""
        return {"checks": [entry.to_dict() for entry in self.entries], **self._joint()}

    def full_json(self) -> dict[str, Any]:
        """Return the decisions with the plan and every detail."""
        plan = {**self.plan.to_dict(), "digest": self.plan.digest}
        return {"plan": plan, "checks": [entry.recorded() for entry in self.entries], **self._joint()}

    def _joint(self) -> dict[str, Any]:
        found = joint(self.entries, self.plan)
        return {} if found is None else {"together": found}

    def __repr__(self) -> str:
        lines = [str(self.plan), *map(str, self.entries), *([self.together] if self.together else [])]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from check_workbench.certificates.report import html_fragment

        return html_fragment(self)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        del include, exclude
        return {"text/plain": repr(self), "text/html": self._repr_html_(), MIME: self.to_json()}
