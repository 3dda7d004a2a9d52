"""The result of a diff: text, HTML and JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from check_workbench import html
from check_workbench.calibration.outcome import MIME
from check_workbench.certificates.wording import many
from check_workbench.labels.reasons import left_out

if TYPE_CHECKING:
    from collections.abc import Iterator

    from check_workbench.changes.pairing import Tally
    from check_workbench.html import Block

TRANSITIONS = {"from": "from", "to": "to", "n": "all", "good": "good", "bad": "bad"}
CHANGED = {"unit": "work", "from": "from", "to": "to", "score": "score", "score_before": "score before",
           "label": "people", "blind": "blind", "reason": "why"}  # fmt: skip
IN_TEXT, IN_HTML = 10, 50


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Difference:
    """Verdicts of two versions of a check on the same work, beside what people decided."""

    check: str
    against: str
    moved: tuple[dict[str, Any], ...]
    """Thresholds whose number differs: `item key from to`."""
    transitions: list[dict[str, Any]]
    """Units by verdict before and now, and how many of them people found good or bad."""
    changed: tuple[dict[str, Any], ...]
    """Every unit whose verdict differs."""
    tally: Tally
    left_out: dict[str, int]
    """Labels that say nothing of the two, by reason."""
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the difference as plain values, ready for `json.dumps`."""
        return {
            "check": self.check,
            "against": self.against,
            "thresholds": list(self.moved),
            "transitions": self.transitions,
            "changed": list(self.changed),
            "test": self.tally.to_dict(),
            "left_out": self.left_out,
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{self.check}: {self._head()}"
        yield from (f"  {words}" for words in self._moves())
        for row in self.transitions:
            if row["from"] != row["to"]:
                yield f"  {row['from']} → {row['to']}: {row['n']}, of which {row['good']} good and {row['bad']} bad"
        yield from (f"    {_in_line(row)}" for row in self.changed[:IN_TEXT])
        if len(self.changed) > IN_TEXT:
            yield f"    … and {len(self.changed) - IN_TEXT} more"
        yield from (f"  {words}" for words in self._test())
        yield from (f"  {words}" for words in left_out(self.left_out))
        yield from (f"  note: {note}" for note in self.notes)

    def _head(self) -> str:
        total = sum(row["n"] for row in self.transitions)
        return f"{len(self.changed)} of {total} verdicts differ from {self.against}"

    def _moves(self) -> Iterator[str]:
        for move in self.moved:
            where = f"question {move['item']} " if move["item"] else ""
            before, now = ("none" if move[side] is None else f"{move[side]:g}" for side in ("from", "to"))
            yield f"{where}{move['key']}: {before} → {now}"

    def _test(self) -> Iterator[str]:
        found, change = self.tally, self.tally.difference
        if change is None:
            yield "no work that both versions pass or fail has a label, so nothing says which is better"
            return
        before, now = found.both_wrong + found.better, found.both_wrong + found.worse
        errors = f"{many(before, 'error')} before, {many(now, 'error')} now"
        yield f"people decided on {found.n} of them: {errors} ({found.better} put right, {found.worse} made wrong)"
        points = f"{100 * change.value:+.1f} points [{100 * change.low:+.1f}, {100 * change.high:+.1f}]"
        yield f"share of errors now minus before: {points}, McNemar p = {found.p:.3g}"

    def _blocks(self) -> Iterator[Block]:
        yield html.heading(f"{self.check}: {self._head()}", 3)
        if self.moved:
            yield html.bullets(self._moves())
        yield html.table(self.transitions, TRANSITIONS, caption="Verdicts before and now, and what people decided")
        yield html.bullets(self._test())
        caption = f"Work whose verdict differs ({len(self.changed)})"
        if self.changed:
            yield html.table(self.changed[:IN_HTML], CHANGED, caption=caption)
        if len(self.changed) > IN_HTML:
            rest = self.changed[IN_HTML:]
            yield html.details(f"{len(rest)} more", html.table(rest, CHANGED, caption=caption))
        if self.left_out or self.notes:
            yield html.bullets([*left_out(self.left_out), *self.notes])

    def _repr_html_(self) -> str:
        return html.fragment(*self._blocks())

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        del include, exclude
        return {"text/plain": repr(self), "text/html": self._repr_html_(), MIME: self.to_json()}


def _in_line(row: dict[str, Any]) -> str:
    said = f"people: {row['label']}{', blind' if row['blind'] else ''}" if row["label"] else "no label"
    score = "" if row["score"] is None else f" at {row['score']:g}"
    return f"{row['unit']}: {row['from']} → {row['to']}{score}; {said}"
