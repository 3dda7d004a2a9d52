"""What the reader of a file must tell once: paths that found nothing, keys that nothing reads, what was left out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from check_workbench.errors import hint
from check_workbench.sources.format import Note
from check_workbench.sources.mapping.paths import Key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from check_workbench.sources.mapping.language import Part
    from check_workbench.sources.mapping.paths import Path
    from check_workbench.sources.mapping.scopes import Watch

SHOWN = 12
"""How many keys a note lists."""


@dataclass(slots=True)
class Remarks:
    """What has been seen of one file through one part of a mapping."""

    records: int = 0
    left_out: Counter[tuple[str, int]] = field(default_factory=Counter)
    """By kind and the line of the mapping."""
    unread: dict[str, None] = field(default_factory=dict)
    """Keys of records that nothing reads and nothing keeps."""

    def notes(self, part: Part, watch: Watch, file: str) -> Iterator[Note]:
        """Yield what is to be told at the end of the file."""
        records = part.source.records
        if self.records == 0:
            near = hint("", watch.near.get(records.path, ())) if records else ""
            where = f" at {records.path.text!r}" if records else ""
            yield Note(file=file, text=f"no record was found{where} (mapping, line {part.line}).{near}")
            return
        for path, keys in watch.near.items():
            if path not in watch.found and not path.optional:
                yield Note(file=file, text=f"{path.text!r} was found in none of {self._counted()}.{_near(path, keys)}")
        for (kind, line), times in sorted((+self.left_out).items()):
            counted = f"1 of the {kind} was" if times == 1 else f"{times:,} of the {kind} were"
            yield Note(file=file, text=f"{counted} left out by when or unless (mapping, line {line})")
        if watch.uneven:
            text = f"parallel lists differ in length, {watch.uneven:,} times; what the shorter ones lack is missing"
            yield Note(file=file, text=text)
        if self.unread:
            shown = ", ".join(map(repr, sorted(self.unread)[:SHOWN]))
            more = f" and {len(self.unread) - SHOWN} more" if len(self.unread) > SHOWN else ""
            yield Note(file=file, text=f"the mapping does not read {shown}{more}")

    def _counted(self) -> str:
        return "1 record" if self.records == 1 else f"{self.records:,} records"


def _near(path: Path, keys: tuple[str, ...]) -> str:
    wanted = next((step.name for step in reversed(path.steps) if isinstance(step, Key)), "")
    return hint(wanted, [key[:80] for key in keys])
