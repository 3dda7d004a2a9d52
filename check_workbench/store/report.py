"""What came of a load, told as a doctor would: what came in, what does not match, what the data supports."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from check_workbench import html
from check_workbench.store.shown import lines_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from check_workbench.sources import Rejected

_T = TypeVar("_T")
SHOWN = 10
"""How many rejected records, files or near misses the text lists; the rest is counted."""
SHOWN_FOLDED = 500
"""How many skipped files a notebook lists."""
MIME = "application/vnd.check-workbench+json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """An id that matches nothing, and ids that it may have meant."""

    kind: str
    """What names it: `decision` or `answer`."""
    what: str
    """What it names: `run` or `check`."""
    id: str
    rows: int
    """How many rows name it."""
    near: tuple[str, ...]
    """The likeliest first; empty where nothing comes close."""

    def to_json(self) -> dict[str, Any]:
        """Return the entry as the load report writes it."""
        return {"kind": self.kind, "what": self.what, "id": self.id, "rows": self.rows, "near": list(self.near)}

    def __str__(self) -> str:
        """Return the entry as a line of text."""
        meant = f"; did you mean {' or '.join(map(repr, self.near))}?" if self.near else ""
        return f"no {self.what} {self.id!r}, named by {_count(self.rows, self.kind)}{meant}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """What a store holds, what in it matches nothing, and what it supports."""

    contents: Mapping[str, int] = field(default_factory=dict)
    """Rows by table."""
    unmatched_decisions: int = 0
    """Decisions whose run is not in the store."""
    unmatched_answers: int = 0
    """Answers whose run is not in the store."""
    near: tuple[Near, ...] = ()
    supports: tuple[str, ...] = ()
    """What can be done with the data, or what is missing for it."""
    notes: tuple[str, ...] = ()
    """What a reader of results must know."""

    def to_json(self) -> dict[str, Any]:
        """Return the examination as one JSON document."""
        return {
            "contents": dict(self.contents),
            "unmatched": _unmatched(self),
            "supports": list(self.supports),
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        """Return the examination as text."""
        held = ", ".join(_count(n, name.removesuffix("s")) for name, n in self.contents.items() if n)
        return "\n".join([f"The store holds {held or 'nothing yet'}.", *_diagnosis(self)])

    def _repr_html_(self) -> str:
        held = {name: n for name, n in self.contents.items() if n}
        counts = html.definitions(held) if held else html.paragraph("The store holds nothing yet.")
        return html.fragment(counts, *_diagnosed(self))

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        document = {"kind": "examination", **self.to_json()}
        return {"text/plain": repr(self), "text/html": self._repr_html_(), MIME: document}


class Taken(NamedTuple):
    """What a file of runs was taken for, and why."""

    file: str
    format: str
    reason: str


class Sample(NamedTuple):
    """How much of the runs a sampled load has taken and seen."""

    taken: int
    seen: int
    """Runs that were read."""
    files: int
    """Files of which runs were taken."""
    of_files: int
    """All files that were found."""

    def __str__(self) -> str:
        """Return the sample in words."""
        seen = f"{self.taken:,} of {self.seen:,} runs seen"
        return f"A sample: {seen}, from {self.files:,} of {_count(self.of_files, 'file')}; the rest was not read."


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadReport:
    """What one load brought into the store. Its text is stable: same data, same words."""

    runs: int = 0
    """New runs."""
    spans: int = 0
    """Spans of new and replaced runs."""
    steps: int = 0
    decisions: int = 0
    """New decisions."""
    answers: int = 0
    """New answers."""
    already: int = 0
    """Records that the store had already."""
    replaced: int = 0
    """Runs that came again with more in them, or as much and later."""
    skipped: tuple[str, ...] = ()
    """Files that hold no recorded runs."""
    rejected: tuple[Rejected, ...] = ()
    notes: tuple[str, ...] = ()
    """What the readers assumed."""
    taken: tuple[Taken, ...] = ()
    """What each file of runs was taken for."""
    examined: Examination = Examination()
    """The store after the load."""
    dry_run: bool = False
    """Whether nothing was written: the counts are those that a load would have."""
    sample: Sample | None = None
    """What a sampled load has taken."""
    first: tuple[Mapping[str, Any], ...] = ()
    """Of a dry run the first records as they would be, shortened."""

    def __add__(self, other: LoadReport) -> LoadReport:
        """Return the report of this load and a later one together."""
        counts = {name: getattr(self, name) + getattr(other, name) for name in _COUNTS}
        return LoadReport(
            **counts,
            skipped=self.skipped + other.skipped,
            rejected=self.rejected + other.rejected,
            notes=tuple(dict.fromkeys(self.notes + other.notes)),
            taken=self.taken + other.taken,
            examined=other.examined,
            dry_run=self.dry_run or other.dry_run,
            sample=self.sample or other.sample,
            first=self.first or other.first,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the report as `load --json` prints it.

        Examples
        --------
        >>> LoadReport(runs=2, skipped=("README.md",)).to_json()["skipped"]
        ['README.md']
        """
        return {
            "runs": self.runs,
            "spans": self.spans,
            "decisions": self.decisions,
            "answers": self.answers,
            "already": self.already,
            "replaced": self.replaced,
            "skipped": list(self.skipped),
            "rejected": [record.to_json() for record in self.rejected],
            "unmatched": _unmatched(self.examined),
            **({"dry_run": True, "first": [dict(record) for record in self.first]} if self.dry_run else {}),
            **({"sample": self.sample._asdict()} if self.sample else {}),
        }

    def __repr__(self) -> str:
        """Return the report as text."""
        return "\n".join(_told(self))

    def _repr_html_(self) -> str:
        return html.fragment(*_counted(self), *_diagnosed(self.examined))

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        taken = [{"format": name, "reason": why, "files": n} for (name, why), n in _by_format(self.taken).items()]
        document = {"kind": "load", **self.to_json(), "taken": taken, "supports": list(self.examined.supports)}
        return {"text/plain": repr(self), "text/html": self._repr_html_(), MIME: document}


_VALUES = re.compile(r"\d+|'[^']*'|\"[^\"]*\"")
"""What differs between two reasons of one kind."""
NEEDS_MAPPING = (
    "no reader knows them; --mapping says how another format is read (check-workbench formats lists the shipped ones)"
)
_COUNTS = ("runs", "spans", "steps", "decisions", "answers", "already", "replaced")


def _told(report: LoadReport) -> Iterator[str]:
    new = [_count(getattr(report, name), name.removesuffix("s")) for name in _COUNTS[:5] if getattr(report, name)]
    verb = "Would load" if report.dry_run else "Loaded"
    yield f"{verb} {', '.join(new) or 'nothing new'}.{' Nothing was written.' if report.dry_run else ''}"
    yield from [f"  {report.sample}"] if report.sample else []
    yield from (f"  {line}" for line in _formats(report.taken))
    rest = {
        "already there, from before or from another of these files": report.already,
        "replaced by a longer or later record": report.replaced,
    }
    yield from (f"  {n:,} {words}" for words, n in rest.items() if n)
    yield from _listed(
        f"{len(report.rejected):,} rejected",
        [f"{r.file}:{r.line}: {r.reason}" for r in _kinds_first(report.rejected, _kind)],
    )
    yield from _listed(
        f"{_count(len(report.skipped), 'file')} skipped, no recorded runs in {_them(report.skipped)}",
        _kinds_first(report.skipped, lambda file: PurePath(file).suffix),
    )
    if report.skipped and not report.taken and not report.already:
        yield f"  {NEEDS_MAPPING}"
    yield from _listed("Notes", report.notes, shown=None)
    yield from _listed("The first records", [line for record in report.first for line in lines_of(record)], shown=None)
    yield from _diagnosis(report.examined)


def _diagnosis(examined: Examination) -> Iterator[str]:
    runs = [near for near in examined.near if near.what == "run"]
    if lost := _lost(examined, []):
        yield f"Unmatched, {lost} about runs that are not here{':' if runs else ''}"
        yield from (f"  {_one_line(str(near))}" for near in runs[:SHOWN])
        if runs and (more := _lost(examined, runs[:SHOWN])):
            yield f"  and others, named by {more}"
    checks = [str(near) for near in examined.near if near.what == "check"]
    yield from _listed("Unmatched, ids of checks that are not here", checks)
    yield from _listed("To know", examined.notes, shown=None)
    yield from _listed("This supports", examined.supports, shown=None)


def _lost(examined: Examination, named: Sequence[Near]) -> str:
    """Count the decisions and answers whose run is not in the store, but for those that name one of some runs."""
    lost = Counter({"decision": examined.unmatched_decisions, "answer": examined.unmatched_answers})
    lost.subtract({kind: sum(near.rows for near in named if near.kind == kind) for kind in lost})
    return " and ".join(_count(n, kind) for kind, n in lost.items() if n > 0)


def _listed(title: str, lines: Sequence[str], *, shown: int | None = SHOWN) -> Iterator[str]:
    if not lines:
        return
    yield f"{title}:"
    yield from (f"  {_one_line(line)}" for line in lines[:shown])
    if shown is not None and len(lines) > shown:
        yield f"  and {len(lines) - shown:,} more"


def _kind(rejected: Rejected) -> str:
    return _VALUES.sub("", rejected.reason)


def _kinds_first(items: Sequence[_T], kind: Callable[[_T], str]) -> list[_T]:
    """Put the first of each kind before the others, so that a short list shows every kind."""
    seen: set[str] = set()
    first: list[_T] = []
    rest: list[_T] = []
    for item in items:
        name = kind(item)
        (rest if name in seen else first).append(item)
        seen.add(name)
    return first + rest


def _one_line(text: str) -> str:
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _them(items: Sequence[object]) -> str:
    return "it" if len(items) == 1 else "them"


def _unmatched(examined: Examination) -> dict[str, Any]:
    return {
        "decisions": examined.unmatched_decisions,
        "answers": examined.unmatched_answers,
        "near": [near.to_json() for near in examined.near],
    }


def _formats(taken: Sequence[Taken]) -> list[str]:
    """Say of each format how many files were taken for it, and why."""
    return [f"{_count(n, 'file')} taken as {name}: {reason}" for (name, reason), n in _by_format(taken).items()]


def _by_format(taken: Sequence[Taken]) -> Counter[tuple[str, str]]:
    return Counter((one.format, one.reason) for one in taken)


def _counted(report: LoadReport) -> Iterator[html.Html]:
    counts = {name: getattr(report, name) for name in _COUNTS if getattr(report, name)}
    if report.dry_run:
        yield html.note("A dry run: this would be loaded. Nothing was written.")
    yield from [html.note(str(report.sample))] if report.sample else []
    yield html.definitions(counts) if counts else html.paragraph("Nothing new was loaded.")
    if report.rejected:
        shown = [record.to_json() for record in _kinds_first(report.rejected, _kind)[:SHOWN]]
        yield html.table(shown, ["file", "line", "reason"], caption=f"Rejected, {len(shown)} of {len(report.rejected)}")
    if report.skipped:
        title = f"{_count(len(report.skipped), 'file')} skipped, no recorded runs in {_them(report.skipped)}"
        yield html.details(title, html.bullets(report.skipped[:SHOWN_FOLDED]))
    yield from map(html.note, _formats(report.taken))
    yield from map(html.note, report.notes)
    if report.first:
        lines = "\n".join(line for record in report.first for line in lines_of(record))
        yield html.details(f"The first {_count(len(report.first), 'record')}", html.code(lines))


def _diagnosed(examined: Examination) -> Iterator[html.Html]:
    if examined.near:
        heads = {"kind": "named by", "what": "what", "id": "id", "rows": "rows", "near": "may mean"}
        shown = [{**near.to_json(), "near": ", ".join(near.near) or None} for near in examined.near]
        yield html.table(shown, heads, caption="Ids that match nothing")
    if lost := _lost(examined, []):
        yield html.note(f"{lost} about runs that are not here", warning=True)
    yield from map(html.note, examined.notes)
    if examined.supports:
        yield html.heading("This supports", 3)
        yield html.bullets(examined.supports)
