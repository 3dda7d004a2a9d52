"""What came of an export or a merge, as text, HTML and JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from check_workbench import html
from check_workbench.store.report import MIME, Examination

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SHOWN = 10
"""How many clashes of a kind the text lists; the rest is counted."""
_BROUGHT = ("runs", "spans", "steps", "decisions", "answers", "measurements", "checks", "looks", "triage")
_CLASHES = {
    "run": "runs with other content; one of the two stayed",
    "decision": "units on which one person decided otherwise; of a check the last word counts, of the work both do",
    "answer": "questions with other answers; the newest counts",
    "check": "checks whose present form differs; both forms are remembered",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportReport:
    """What an export wrote."""

    folder: str
    rows: Mapping[str, int]
    """Rows of each table."""

    def to_json(self) -> dict[str, Any]:
        """Return the report as one JSON document."""
        return {"folder": self.folder, "rows": dict(self.rows)}

    def __repr__(self) -> str:
        """Return the report as a line of text."""
        return f"Exported {_counted({n: self.rows.get(n, 0) for n in _BROUGHT}) or 'an empty store'} to {self.folder}."

    def _repr_html_(self) -> str:
        return html.fragment(html.paragraph(f"Exported to {self.folder}."), html.definitions(self.rows))

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        document = {"kind": "export", **self.to_json()}
        return {"text/plain": repr(self), "text/html": self._repr_html_(), MIME: document}


@dataclass(frozen=True, slots=True, kw_only=True)
class Clash:
    """Where the two stores of a merge say different things."""

    kind: str
    """`run`, `decision`, `answer` or `check`."""
    about: str
    here: str
    """What this store says."""
    there: str
    """What the other store says."""
    kept: str
    """`here`, `there` or `both`."""

    def to_json(self) -> dict[str, str]:
        """Return the clash as the report of a merge writes it."""
        return {name: getattr(self, name) for name in ("kind", "about", "here", "there", "kept")}

    def __str__(self) -> str:
        """Return the clash as a line of text."""
        stayed = {"here": "; this store's stayed", "there": "; the other's stayed"}.get(self.kept, "")
        return f"{self.about}: here {self.here}, there {self.there}{stayed}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeReport:
    """What one merge brought into the store. Its text is stable: same stores, same words."""

    path: str
    """The other store."""
    runs: int = 0
    """New runs."""
    spans: int = 0
    """Spans of new and replaced runs."""
    steps: int = 0
    decisions: int = 0
    answers: int = 0
    measurements: int = 0
    checks: int = 0
    """New forms of checks."""
    looks: int = 0
    triage: int = 0
    """What people said of disagreements."""
    already: int = 0
    """Runs, decisions and answers that the store had already, or of which it kept its own."""
    replaced: int = 0
    """Runs whose record in the other store has more in it."""
    clashes: tuple[Clash, ...] = ()
    """At most 1,000 of a kind."""
    clash_counts: Mapping[str, int] = field(default_factory=dict)
    """How many clashes there are of each kind."""
    notes: tuple[str, ...] = ()
    examined: Examination = field(default_factory=Examination)
    """The store after the merge."""

    def to_json(self) -> dict[str, Any]:
        """Return the report as one JSON document.

        Examples
        --------
        >>> MergeReport(path="hers.duckdb", runs=2).to_json()["runs"]
        2
        """
        return {
            "path": self.path,
            **{name: getattr(self, name) for name in (*_BROUGHT, "already", "replaced")},
            "clashes": {"counts": dict(self.clash_counts), "listed": [clash.to_json() for clash in self.clashes]},
            "notes": list(self.notes),
            "unmatched": self.examined.to_json()["unmatched"],
        }

    def __repr__(self) -> str:
        """Return the report as text."""
        return "\n".join(self._lines())

    def clash_lines(self) -> Iterator[str]:
        """Yield the clashes as text, the first of each kind."""
        for kind, count in self.clash_counts.items():
            yield f"{count:,} {_CLASHES[kind]}:"
            shown = [clash for clash in self.clashes if clash.kind == kind][:SHOWN]
            yield from (f"  {clash}" for clash in shown)
            if count > len(shown):
                yield f"  and {count - len(shown):,} more"

    def _lines(self) -> Iterator[str]:
        brought = {name: getattr(self, name) for name in _BROUGHT}
        yield f"Merged {self.path}: {_counted(brought) or 'nothing new'}."
        if self.already:
            yield f"  {self.already:,} already there"
        if self.replaced:
            yield f"  {self.replaced:,} replaced by a longer or later record"
        yield from self.clash_lines()
        yield from (f"  {note}" for note in self.notes)
        yield from repr(self.examined).splitlines()[1:]

    def _repr_html_(self) -> str:
        counts = {name: n for name in (*_BROUGHT, "already", "replaced") if (n := getattr(self, name))}
        heads = {"about": "what", "here": "here", "there": "there", "kept": "stayed"}
        tables = [
            html.table(
                [clash.to_json() for clash in self.clashes if clash.kind == kind][:SHOWN],
                heads,
                caption=f"{count:,} {_CLASHES[kind]}",
            )
            for kind, count in self.clash_counts.items()
        ]
        said = html.definitions(counts) if counts else html.paragraph("Nothing new was merged.")
        return html.fragment(html.paragraph(f"Merged {self.path}."), said, *tables, *map(html.note, self.notes))

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        document = {"kind": "merge", **self.to_json(), "supports": list(self.examined.supports)}
        return {"text/plain": repr(self), "text/html": self._repr_html_(), MIME: document}


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n:,} {name if n > 1 else name.removesuffix('s')}" for name, n in counts.items() if n)
